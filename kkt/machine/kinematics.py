"""The entries of equation (4), traced from joint positions, rates, efforts and wrenches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.closures import closures, constraint_rows
from ..matrix.configuration import Configuration
from ..matrix.entries import Entries, bias, joint_rates, velocities
from ..model.joints import GENERAL, TYPES
from ..model.loops import Loop, turned
from ..model.rotations import from_quaternion
from ..model.spatial import (
    Array,
    cross,
    force_transform,
    levels,
    lift,
    matmul,
    matvec,
    rotation,
    skew,
    spatial_inertia,
    transpose,
)
from .recorder import LARGEST, Recorder, Scalar

LENGTH = 1e6  # of a quaternion, at most


def variables(recorder: Recorder, first: int, count: int) -> Array:
    """(count,) inputs from slot ``first`` on, as traced numbers."""
    out = np.empty(count, dtype=object)
    out[:] = [Scalar(recorder, first + i) for i in range(count)]
    return out


def entries(
    configuration: Configuration,
    x: Array,
    qd: Array,
    tau: Array,
    wrench: Array,
    frames: str = "own",
    step: float = 0.0,
    loops: Sequence[Loop] = (),
    M: Array | None = None,
    points: bool = False,
) -> Entries:
    """The entries of (4) as arrays of objects: traced numbers, or floats where they are constant.

    x (nx,) configuration numbers, qd and tau (N,), wrench (n, 6) on each body at its joint origin,
    in its own frame; ``step`` [s] is that of an implicit step.  With ``frames`` "world" all of (4)
    is written in the world's directions, including the frames of ``loops``.  ``M`` (n, 6, 6) are inertias
    in the place of those of the bodies' masses; with ``points`` pdd are those of :func:`of_points`.
    """
    tree = configuration.tree
    R, p, subspaces, joint_bias = kinematics(configuration, x, qd)
    com, inertia = tree.com.astype(object), tree.inertia.astype(object)
    if frames == "world":
        A = directions(tree.parent, R)
        above = np.where((tree.parent >= 0)[:, None, None], A[tree.parent], np.eye(3))
        p, com = matvec(above, p), matvec(A, com)
        inertia = matmul(matmul(A, inertia), transpose(A))
        subspaces = [_turned(A[k], s.T).T for k, s in enumerate(subspaces)]
        joint_bias, wrench = _turned(A, joint_bias), _turned(A, wrench)
        R = np.broadcast_to(np.eye(3), R.shape).astype(object)
        own = dict(zip(tree.names, A, strict=True)) | {None: np.eye(3)}
        loops = [turned(loop, own) for loop in loops]
    owner = tree.owner
    column = np.arange(len(owner)) - tree.offset[owner]
    S = np.concatenate([np.zeros((0, 6), dtype=object), *(s.T for s in subspaces)])
    if M is None:
        M = spatial_inertia(tree.mass.astype(object), com, inertia)
    Phi = force_transform(R, p)
    rates = joint_rates(S, owner, column, qd, tree.n)
    gravity = tree.gravity.astype(object)
    if points:
        a, b = of_points(tree.parent, M, R, p, rates, joint_bias)
        lift(a, tree.parent, Phi, gravity)
    else:
        a, b = bias(tree.parent, M, Phi, rates, joint_bias, wrench, gravity)
    held = closures(tree, R, p, positions(configuration, x), loops) if loops else ()
    v = velocities(tree.parent, Phi, rates) if loops else rates
    rows = constraint_rows(held, v, gravity, _constants)
    if tree.terms is None:
        return Entries(M, Phi, S, a, b, tau, *rows)
    at = tree.terms.at(positions(configuration, x))
    tau = tau - at.resistance(qd, step, _constants)
    diagonal = at.diagonal(step, _constants) if at.own(step).any() else np.zeros(0)
    return Entries(M, Phi, S, a, b, tau, *rows, diagonal)


def of_points(
    parent: Array, M: Array, R: Array, p: Array, rates: Array, joint_bias: Array
) -> tuple[Array, Array]:
    """a and b (n, 6) where pdd has the accelerations of the bodies' origins, with the same qdd and f.

    They are those of (4) and w x v more (Featherstone 2008, section 2.11), so that of velocities only
    the angular ones w enter: b is (w x J w, w x (w x h)), no wrench, and a takes from the parent
    w x (w x p).
    """
    w, turning, sliding = velocities(parent, R, rates[:, :3]), rates[:, :3], rates[:, 3:]
    above = np.where((parent >= 0)[:, None], w[parent], 0.0)
    linear = matvec(transpose(R), cross(above, cross(above, p))) + cross(w + (w - turning), sliding)
    moment = cross(w, matvec(M[:, :3, :3], w))
    force = cross(w, cross(w, M[:, (2, 0, 1), (4, 5, 3)]))
    a = np.concatenate([cross(w, turning), linear], axis=1) + joint_bias
    return a, np.concatenate([moment, force], axis=1)


def _constants(x: Array) -> Array:
    return x.astype(object)


def positions(configuration: Configuration, x: Array) -> Array:
    """q (N,), with 0 for joints whose numbers are a quaternion, which have none."""
    q = np.zeros(configuration.tree.N, dtype=object)
    for k in range(configuration.tree.n):
        if not configuration.turns(k):
            q[configuration.tree.freedoms_of(k)] = x[configuration.of(k)]
    return q


def directions(parent: NDArray[np.int64], R: Array) -> Array:
    """(n, 3, 3) rotations that turn vectors of each body's frame into the world's directions."""
    A = R.copy()
    for level in levels(parent)[1:]:
        for k in level:
            A[k] = matmul(A[parent[k]], R[k])
    return A


def _turned(A: Array, six: Array) -> Array:
    """Spatial vectors (..., 6) whose two halves are turned by A (..., 3, 3)."""
    return np.concatenate([matvec(A, six[..., :3]), matvec(A, six[..., 3:])], axis=-1)


def kinematics(configuration: Configuration, x: Array, qd: Array) -> tuple[Array, Array, list[Array], Array]:
    """Poses R (n, 3, 3), p (n, 3), motion subspaces S_k and S° qd (n, 6) of all bodies.

    A pose is a fixed placement times the joint's pose; zeros and ones of both are folded.
    """
    tree = configuration.tree
    R, p = tree.R.astype(object), tree.p.astype(object)
    joint_bias = np.zeros((tree.n, 6), dtype=object)
    subspaces: list[NDArray[Any]] = []
    _write_sines_first(configuration, x)
    for k, kind in enumerate(tree.joint):
        xk, dof = x[configuration.of(k)], int(tree.dof[k])
        axis = tree.axis[k : k + 1]
        if kind == GENERAL:
            subspaces.append(tree.S[k].astype(object))
        else:
            # S of a joint with a quaternion is constant and needs only the number of columns
            position = np.zeros((1, dof)) if configuration.turns(k) else xk[None]
            subspaces.append(TYPES[kind].subspace(axis, position)[0].astype(object))
        turn, shift = _pose(configuration, k, xk)
        p[k] = p[k] + matvec(R[k], shift)
        R[k] = matmul(R[k], turn)
        slip = None if kind == GENERAL else TYPES[kind].bias
        if slip is not None:
            joint_bias[k] = slip(axis, xk[None], qd[None, configuration.tree.freedoms_of(k)])[0]
    return R, p, subspaces, joint_bias


def _pose(configuration: Configuration, k: int, x: Array) -> tuple[Array, Array]:
    """Pose of the joint of body k at its configuration numbers."""
    tree, kind = configuration.tree, configuration.tree.joint[k]
    if configuration.turns(k):
        position = x[:3] if len(x) > 4 else np.zeros(3)
        return from_quaternion(x[None, -4:])[0], position
    if kind == GENERAL:
        R, p = np.eye(3), np.zeros(3)
        for S, position in zip(tree.S[k].T, x, strict=True):  # they commute
            turn, shift = _screw(S, position)
            R, p = matmul(R, turn), p + matvec(R, shift)
        return R, p
    turn, shift = TYPES[kind].pose(tree.axis[k : k + 1], x[None])
    return turn[0], shift[0]


def _screw(S: Array, q: Scalar) -> tuple[Array, Array]:
    """The screw motion exp(S q) about one axis, S (6,)."""
    w, v = S[:3], S[3:]
    speed = float(np.sqrt((w * w).sum()))
    if speed == 0.0:
        return np.eye(3), v.astype(object) * q
    angle = np.array([q * speed], dtype=object)
    K = skew(w / speed)
    turn = rotation(w[None] / speed, angle)[0]
    c, s = np.cos(angle)[0], np.sin(angle)[0]
    # q v + (1 - cos)/|w| K v + (q - sin/|w|) K K v
    once, twice = matvec(K, v), matvec(K, matvec(K, v))
    return turn, v * q + once / speed * (1.0 - c) + (twice * q - twice / speed * s)


def arguments(configuration: Configuration) -> list[tuple[slice, float]]:
    """Places in x of each angle, with its turn for 1, and of each quaternion, with 0."""
    tree, found = configuration.tree, []
    for k, kind in enumerate(tree.joint):
        own = configuration.of(k)
        if configuration.turns(k):
            found.append((slice(own.stop - 4, own.stop), 0.0))
            continue
        turning = range(own.stop - own.start) if kind == GENERAL else TYPES[kind].angles
        for i in turning:
            speed = float(np.linalg.norm(tree.S[k][:3, i])) if kind == GENERAL else 1.0
            if speed:
                found.append((slice(own.start + i, own.start + i + 1), speed))
    return found


def outside(configuration: Configuration, x: Array) -> list[Scalar | float]:
    """A number for each argument of a pose: infinite where its sine or its rotation is wrong.

    Else zero, or nearly.  An angle is right to LARGEST rad; a quaternion whose length is beyond
    LENGTH or below 1/LENGTH has a square that overflows in some format.
    """
    found = []
    for own, speed in arguments(configuration):
        if speed:
            found.append(_beyond(x[own][0] * (speed / LARGEST)))
        else:
            square = (x[own] * x[own]).sum()
            found += [_beyond(square * LENGTH**-2), _beyond(LENGTH**-2 / square)]
    return found


def _beyond(part: Scalar | float) -> Scalar | float:
    """part^4096, which overflows in every format of a processor from 1.2 on, and is nothing below 0.8."""
    for _ in range(12):
        part = part * part
    return part


def _write_sines_first(configuration: Configuration, x: Array) -> None:
    """Record all sines and cosines first, so that they are together in the program."""
    tree = configuration.tree
    for k, kind in enumerate(tree.joint):
        xk = x[configuration.of(k)]
        if kind == GENERAL and not configuration.turns(k):
            for S, position in zip(tree.S[k].T, xk, strict=True):
                _screw(S, position)
        for i in () if kind == GENERAL else TYPES[kind].angles:
            np.sin(xk[i : i + 1]), np.cos(xk[i : i + 1])
