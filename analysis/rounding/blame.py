"""Blame: which operations, pivots and bodies caused the error of an order in a number format.

The contribution of an operation is its exact local rounding error times the adjoint of the output,
with derivatives taken halfway between the run and a shadow of at least twice the digits, so that
contributions add up to the whole error and not to its first order (docs/rounding.md).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import Block, OrderError, PivotreeError, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.foreign import is_whole
from pivotree.kkt.tape.tape import Tape

from ..comparison import REFERENCE_DIGITS
from ..states.traced import FIELDS, Pair, TracedOrder
from .contributions import Linearised, linearised
from .culprits import Culprits
from .text import Blame

TOP = 10


def blame(
    system: System,
    order: str | Callable[..., Any] | Tape,
    format: str | Format = "float32",
    output: Hashable | None = None,
    *,
    quantity: str = "qdd",
    top: int = TOP,
    progress: Callable[[str], None] = lambda step: None,
) -> Blame:
    """Blame operations, pivots and bodies for the error of an order in a format.

    ``output``: a body, "BODY" or "BODY[j]", one joint acceleration; the one with the largest error
    where None.  With the ``quantity`` "derivatives" it is an entry of d qdd / dq, dqd or dtau, such
    as "dq[BODY,BODY]", row and column, each error relative to the largest entry of its matrix; or
    a matrix, such as "dq", of which it is the worst entry.

    Where a pivot became zero or not a number, the error of that pivot is blamed instead, and
    ``ratio`` is None.  Raises FormatError for formats that are no rounding to a float, OrderError
    for an unknown order or output, and CertificationError for singular systems.

    >>> print(pt.blame(pt.build(pt.example3(m1=10**7.5, case=1)), "crbm").sentence)
    crbm in float32 on example3: pivot qdd_2 has lost its value. M_2 + Phi_21 M_1 Phi_21^T, ...
    """
    chosen = get_format(format)
    if not is_whole(top, 1):
        raise PivotreeError(f"top: {top!r} culprits cannot be named; give at least 1")
    progress("tracing")
    base = order if isinstance(order, Tape) else kkt.trace(system, order)
    base.require(system)
    traced = TracedOrder(base, system, quantity)
    tape = traced.tape
    progress(f"{tape.program.name} in {chosen.name}, and its shadow")
    pair = linearised(tape, system.entries, chosen, given=traced.given(system))
    progress("certified answer")
    proof = TracedOrder(kkt.trace(system, orderings.get("abm")), system, quantity)
    exact = proof.certified(system, REFERENCE_DIGITS, chosen)
    data = proof.certified(system, REFERENCE_DIGITS)
    answers = _Answers(system, traced, pair, exact, data)
    which = None if output is None else answers.find(output)
    progress("adjoints")
    bad = _first_bad(pair)
    if bad is not None:
        if not _sound(pair.shadowed(bad[2])) and pair.shadow != "dd":
            pair = answers.pair = linearised(tape, system.entries, chosen, "dd", traced.given(system))
        return _of_pivot(system, answers, bad, chosen, which, top)
    return _of_output(system, answers, which, chosen, top)


class _Answers:
    """The joint accelerations that were computed, or derivatives, beside the certified ones."""

    def __init__(self, system: System, order: TracedOrder, pair: Linearised, exact: Pair, data: Pair) -> None:
        self.tape, self.pair, self.beside = order.tape, pair, order.beside
        freedoms = system.tree.freedom_names
        if not freedoms:
            raise OrderError(
                f"{system.name}: has no joint that moves, and so no acceleration that could lose "
                "digits; give a model with at least one"
            )
        judged = slice(None)  # of derivatives without qdd
        self.labels = [f"qdd_{name}" for name in freedoms]
        self.matrices: tuple[str, ...] = ()
        if order.quantity == "derivatives":
            judged, self.matrices = slice(1, None), FIELDS[order.quantity][1:]
            self.labels = [f"{x}[{i},{j}]" for x in self.matrices for i in freedoms for j in freedoms]
        own = order.answer[judged]
        self.slots: list[int] = own.ravel().tolist()
        computed = np.array([pair.output(slot) for slot in self.slots]).reshape(own.shape)
        right, unrounded = (x.at(judged) for x in (exact, data))
        #: (outputs,) what errors of qdd are relative to, or the largest entry of the output's own matrix
        self.scale = _sizes(right)
        #: (outputs,) computed minus certified, relative to ``scale``
        self.errors = right.differences(computed).ravel() / self.scale
        #: (outputs,) relative errors by rounding the data alone
        self.data = np.abs(unrounded.differences(right.high, right.low).ravel() / _sizes(unrounded))

    def find(self, output: Hashable) -> int:
        """The place of "BODY" or "BODY[j]"; of "dq", the worst one there, or of "dq[BODY,BODY]"."""
        if output in self.matrices:
            size = len(self.labels) // len(self.matrices)
            return self.worst(self.matrices.index(str(output)) * size, size)
        for text in (f"qdd_{output}", f"qdd_{output}[0]", str(output), f"{output}[0]"):
            if text in self.labels:
                return self.labels.index(text)
        known = ", ".join(label.removeprefix("qdd_") for label in self.labels[:4])
        if self.matrices:
            raise OrderError(
                f"output {str(output)!r}: is no derivative here; use {', '.join(self.matrices)}, "
                f"or an entry of one, row and column, such as {known}"
            )
        raise OrderError(
            f"output {str(output)!r}: is no joint acceleration here; use a body, or BODY[j] if it "
            f"has several freedoms, such as {known}"
        )

    def worst(self, start: int = 0, size: int | None = None) -> int:
        own = self.errors[start:][:size]
        return start + int(np.argmax(np.abs(np.nan_to_num(own, nan=np.inf, posinf=np.inf))))


def _sizes(pair: Pair) -> np.ndarray:
    """(outputs,) the largest number of each one's row; 1 where all are zero."""
    size = np.where(pair.sizes > 0.0, pair.sizes, 1.0)
    return np.broadcast_to(size, pair.high.shape).ravel()


def _of_output(system: System, answers: _Answers, which: int | None, chosen: Format, top: int) -> Blame:
    j = answers.worst() if which is None else which
    true = float(answers.errors[j])
    found = answers.pair.contributions({answers.slots[j]: 1.0}, keep=False)
    found /= answers.scale[j]
    total = float(found.sum())
    why: str | None = None
    if not np.isfinite(true):
        why = "the output overflows; the first operation that does is named"
        found = _first_overflow(answers.pair)
    elif not np.isfinite(total):
        why = "an intermediate result is not a number"
    elif true == 0.0:
        why = "the output is exact"
    explained = total * (-1.0 if true < 0.0 else 1.0)
    return _told(
        system,
        answers,
        chosen,
        answers.labels[j],
        found,
        top,
        true_error=abs(true) if np.isfinite(true) else None,
        explained=explained if np.isfinite(explained) else None,
        ratio=None if why else explained / abs(true),
        why=why,
        input_rounding=float(answers.data[j]),
    )


def _first_bad(pair: Linearised) -> tuple[Block, int, int, float] | None:
    """Block, step, slot and value of the first pivot that is zero or not a number."""
    for i, slots in sorted(pair.tape.pivots.items()):
        record = pair.tape.program.pivots[i]
        for slot in slots.tolist():
            value = pair.output(slot)
            if not _sound(value):
                return record.blocks[0], record.step, slot, value
    return None


def _sound(pivot: float) -> bool:
    return pivot != 0.0 and bool(np.isfinite(pivot))


def _first_overflow(pair: Linearised) -> np.ndarray:
    """(length,) 1 for the first operation whose result is not a number, 0 for all others."""
    found = np.zeros(pair.tape.length)
    if pair.overflow is not None:
        found[pair.overflow] = 1.0
    return found


def _of_pivot(
    system: System,
    answers: _Answers,
    bad: tuple[Block, int, int, float],
    chosen: Format,
    which: int | None,
    top: int,
) -> Blame:
    """Blame for a pivot that vanished: its own value against its shadow's."""
    block, step, slot, value = bad
    true = answers.errors[answers.worst() if which is None else which]
    found = answers.pair.contributions({slot: 1.0}, keep=False)
    shadow = answers.pair.shadowed(slot)
    why = f"pivot {block} at step {step + 1} became {'zero' if value == 0.0 else 'not a number'}, "
    if np.isfinite(shadow):
        why += f"where {shadow:.3g} is right, "
    why += "so that no derivative of qdd says anything; "
    if np.isfinite(value):
        why += "the error of that pivot is blamed instead"
    else:
        why += "the first operation that overflows is named instead"
        found = _first_overflow(answers.pair)
    scale = abs(shadow) if np.isfinite(shadow) and shadow else 1.0
    return _told(
        system,
        answers,
        chosen,
        f"pivot {block}",
        found / scale,
        top,
        true_error=float(abs(true)) if np.isfinite(true) else None,
        explained=None,
        ratio=None,
        why=why,
        input_rounding=None if which is None else float(answers.data[which]),
    )


def _told(
    system: System, answers: _Answers, chosen: Format, output: str, found: np.ndarray, top: int, **errors: Any
) -> Blame:
    found = np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)
    culprits = Culprits(answers.tape, found, answers.beside)
    return Blame(
        model=system.name,
        order=answers.tape.program.name,
        format=chosen.name,
        unit=chosen.unit,
        output=output,
        top=culprits.top(top),
        blocks=culprits.blocks(top),
        pivots=culprits.pivots(top),
        bodies=culprits.bodies(top),
        shadow=answers.pair.shadow,
        where=culprits.formulas.where(),
        **errors,
    )
