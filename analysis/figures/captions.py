"""Captions: what a figure shows, and its numbers, in sentences to paste."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pivotree.kkt import SymbolicFactor

if TYPE_CHECKING:
    from .kinds import Kind, Request


def caption(kind: Kind, request: Request) -> str:
    """What the figure shows of which robot, and the numbers that it was made of.

    Raises what the orders raise on this robot.

    >>> from pivotree.analysis.figures import KINDS, Request, caption
    >>> print(caption(KINDS["spy"], Request(pt.build(pt.chain(10)), ("crbm",))).strip())
    Blocks of the system matrix of chain_10 (10 bodies, 10 freedoms) after elimination by CRBM.
    CRBM fills in 90 blocks (315 entries); its longest chain of dependent pivots has 30 blocks.
    """
    model, dof = request.about.split(": ", 1)
    what = kind.what.replace("{", "{{").replace("}", "}}")
    others = (f"{what}, for {{model}}", _fills if len(request.orders) > 1 else _filled)
    first, numbers = _SAID.get(kind.name, others)
    order = request.named(request.symbolic.plan.sequence.name) if "{order}" in first else ""
    said = first.format(model=f"{model} ({dof})", order=order, steps=_steps(request), format=request.format)
    return f"{said[0].upper()}{said[1:]}.\n{numbers(request)}.\n"


def _steps(request: Request) -> str:
    """When in the elimination: at its end, or after some of its brackets."""
    if request.step is None:
        return "after elimination"
    groups = request.symbolic.plan.groups
    return f"after {request.step} of {groups} bracket{'s' if groups != 1 else ''} eliminated"


def _listed(texts: Iterable[str]) -> str:
    """One, two and three."""
    *most, last = [*texts] or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _filled(request: Request) -> str:
    """What the one order of a figure fills in, on structure alone."""
    symbolic: SymbolicFactor = request.symbolic
    name, blocks = request.named(symbolic.plan.sequence.name), _count(symbolic.fill_blocks, "block")
    return (
        f"{'' if request.step is None else 'In the end, '}{name} fills in {blocks} "
        f"({symbolic.fill_entries:,} entries); its longest chain of dependent pivots has "
        f"{_count(symbolic.height, 'block')}"
    )


def _fills(request: Request) -> str:
    said = (
        f"{_count(one.fill_blocks, 'block')} with {request.named(one.plan.sequence.name)}"
        for one in request.symbolics
    )
    return f"Fill: {_listed(said)}"


def _kept(request: Request, *keys: str) -> list[Any]:
    """What the figure has just measured under these names."""
    return [(key, value) for key, value in request.memory.items() if key[0] in keys]


def _rows(request: Request) -> list[dict[str, Any]]:
    return [row for _, rows in _kept(request, "rows") for row in rows if row["format"] == request.format]


def _digits(request: Request) -> str:
    def said(row: dict[str, Any]) -> str:
        name = request.named(row["order"])
        return (
            f"{name} gives no answer" if row["digits"] is None else f"{name} keeps {row['digits']:.1f} digits"
        )

    return f"In {request.format}, {_listed(map(said, _rows(request)))}"


def _pivots(request: Request) -> str:
    worst = (
        (name, max((s.pivot_error for s in result.steps if s.pivot_error is not None), default=0.0))
        for (_, name, *_), result in _kept(request, "run")
    )
    return f"The largest error: {_listed(f'{x:.1e} with {request.named(name)}' for name, x in worst)}"


_QDD = "the joint accelerations of {model}"
_SAID: dict[str, tuple[str, Callable[[Request], str]]] = {
    "spy": ("blocks of the system matrix of {model} {steps} by {order}", _filled),
    "before-after": (
        "blocks of the system matrix of {model} before and after elimination by {order}",
        _filled,
    ),
    "film": ("stages of the elimination of the system matrix of {model} by {order}", _filled),
    "orders": ("blocks of the system matrix of {model} after elimination by several orders", _fills),
    "pivots": ("relative errors of the pivots for {model} in {format}, step by step", _pivots),
    "digits": (f"correct decimal digits of {_QDD}", _digits),
}
