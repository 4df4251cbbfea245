"""Constraints at one state: their poses, and their rows of the matrix, in any number type.

With v the spatial velocities, c the constraint's frame and X_ck = Phi_kc* the transform of motions
from body k to c, the first body 1 and the second 2 must keep

    C* (X_c2 v_2 - X_c1 v_1) = 0,     C constant in c, and c fixed on body 1.

Differentiated once in c, and written with pdd, minus the accelerations,

    G_2 pdd_2 - G_1 pdd_1 - compliance lambda = -gamma,      G_k = C* X_ck,
    gamma = C* (v_c x w) - a C* (w - v_c) - b gap,           w = X_c2 v_2,  v_c = X_c1 v_1,

where a and b are Baumgarte's gains (1972).  Where c travels with a point of body 2 (contact),
omega x v of the motion relative to body 1 is subtracted from the linear rows.  The world has no
rows; its acceleration is that of a root's parent, minus gravity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.loops import Loop, meeting
from ..model.spatial import Array, cross, cross_motion, force_transform, matmul, matvec, skew, transpose
from ..model.tree import BodyTree

Cast = Callable[[Any], Array]


@dataclass(frozen=True, eq=False)
class Closure:
    """One constraint at one state."""

    loop: Loop
    bodies: tuple[int, int]  # indices of first and second; -1 is the world
    R: Array  # (2, 3, 3) orientation of the frame c in each body's, at this state
    p: Array  # (2, 3) its origin there [m]
    beside: Closure | None = None  # of ``loop.beside``
    at: tuple[Any, Any] = (0.0, 0.0)  # of joints that follow others: q and q_to [rad, m]

    @property
    def rows(self) -> int:
        return self.loop.rows

    @property
    def apart(self) -> Any:
        """How far coupled joints are apart [rad, m]."""
        ratio, offset = self.loop.follows or (0.0, 0.0)
        return self.at[0] - (offset + self.at[1] * ratio)

    @cached_property
    def gap(self) -> Array:
        """(m,) how far the loop is open, by rows [rad, m]; 0 where that is not defined."""
        if self.loop.follows:
            return np.ones(self.rows) * self.apart
        return _gap(self.loop, *self._apart)

    @property
    def whole(self) -> Closure:
        """With the rows that follow from others, which a state keeps too."""
        return self if self.loop.implied is None else replace(self, loop=self.loop.whole)

    @property
    def from_here(self) -> Loop:
        """The loop, in a tree whose joints' positions are measured from this state's."""
        if not self.loop.follows:
            return self.loop
        return replace(self.loop, follows=(self.loop.follows[0], 0.0 - self.apart))

    @property
    def gap_rate(self) -> Array:
        """(m, 6) the gap's derivative by a motion of the second body beside the first, in c."""
        return _gap_rate(self.loop, *self._apart)

    @property
    def _apart(self) -> tuple[Array, Array]:
        """Pose of c's counterpart on the second body, in c."""
        loop, back = self.loop, transpose(self.R[1])
        return matmul(back, loop.R[1]), matvec(back, loop.p[1] - self.p[1])

    @property
    def sides(self) -> list[tuple[int, int, int]]:
        """(place, body, sign) of each body that this pair has rows on: minus for the first."""
        signed = zip(range(2), self.bodies, (-1, 1), strict=True)
        return [(place, k, sign) for place, k, sign in signed if k >= 0]

    @property
    def pairs(self) -> tuple[Closure, ...]:
        """This pair of bodies, and those whose rows are added to it."""
        return (self, *(self.beside.pairs if self.beside else ()))

    @property
    def ends(self) -> list[tuple[int, int]]:
        """(body, sign) of each block of rows, each body once; blocks of several pairs hold signs.

        >>> tree = pt.chain(3)
        >>> loop = pt.coupled_joints(tree, "j3", "j2")
        >>> pt.build(tree, loops=[loop]).state.loops[0].ends
        [(1, 1), (2, 1), (0, 1)]
        """
        if self.beside is None:
            return [(k, sign) for _, k, sign in self.sides]
        return [(k, 1) for k in dict.fromkeys(k for pair in self.pairs for _, k, _ in pair.sides)]

    def by_end(self, block: Callable[[Closure, int], Array], signed: bool = False) -> list[Any]:
        """For each end, what ``block`` gives of a pair and a place in it: a list of summands."""
        found: dict[int, list[Array]] = {k: [] for k, _ in self.ends}
        for pair in self.pairs:
            for place, k, sign in pair.sides:
                x = block(pair, place)
                found[k].append(-x if signed and self.beside and sign < 0 else x)
        return list(found.values())


def closures(tree: BodyTree, R: Array, p: Array, q: Array, loops: Sequence[Loop]) -> tuple[Closure, ...]:
    """The constraints where body k has the pose (R[k], p[k]) in its parent; bodies are known.

    Joints of one freedom are at q (N,), in any number type.
    """
    index = {name: k for k, name in enumerate(tree.names)} if loops else {}

    def whole(loop: Loop) -> Closure:
        bodies = (index.get(loop.bodies[0], -1), index.get(loop.bodies[1], -1))
        found = _closure(loop, bodies, tree, R, p)
        if loop.beside is None:
            return replace(found, at=(q[tree.offset[bodies[1]]], 0.0)) if loop.follows else found
        other = whole(loop.beside)
        if loop.follows:
            found = replace(found, at=tuple(q[tree.offset[c.bodies[1]]] for c in (found, other)))
        return replace(found, beside=other)

    return tuple(whole(loop) for loop in loops)


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
    if loop.free is None or loop.point:
        return np.zeros(loop.rows)
    angle = np.zeros(3)
    if loop.free.shape[1] == 0:
        from scipy.spatial.transform import Rotation

        angle = Rotation.from_matrix(turn).as_rotvec()
    elif loop.free.shape[1] == 1:
        axis = loop.free[:, 0]
        angle = cross(axis, matvec(turn, axis))
    return matvec(transpose(loop.C), np.concatenate([angle, shift]))


def _gap_rate(loop: Loop, turn: Array, shift: Array) -> Array:
    """(m, 6) the map from a motion (omega, v) of the frame with this pose in c to the gap."""
    if loop.free is None or loop.point:
        return np.zeros((loop.rows, 6))
    angle = np.zeros((3, 3))
    if loop.free.shape[1] == 0:
        from scipy.spatial.transform import Rotation

        angle = _vector_rate(Rotation.from_matrix(turn).as_rotvec())
    elif loop.free.shape[1] == 1:
        axis = loop.free[:, 0]
        angle = -matmul(skew(axis), skew(matvec(turn, axis)))
    upper = np.concatenate([angle, np.zeros((3, 3))], axis=1)
    lower = np.concatenate([-skew(shift), np.eye(3)], axis=1)
    return matmul(transpose(loop.C), np.concatenate([upper, lower]))


def _vector_rate(turn: Array) -> Array:
    """(3, 3) the map from omega to a rotation vector's rate (Bullo & Murray 1995), in float64."""
    angle = np.sqrt((turn * turn).sum())
    half = angle / 2
    rest = 1 / 12 if angle < 1e-4 else (1 - half / np.tan(half)) / angle**2
    return np.eye(3) - skew(turn) / 2 + rest * matmul(skew(turn), skew(turn))


def constraint_rows(
    closures: Sequence[Closure], v: Array, gravity: Array, cast: Cast
) -> tuple[Array, Array, Array]:
    """G (rows of all sides, 6), gamma (m,) and compliance (m,), in the number type of ``cast``.

    ``v`` (n, 6) are the spatial velocities, ``gravity`` (3,) stands in the world frame.
    """
    base = np.concatenate([gravity * 0, -gravity])
    G, gamma, compliance = [], [], []
    for closure in closures:
        blocks = closure.by_end(lambda pair, place: _block(pair, place, cast), signed=True)
        G += [reduce(add, block) for block in blocks]
        gamma.append(reduce(add, [_right(pair, v, base, cast) for pair in closure.pairs]))
        compliance.append(cast(closure.loop.compliance))
    none = gravity[:0]
    return (
        np.concatenate([none.reshape(0, 6), *G]),
        np.concatenate([none, *gamma]),
        np.concatenate([none, *compliance]),
    )


def _block(pair: Closure, place: int, cast: Cast) -> Array:
    """C* X of one side (m, 6)."""
    X = transpose(force_transform(cast(pair.R[place]), cast(pair.p[place])))
    return matmul(transpose(cast(pair.loop.C)), X)


def _right(pair: Closure, v: Array, base: Array, cast: Cast) -> Array:
    """gamma (m,) of one pair; ``base`` is the world's acceleration."""
    loop = pair.loop

    # velocities of both bodies in the constraint's frame c
    X = transpose(force_transform(cast(pair.R), cast(pair.p)))
    C = transpose(cast(loop.C))
    first, second = (matvec(X[place], v[k]) if k >= 0 else base * 0 for place, k in enumerate(pair.bodies))
    apart = second - first

    # C is constant in c, and c turns with the first body: v_c x w
    turning = cross_motion(first, second)
    if loop.point:  # c travels with a point of the second body
        slipping = turning[3:] - cross(apart[:3], apart[3:])
        turning = np.concatenate([turning[:3], slipping])
    for place, k in enumerate(pair.bodies):
        if k < 0:  # the world's acceleration is known
            lift = matvec(X[place], base)
            turning = turning - lift if place else turning + lift
    right = matvec(C, turning)

    # Baumgarte's terms lead back where the loop has opened
    a, b = loop.baumgarte
    if a:
        right = right - cast(np.full(loop.rows, a)) * matvec(C, apart)
    if b:
        right = right - cast(np.full(loop.rows, b)) * cast(pair.gap)
    return right
