"""A traced order, read in many states at a time: answers, errors, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Block, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.proof.longer import longer_name
from pivotree.kkt.proof.many_residuals import Equations
from pivotree.kkt.proof.marks import Said, blocks_of, said
from pivotree.kkt.tape.batch import answers
from pivotree.kkt.tape.inputs import pivot_rows
from pivotree.kkt.tape.run import first_bad
from pivotree.kkt.tape.tape import Tape

NO_NUMBER = "qdd: overflow or not a number"
Floats = NDArray[np.float64]
Rows = tuple[tuple[int, tuple[int, ...]], ...]  # bodies, and rows of S that split their forces


class Answers(NamedTuple):
    """Of an order in a format, in k states."""

    qdd: NDArray  # (k, N)
    pivots: NDArray  # (k, P)
    errors: Floats  # (k,) against a reference
    left: Floats  # (k,) backward errors in (4), normwise
    said: list[Said]


class Order:
    """A traced order, with the slots that every run writes and reads, found once."""

    def __init__(self, tape: Tape, system: System) -> None:
        self.tape = tape
        self.others: dict[Rows, Order] = {}  # of the same order, where joints have turned
        self.qdd = qdd_slots(tape, system)
        every = [
            [tape.solution[Block(x, b)][:, 0] for b in system.tree.names] for x in ("pdd", "f")
        ]
        pdd, f = map(np.concatenate, every)
        self.wanted = (self.qdd, tape.pivot_places[2], pdd, f)
        slots = [np.asarray(getattr(tape.inputs, letter)) for letter in LETTERS]
        slots[0] = np.triu(slots[0])  # M is symmetric
        self.takes = [array > 1 for array in slots]
        self.places = np.concatenate(
            [array[take] for array, take in zip(slots, self.takes, strict=True)]
        )

    @property
    def size(self) -> int:
        return self.tape.length + self.tape.slots

    @cached_property
    def costs(self) -> dict[str, int]:
        """What it costs on this pattern, whatever the numbers."""
        factor = self.tape.program.symbolic
        assert factor is not None
        return {
            "flops": self.tape.flops,
            "fill": factor.fill_blocks,
            "fill_entries": factor.fill_entries,
            "height": factor.height,
        }

    def values(self, system: System) -> NDArray:
        """The entries of (4) as the tape reads them, in float64."""
        entries = (getattr(system.entries, letter) for letter in LETTERS)
        return np.concatenate([x[take] for x, take in zip(entries, self.takes, strict=True)])

    def values_of(self, entries: Entries) -> NDArray:
        """The same of m states, m in front."""
        arrays = (getattr(entries, letter) for letter in LETTERS)
        return np.concatenate([x[:, t] for x, t in zip(arrays, self.takes, strict=True)], axis=1)

    def turned(self, S: NDArray) -> list[Rows]:
        """Where joints of m states, S (m, N, 6), have turned too far for the tape.

        The bodies, and the rows of S that their forces are split by then; empty where it fits.
        """
        factor, inputs = self.tape.program.symbolic, self.tape.inputs
        if factor is None or not factor.plan.along_the_joint:
            return [()] * len(S)
        spans = [slice(*inputs.offset[k : k + 2]) for k in range(len(inputs.names))]
        moving = [k for k, own in enumerate(inputs.subspaces) if (S[:, spans[k]] != own.T).any()]
        rows = ([(k, pivot_rows(one[spans[k]].T)) for k in moving] for one in S)
        return [tuple((k, r) for k, r in own if r != inputs.pivot_rows(k)) for own in rows]

    def pairs(self, values: NDArray) -> NDArray:
        """(m, N) qdd of m states' values (m, p) in double-double, as high + low i."""
        return answers(
            self.tape, get_format("dd"), self.places, np.asarray(values, dtype=float), self.qdd
        )

    def answers(
        self,
        chosen: Format,
        values: NDArray,
        equations: Equations,
        here: NDArray[np.int64],
        errors_of: Callable[[NDArray], Floats],
    ) -> Answers:
        """Answers in k states of ``equations`` that are named ``here`` (k,), and what is said.

        ``values`` (k, p) are theirs, in float64; ``errors_of`` gives (k,) errors of qdd (k, N).
        """
        values = chosen.cast(values)
        found = answers(self.tape, chosen, self.places, values, np.concatenate(self.wanted))
        ends = np.cumsum([len(slots) for slots in self.wanted])[:-1]
        qdd, pivots, pdd, f = np.split(found, ends, axis=1)
        sound = np.isfinite(qdd).all(axis=1) & np.isfinite(pivots).all(axis=1)
        sound &= (pivots != 0).all(axis=1)
        with np.errstate(all="ignore"):
            errors = errors_of(qdd)
            left = equations.backward_errors(here, pdd, qdd, f)
        held = np.flatnonzero(sound)

        def longer(some: NDArray[np.int64]) -> NDArray:
            format, data = get_format(longer_name(chosen)), values[held[some]].astype(float)
            return answers(self.tape, format, self.places, data, self.wanted[1])

        told = [Said(NO_NUMBER)] * len(values)
        of_held = said(self.tape, chosen, errors[held], left[held], pivots[held], longer)
        for i, one in zip(held.tolist(), of_held, strict=True):
            told[i] = one
        for i in np.flatnonzero(~sound).tolist():
            told[i] = Said(first_bad(self.tape, blocks_of(self.tape, pivots[i])) or NO_NUMBER)
        return Answers(qdd, pivots, errors, left, told)


def qdd_slots(tape: Tape, system: System) -> NDArray[np.int64]:
    """(N,) signed slots of the joint accelerations, bodies in the tree's order."""
    tree = system.tree
    moving = [name for name, dof in zip(tree.names, tree.dof, strict=True) if dof]
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(tape.solution[Block("qdd", name)][:, 0] for name in moving)])
