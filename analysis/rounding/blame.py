"""Blame: which operations, pivots and bodies caused the error of an order in a number format.

The contribution of an operation is its exact local rounding error times the adjoint of the output,
with derivatives taken halfway between the run and a shadow of at least twice the digits, so that
contributions add up to the whole error and not to its first order (docs/rounding.md).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import Block, Matrix, OrderError, PivotreeError, SingularError, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.objects import column
from pivotree.kkt.base.foreign import is_whole
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.readers import Bodies, step_bodies
from pivotree.kkt.proof.soundness import by_chance
from pivotree.kkt.rounding.contributions import Linearised, linearised
from pivotree.kkt.solution.matrix import tape_of
from pivotree.kkt.tape.tape import Tape
from pivotree.kkt.tape.trace import entries_of

from ..comparison.row import REFERENCE_DIGITS
from ..states.sample import require_joints
from ..states.traced import FIELDS, Pair, TracedOrder
from .formulas import Formulas
from .text import Blame, Culprit

TOP = 10
CANDIDATES = 60  # blocks whose entries are told apart


def blame(
    system: System | Matrix,
    order: str | Callable[..., Any] | Tape,
    format: str | Format = "float32",
    output: Hashable | None = None,
    *,
    quantity: str = "qdd",
    top: int = TOP,
    progress: Callable[[str], None] = lambda step: None,
) -> Blame:
    """Blame operations, pivots and bodies for the error of an order in a format.

    Of a :func:`pivotree.matrix` the ``output`` is a block's x, "NAME" or "NAME[j]", and there are no bodies.

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
        raise PivotreeError("top", f"{top!r} culprits cannot be named", "give at least 1")
    progress("tracing")
    traced, proof = _traced(system, order, quantity)
    tape = traced.tape
    progress(f"{tape.program.name} in {chosen.name}, and its shadow")
    pair = linearised(tape, system.entries, chosen, given=traced.given(system))
    progress("certified answer")
    exact = proof.certified(system, REFERENCE_DIGITS, chosen)
    data = proof.certified(system, REFERENCE_DIGITS)
    if not isinstance(system, Matrix) and (chance := by_chance(system, data.high)) is not None:
        raise SingularError(system.name, chance)
    answers = _Answers(system, traced, pair, exact, data)
    which = None if output is None else answers.find(output)
    progress("adjoints")
    bad = _first_bad(pair)
    if bad is not None:
        if not _sound(pair.shadowed(bad[2])) and pair.shadow != "dd":
            pair = answers.pair = linearised(tape, system.entries, chosen, "dd", traced.given(system))
        return _of_pivot(system, answers, bad, chosen, which, top)
    return _of_output(system, answers, which, chosen, top)


class TracedMatrix:
    """An order on a matrix of one's own, as a :class:`TracedOrder` is one on a robot."""

    quantity = "qdd"

    def __init__(self, system: Matrix, order: Any) -> None:
        self.tape: Tape = tape_of(system, order)
        self.beside: tuple[str, ...] = system.letters
        self.answer: NDArray[np.int64] = system.slots(self.tape)

    def given(self, system: Matrix) -> dict[str, NDArray[Any]]:
        return {"beside": system.numbers}

    def certified(self, system: Matrix, digits: int, rounded_to: Format | None = None) -> Pair:
        proof = kkt.certify(system, digits, rounded_to=rounded_to, order=self.tape)
        return Pair.of_balls(column(proof.qdd), proof.bits)


def _traced(system: Any, order: Any, quantity: str) -> tuple[Any, Any]:
    """The order that is blamed, and the one that the answer is certified by."""
    if isinstance(system, Matrix):
        if quantity != "qdd":
            raise PivotreeError(f"quantity {quantity!r}", "a matrix has x alone", "leave it out")
        own = TracedMatrix(system, order)
        return own, own
    base = order if isinstance(order, Tape) else kkt.trace(system, order)
    base.require(system)
    require_joints(system)
    proof = kkt.trace(system, orderings.get("abm"))
    return TracedOrder(base, system, quantity), TracedOrder(proof, system, quantity)


class _Answers:
    """The joint accelerations that were computed, or derivatives, beside the certified ones."""

    def __init__(self, system: Any, order: Any, pair: Linearised, exact: Pair, data: Pair) -> None:
        self.tape, self.pair, self.beside = order.tape, pair, order.beside
        freedoms = system.unknowns if isinstance(system, Matrix) else system.tree.freedom_names
        judged = slice(None)  # of derivatives without qdd
        self.labels = freedoms if isinstance(system, Matrix) else [f"qdd_{name}" for name in freedoms]
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
        for text in (f"{kind}{output}{j}" for kind in ("qdd_", "x_", "") for j in ("", "[0]")):
            if text in self.labels:
                return self.labels.index(text)
        known = ", ".join(label.removeprefix("qdd_") for label in self.labels[:4])
        if self.matrices:
            raise OrderError(
                f"output {str(output)!r}",
                "is no derivative here",
                f"use {', '.join(self.matrices)}, or an entry of one, row and column, such as {known}",
            )
        wanted = "joint acceleration here; use a body, or BODY[j] if it has several freedoms"
        if not self.tape.inputs.names:
            wanted = "block here; use a block's name, or NAME[j] if it has several rows"
        raise OrderError(f"output {str(output)!r}", f"is no {wanted}, such as {known}")

    def worst(self, start: int = 0, size: int | None = None) -> int:
        own = self.errors[start:][:size]
        return start + int(np.argmax(np.abs(np.nan_to_num(own, nan=np.inf, posinf=np.inf))))


def _sizes(pair: Pair) -> np.ndarray:
    """(outputs,) the largest number of each one's row; 1 where all are zero."""
    size = np.where(pair.sizes > 0.0, pair.sizes, 1.0)
    return np.broadcast_to(size, pair.high.shape).ravel()


def _of_output(system: Any, answers: _Answers, which: int | None, chosen: Format, top: int) -> Blame:
    j = answers.worst() if which is None else which
    true = float(answers.errors[j])
    found = answers.pair.swept({answers.slots[j]: 1.0}, keep=False)[0]
    found /= answers.scale[j]
    total = float(found.sum())
    why: str | None = None
    if not np.isfinite(true):
        why = "the output overflows; the first operation that does is named"
        found = _first_overflow(answers.pair)
    elif not np.isfinite(total):
        why = "an intermediate result is not a number"
    elif true == 0.0:
        why, found, total = "the output is exact", np.zeros_like(found), 0.0
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
    system: Any,
    answers: _Answers,
    bad: tuple[Block, int, int, float],
    chosen: Format,
    which: int | None,
    top: int,
) -> Blame:
    """Blame for a pivot that vanished: its own value against its shadow's."""
    block, step, slot, value = bad
    true = answers.errors[answers.worst() if which is None else which]
    found = answers.pair.swept({slot: 1.0}, keep=False)[0]
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
    system: Any, answers: _Answers, chosen: Format, output: str, found: np.ndarray, top: int, **errors: Any
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


class Culprits:
    """One error's contributions (operations of the tape,), in shares of their sum."""

    def __init__(self, tape: Tape, contributions: NDArray[np.float64], beside: tuple[str, ...] = ()) -> None:
        """``beside`` are the names of inputs that are not in (4)."""
        self.tape: Tape = tape
        self.program: Program = tape.program
        total = float(contributions.sum())
        self.shares: NDArray[np.float64] = contributions / total if total else contributions
        self.formulas: Formulas = Formulas(self.program, tape.inputs.names, tape.inputs.parent, beside)
        robot = bool(tape.inputs.names)
        self.outside = "dr - dK x, between the passes" if beside and robot else "before the first pivot"

    # -- where operations belong --------------------------------------------------------------

    @cached_property
    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Starts of runs of one instruction and step; their instruction and step (runs,)."""
        first = self.tape.first
        begin = np.unique(first[:-1][first[1:] > first[:-1]])
        steps: list[NDArray[Any]] = []
        marks = [begin]
        at = 0
        for chunk in self.tape.chunks():
            marks.append(at + 1 + np.flatnonzero(np.diff(chunk.step)))
            steps.append(chunk.step)
            at += len(chunk)
        starts = np.unique(np.concatenate(marks))
        step = np.concatenate([*steps, np.zeros(0, dtype=np.int32)])[starts]
        instruction = np.searchsorted(first, starts, side="right") - 1
        return starts, instruction.astype(np.int64), step.astype(np.int64)

    @cached_property
    def _by_run(self) -> NDArray[np.float64]:
        starts = self._runs[0]
        return np.add.reduceat(self.shares, starts) if len(starts) else np.zeros(0)

    @cached_property
    def _body_of_run(self) -> NDArray[np.int64]:
        _, instruction, step = self._runs
        return Bodies(self.program, self.tape.inputs.parent).of(instruction, step)

    def pivot(self, step: int) -> str | None:
        if step < 0:
            return None
        blocks = [str(b) for r in self.program.pivots if r.step == step for b in r.blocks]
        shown = blocks if len(blocks) <= 4 else [*blocks[:2], "...", blocks[-1]]
        return f"({' '.join(shown)})"

    def name(self, body: int) -> Hashable:
        names = self.tape.inputs.names
        return names[body] if body >= 0 and names else None

    # -- sums ---------------------------------------------------------------------------------

    def pivots(self, count: int) -> tuple[Culprit, ...]:
        """Shares of whole steps, forward and backward."""
        _, _, step = self._runs
        sums = np.bincount(step + 1, weights=self._by_run, minlength=self.program.groups + 1)
        own = step_bodies(self.program)
        return tuple(
            self._culprit(self.pivot(g) or self.outside, g, int(own[g]) if g >= 0 else -1, float(sums[g + 1]))
            for g in (_largest(sums, count) - 1).tolist()
        )

    def bodies(self, count: int) -> tuple[Culprit, ...]:
        if not self.tape.inputs.names:  # a matrix has none
            return ()
        body = self._body_of_run
        sums = np.bincount(body + 1, weights=self._by_run, minlength=1)
        return tuple(
            self._culprit(str(self.name(k)), -1, k, float(sums[k + 1]))
            for k in (_largest(sums, count) - 1).tolist()
        )

    def blocks(self, count: int) -> tuple[Culprit, ...]:
        """Shares of whole block instructions."""
        largest = _largest(self._by_run, count).tolist()
        return tuple(self._of_run(k, None, float(self._by_run[k])) for k in largest)

    def top(self, count: int) -> tuple[Culprit, ...]:
        """Shares of single entries of block instructions, the largest first."""
        starts, instruction, _ = self._runs
        candidates = _largest(self._by_run, max(CANDIDATES, 2 * count)).tolist()
        entries = entries_of(self.tape, {int(instruction[k]) for k in candidates})
        ends = np.append(starts[1:], self.tape.length)
        found: list[tuple[float, int, tuple[int, int] | None]] = []
        for k in candidates:
            i, begin = int(instruction[k]), int(starts[k])
            inside = slice(begin - int(self.tape.first[i]), int(ends[k]) - int(self.tape.first[i]))
            entry, shares = entries[i][inside], self.shares[begin : ends[k]]
            code, inverse = np.unique(entry, axis=0, return_inverse=True)
            for e, share in zip(code.tolist(), np.bincount(inverse.ravel(), shares), strict=True):
                where = (e[0] + 1, e[1] + 1) if e[0] >= 0 else None
                found.append((float(share), k, where))
        found.sort(key=lambda item: -abs(item[0]))
        return tuple(self._of_run(k, entry, share) for share, k, entry in found[:count] if share != 0.0)

    def _of_run(self, run: int, entry: tuple[int, int] | None, share: float) -> Culprit:
        _, instruction, step = self._runs
        formula = self.formulas.instruction(int(instruction[run]))
        return self._culprit(formula, int(step[run]), int(self._body_of_run[run]), share, entry)

    def _culprit(
        self, formula: str, step: int, body: int, share: float, entry: tuple[int, int] | None = None
    ) -> Culprit:
        """Of a step and a body; -1 for none."""
        number = step + 1 if step >= 0 else None
        return Culprit(formula, self.pivot(step), number, self.name(body), entry, share)


def _largest(sums: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Indices of the largest magnitudes that are not zero, the largest first."""
    order = np.argsort(-np.abs(sums), kind="stable")[:count]
    return order[sums[order] != 0.0]
