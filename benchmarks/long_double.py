"""Articulated bodies in extended precision, from joint positions: the reference for long chains.

Featherstone 2008, table 7.1, body by body in numpy's long double; nothing but the tree's constants
is taken from the project.  Where a long double is a double, it is a reference no longer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt

Long = NDArray[np.longdouble]


def cross(v: Long) -> Long:
    """v~, the matrix of v x."""
    x, y, z = v
    o = np.longdouble(0)
    return np.array([[o, -z, y], [z, o, -x], [-y, x, o]])


def motion_cross(v: Long) -> Long:
    """(6, 6) of a spatial velocity on motions; minus its transpose acts on forces."""
    W, V = cross(v[:3]), cross(v[3:])
    return np.block([[W, np.zeros_like(W)], [V, W]])


def turned(axis: Long, angle: np.longdouble) -> Long:
    """Rotation about a unit axis (Rodrigues)."""
    K = cross(axis)
    return np.eye(3, dtype=np.longdouble) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def forward_dynamics(tree: kkt.BodyTree, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Long:
    """qdd (n,) of a tree of revolute joints, parents numbered before their children."""
    if set(tree.joint) != {"revolute"} or (tree.parent >= np.arange(tree.n)).any():
        raise kkt.ModelError("the reference takes revolute joints, parents before children")
    names = ("R", "p", "com", "inertia", "mass", "gravity")
    R, p, com, J, mass, gravity = (getattr(tree, name).astype(np.longdouble) for name in names)
    axis = tree.axis[:, 0].astype(np.longdouble)
    q, qd, tau = (np.asarray(x, dtype=np.longdouble) for x in (q, qd, tau))
    n, none = tree.n, np.zeros((3, 3), dtype=np.longdouble)
    X = np.empty((n, 6, 6), dtype=np.longdouble)  # motions, parent to body
    inertia = np.empty_like(X)
    v, c, force = (np.zeros((n, 6), dtype=np.longdouble) for _ in range(3))
    S = np.concatenate([axis, np.zeros_like(axis)], axis=1)
    for k in range(n):
        E = (R[k] @ turned(axis[k], q[k])).T
        X[k] = np.block([[E, none], [-E @ cross(p[k]), E]])
        d = cross(com[k])
        inertia[k] = np.block([[J[k] - mass[k] * d @ d, mass[k] * d], [-mass[k] * d, mass[k] * np.eye(3)]])
        up = tree.parent[k]
        v[k] = S[k] * qd[k] + (X[k] @ v[up] if up >= 0 else 0)
        moving = motion_cross(v[k])
        c[k] = moving @ S[k] * qd[k]
        force[k] = -moving.T @ inertia[k] @ v[k]
    U, D, u = np.empty_like(v), np.empty_like(q), np.empty_like(q)
    for k in range(n - 1, -1, -1):
        U[k] = inertia[k] @ S[k]
        D[k], u[k] = S[k] @ U[k], tau[k] - S[k] @ force[k]
        up = tree.parent[k]
        if up >= 0:
            left = inertia[k] - np.outer(U[k], U[k]) / D[k]
            inertia[up] += X[k].T @ left @ X[k]
            force[up] += X[k].T @ (force[k] + left @ c[k] + U[k] * (u[k] / D[k]))
    a, qdd = np.empty_like(v), np.empty_like(q)
    base = np.concatenate([np.zeros(3, dtype=np.longdouble), -gravity])
    for k in range(n):
        up = tree.parent[k]
        arriving = X[k] @ (a[up] if up >= 0 else base) + c[k]
        qdd[k] = (u[k] - U[k] @ arriving) / D[k]
        a[k] = arriving + S[k] * qdd[k]
    return qdd
