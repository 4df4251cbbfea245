"""One state measured: every order in every format against its reference (:mod:`.traced`).

:mod:`pivotree.analysis.report.worst` holds the reference against certified balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.configuration import Ranges
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.proof.many_residuals import Equations

from .sample import drawn_again, system_at
from .traced import FIELDS, Pair, TracedOrder

Floats = NDArray[np.float64]
ONE = np.zeros(1, dtype=np.int64)  # the only state

# why a state has no answer: it counts as 0 digits, and is counted apart
OK, ZERO, NUMBER, OVERFLOW, SINGULAR = range(5)
WHY = {
    ZERO: "a pivot becomes zero, or nothing but rounding",
    NUMBER: "the result overflows or is not a number",
    OVERFLOW: "the data of equation (4) overflow the format",
    SINGULAR: "equation (4) is singular, but for rounding of the model or for its data rounded to the "
    "format, or its reference in double-double overflows",
}


@dataclass(frozen=True)
class Setup:
    """All that measuring a state needs; made once, sent to every process."""

    system: System
    ranges: Ranges
    seed: int
    orders: dict[str, TracedOrder]  # that this robot admits
    proof: TracedOrder  # of the reference
    format_names: tuple[str, ...]

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        return tuple(get_format(name) for name in self.format_names)

    @cached_property
    def called(self) -> dict[str, str]:
        """What orders of one's own are shown as: their names, and their files where two agree."""
        own = {x: o.tape.program.name if ".py:" in x else x for x, o in self.orders.items()}
        return own if len({*own.values()}) == len(own) else {x: x for x in own}

    @property
    def quantity(self) -> str:
        return self.proof.quantity

    def head(self) -> str:
        """What is measured, and how its states are drawn, in one line."""
        bodies, dof = self.system.tree.n, int(self.system.tree.offset[-1])
        return repr((bodies, dof, self.seed, self.quantity, tuple(self.orders), self.format_names))

    def system_at(self, number: int) -> System:
        return system_at(self.system, self.ranges, self.seed, number)


class Measured(NamedTuple):
    """Errors in one state, relative to its largest joint acceleration; NaN where there is none.

    Derivatives: relative to each matrix's largest entry; of the three matrices the worst counts.
    """

    number: int
    error: Floats  # (orders, formats) against the exact answer for the rounded data
    total: Floats  # (orders, formats) against the exact answer for the data in float64
    data: Floats  # (formats,) of the exact answer, by rounding the data alone
    failed: NDArray[np.int8]  # (orders, formats) OK, or a key of WHY
    joints: NDArray[np.float32]  # (orders, formats, N) error of each joint, relative as above;
    #                              of derivatives its row in any of the matrices
    fields: Floats  # (orders, formats, fields) of qdd and of each matrix
    left: Floats  # (orders, formats) backward error in (4), normwise
    marked: NDArray[np.bool_]  # (orders, formats) answers that should not be relied on
    again: int = 0  # draws before it that led to no state that closes the loops


def _worst(proof: TracedOrder, exact: Pair, found: NDArray) -> Floats:
    """(k,) the errors of k answers; of derivatives the worst matrix's."""
    return proof.judged(exact.largest(found))


def measure(setup: Setup, number: int) -> Measured:
    """Every order in every format at one state."""
    system = setup.system_at(number)
    again = drawn_again(setup.ranges, setup.seed, number)
    proof = setup.proof.fitting("abm", system)
    data_of_4 = proof.values(system)[None]
    least = np.array([least_size(system)])
    truth = proof.beside_least(proof.pairs(data_of_4), least)
    N, judged = len(setup.proof.qdd), setup.proof.judged
    shape = (len(setup.orders), len(setup.formats))
    error, total = np.full(shape, np.nan), np.full(shape, np.nan)
    failed, data = np.zeros(shape, dtype=np.int8), np.full(shape[1], np.nan)
    joints = np.full((*shape, N), np.nan, dtype=np.float32)
    fields = np.full((*shape, len(FIELDS[setup.quantity])), np.nan)
    left, marked = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    entries = Entries(*(getattr(system.entries, letter)[None] for letter in LETTERS))
    ties = system.structure.ties
    equations = [Equations.of(system.tree, entries, chosen, ties) for chosen in setup.formats]
    exact = [proof.truth(chosen, data_of_4, least) for chosen in setup.formats]
    for j, found in enumerate(exact):
        if found.known[0]:
            data[j] = judged(truth.largest(found.pair.high, found.pair.low))[0]
    for i, (name, order) in enumerate(setup.orders.items()):
        order = order.fitting(name, system)
        values = order.values(system)[None]
        for j, (chosen, found) in enumerate(zip(setup.formats, exact, strict=True)):
            if not found.known[0]:
                failed[i, j] = SINGULAR if found.whole[0] else OVERFLOW
                continue
            own = partial(_worst, setup.proof, found.pair)
            answers = order.answers(chosen, values, equations[j], ONE, own, lambda _: system)
            (said,) = answers.said
            if said.failed_at is not None:
                finite = np.isfinite(answers.found).all() and np.isfinite(answers.pivots).all()
                failed[i, j] = ZERO if finite or (answers.pivots == 0).any() else NUMBER
                failed[i, j] = SINGULAR if said.singular else failed[i, j]
                continue
            off = found.pair.error(answers.found)[0]
            fields[i, j], error[i, j] = off.max(axis=-1), answers.errors[0]
            joints[i, j] = off if off.ndim == 1 else off[1:].reshape(-1, N, N).max(axis=(0, 2))
            left[i, j], marked[i, j] = answers.left[0], said.marked is not None
            total[i, j] = judged(truth.largest(answers.found))[0]
    return Measured(number, error, total, data, failed, joints, fields, left, marked, again)
