"""The recursion of docs/theory/guarantee.md where inertias are weighted rows that are rotated.

Rows stand for R^T W R.  A rotation in floating point is an exact one, and a change of its two rows
by a few units of what they are, column by column; so every stage of disjoint rotations moves an
entry of R^T W R by at most TURN units of s_i s_j, s^2 its diagonal, which rotations leave as it is.
That is a change of M^_k as the recursion takes it, and of nothing else: D_k is read off the rows.

What weighted rows round on the way to qdd: docs/theory/guarantee_qdd.md, square_root_abm.

A body's bias stays in the residuals of its rows, one column more of R, whose length is an energy's
root and which rotations keep.  So what is rounded into residuals counts as it is; what is rounded
into the rows that they meet, and into efforts, which travel as forces, counts against the inertia
that it meets.
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
from .motion import Sizes, weight
from .ranges import Ranges
from .recursion import Behind, Recursion, Total, light, pivot_and_size, searched
from .roundings import Counting, Counts
from .support import UP, Reach, has_armature, share

ROWS = math.sqrt(10.0)  # units of one stage: of the two rows, column by column
WEIGHTS = 5.0  # and of their weights
FACTOR = 6.0  # of b_k = R^T y: five terms of two roundings each, and their sums
FRAME, AGAIN = 6.0, 7.0  # longest paths, where all is full: Phi p, and z + G a
GEARED = 5.0  # of a pivot row that the armature's is rotated with, and divided by its weight


@dataclass(frozen=True)
class RowsBehind(Behind):
    """What the bounds of pivots were computed from where inertias are weighted rows."""

    carried: Floats  # (n,) longest paths: of rows that body k hands on, into the parent's basis
    back: Floats  # (n,) of the rows that are left, from the basis to the body's frame
    stages: Floats  # (n,) of disjoint rotations
    spread: Floats  # (n, 6, 6) |T^-*| |T*| of the basis T
    solved: Floats  # (n, 6, 6) |A^-1| |L| |U| of what the split of forces is solved with


class RowSweeps:
    """Units of rounding; ``sizes`` are those of the same numbers."""

    def __init__(self, sizes: Sizes, found: RowsBehind) -> None:
        self.sizes, self.found, self.tree = sizes, found, sizes.tree
        tree, n = sizes.tree, sizes.tree.n
        self.children = np.bincount(tree.parent[tree.parent >= 0], minlength=n)
        none = np.zeros(n)
        self.sigma = sizes.gathered(sizes.data.force, sizes.lifted, none)  # residuals' lengths
        self.force = sizes.gathered(none, sizes.pushed, sizes.kicked)  # efforts, as forces
        self.skew = np.array([not np.array_equal(x, np.eye(6)) for x in found.spread])
        # sizes in the basis, as in the body's frame, and those with what the split rounds
        size = found.sizes.size
        self.size = np.einsum("kij,kj->ki", found.spread, size) * UP
        self.far = np.array(
            [
                float((X @ y / np.where(s > 0.0, s, 1.0)).max(initial=1.0)) * UP
                for X, y, s in zip(found.solved, self.size, size, strict=True)
            ]
        )
        self.root = np.array([self._root(k) for k in range(n)])
        self.pull = self.force + sizes.effort  # of tau - H p, in the norm of D_k^-1

    def _root(self, k: int) -> float:
        if not self.tree.dof[k] or self.sizes.still[k]:
            return 1.0
        size = self.found.sizes.size[k]
        own, sigma = pivot_and_size(self.sizes.system, self.found.least[k], size, k)
        return math.sqrt(share(own, np.outer(sigma, sigma)))

    def splits(self, k: int) -> float:
        """Units of A^-1, in what it is applied to."""
        return 3.0 * float(self.tree.dof[k]) if self.skew[k] else 0.0

    def geared(self, k: int) -> bool:
        return has_armature(self.sizes.system, k)

    def received(self, k: int) -> Floats:
        """(6,) of a body's own rows, and of rotations, into what its residuals are as forces."""
        turned = (ROWS * self.found.stages[k] + 1.0) * self.sigma[k] * self.size[k]
        length = float(np.count_nonzero(self.sizes.rows(k), axis=1).max(initial=1))
        count = FACTOR + (length if self.skew[k] else 0.0)
        # of the body's own inertia, with the greatest of its payloads
        own = self.sizes.system.entries.M[k] * (1.0 + 2.0 * self.found.unit)
        most = np.maximum(np.diagonal(self.found.M[k]), np.diagonal(own))
        roots = self.found.spread[k] @ np.sqrt(most)
        return np.asarray(turned + count * self.sizes.data.force[k] * roots)

    def alike(self, k: int) -> float:
        """Of residuals and weights, a part of what they are: no inertia is compared with."""
        own = ((WEIGHTS + ROWS) * self.found.stages[k] + 1.0) * self.sigma[k]
        below = np.flatnonzero(self.tree.parent == k)
        return float(own + (AGAIN * self.sizes.lifted[below] + self.sigma[below]).sum())

    def handed(self, k: int) -> Floats:
        """(6,) into the force that meets the parent, in its frame."""
        found, up, far = self.found, int(self.tree.parent[k]), self.far[k]
        rows = found.back[k] + self.splits(k)
        if self.geared(k):
            rows += (ROWS + WEIGHTS) * found.stages[k] + 2.0
        met = found.spread[up] @ found.sizes.sent[k] * found.carried[k]
        whole = self.sigma[k] + self.sizes.lifted[k]
        residual = found.sizes.carried[k] * rows * far * self.sigma[k] + met * whole
        return np.asarray(residual + self.efforts(k))

    def efforts(self, k: int) -> Floats:
        """(6,) of that, what is rounded of efforts that travel as forces."""
        N, up = float(self.tree.dof[k]), int(self.tree.parent[k])
        p, pull = self.force[k], self.pull[k]
        carried = (FRAME + self.children[up] - 1.0) * (p + self.sizes.effort[k])
        if N:
            count = (6.0 if self.skew[k] else N) + 2.0 + self.splits(k) + (N - 1.0)
            count += 2.0 * GEARED if self.geared(k) else 0.0
            carried += count * self.far[k] * pull + 2.0 * p + self.effort(k)
        return np.asarray(self.found.sizes.carried[k] * carried)

    def effort(self, k: int) -> float:
        """Of L^-1 (tau - H p), in the norm of D_k^-1."""
        N = float(self.tree.dof[k])
        length = float(np.count_nonzero(self.sizes.rows(k), axis=1).max(initial=1))
        before = length * self.force[k] if self.skew[k] else 0.0
        return float(self.root[k] * (before + N * self.pull[k]))

    def lost(self, k: int) -> float:
        """Of qdd_k, given what the base does, in the norm of D_k."""
        N, skew = float(self.tree.dof[k]), float(self.skew[k])
        split = self.splits(k)
        seen, solved = (self._lengths(x) @ self.sizes.before[k] for x in self._moved(k))
        geared = float(self.geared(k))
        right = self.pull[k] + self.sigma[k] + (1.0 + geared) * seen
        # C* beta, its product with the pivot rows, the residual, y / d, and their difference
        found = ((N + 1.0) * skew + (6.0 - N) + 1.0) * seen + split * solved
        found += self.sigma[k] + self.pull[k] + right
        found += (N - 1.0) * (2.0 * self.root[k] + 1.0) * right
        # less B* beta
        found += self.root[k] * right + (1.0 + N * skew) * seen + split * solved
        if geared:
            found += GEARED * right + (N * skew + 2.0) * seen + split * solved
        return float(found + self.effort(k))

    def _moved(self, k: int) -> tuple[Floats, Floats]:
        """(6,) sizes that meet |beta|: in the basis, and with what the split rounds."""
        return self.size[k], self.found.solved[k] @ self.size[k]

    def _lengths(self, x: Floats) -> Floats:
        return np.array([np.linalg.norm(x[:3]), np.linalg.norm(x[3:])]) * UP

    def drifted(self, k: int, moved: Floats) -> Floats:
        """(2,) lengths: of alpha_k beside beta_k + H* qdd_k, ``moved`` those of |H*| |qdd|."""
        N, before = float(self.tree.dof[k]), self.sizes.before[k]
        along = moved + (before if self.geared(k) else 0.0)
        if not self.skew[k]:
            return np.asarray(along)
        F = self.found.spread[k].T
        once = _blocks(F) @ before
        split = self.splits(k) * (_blocks(F @ self.found.solved[k].T) @ before)
        more = once if self.geared(k) else 0.0
        return np.asarray((2.0 * N + 2.0) * once + split + (N + 2.0) * moved + more)

    def small(self) -> bool:
        """Whether residuals and efforts stay what they are, so that the second order is small."""
        found, n = self.found, self.tree.n
        kept = (WEIGHTS + ROWS) * found.stages + 1.0 + AGAIN * self.children
        small = found.unit * float(kept.sum()) <= LARGEST
        E, behind = np.zeros((n, 6)), np.zeros(n)
        for level in reversed(self.tree.levels):
            for k in level[~self.sizes.still[level]].tolist():
                if not (self.sizes.grounded(k) and self.tree.dof[k] < 6):
                    behind[k] += weight(found.least[k], E[k] * found.unit)
                    small &= bool(behind[k] <= LARGEST * self.force[k])
                up = int(self.tree.parent[k])
                if up >= 0 and not self.sizes.still[up]:
                    behind[up] += behind[k]
                    E[up] += self.efforts(k)
        return small


def _blocks(A: Floats) -> Floats:
    """(2, 2) spectral norms of the blocks of A (6, 6)."""
    parts = A.reshape(2, 3, 2, 3).swapaxes(1, 2)
    return np.asarray(np.linalg.norm(parts, 2, axis=(2, 3)) * UP)


Floats = NDArray[np.float64]
TURN = WEIGHTS + 2.0 * ROWS  # of one stage: weights, and two rows of entries
WEIGHED = 6.0  # of M_k = R^T W R: five terms of two roundings each, and their sums
UNIT_ROWS = 2.0  # of rows that are divided by their weight
GEARED_PIVOT = 3.0  # of D_k + A_k


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
        return 1.0, GEARED_PIVOT if geared else 0.0, out * far * far

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
