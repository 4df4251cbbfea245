"""The types of joints: all that the rest of the code knows of a type stands in one table here.

A joint of N degrees of freedom moves a body by ``S qd``; S is 6 x N, angular rows first, in the
body's own joint frame.  Where S depends on q (universal), its apparent derivative S° qd is part
of the bias a_k.  Rates of spherical, planar and floating joints are velocities in the body's
frame, as in Featherstone 2008, table 4.1; their coordinates q are a rotation vector, in-plane
position and angle, and rotation vector with position, so that q, qd and tau all have length N.

What a joint itself adds to row qdd of equation (4): rotor, damping, dry friction, spring.

    H f + A qdd = tau - damping qd - stiffness (q - rest) - friction sign(qd)

``A`` is the armature, the inertia of a rotor that turns with the joint behind a gear and is no body
of the tree (Featherstone 2008, section 9.6, without the gyroscopic part): ratio^2 times the rotor's
own inertia.  Friction is Coulomb's law with sign(0) = 0: a joint at rest feels none, so that
friction does not hold it at rest (MuJoCo's ``frictionloss``, a constraint, does).  A spherical
joint's spring is the same about all axes: q - rest is the rotation vector from the one pose to the
other, the short way round, as in MuJoCo.

With a step h (``kkt.build(..., implicit=h)``) qdd is that of the linearly implicit Euler step
(Baraff & Witkin 1998, equation (6)): damping and spring act at its end, at rates qd + h qdd and
positions q + h qd + h^2 qdd.  The terms in qdd go to the left,

    A = armature + h damping + h^2 stiffness,     the right has - h stiffness qd in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, nearest
from .fields import Floats, checked, shape_of
from .spatial import cross, matmul, matvec, rotation, rotation_vector


@dataclass(frozen=True)
class JointType:
    """One kind of joint, as functions on stacks of m joints of that kind.

    ``axis`` is (m, axes, 3), ``q`` and ``qd`` are (m, N).
    """

    name: str
    dof: int  # N, degrees of freedom
    axes: int  # unit axes that the attribute ``axis`` must hold: 0, 1 or 2
    subspace: Callable[[Floats, Floats], Floats]  # (axis, q) -> S (m,6,N)
    pose: Callable[[Floats, Floats], tuple[Floats, Floats]]  # (axis, q) -> R (m,3,3), p (m,3)
    angles: tuple[int, ...] = ()  # coordinates whose sines and cosines the pose takes
    orientation: bool = False  # q starts with a rotation vector, and ends with a position if any
    moving: tuple[int, ...] = ()  # columns of S that change with q
    bias: Callable[[Floats, Floats, Floats], Floats] | None = None  # (axis, q, qd) -> S° qd (m,6)
    rate: Callable[[Floats, Floats], Floats] | None = None  # (q, qd) -> dq/dt, if it is not qd


def _columns(*pairs: tuple[Floats | None, Floats | None]) -> Floats:
    """S from its columns, each given as (angular, linear) with None for zero."""
    known = next(x for pair in pairs for x in pair if x is not None)
    S = np.zeros_like(known, shape=(*known.shape[:-1], 6, len(pairs)))
    for j, pair in enumerate(pairs):
        for rows, x in zip((slice(0, 3), slice(3, 6)), pair, strict=True):
            if x is not None:
                S[..., rows, j] = x
    return S


def _still(q: Floats) -> tuple[Floats, Floats]:
    m = len(q)
    return np.broadcast_to(np.eye(3), (m, 3, 3)).copy(), np.zeros((m, 3))


def in_plane(normal: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors that complete the plane's normal to a right-handed frame."""
    least = np.argmin(np.abs(normal), axis=-1)
    # for a coordinate axis z this gives x, y exactly
    first = cross(np.eye(3)[(least + 1) % 3], normal)
    first = np.where(np.abs(normal).max(-1, keepdims=True) == 1.0, np.eye(3)[least], first)
    first = first - (first * normal).sum(-1, keepdims=True) * normal
    first = first / np.sqrt((first * first).sum(-1, keepdims=True))
    return first, cross(normal, first)


def _universal_subspace(axis: Floats, q: Floats) -> Floats:
    back = rotation(axis[:, 1], -q[:, 1])
    return _columns((matvec(back, axis[:, 0]), None), (axis[:, 1], None))


def _planar_subspace(axis: Floats, q: Floats) -> Floats:
    e1, e2 = in_plane(axis[:, 0])
    return _columns((None, e1), (None, e2), (axis[:, 0], None))


def _planar_pose(axis: Floats, q: Floats) -> tuple[Floats, Floats]:
    e1, e2 = in_plane(axis[:, 0])
    return rotation(axis[:, 0], q[:, 2]), e1 * q[:, :1] + e2 * q[:, 1:2]


def _planar_rate(q: Floats, qd: Floats) -> Floats:
    """Velocities are in the body's frame, positions in the parent's."""
    c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
    first = c * qd[..., 0] - s * qd[..., 1]
    second = s * qd[..., 0] + c * qd[..., 1]
    return np.stack([first, second, qd[..., 2]], axis=-1)


def _universal_bias(axis: Floats, q: Floats, qd: Floats) -> Floats:
    """S° qd: in the body's frame the first axis turns."""
    first = matvec(rotation(axis[:, 1], -q[:, 1]), axis[:, 0])
    turn = -cross(axis[:, 1], first) * (qd[:, :1] * qd[:, 1:])
    return np.concatenate([turn, np.zeros_like(turn)], axis=-1)


def _identity_subspace(rows: slice) -> Callable[[Floats, Floats], Floats]:
    return lambda axis, q: np.broadcast_to(np.eye(6)[:, rows], (len(q), 6, q.shape[1])).copy()


_TYPES = [
    JointType("fixed", 0, 0, lambda a, q: np.zeros((len(q), 6, 0)), lambda a, q: _still(q)),
    JointType(
        "revolute",
        1,
        1,
        lambda a, q: _columns((a[:, 0], None)),
        lambda a, q: (rotation(a[:, 0], q[:, 0]), np.zeros((len(q), 3))),
        angles=(0,),
    ),
    JointType(
        "prismatic", 1, 1, lambda a, q: _columns((None, a[:, 0])), lambda a, q: (_still(q)[0], a[:, 0] * q)
    ),
    JointType(
        "cylindrical",
        2,
        1,
        lambda a, q: _columns((a[:, 0], None), (None, a[:, 0])),
        lambda a, q: (rotation(a[:, 0], q[:, 0]), a[:, 0] * q[:, 1:]),
        angles=(0,),
    ),
    JointType(
        "universal",
        2,
        2,
        _universal_subspace,
        lambda a, q: (matmul(rotation(a[:, 0], q[:, 0]), rotation(a[:, 1], q[:, 1])), np.zeros((len(q), 3))),
        angles=(0, 1),
        moving=(0,),
        bias=_universal_bias,
    ),
    JointType(
        "spherical",
        3,
        0,
        _identity_subspace(slice(0, 3)),
        lambda a, q: (rotation_vector(q), np.zeros((len(q), 3))),
        orientation=True,
    ),
    JointType("planar", 3, 1, _planar_subspace, _planar_pose, angles=(2,), rate=_planar_rate),
    JointType(
        "floating",
        6,
        0,
        _identity_subspace(slice(0, 6)),
        lambda a, q: (rotation_vector(q[:, :3]), q[:, 3:].copy()),
        orientation=True,
    ),
]

TYPES: dict[str, JointType] = {t.name: t for t in _TYPES}
TYPES["continuous"] = TYPES["revolute"]
GENERAL = "general"  # any 6 x N matrix of full rank, given as the attribute S


def known(kind: object, body: object) -> str:
    """The type of a body's joint.  Raises ModelError where there is no such type."""
    if kind != GENERAL and (not isinstance(kind, str) or kind not in TYPES):
        names = [*TYPES, GENERAL]
        raise ModelError(f"body {body!r}", f"field 'joint' is {kind!r}", nearest(str(kind), names))
    return str(kind)


TERMS = ("armature", "damping", "friction", "stiffness")  # each zero or more
UNITS = {
    "armature": "kg m^2 or kg",
    "damping": "N m s/rad or N s/m",
    "friction": "N m or N",
    "stiffness": "N m/rad or N/m",
    "rest": "rad or m",
}


@dataclass(frozen=True)
class JointTerms:
    """The terms of all joints of a tree, each (N,), bodies in the tree's order."""

    armature: Floats  # [kg m^2, kg]
    damping: Floats  # [N m s/rad, N s/m]
    friction: Floats  # [N m, N]
    stiffness: Floats  # [N m/rad, N/m]
    rest: Floats  # [rad, m] where springs are at rest; in a state, measured from its q

    def at(self, q: Floats, balls: Sequence[int] = ()) -> JointTerms:
        """The terms with ``rest`` measured from q, as a state holds them.

        ``balls`` are the places in q of rotation vectors, which have a spring from pose to pose.
        """
        from .rotations import between

        rest = self.rest - q
        for start in balls:
            own = slice(start, start + 3)
            if q[own].any():
                rest[own] = -between(self.rest[own], q[own])
        return replace(self, rest=rest)

    def own(self, step: float) -> NDArray[np.bool_]:
        """(N,) freedoms whose qdd has an entry of its own on the diagonal."""
        moving = (self.damping != 0.0) | (self.stiffness != 0.0)
        return np.asarray((self.armature != 0.0) | (moving & (step > 0.0)))

    def diagonal(self, step: float, cast: Any) -> Any:
        """A (N,) in the number type of ``cast``."""
        A = cast(self.armature)
        if step:
            h = cast(np.array([step]))
            A = A + h * cast(self.damping) + h * h * cast(self.stiffness)
        return A

    def resistance(self, rates: Floats, step: float, cast: Any) -> Any:
        """Damping, spring and friction (N,) against the motion, in the number type of ``cast``."""
        qd, stretch = cast(rates), -cast(self.rest)
        if step:
            stretch = stretch + cast(np.array([step])) * qd
        found = cast(self.damping) * qd + cast(self.stiffness) * stretch
        if self.friction.any():
            found = found + cast(self.friction * np.sign(rates))
        return found


def joint_terms(
    names: Sequence[Hashable], joint: Sequence[str], offset: NDArray[np.int64], data: Sequence[dict[str, Any]]
) -> JointTerms | None:
    """The terms that bodies' attributes give; None where no joint has any.

    Raises ModelError, one sentence, for a value that is not finite, is negative (but for ``rest``)
    or has another length, and for a spring whose coordinates have other rates than qd.
    """
    fields = (*TERMS, "rest")
    found = {field: np.zeros(int(offset[-1])) for field in fields}
    for k, attributes in enumerate(data):
        for field in fields:
            value = attributes.get(field)
            if value is not None:
                own = slice(offset[k], offset[k + 1])
                found[field][own] = _checked(names[k], joint[k], field, value, own.stop - own.start)
    if not any(found[field].any() for field in TERMS):
        return None
    return JointTerms(*found.values())


def _checked(name: Hashable, kind: str, field: str, value: Any, dof: int) -> Floats:
    sign, least = ("finite", -np.inf) if field == "rest" else ("zero or more", 0.0)
    wanted = f"a number, or one for each of {dof} freedoms" if dof > 1 else "a number"
    shape = (dof,) if shape_of(value) else ()
    wanted = f"{wanted}, {sign}, in {UNITS[field]}"
    array = checked(f"body {name!r}", field, value, shape, wanted, least)
    where, what = f"body {name!r}", f"field {field!r} is {value!r}"
    if dof == 0 and array.any():
        raise ModelError(where, f"{what}, and a fixed joint has no freedom", "leave it out")
    joint = TYPES.get(kind)
    turning = kind != GENERAL and joint is not None and (joint.orientation or joint.rate)
    alike = kind == "spherical" and (field == "rest" or np.unique(array).size == 1)
    if field in ("stiffness", "rest") and turning and array.any() and not alike:
        raise ModelError(
            where,
            f"{what}, and the coordinates of a {kind} joint have other rates than qd",
            "leave it out, or give the spring's effort as tau",
        )
    return np.broadcast_to(array, (dof,))


def each(joint: Sequence[str], values: Mapping[str, int]) -> NDArray[np.int64]:
    """(n,) a whole number for each joint, by its type."""
    if len(values) == 1:
        return np.full(len(joint), min(values.values()), dtype=np.int64)
    return np.fromiter(map(values.__getitem__, joint), np.int64, len(joint))
