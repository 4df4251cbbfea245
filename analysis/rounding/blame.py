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
from pivotree.kkt.rounding.contributions import Linearised, linearised
from pivotree.kkt.tape.tape import Tape

from ..comparison import REFERENCE_DIGITS
from .culprits import Culprits
from .text import Blame

TOP = 10


def blame(
    system: System,
    order: str | Callable[..., Any] | Tape,
    format: str | Format = "float32",
    output: Hashable | None = None,
    *,
    top: int = TOP,
    progress: Callable[[str], None] = lambda step: None,
) -> Blame:
    """Blame operations, pivots and bodies for the error of an order in a format.

    ``output``: a body, "BODY" or "BODY[j]", one joint acceleration; the one with the largest error
    where None.  Where a pivot became zero or not a number, the error of that pivot is blamed
    instead, and ``ratio`` is None.  Raises FormatError for formats that are no rounding to a float,
    OrderError for an unknown order or output, and CertificationError for singular systems.

    >>> print(pt.blame(pt.build(pt.example3(m1=10**7.5, case=1)), "crbm").sentence)
    crbm in float32 on example3: pivot qdd_2 has lost its value. M_2 + Phi_21 M_1 Phi_21^T, ...
    """
    chosen = get_format(format)
    if top < 1:
        raise PivotreeError(f"top: {top} culprits cannot be named; give at least 1")
    if isinstance(order, str):
        order = orderings.get(order)
    progress("tracing")
    tape = order if isinstance(order, Tape) else kkt.trace(system, order)
    tape.require(system)
    progress(f"{tape.program.name} in {chosen.name}, and its shadow")
    pair = linearised(tape, system.entries, chosen)
    progress("certified answer")
    exact = kkt.certify(system, REFERENCE_DIGITS, rounded_to=chosen)
    data = kkt.certify(system, REFERENCE_DIGITS)
    answers = _Answers(system, tape, pair, exact, data)
    which = None if output is None else answers.find(output)
    progress("adjoints")
    bad = _first_bad(pair)
    if bad is not None:
        if not _sound(pair.shadowed(bad[2])) and pair.shadow != "dd":
            pair = answers.pair = linearised(tape, system.entries, chosen, "dd")
        return _of_pivot(system, answers, bad, chosen, which, top)
    return _of_output(system, answers, which, chosen, top)


class _Answers:
    """The joint accelerations that were computed, beside the certified ones."""

    def __init__(
        self,
        system: System,
        tape: Tape,
        pair: Linearised,
        exact: kkt.Certified,
        data: kkt.Certified,
    ) -> None:
        self.tape, self.pair = tape, pair
        self.labels: list[str] = []
        self.slots: list[int] = []
        for block in exact.blocks:
            slots = tape.solution[block][:, 0].tolist()
            self.slots += slots
            several = len(slots) > 1
            self.labels += [f"{block}[{j}]" if several else str(block) for j in range(len(slots))]
        if not self.slots:
            raise OrderError(f"{system.name}: has no degree of freedom, so that nothing is blamed")
        computed = np.array([pair.output(slot) for slot in self.slots])
        #: (N,) computed minus certified, over max |certified|
        self.errors = exact.differences(computed) / exact.largest
        #: (N,) what the rounding of the data does
        self.data = np.abs(data.differences(exact.qdd) / data.largest)
        self.scale = exact.largest

    def find(self, output: Hashable) -> int:
        """The place of "BODY" or "BODY[j]"."""
        for text in (f"qdd_{output}", f"qdd_{output}[0]", str(output), f"{output}[0]"):
            if text in self.labels:
                return self.labels.index(text)
        known = [label.removeprefix("qdd_") for label in self.labels]
        raise OrderError(
            f"output {str(output)!r}: is no joint acceleration here; use a body, or BODY[j] if it "
            f"has several freedoms, such as {', '.join(known[:4])}"
        )

    def worst(self) -> int:
        return int(np.argmax(np.abs(np.nan_to_num(self.errors, nan=np.inf, posinf=np.inf))))


def _of_output(
    system: System, answers: _Answers, which: int | None, chosen: Format, top: int
) -> Blame:
    j = answers.worst() if which is None else which
    true = float(answers.errors[j])
    found = answers.pair.contributions({answers.slots[j]: 1.0}, keep=False)
    found /= answers.scale
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
        system, answers, chosen, answers.labels[j], found, top,
        true_error=abs(true) if np.isfinite(true) else None,
        explained=explained if np.isfinite(explained) else None,
        ratio=None if why else explained / abs(true),
        why=why,
        input_rounding=float(answers.data[j]),
    )  # fmt: skip


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
        system, answers, chosen, f"pivot {block}", found / scale, top,
        true_error=float(abs(true)) if np.isfinite(true) else None,
        explained=None,
        ratio=None,
        why=why,
        input_rounding=None if which is None else float(answers.data[which]),
    )  # fmt: skip


def _told(
    system: System,
    answers: _Answers,
    chosen: Format,
    output: str,
    found: np.ndarray,
    top: int,
    **errors: Any,
) -> Blame:
    culprits = Culprits(answers.tape, np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0))
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
