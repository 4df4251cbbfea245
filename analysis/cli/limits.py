"""What is plainly too long is refused before it begins; ``progress`` says how far the rest is.

The factor of an order is found without values, and with it the operations of its elimination with
dense blocks.  More than ``MOST`` of them take minutes, and gigabytes of memory, on any machine.  A
factor of more than ``BLOCKS`` blocks is not counted to its end.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from pivotree import kkt
from pivotree.kkt.arithmetic import Format

MOST = 6e8  # operations with dense blocks; more than that needs --yes
BLOCKS = 1_000_000  # of a factor, whose elimination takes about MOST operations or more
LARGE, LEAST = 10_000, 500.0  # bodies whose orders take seconds to count, and operations of any for each
BEYOND = 10 * MOST  # operations that are said of a larger factor
SLOWER = 30.0  # times that an operation takes beyond the processor's own floats
PAIRED = 10.0  # operations that an order of a matrix takes for each pair of blocks, or of a column
LISTED = 60.0  # times that an operation takes where it is written as a formula
DIFFERENTIATED = 4.0  # times for each joint, by which the answer is differentiated
SMALLER = "use an order with less fill, such as abm, or a smaller model"
SPARSER = "use an order with less fill, or a smaller matrix"


def operations(system: kkt.System | kkt.Matrix, order: Any) -> float:
    """Operations of an order with dense blocks; 0 where it is refused: its elimination then says why."""
    try:
        return float(kkt.symbolic(kkt.plan(order, system.structure), BLOCKS).flops)
    except kkt.SizeError:
        return BEYOND
    except kkt.PivotreeError:
        return 0.0


def played(system: kkt.System | kkt.Matrix, formats: Iterable[Format], derivatives: bool = False) -> float:
    """How many times the operations of one elimination in float64 these formats take together."""
    # fractions grow from body to body, twice as fast as from row to row
    exact = float(system.structure.n) ** (2 if isinstance(system, kkt.System) else 1)
    each = {"float": 1.0, "exact": exact}
    times = 1.0 + sum(each.get(chosen.kind, SLOWER) for chosen in formats)
    return times * (differentiated(system) if isinstance(system, kkt.System) and derivatives else 1.0)


def differentiated(system: kkt.System) -> float:
    """The same of the derivatives by all joints."""
    return DIFFERENTIATED * max(1, int((system.tree.dof > 0).sum()))


def admit(
    options: argparse.Namespace,
    system: kkt.System | kkt.Matrix,
    orders: Mapping[str, Any],
    times: float = 1.0,
    smaller: str = SMALLER,
) -> None:
    """Raise SizeError where orders, each ``times`` over, take more than MOST, unless --yes is given.

    Where the work would be short without some of the orders, they are named.
    """
    if options.yes:
        return
    n = system.structure.n
    least = times * LEAST * n * len(orders)
    if len(orders) > 1 and n > LARGE and least > MOST >= times * operations(system, "abm"):
        fewer = "name fewer orders, such as --order abm, or use a smaller model"
        refuse(options, least, f" by {len(orders)} orders", fewer)
    takes = {name: times * operations(system, order) for name, order in orders.items()}
    ranked = sorted(takes, key=lambda name: -takes[name])
    total = sum(takes.values())
    if total <= MOST:
        return
    left, without = total, 0
    while left > MOST:
        left -= takes[ranked[without]]
        without += 1
    if without < len(ranked):
        others = f" and {without - 3} more" if without > 3 else ""
        smaller = f"leave out {', '.join(ranked[: min(without, 3)])}{others} (--order)"
    told = f", most of them by {ranked[0]}" if len(ranked) > 1 else f" by {ranked[0]}"
    refuse(options, total, told, smaller)


def refuse(options: argparse.Namespace, total: float, told: str, smaller: str) -> None:
    """Raise SizeError where work is more than MOST operations, unless --yes is given."""
    if total > MOST and not options.yes:
        raise kkt.SizeError(
            f"{options.command} {options.model}",
            f"takes some {total:.0e} operations or more{told}, which is minutes at least",
            f"{smaller}; --yes goes on",
        )
