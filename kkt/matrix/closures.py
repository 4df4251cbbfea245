"""Constraints at one state: their poses, and their rows of the matrix, in any number type.

With v the spatial velocities, c the constraint's frame and X_ck = Phi_kc* the transform of motions
from body k to c, the first body 1 and the second 2 must keep

    C* (X_c2 v_2 - X_c1 v_1) = 0,     C constant in c, and c fixed on body 1.

Differentiated once in c, and written with pdd, minus the accelerations,

    G_2 pdd_2 - G_1 pdd_1 - compliance lambda = -gamma,      G_k = C* X_ck,
    gamma = C* (v_c x w) - a C* (w - v_c) - b gap,           w = X_c2 v_2,  v_c = X_c1 v_1,

a and b Baumgarte's (1972).  Where c travels with a point of body 2 (contact), omega x v of the
motion relative to body 1 is taken off its linear rows.  The world has no rows; its acceleration is
that of a root's parent, minus gravity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.loops import Loop
from ..model.parents import meeting
from ..model.spatial import Array, cross, cross_motion, force_transform, matmul, matvec, transpose
from ..model.tree import BodyTree

Cast = Callable[[Any], Array]


@dataclass(frozen=True)
class Closure:
    """One constraint at one state."""

    loop: Loop
    bodies: tuple[int, int]  # indices of first and second; -1 is the world
    R: Array  # (2, 3, 3) orientation of the frame c in each body's, at this state
    p: Array  # (2, 3) its origin there [m]

    @property
    def rows(self) -> int:
        return self.loop.rows

    @cached_property
    def gap(self) -> Array:
        """(m,) how far the loop is open, by rows [rad, m]; 0 where that is not defined."""
        loop = self.loop
        if loop.point:
            return np.zeros(loop.rows)
        back = transpose(self.R[1])
        return _gap(loop, matmul(back, loop.R[1]), matvec(back, loop.p[1] - self.p[1]))

    @property
    def sides(self) -> list[tuple[int, int, int]]:
        """(place, body, sign) of each body that has rows: minus for the first."""
        signed = zip(range(2), self.bodies, (-1, 1), strict=True)
        return [(place, k, sign) for place, k, sign in signed if k >= 0]


def closures(tree: BodyTree, R: Array, p: Array, loops: Sequence[Loop]) -> tuple[Closure, ...]:
    """The constraints where body k has the pose (R[k], p[k]) in its parent; names are known."""
    index = {name: k for k, name in enumerate(tree.names)} if loops else {}
    return tuple(
        _closure(loop, tuple(index.get(b, -1) for b in loop.bodies), tree, R, p)  # type: ignore[arg-type]
        for loop in loops
    )


def _closure(loop: Loop, bodies: tuple[int, int], tree: BodyTree, R: Array, p: Array) -> Closure:
    up = meeting(bodies, tree.parent)
    (R1, p1), (R2, p2) = (_pose(k, up, tree.parent, R, p) for k in bodies)
    back = transpose(R2)
    turn, shift = matmul(back, R1), matvec(back, p1 - p2)  # of body 1 in body 2
    if loop.point:
        origin = matvec(transpose(turn), loop.p[1] - shift)
        return Closure(loop, bodies, np.stack([np.eye(3), turn]), np.stack([origin, loop.p[1]]))
    seen, place = matmul(turn, loop.R[0]), matvec(turn, loop.p[0]) + shift
    return Closure(loop, bodies, np.stack([loop.R[0], seen]), np.stack([loop.p[0], place]))


def _pose(k: int, up: int, parent: NDArray[np.int64], R: Array, p: Array) -> tuple[Array, Array]:
    """Pose of body k in the body ``up`` that it hangs on."""
    if k == up:
        return np.eye(3), np.zeros(3)
    turn, place = R[k], p[k]
    while (k := int(parent[k])) != up:
        turn, place = matmul(R[k], turn), matvec(R[k], place) + p[k]
    return turn, place


def _gap(loop: Loop, turn: Array, shift: Array) -> Array:
    """Position error of each row: C* of the turn that the joint does not allow, and of the shift.

    About one free axis e the turn is e x (R e), whose rate is the velocity beside the axis.
    """
    if loop.free is None:
        return np.zeros(loop.rows)
    angle = np.zeros(3)
    if loop.free.shape[1] == 0:
        from scipy.spatial.transform import Rotation

        angle = Rotation.from_matrix(turn).as_rotvec()
    elif loop.free.shape[1] == 1:
        axis = loop.free[:, 0]
        angle = cross(axis, matvec(turn, axis))
    return matvec(transpose(loop.C), np.concatenate([angle, shift]))


def constraint_rows(
    closures: Sequence[Closure], v: Array, gravity: Array, cast: Cast
) -> tuple[Array, Array, Array]:
    """G (rows of all sides, 6), gamma (m,) and compliance (m,), in the number type of ``cast``.

    ``v`` (n, 6) are the spatial velocities, ``gravity`` (3,) stands in the world frame.
    """
    base = np.concatenate([gravity * 0, -gravity])
    G, gamma, compliance = [], [], []
    for closure in closures:
        loop = closure.loop
        X = transpose(force_transform(cast(closure.R), cast(closure.p)))
        C = transpose(cast(loop.C))
        G += [matmul(C, X[place]) for place, _, _ in closure.sides]
        first, second = (
            matvec(X[place], v[k]) if k >= 0 else base * 0 for place, k in enumerate(closure.bodies)
        )
        apart = second - first
        turning = cross_motion(first, second)
        if loop.point:
            slipping = turning[3:] - cross(apart[:3], apart[3:])
            turning = np.concatenate([turning[:3], slipping])
        for place, k in enumerate(closure.bodies):
            if k < 0:  # the world's acceleration is known
                lift = matvec(X[place], base)
                turning = turning - lift if place else turning + lift
        right = matvec(C, turning)
        a, b = loop.baumgarte
        if a:
            right = right - cast(np.full(loop.rows, a)) * matvec(C, apart)
        if b:
            right = right - cast(np.full(loop.rows, b)) * cast(closure.gap)
        gamma.append(right)
        compliance.append(cast(loop.compliance))
    none = gravity[:0]
    return (
        np.concatenate([none.reshape(0, 6), *G]),
        np.concatenate([none, *gamma]),
        np.concatenate([none, *compliance]),
    )
