"""``pivotree orders``: what orders there are."""

from __future__ import annotations

import argparse
import sys

from pivotree import kkt, orderings
from pivotree.orderings.load import added

from ..arguments import Parser, add_json
from .shared import print_json

EXAMPLES = ("orders", "orders --json")

EPILOG = """

an order of your own, in a file mine.py (which is a program, and is run as one);
each inner list is eliminated together; here every other body goes first:
  def odds_first(structure):
      bodies = structure.tip_to_base[::2] + structure.tip_to_base[1::2]
      return [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]
then:
  pivotree compare chain:5 --order mine.py:odds_first,abm,crbm"""


def declare(command: Parser) -> None:
    add_json(command)


def run(options: argparse.Namespace) -> int:
    rows = [_row(name, function) for name, function in (orderings.ORDERS | orderings.LOOPS).items()]
    rows += [_added(name, entry.value) for name, entry in added().items()]
    also = {name: [a for a, alias in orderings.ALIASES.items() if alias.order == name] for name, _, _ in rows}
    if options.json:
        documents = []
        for name, what, source in rows:
            others = [{"name": a, **vars(orderings.ALIASES[a])} for a in also[name]]
            documents.append({"order": name, "what": what, "source": source, "also": others})
        print_json(documents)
        return 0
    for i, (name, what, source) in enumerate(rows):
        told = "; ".join(f"{a} ({orderings.ALIASES[a].source})" for a in also[name])
        rows[i] = (name, f"{what} Also: {told}." if told else what, source)
    from ..table import console, grid

    heads = ("order", "what it does", "source")
    shown = grid("Orders", heads, rows, words=heads, wrapped=heads[1:])
    console(sys.stdout, wide=True).print(shown)
    return 0


def _row(name: str, order: kkt.Order) -> tuple[str, str, str]:
    """Name, first line and source of an order."""
    doc = (order.__doc__ or "").strip()
    return name, doc.partition("\n")[0], order.source


def _added(name: str, place: str) -> tuple[str, str, str]:
    """The same of another package's order; one that cannot be loaded hides no other."""
    try:
        return _row(name, orderings.get(name))
    except kkt.PivotreeError as error:
        return name, f"cannot be loaded: {error}", place
