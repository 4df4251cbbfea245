"""Rotations as vectors and quaternions, screw motions, and motions that commute."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fields import Floats
from .spatial import cross, cross_motion, matmul, matvec, rotation_vector, skew

ROUNDING = 1e-14  # of the brackets of motions of length 1 that commute, written in float64


def brackets(S: Floats) -> Floats:
    """The Lie brackets (6, pairs) of each two columns of S (6, N_k): zeros where motions commute."""
    pairs = [(i, j) for i in range(S.shape[1]) for j in range(i)]
    return np.array([cross_motion(S[:, i], S[:, j]) for i, j in pairs]).reshape(-1, 6).T


def commute(S: Floats) -> bool:
    """Whether the motions S (6, N_k) commute, but for rounding: exp(S q) is a product of screws then.

    So do slides, and a turn about an axis with a slide along it: qd are the rates of q then.
    """
    size = float(np.sqrt((S * S).sum(axis=0)).max(initial=0.0))
    return bool(np.abs(brackets(S)).max(initial=0.0) <= ROUNDING * size**2)


def exponential(twist: Floats) -> tuple[Floats, Floats]:
    """Pose (R, p) of the screw motion exp(twist), twist (6,) angular first [rad, m]."""
    w, v = twist[:3], twist[3:]
    angle = float(np.sqrt(w @ w))
    R = rotation_vector(w[None])[0]
    if angle < 1e-8:
        return R, v + 0.5 * cross(w, v)
    K = skew(w / angle)
    V = np.eye(3) + (1.0 - np.cos(angle)) / angle * K + (1.0 - np.sin(angle) / angle) * matmul(K, K)
    return R, matvec(V, v)


def quaternion_to_vector(xyzw: Floats) -> Floats:
    """Rotation vector (3,) of a quaternion (x, y, z, w), which is normalised first."""
    quaternion = np.asarray(xyzw, dtype=float)
    quaternion = quaternion / np.abs(quaternion).max()  # so that no square over- or underflows
    quaternion = quaternion / np.sqrt((quaternion * quaternion).sum())
    vector, w = quaternion[:3], quaternion[3]
    if w < 0.0:
        vector, w = -vector, -w
    length = float(np.sqrt(vector @ vector))
    if length == 0.0:
        return np.zeros(3)
    return 2.0 * np.arctan2(length, w) * vector / length


def from_quaternion(x: NDArray[Any]) -> NDArray[Any]:
    """Rotations (..., 3, 3) of quaternions (..., 4) of any length but zero, any number type."""
    square = x * x
    scale = 2.0 / (square[..., 0] + square[..., 1] + square[..., 2] + square[..., 3])
    y = x * scale[..., None]
    (xx, yy, zz), w = (y[..., i, None] * x[..., :3] for i in range(3)), x[..., 3, None]
    wv = w * y[..., :3]
    one = 1.0
    rows = [
        [one - (yy[..., 1] + zz[..., 2]), xx[..., 1] - wv[..., 2], xx[..., 2] + wv[..., 1]],
        [xx[..., 1] + wv[..., 2], one - (xx[..., 0] + zz[..., 2]), yy[..., 2] - wv[..., 0]],
        [xx[..., 2] - wv[..., 1], yy[..., 2] + wv[..., 0], one - (xx[..., 0] + yy[..., 1])],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def to_quaternion(w: Floats) -> Floats:
    """Unit quaternions (..., 4) of rotation vectors (..., 3) [rad]."""
    half = np.sqrt((w * w).sum(-1, keepdims=True)) / 2.0
    return np.concatenate([np.sinc(half / np.pi) / 2.0 * w, np.cos(half)], axis=-1)


def between(first: Floats, second: Floats) -> Floats:
    """The rotation vector that leads from one orientation to another, both rotation vectors (3,)."""
    (u, a), (v, b) = ((x[:3], x[3]) for x in map(to_quaternion, (-first, second)))
    turn = np.append(b * u + a * v + cross(u, v), a * b - u @ v)
    return quaternion_to_vector(turn)
