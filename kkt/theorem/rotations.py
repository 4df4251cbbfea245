"""The recursion of docs/theory/guarantee.md where inertias are weighted rows that are rotated.

Rows stand for R^T W R.  A rotation in floating point is an exact one, and a change of its two rows
by a few units of what they are, column by column; so every stage of disjoint rotations moves an
entry of R^T W R by at most TURN units of s_i s_j, s^2 its diagonal, which rotations leave as it is.
That is a change of M^_k as the recursion takes it, and of nothing else: D_k is read off the rows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from ..program.program import Instruction, Place
from ..tape.tape import Tape
from .joint_inertia import LARGEST
from .ranges import Ranges
from .reach import UP, Reach, has_armature
from .recursion import Recursion, Total, light, searched
from .roundings import Counting, Counts
from .row_sweeps import ROWS, WEIGHTS, RowsBehind

Floats = NDArray[np.float64]
TURN = WEIGHTS + 2.0 * ROWS  # of one stage: weights, and two rows of entries
WEIGHED = 6.0  # of M_k = R^T W R: five terms of two roundings each, and their sums
UNIT_ROWS = 2.0  # of rows that are divided by their weight
GEARED = 3.0  # of D_k + A_k


def rotations(
    system: System, ranges: Ranges, M: Floats, held: Floats, sizes: Reach, tape: Tape, unit: float
) -> tuple[Total, RowsBehind]:
    """The theorem's numbers for square_root_abm; M_k is at least ``M`` (n, 6, 6)."""
    found = _Rotations(system, ranges, M, held, sizes, tape, unit)
    return searched(found), found.behind()


def unbounded(system: System) -> str:
    """Why rows of this robot are not bounded yet, or an empty sentence."""
    tree = system.tree
    geared = [k for k in np.flatnonzero(tree.dof > 1).tolist() if has_armature(system, k)]
    if geared:
        return f"joint {tree.names[geared[0]]}: armature on several freedoms is not bounded yet"
    return ""


def stages(rows: int) -> int:
    """Stages of disjoint rotations that merge rows into six others: i meets column j at i + j."""
    return 6 + rows - 1 if rows else 0


@dataclass(frozen=True)
class RowRoundings:
    """Longest paths, in roundings, of n bodies, and rows."""

    weighed: Counts  # (n,) from M_k to K, in the basis of the joint
    handed: Counts  # (n,) rows that body k hands on to its parent
    carried: Counts  # (n,) from the rows that body k hands on to those in its parent's basis
    spread: Counts  # (n,) from the rows that are left of body k, in its basis, to its frame


def row_roundings(tape: Tape) -> RowRoundings:
    """Counts of square_root_abm."""
    return _counted(tape).of_rows


def _counted(tape: Tape) -> _Rows:
    counting = _Rows(tape)
    counting.counted()
    return counting


class _Rows(Counting):
    stages: ClassVar[dict[str, str]] = {"weighed": "weighed", "carried": "carried", "G": "spread"}

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape, None)
        self.of_rows = RowRoundings(*np.zeros((4, len(tape.inputs.names))))

    def note(self, i: Instruction, place: Place, body: int, deep: Counts, slots: NDArray) -> None:
        if deep.shape[1] != 6 or (place.label == "weighed" and i.op != "mul"):
            return  # residuals; the split of a joint's forces, and the factor
        if place.label == "carried":
            body = place.blocks[-1]  # the child
            rows = int((slots != 0).any(axis=1).sum())
            self.of_rows.handed[body] = max(self.of_rows.handed[body], rows)
        counts = getattr(self.of_rows, self.stages[place.label])
        counts[body] = max(counts[body], float(deep.max(initial=0.0)))


class _Rotations(Recursion):
    def __init__(
        self, system: System, ranges: Ranges, M: Floats, held: Floats, sizes: Reach, tape: Tape, unit: float
    ) -> None:
        counting, n = _counted(tape), system.tree.n
        self.rows_of = counting.of_rows
        split = [_split(system, k, tape.inputs.pivot_rows(k)) for k in range(n)]
        self.spread, self.solved = np.array(split).swapaxes(0, 1)
        children = [np.flatnonzero(system.tree.parent == k) for k in range(n)]
        merged = [
            int(self.rows_of.handed[below].sum()) + has_armature(system, k)
            for k, below in enumerate(children)
        ]
        self.stages = np.array([stages(m) for m in merged], dtype=float)
        self.turned = TURN * self.stages + UNIT_ROWS
        self.all = self.turned + WEIGHED + self.rows_of.weighed
        super().__init__(system, ranges, M, held, sizes, counting.found, unit)

    def joint(self, k: int, size: Floats) -> tuple[float, float, float]:
        """D_k and Mbar_k are those of the rows, but for armature, which is a row of its own.

        It leaves a row for the parent; what is rotated after the joint's pivot is of Mbar_k then.
        """
        tree, geared = self.system.tree, has_armature(self.system, k)
        whole = np.array_equal(self.spread[k], np.eye(6))
        split = 0 if whole else 3 * int(tree.dof[k])  # Gauss: Higham 2002, theorem 9.4
        out = 2.0 * (self.rows_of.spread[k] + split) + (self.turned[k] if geared else 0.0)
        far = float((self.solved[k] @ self.spread[k] @ size / size).max()) * UP
        return 1.0, GEARED if geared else 0.0, out * far * far

    def entries(self, k: int, sent: Floats, carried: Floats, size: Floats) -> Floats:
        if self.still[k]:
            return np.zeros((6, 6))
        F = self.spread[k].T
        B = self.all[k] * _outer(size @ F)
        for i, c in enumerate(self.children[k]):
            B = B + 2.0 * self.rows_of.carried[c] * _outer(sent[..., i, :] @ F)
            B = B + self.out[c] * _outer(carried[..., i, :])
        return np.asarray(B)

    def behind(self) -> RowsBehind:
        """What the numbers were computed from, and the counts of rows."""
        rows = self.rows_of
        return RowsBehind(
            **vars(super().behind()),
            carried=rows.carried,
            back=rows.spread,
            stages=self.stages,
            spread=self.spread,
            solved=self.solved,
        )

    def total(self) -> Total:
        """Those of the recursion, if every M_k has a factor."""
        found, names = super().total(), self.system.tree.names
        for k in np.flatnonzero(~self.still).tolist():
            size = np.sqrt(np.diagonal(self.system.entries.M[k])) @ self.spread[k].T
            count = WEIGHED + self.rows_of.weighed[k]
            own = self.of(k, self.M[k], count * _outer(size))[0]
            if not found.why and not own <= LARGEST:
                found = replace(found, why=_factor(names[k], own))
        return found


def _factor(body: Hashable, own: float) -> str:
    if not math.isfinite(own):
        return light(body, own).replace(", and children with inertia", "")
    return f"body {body}: rounding the factor of its inertia may change that by {own:.1g} of itself"


def row_bases(system: System, tape: Tape) -> Floats:
    """(n, 6, 6) the bases T = [S E] of all bodies."""
    return np.array([_basis(system, k, tape.inputs.pivot_rows(k)) for k in range(system.tree.n)])


def _basis(system: System, k: int, rows: tuple[int, ...]) -> Floats:
    tree = system.tree
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    other = [i for i in range(6) if i not in rows]
    return np.concatenate([S.T, np.eye(6)[:, other]], axis=1)


def _split(system: System, k: int, rows: tuple[int, ...]) -> tuple[Floats, Floats]:
    """(6, 6) |T^-T| |T^T| for the basis T = [S E] of body k, and |A^-1| |L| |U| for A = L U.

    A is the part of S that the split of forces is solved with.  Identities for axes of the frame.
    """
    tree = system.tree
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    T, N = _basis(system, k, rows), len(S)
    if (np.abs(T) == 1.0).sum() == 6 and (T != 0.0).sum() == 6:
        return np.eye(6), np.eye(6)
    L, U, solved = np.eye(N), S[:, list(rows)].copy(), np.eye(6)
    inverse = np.abs(np.linalg.inv(U))
    for j in range(N):
        L[j + 1 :, j] = U[j + 1 :, j] / U[j, j]
        U[j + 1 :] -= np.outer(L[j + 1 :, j], U[j])
    solved[np.ix_(rows, rows)] = inverse @ np.abs(L) @ np.abs(U)
    return np.abs(np.linalg.inv(T).T) @ np.abs(T.T) * UP, solved


def _outer(x: Floats) -> Floats:
    return np.asarray(x[..., :, None] * x[..., None, :])
