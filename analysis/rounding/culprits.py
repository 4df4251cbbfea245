"""Contributions of operations, summed by formula entry, block, pivot and body."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.program.program import run_bodies, step_bodies
from pivotree.kkt.tape.tape import Tape
from pivotree.kkt.tape.trace import entries_of

from .formulas import Formulas

CANDIDATES = 60  # blocks whose entries are told apart


@dataclass(frozen=True)
class Culprit:
    """Operations that belong together, and their share of the error."""

    formula: str  # what they compute; for a pivot or a body, its name
    pivot: str | None  # blocks of the step
    step: int | None  # 1-based
    body: Hashable
    entry: tuple[int, int] | None  # of the result, 1-based
    share: float  # of the explained error, signed; shares of all operations add up to 1

    def as_dict(self) -> dict[str, object]:
        body = self.body if isinstance(self.body, int | str) or self.body is None else str(self.body)
        return {
            "formula": self.formula,
            "pivot": self.pivot,
            "step": self.step,
            "body": body,
            "entry": None if self.entry is None else list(self.entry),
            "share": self.share,
        }


class Culprits:
    """One error's contributions (operations of the tape,), in shares of their sum."""

    def __init__(self, tape: Tape, contributions: NDArray[np.float64], beside: tuple[str, ...] = ()) -> None:
        """``beside`` are the names of inputs that are not in (4)."""
        self.tape, self.program = tape, tape.program
        total = float(contributions.sum())
        self.shares = contributions / total if total else contributions
        self.formulas = Formulas(self.program, tape.inputs.names, tape.inputs.parent, beside)
        self.outside = "dr - dK x, between the passes" if beside else "before the first pivot"

    # -- where operations belong --------------------------------------------------------------

    @cached_property
    def _runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Starts of runs of one instruction and step; their instruction and step (runs,)."""
        first = self.tape.first
        begin = np.unique(first[:-1][first[1:] > first[:-1]])
        steps: list[NDArray] = []
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
        return run_bodies(self.program, self.tape.inputs.parent, instruction, step)

    def pivot(self, step: int) -> str | None:
        if step < 0:
            return None
        blocks = [str(b) for r in self.program.pivots if r.step == step for b in r.blocks]
        shown = blocks if len(blocks) <= 4 else [*blocks[:2], "...", blocks[-1]]
        return f"({' '.join(shown)})"

    def name(self, body: int) -> Hashable:
        return None if body < 0 else self.tape.inputs.names[body]

    # -- sums ---------------------------------------------------------------------------------

    def pivots(self, count: int) -> tuple[Culprit, ...]:
        """Shares of whole steps, forward and backward."""
        _, _, step = self._runs
        sums = np.bincount(step + 1, weights=self._by_run, minlength=self.program.groups + 1)
        own = step_bodies(self.program)
        return tuple(
            Culprit(
                self.pivot(g) or self.outside,
                self.pivot(g),
                g + 1 if g >= 0 else None,
                self.name(int(own[g])) if g >= 0 else None,
                None,
                float(sums[g + 1]),
            )
            for g in (_largest(sums, count) - 1).tolist()
        )

    def bodies(self, count: int) -> tuple[Culprit, ...]:
        body = self._body_of_run
        sums = np.bincount(body + 1, weights=self._by_run, minlength=1)
        return tuple(
            Culprit(str(self.name(k)), None, None, self.name(k), None, float(sums[k + 1]))
            for k in (_largest(sums, count) - 1).tolist()
        )

    def blocks(self, count: int) -> tuple[Culprit, ...]:
        """Shares of whole block instructions."""
        return tuple(
            self._culprit(int(k), None, float(self._by_run[k])) for k in _largest(self._by_run, count)
        )

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
        return tuple(self._culprit(k, entry, share) for share, k, entry in found[:count] if share != 0.0)

    def _culprit(self, run: int, entry: tuple[int, int] | None, share: float) -> Culprit:
        _, instruction, step = self._runs
        g = int(step[run])
        return Culprit(
            self.formulas.instruction(int(instruction[run])),
            self.pivot(g),
            g + 1 if g >= 0 else None,
            self.name(int(self._body_of_run[run])),
            entry,
            share,
        )


def _largest(sums: NDArray, count: int) -> NDArray[np.int64]:
    """Indices of the largest magnitudes that are not zero, the largest first."""
    order = np.argsort(-np.abs(sums), kind="stable")[:count]
    return order[sums[order] != 0.0]
