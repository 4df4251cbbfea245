"""``pivotree prove``: the closed forms of the papers, proved against the engine; or those of a robot."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pivotree import kkt, orderings
from pivotree.kkt.base.errors import close_names

from ..arguments import MODEL_HELP, Parser, add_json
from ..progress import progress_shown
from .shared import items, names_of, print_json, tree_of

READERS = ("rewriter", "polynomials", "fractions")
EXAMPLES = ("prove", "prove --only 'equation (5)'", "prove rr_arm --order abm,crbm")


def declare(command: Parser) -> None:
    command.add_argument("model", metavar="MODEL", nargs="?", help=f"with --order: {MODEL_HELP}")
    command.set_defaults(urdf=None)
    command.add_argument(
        "--order", metavar="A,B", help="of MODEL: that its qdd is one function by these orders"
    )
    command.add_argument("--only", metavar="NAMES", help="comma-separated; all if not given")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    if options.model is not None or options.order is not None:
        return _of_robot(options)
    from ...proofs import statements
    from ...proofs.prove import prove

    names = chosen(options.only, list(statements()))
    with progress_shown("proving", len(names)) as progress:
        decided = iter(range(1, len(names) + 1))
        proofs = prove(names, done=lambda proof: progress(f"{proof.status}: {proof.name}", next(decided)))
    if options.json:
        print_json([proof.as_dict() for proof in proofs])
    else:
        from ..table import console

        out = console(sys.stdout, wide=True)
        out.print(proofs_table(proofs))
        out.say(*lines(proofs))
    return 0 if all(proof.holds for proof in proofs) else 1


def _of_robot(options: argparse.Namespace) -> int:
    """Whether orders give each joint's acceleration as one rational function."""
    if options.model is None or options.order is None or options.only is not None:
        raise kkt.PivotreeError(
            "prove", "takes MODEL --order A,B of a robot", "of the papers, --only or nothing"
        )
    orders = names_of("--order", options.order)
    for name in orders:
        orderings.get(name)
    if len(orders) < 2:
        raise kkt.OrderError(
            "option --order", f"{orders[0]!r} is one", "give two or more with commas between"
        )
    from ...letterfile import load_letters
    from ...letters import equal_forms

    with progress_shown() as progress:
        progress(f"{' and '.join(orders)} in letters")
        equal = equal_forms(tree_of(options, load_letters), orders)
    if options.json:
        print_json({"model": options.model, "orders": orders, "equal": equal})
    else:
        print(
            f"{sum(equal)} of {len(equal)} accelerations of {options.model} are the same rational function, "
            f"of its numbers, angles, rates and efforts as letters, by {', '.join(orders)}: "
            f"{'proved' if all(equal) else 'failed'}."
        )
    return 0 if all(equal) else 1


def chosen(only: str | None, names: list[str]) -> list[str]:
    """The statements that are asked for; all of them if none is."""
    if only is None:
        return names
    found, left = [], items("--only", only)
    while left:  # names may hold commas themselves: the longest that fits is taken
        count = next((i for i in range(len(left), 0, -1) if ", ".join(left[:i]) in names), 0)
        if not count:
            near = ", ".join(close_names(left[0], names, n=3, cutoff=0.3) or names)
            raise kkt.PivotreeError("option --only", f"there is no statement {left[0]!r}", f"nearest: {near}")
        found.append(", ".join(left[:count]))
        left = left[count:]
    return list(dict.fromkeys(found))


def proofs_table(proofs: list[Any]) -> Any:
    from ..table import grid

    def cells(p: Any) -> tuple[str, ...]:
        rewriter, polynomials, fractions = (p.readers.get(r, "") for r in READERS)
        symbols = str(p.symbols) if polynomials else ""
        told = p.status, p.name, p.says, p.source, rewriter, polynomials, symbols, fractions
        return (*told, str(p.claims), f"{p.seconds:.1f}")

    words = ("", "statement", "says", "source", "rewriter", "polynomials", "fractions")
    heads = (*words[:6], "with symbols", "fractions", "claims", "s")
    return grid("", heads, map(cells, proofs), words=words, wrapped=heads)


def lines(proofs: list[Any]) -> list[str]:
    """What is not as it should be, then the sum."""
    result = [f"{p.name}: {p.status}: {p.why}" for p in proofs if p.status != "proved"]
    proved = sum(p.status == "proved" for p in proofs)
    by = {r: sum(p.readers.get(r) == "proved" for p in proofs) for r in READERS}
    return [
        *result,
        f"Proved by the rewriter, blocks of any size: {by['rewriter']}; by polynomials, entry by entry: "
        f"{by['polynomials']}; in exact fractions: {by['fractions']}.",
        f"{proved} of {len(proofs)} statements proved.",
    ]
