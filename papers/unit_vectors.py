"""The unit vector method (Walker & Orin 1982, method 1): run, and its operations counted.

Inverse dynamics at q'' = 0 gives the bias; with the j-th unit vector for q'', everything at rest
and without gravity, it gives column j of the joint-space inertia.  A dense L D L* solves.  Both
come from the project's program of recursive Newton-Euler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from pivotree import kkt, orderings
from pivotree.analysis.counts import KINDS, count
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.program import trace_substitution
from pivotree.kkt.tape import InputSlots, lower, run

Floats = NDArray[np.float64]
ORDER = "inverse_dynamics"


def unit_vectors(system: kkt.System) -> Floats:
    """qdd (N,) in float64."""
    return solved(*inertia_and_bias(system), system.entries.tau)


def solved(inertia: Floats, bias: Floats, tau: Floats) -> Floats:
    return np.asarray(cho_solve(cho_factor(inertia), tau - bias))


def inertia_and_bias(system: kkt.System) -> tuple[Floats, Floats]:
    """Joint-space inertia (N, N) and bias (N,) by N + 1 runs of inverse dynamics on one tape."""
    structure = system.structure
    program = trace_substitution(orderings.get(ORDER)(structure), structure, ORDER)
    tape, entries, chosen = lower(program, system), system.entries, get_format("float64")
    moving = [("qdd", b) for b, d in zip(system.tree.names, system.tree.dof, strict=True) if d]

    def efforts(a: Floats, b: Floats, qdd: Floats) -> Floats:
        solution, _, _ = run(tape, replace(entries, a=a, b=b, tau=qdd), chosen)
        by_name = {tuple(block): x for block, x in solution.items()}
        return np.concatenate([by_name[key] for key in moving])

    still = np.zeros_like(entries.a)
    columns = [efforts(still, still, e) for e in np.eye(len(entries.tau))]
    return np.column_stack(columns), efforts(entries.a, entries.b, np.zeros(len(columns)))


# -- operations -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run(InputSlots):
    """Inputs of one run: which of a, b and q'' are zero, or one."""

    still: bool = False  # a = b = 0: at rest, without gravity
    qdd: int | None = None  # q'' = e_j; -1 for 0, None for any

    @cached_property
    def a(self) -> NDArray[np.int64]:
        return np.zeros_like(super().a) if self.still else super().a

    @cached_property
    def b(self) -> NDArray[np.int64]:
        return np.zeros_like(super().b) if self.still else super().b

    @cached_property
    def tau(self) -> NDArray[np.int64]:
        if self.qdd is None:
            return super().tau
        zero = np.zeros_like(super().tau)
        if self.qdd >= 0:
            zero[self.qdd] = 1
        return zero


@dataclass(frozen=True)
class Operations:
    """Multiplications, additions and divisions of the method on one robot."""

    whole: tuple[int, ...]  # every column by a whole run, q'' being any numbers
    folded: tuple[int, ...]  # what meets the zeros and the one of a unit vector left out


def operations(system: kkt.System) -> Operations:
    """Counted on the robot's pattern of zeros and ones, as all scalar counts of the project."""
    N = len(system.entries.tau)
    dense = dense_solution(N)
    bias = _count(system, still=False, qdd=-1)
    any_column = _count(system, still=True, qdd=None)
    whole = _total([bias, *[any_column] * N, dense])
    folded = _total([bias, *(_count(system, still=True, qdd=j) for j in range(N)), dense])
    return Operations(whole, folded)


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
