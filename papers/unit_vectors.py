"""Operations of the unit vector method (Walker & Orin 1982, 1), which analysis.inertia runs.

Inverse dynamics at q'' = 0 gives the bias; with the j-th unit vector for q'', everything at rest
and without gravity, it gives column j of the joint-space inertia.  A dense L D L* solves.  Both
come from the project's program of recursive Newton-Euler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.counts import KINDS, count
from pivotree.kkt.program import trace_substitution
from pivotree.kkt.tape import InputSlots

ORDER = "inverse_dynamics"


@dataclass(frozen=True)
class Run(InputSlots):
    """Inputs of one run: which of a, b and q'' are zero, or one."""

    still: bool = False  # a = b = 0: at rest, without gravity
    qdd: int | None = None  # q'' = e_j; -1 for 0, None for any

    def slots(self, letter: str) -> NDArray[np.int64]:
        """As of any robot, with what is zero or one in this run."""
        found = super().slots(letter)
        if self.still and letter in ("a", "b"):
            return np.zeros_like(found)
        if letter == "tau" and self.qdd is not None:
            found = np.zeros_like(found)
            found[max(self.qdd, 0)] = self.qdd >= 0
        return found


def operations(system: kkt.System) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Multiplications, additions and divisions of the method on one robot, in two readings.

    Every column by a whole run, q'' being any numbers; and what meets the zeros and the one of a unit
    vector left out.  Counted on the robot's pattern of zeros and ones, as all counts of the project.
    """
    N = len(system.entries.tau)
    dense = dense_solution(N)
    bias = _count(system, still=False, qdd=-1)
    any_column = _count(system, still=True, qdd=None)
    whole = _total([bias, *[any_column] * N, dense])
    folded = _total([bias, *(_count(system, still=True, qdd=j) for j in range(N)), dense])
    return whole, folded


def dense_solution(N: int) -> tuple[int, ...]:
    """tau - bias, then L D L* of an N x N matrix and the two triangles: mul, add, div."""
    update, half = (N**3 - N) // 6, N * (N - 1) // 2
    return update + 2 * half, N + update + 2 * half, half + N


def _count(system: kkt.System, still: bool, qdd: int | None) -> tuple[int, ...]:
    structure, tree = system.structure, system.tree
    program = trace_substitution(orderings.get(ORDER)(structure), structure, ORDER)
    inputs = Run(system.pattern, tree.names, tree.parent, tree.dof, system.state.S, still=still, qdd=qdd)
    return count(program, inputs).total[: KINDS.index("sqrt")]


def _total(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*parts, strict=True)))
