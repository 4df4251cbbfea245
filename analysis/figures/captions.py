"""Captions: what a figure shows, in two sentences with numbers, ready to paste."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from pivotree.kkt import Elimination, SymbolicFactor

if TYPE_CHECKING:
    from .kinds import Kind, Request

ONE = ("spy", "before-after", "matrix", "film", "trees")  # kinds that show one order
STRUCTURE = (*ONE, "orders", "curves", "cost")


def caption(kind: Kind, request: Request) -> str:
    """Two sentences: what the figure shows of which robot, and the numbers that it was made of.

    Raises what the orders raise on this robot.

    >>> from pivotree.analysis.figures import KINDS, Request, caption
    >>> print(caption(KINDS["spy"], Request(pt.build(pt.chain(10)), ("crbm",))).strip())
    Blocks after all steps, for chain_10: 10 bodies, 10 freedoms. In numbers: crbm fills in 90
    blocks (315 entries), and 30 of its pivots wait for one another.
    """
    what = kind.what.partition(";")[0].partition(":")[0].partition(" (")[0]
    steps = "all steps" if request.step is None else f"{request.step} steps"
    if request.step is not None and kind.name in ONE and "step K" not in what:
        what += f", after {steps}"
    what = what.replace("step K", steps)
    if kind.name == "matrix":
        from .typeset import crowded

        look = request.look
        if crowded(request.symbolic, request.step, look["width"], look["style"]):
            what += ", symbols that have no room left out"
    measured = kind.name not in STRUCTURE
    format = f", in {request.format}" if measured else ""
    first = f"{what[0].upper()}{what[1:]}, for {request.about}{format}."
    if measured:
        numbers = _measured(request) or _structure(request, request.affordable())
    elif kind.name in ONE:
        in_all = "" if request.step is None else "in the end "
        numbers = [in_all + _filled(request.symbolic)]
    else:
        numbers = [_filled(symbolic) for symbolic in request.symbolics]
        if kind.name == "curves":
            names = [symbolic.plan.sequence.name for symbolic in request.symbolics]
            tapes = [request.memory.get(("tape", name)) for name in names]
            numbers = [
                told if tape is None else f"{told} and takes {tape.flops:,} operations"
                for told, tape in zip(numbers, tapes, strict=True)
            ]
    return f"{first} In numbers: {'; '.join(numbers)}.\n"


def _structure(request: Request, orders: tuple[str, ...]) -> list[str]:
    return [_filled(request.factor(name)) for name in orders]


def _filled(symbolic: SymbolicFactor) -> str:
    """What an order fills in and costs, on structure alone."""
    blocks = symbolic.fill_blocks
    name, height = symbolic.plan.sequence.name, symbolic.height
    return (
        f"{name} fills in {blocks:,} block{'s' if blocks != 1 else ''} "
        f"({symbolic.fill_entries:,} entries), and {height:,} of its pivots wait for one another"
    )


def _measured(request: Request) -> list[str]:
    """The numbers that the figure has just measured, order by order; none where it kept none."""
    told: list[str] = []
    for key, value in request.memory.items():
        if key[0] == "rows":
            told += [_row(row) for row in value if row["format"] == request.format]
        elif key[0] == "run":
            told.append(_pivots(key[1], value))
        elif key[0] == "held":
            told.append(_bits(key[1], value))
        elif key[0] == "loss":
            worst = float(value.digits.max(initial=0.0))
            told.append(f"{key[1]} loses up to {worst:.1f} digits on a block")
        elif key[0] == "instances":
            told += _instances(value)
        elif key[0] == "placements":
            told += _placed(value)
    return told


def _row(row: dict[str, Any]) -> str:
    if row["digits"] is None:
        return f"{row['order']} gives no answer"
    return f"{row['order']} keeps {row['digits']:.1f} digits with {row['flops']:,} operations"


def _pivots(order: str, result: Elimination) -> str:
    errors = [step.pivot_error for step in result.steps if step.pivot_error is not None]
    return f"pivots of {order} are off by up to {max(errors, default=0.0):.1e}"


def _bits(order: str, result: Elimination) -> str:
    seen = [step.against for step in result.steps if step.against is not None]
    return (
        f"a sum of {order} cancels up to {max((s.order for s in seen), default=0)} bits in exact "
        f"arithmetic, and {sum(s.residues for s in seen)} sums that are zero leave rounding behind"
    )


def _instances(found: Any) -> list[str]:
    errors: dict[str, list[float]] = {}
    for one in found:
        if one.error is not None:
            errors.setdefault(one.order, []).append(one.error)
    return [f"{order} is off by up to {max(seen):.1e}" for order, seen in errors.items()]


def _placed(found: Any) -> list[str]:
    """Of each order the median error at the largest and at the least compliance that it takes."""
    told = []
    for order in dict.fromkeys(one.order for one in found):
        mine = [one for one in found if one.order == order and one.errors]
        ends = [
            f"{'no answer' if not one.answers else f'{median(one.answers):.0e}'} at {one.compliance:g}"
            for one in (mine[0], mine[-1])
        ]
        told.append(f"the median error of {order} is {ends[0]} and {ends[1]}")
    return told
