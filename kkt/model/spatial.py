"""Spatial algebra on stacks of vectors and matrices, for any number type.

Vectors are angular first, then linear, in the body's own joint frame (Ascher, Pai & Cloutier
1996, section 2).  Every function takes arrays whose last axes are the vector or matrix and
whose leading axis runs over bodies; ``dtype`` is float64, or ``object`` holding fractions,
mpmath numbers or balls.  Sums run in ascending index and never through BLAS, whose order of
summation differs between processors.

Beside it stand the levels of a tree, from the array of parents.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import loop
from .fields import Floats

MANY = 250  # bodies from which on a compiled loop is worth its loading


@loop(few=MANY)
def breadth_first(parent: Integers) -> tuple[Integers, Integers]:
    """Bodies by depth, roots first, and where each depth starts among them.

    Within a depth, bodies stand in the order of their parents, and siblings in that of their
    indices.  Bodies on cycles are left out, so that the last start is then less than n.
    """
    n = len(parent)
    child = np.full(n + 1, -1, dtype=np.int64)  # first child of each body; the world's is the last
    following = np.full(n, -1, dtype=np.int64)
    for k in range(n - 1, -1, -1):
        up = parent[k] if parent[k] >= 0 else n
        following[k], child[up] = child[up], k
    order = np.empty(n + 1, dtype=np.int64)  # the world, then bodies
    start = np.zeros(n + 1, dtype=np.int64)
    order[0] = n
    first, filled, depth = 0, 1, -1
    while first < filled:
        depth += 1
        start[depth] = last = filled
        for t in range(first, last):
            k = child[order[t]]
            while k >= 0:
                order[filled] = k
                filled += 1
                k = following[k]
        first = last
    return order[1:filled], start[: depth + 1] - 1


def levels(parent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Indices grouped by depth, roots (parent -1) first.  Raises nothing, and skips cycles."""
    order, start = breadth_first(parent)
    return [order[first:last] for first, last in pairwise(start.tolist())]


Array = NDArray[Any]  # float64, or object holding one number type
CACHED = 2048  # matrices that stay in a core's cache while it goes over them column by column


def matvec(a: Array, x: Array) -> Array:
    """``a @ x`` for stacks (..., r, c) and (..., c), summed in ascending index."""
    if a.ndim == 3 and len(a) == len(x) > CACHED:
        return in_pieces(matvec, a, x)
    total = a[..., 0] * x[..., 0, None]
    for k in range(1, a.shape[-1]):
        total += a[..., k] * x[..., k, None]
    return total


def in_pieces(function: Callable[..., Array], *arrays: Array) -> Array:
    """``function`` of bodies' arrays, a few bodies at a time, so that these stay in a core's cache.

    It gets them with equal entries of bodies side by side, over which processors go fastest.
    """
    if not any(x.strides[0] for x in arrays):  # one value, of all bodies
        return alike(function(*[x[:1] for x in arrays]), len(arrays[0]))

    def of(i: int) -> Array:
        return function(*(np.asfortranarray(x[i : i + CACHED]) for x in arrays))

    first, n = of(0), len(arrays[0])
    found = np.empty((n, *first.shape[1:]), first.dtype)
    found[:CACHED] = first
    for i in range(CACHED, n, CACHED):
        found[i : i + CACHED] = of(i)
    return found


def alike(one: Array, n: int) -> Array:
    """The value (1, ...) of all n bodies as an array (n, ...) that holds it once, and is only read."""
    one = np.ascontiguousarray(one)
    found = np.ndarray((n, *one.shape[1:]), one.dtype, one, 0, (0, *one.strides[1:]))
    found.flags.writeable = False
    return found


def stored(x: Array) -> Array:
    """The values of bodies, of which one that stands for all bodies is there once."""
    return x if x.strides[0] else x[:1].copy()


def matmul(a: Array, b: Array) -> Array:
    """``a @ b`` for stacks (..., r, k) and (..., k, c), summed in ascending index."""
    total = a[..., :, 0, None] * b[..., 0, None, :]
    for k in range(1, a.shape[-1]):
        total += a[..., :, k, None] * b[..., k, None, :]
    return total


def transpose(a: Array) -> Array:
    return np.swapaxes(a, -1, -2)


def cross(a: Array, b: Array) -> Array:
    """Ordinary cross product of stacks (..., 3)."""
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def skew(d: Array) -> Array:
    """The matrix d~ with d~ y = d x y; (..., 3) to (..., 3, 3)."""
    out = np.empty_like(d, shape=(*d.shape, 3))
    out[...] = d[..., :1, None] * 0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i, j], out[..., j, i] = -d[..., k], d[..., k]
    return out


def force_transform(R: Array, p: Array) -> Array:
    """Phi_{p,k} = [[R, p~ R], [0, R]]: carries forces from k's frame to its parent's.

    ``R`` (..., 3, 3) and ``p`` (..., 3) [m] are the pose of k in the parent (Ascher 1996, sec. 2).
    """
    upper = np.concatenate([R, matmul(skew(p), R)], axis=-1)
    lower = np.concatenate([R * 0, R], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def spatial_inertia(mass: Array, com: Array, inertia: Array) -> Array:
    """M_k = [[J - m d~ d~, m d~], [-m d~, m 1]] about the joint origin (Ascher 1996, sec. 2).

    ``mass`` (...,) [kg], ``com`` (..., 3) [m], ``inertia`` (..., 3, 3) about the centre of mass
    [kg m^2].  One triangle is mirrored, so that the result is symmetric to the last bit.
    """
    d = skew(com)
    md = mass[..., None, None] * d
    M = np.empty_like(inertia, shape=(*inertia.shape[:-2], 6, 6))
    M[..., :3, :3], M[..., :3, 3:], M[..., 3:, 3:] = inertia - matmul(md, d), md, 0 + d * 0
    for i in range(6):
        M[..., i, :i] = M[..., :i, i]
        if i >= 3:
            M[..., i, i] = mass
    return M


def cross_motion(v: Array, u: Array) -> Array:
    """v x u for two motion vectors (..., 6)."""
    angular = cross(v[..., :3], u[..., :3])
    linear = cross(v[..., :3], u[..., 3:]) + cross(v[..., 3:], u[..., :3])
    return np.concatenate([angular, linear], axis=-1)


def cross_force(v: Array, f: Array) -> Array:
    """v x* f for a motion vector and a force vector (..., 6)."""
    moment = cross(v[..., :3], f[..., :3]) + cross(v[..., 3:], f[..., 3:])
    linear = cross(v[..., :3], f[..., 3:])
    return np.concatenate([moment, linear], axis=-1)


def rotation_vector(w: Floats) -> Floats:
    """exp of rotation vectors (m, 3) [rad] as matrices (m, 3, 3)."""
    angle = np.sqrt((w * w).sum(-1))
    safe = np.where(angle == 0.0, 1.0, angle)
    axis = np.where(angle[..., None] == 0.0, [0.0, 0.0, 1.0], w / safe[..., None])
    return rotation(axis, angle)


def rotation(axis: Array, angle: Array) -> Array:
    """Rodrigues' rotation about unit axes (..., 3) by angles (...,) [rad], float64.

    The products axis_i axis_j (1 - cos) of a zero component are exactly zero, so that a
    rotation about a coordinate axis keeps its structural zeros and ones.
    """
    c, s = np.cos(angle), np.sin(angle)
    rest, u = 1.0 - c, [axis[..., i] for i in range(3)]
    columns = np.empty_like(c, shape=(3, 3, *c.shape))  # equal entries of bodies side by side
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        # 1 - (1 - c)(1 - u_i^2): exact 1 on the axis, exact c beside a coordinate axis
        off_axis = u[j] * u[j] + u[k] * u[k]
        columns[i, i] = np.where(off_axis == 1.0, c, 1.0 - rest * off_axis)
        both, turn = rest * (u[i] * u[j]), s * u[k]
        columns[j, i], columns[i, j] = both - turn, both + turn
    return np.moveaxis(columns, (1, 0), (-2, -1))


Integers = NDArray[np.int64]


def lift(a: Array, parent: Array, Phi: Array, gravity: Array) -> None:
    """Gravity enters a as the acceleration of the world, from which roots hang."""
    roots = np.flatnonzero(parent < 0)
    a[roots, 3:] = a[roots, 3:] + matvec(transpose(Phi[roots, 3:, 3:]), -gravity)


def locked_inertia(parent: Integers, Phi: Floats, M: Floats, S: Floats, owner: Integers) -> Floats:
    """(N,) the inertia [kg m^2, kg] that each freedom moves, all joints beyond it locked.

    ``Phi``, ``M`` (n, 6, 6) are the bodies' force transforms and inertias, ``S`` (N, 6) the motions of
    bodies ``owner`` (N,).  It is the diagonal of the joint-space inertia.
    """
    subtree = M.copy()
    for level in reversed(levels(parent)[1:]):
        own = Phi[level]
        np.add.at(subtree, parent[level], own @ subtree[level] @ transpose(own))
    return np.asarray((S * (subtree[owner] @ S[:, :, None])[:, :, 0]).sum(axis=1))
