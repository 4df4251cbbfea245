"""A verdict on an answer, and what the engine says of an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from pivotree import kkt, orderings
from pivotree.kkt import PivotreeError


@dataclass(frozen=True)
class Verdict:
    """One sentence on an answer; ``right`` is None while there is none."""

    right: bool | None
    sentence: str

    def __str__(self) -> str:
        head = {None: "No answer yet", True: "Right", False: "Not yet"}[self.right]
        return f"**{head}.** {self.sentence}"

    _repr_markdown_ = __str__


def check(what: str) -> Callable[[Callable[..., Verdict]], Callable[..., Verdict]]:
    """No answer, or one that the engine refuses, is told in a sentence; ``what`` is asked for."""

    def mark(function: Callable[..., Verdict]) -> Callable[..., Verdict]:
        @wraps(function)
        def told(*answer: Any) -> Verdict:
            if answer[-1] is None:
                return Verdict(None, f"In the place of None, give {what}.")
            try:
                return function(*answer)
            except PivotreeError as error:
                return Verdict(False, f"The engine refuses it: {error}.")
            except (TypeError, ValueError, KeyError, AttributeError):
                return Verdict(False, f"{answer[-1]!r} is not what is asked for; give {what}.")

        return told

    return mark


def factor(order: Any, tree: Any) -> kkt.SymbolicFactor:
    """Structure of the factor: fill, height."""
    if isinstance(order, str):
        order = orderings.get(order)
    return kkt.symbolic(kkt.plan(order, kkt.build(tree).structure))


def operations(order: Any, tree: Any) -> int:
    """Scalar operations for qdd."""
    if isinstance(order, str):
        order = orderings.get(order)
    return kkt.trace(kkt.build(tree), order).flops


def solves(order: Any, tree: Any) -> None:
    """Raises where an order does not give qdd in float64, certified, to ten digits."""
    system = kkt.build(tree)
    result = kkt.eliminate(system, order, "float64", records=False)
    if result.failed_at or kkt.certify(system, 20).error(result.qdd) > 1e-10:
        raise kkt.OrderError("it does not give qdd to ten digits in float64")


def last_pivot(result: kkt.Elimination, body: Any) -> Any:
    """D_k: the pivot of qdd_k, the last one of the step that eliminates it."""
    (step,) = (s for s in result.steps if ("qdd", body) in s.blocks)
    return step.pivots[-1]


def names(blocks: Iterable[Any]) -> set[str]:
    """Blocks as texts: ("pdd", "j1") is "pdd_j1"."""
    return {f"{kind}_{body}" for kind, body in blocks}


def listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts)) or "none"
