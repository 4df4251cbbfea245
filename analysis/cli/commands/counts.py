"""``pivotree counts``: what orders cost, as polynomials in the number of links."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pivotree import kkt

from ..arguments import Parser, add_json, add_order
from ..progress import progress_shown
from .shared import orders_of, print_json

FAMILY = "dh"
USUAL = "crbm,abm,gain_abm,modified_abm,projected_abm,square_root_abm,virtual_work,lagrange"


EXAMPLES = ("counts --order crbm,abm", "counts --family revolute --json")


def declare(command: Parser) -> None:
    add_order(command, None, several=True)
    command.add_argument(
        "--family",
        metavar="NAME",
        help="growing robots (dh): dh, dh_whole, revolute, planar, prismatic, spherical, "
        "floating, star, star_spherical, binary; dh+armature: with armature on every joint; "
        "dh+contact: a point of the last link held",
    )
    add_json(command)


def run(options: argparse.Namespace) -> int:
    from ...counts.families import family_of

    family = family_of(FAMILY if options.family is None else options.family)
    names = orders_of(options, USUAL)
    from pivotree.kkt.order.sequence import as_orders

    from ...counts.table import Count, table

    counts: list[Count | str] = []
    with progress_shown() as progress:
        for order in as_orders(names or ()):
            progress(f"counting {order.name} on {family.name}")
            counts += table([order], [family.name])
        refused = [count for count in counts if isinstance(count, str)]
        found = [count for count in counts if isinstance(count, Count)]
        if not found:
            raise kkt.OrderError(refused[0])
    if options.json:
        rows = [count.as_dict() for count in found]
        print_json({"rows": rows, "refused": refused})
        return 0
    _print(found, refused, family)
    return 0


def _print(found: list[Any], refused: list[str], family: Any) -> None:
    from ...counts.table import COUNT_HEAD, CROSSOVER_HEAD, count_cells, crossings, crossover_cells
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    cells, said = map(count_cells, found), f"{family.name}: {family.what}"
    out.print(grid(said, COUNT_HEAD, cells, words=COUNT_HEAD, wrapped=COUNT_HEAD[-1:]))
    by_name = {count.order: count.polynomials for count in found if count.polynomials}
    if "crbm" in by_name and "abm" in by_name:
        start = max(count.holds_from or 1 for count in found if count.order in ("crbm", "abm"))
        crossed = crossings(by_name["crbm"], by_name["abm"], start)
        crossing = crossover_cells("crbm costs more than abm", crossed)
        out.print(grid("", CROSSOVER_HEAD, [crossing], words=CROSSOVER_HEAD, wrapped=CROSSOVER_HEAD))
    out.say(*(f"not counted: {text}" for text in refused))
