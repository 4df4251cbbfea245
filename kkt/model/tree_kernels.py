"""Compiled loops over the bodies of large trees, and those that sort them by depth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit

MANY = 1000  # bodies from which on a compiled loop is worth its loading


@njit(cache=True)
def breadth_first(parent):  # pragma: no cover
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
    order = np.empty(n, dtype=np.int64)
    start = np.zeros(n + 1, dtype=np.int64)
    k, filled, depth = child[n], 0, 0
    while k >= 0:
        order[filled] = k
        filled += 1
        k = following[k]
    first = 0
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
    return order[:filled], start[: depth + 1]


Integers = NDArray[np.int64]


@njit(cache=True)
def one_axis(bodies, offset, placed, angle, along, found):  # pragma: no cover
    """Poses and motion subspaces of joints that turn about an axis, or shift along it.

    ``placed`` are axis, R and p of all joints, ``angle`` is q with its cosine and sine, and
    ``found`` are the R, p and columns of S that are written.  The operations are those of
    :func:`kkt.model.spatial.turned` and of the products with the fixed placement, in their order,
    but for terms that are zero.
    """
    (axis, R0, p0), (q, c, s), (R, p, columns) = placed, angle, found
    turn = np.empty((3, 3))
    for k in bodies:
        j = offset[k]
        x, y, z = axis[k, 0, 0], axis[k, 0, 1], axis[k, 0, 2]
        for i in range(3):
            columns[j, 3 + i if along else i] = axis[k, 0, i]
        if along:
            for i in range(3):
                shift = R0[k, i, 0] * (x * q[j]) + R0[k, i, 1] * (y * q[j])
                p[k, i] = p0[k, i] + (shift + R0[k, i, 2] * (z * q[j]))
            continue
        less = 1.0 - c[j]
        turn[0, 1] = less * (x * y) + s[j] * -z
        turn[0, 2] = less * (x * z) + s[j] * y
        turn[1, 0] = less * (y * x) + s[j] * z
        turn[1, 2] = less * (y * z) + s[j] * -x
        turn[2, 0] = less * (z * x) + s[j] * -y
        turn[2, 1] = less * (z * y) + s[j] * x
        for i in range(3):
            a, b = axis[k, 0, (i + 1) % 3], axis[k, 0, (i + 2) % 3]
            off_axis = a * a + b * b
            turn[i, i] = c[j] if off_axis == 1.0 else 1.0 - less * off_axis
        for i in range(3):
            for m in range(3):
                total = R0[k, i, 0] * turn[0, m] + R0[k, i, 1] * turn[1, m]
                R[k, i, m] = total + R0[k, i, 2] * turn[2, m]


@njit(cache=True)
def inertias(mass, com, inertia, M):  # pragma: no cover
    """:func:`kkt.model.spatial.spatial_inertia` into M, by the same sums."""
    d, md = np.zeros((3, 3)), np.zeros((3, 3))
    for k in range(len(mass)):
        for i, j, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            d[i, i] = com[k, 0] * 0.0
            d[i, j], d[j, i] = -com[k, m], com[k, m]
        for i in range(3):
            for j in range(3):
                md[i, j] = mass[k] * d[i, j]
        for i in range(3):
            for j in range(3):
                total = md[i, 0] * d[0, j] + md[i, 1] * d[1, j]
                M[k, i, j] = inertia[k, i, j] - (total + md[i, 2] * d[2, j])
                M[k, i, 3 + j] = md[i, j]
                M[k, 3 + i, 3 + j] = mass[k] if i == j else 0.0 + d[i, j] * 0.0
        for i in range(6):
            for j in range(i):
                M[k, i, j] = M[k, j, i]


@njit(cache=True)
def entries_seen(R, p, seen, one):  # pragma: no cover
    """Add the nonzeros of Phi = [[R, p~ R], [0, R]] to ``seen``; leave in ``one`` those that are 1."""
    for k in range(len(R)):
        for i, j, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            for c in range(3):
                seen[k, i, c] |= R[k, i, c] != 0.0
                one[k, i, c] &= R[k, i, c] == 1.0
                seen[k, 3 + i, 3 + c], one[k, 3 + i, 3 + c] = seen[k, i, c], one[k, i, c]
                seen[k, i, 3 + c] |= p[k, m] != 0.0 and R[k, j, c] != 0.0
                seen[k, i, 3 + c] |= p[k, j] != 0.0 and R[k, m, c] != 0.0


@njit(cache=True)
def moving(order, parent, offset, pose, M, S, given, found):  # pragma: no cover
    """Transforms, velocities and bias as in :mod:`kkt.matrix.entries`, parents before children.

    ``pose`` are R and p, ``given`` qd, the joints' bias, wrenches and gravity, and ``found`` the
    Phi, v, a, b that are written.
    """
    (R, p), (qd, joint_bias, wrench, gravity), (Phi, v, a, b) = pose, given, found
    rate, force = np.empty(6), np.empty(6)
    for k in order:
        T, up = Phi[k], parent[k]
        for i in range(3):
            for j in range(3):
                T[i, j] = T[3 + i, 3 + j] = R[k, i, j]
                T[3 + i, j] = 0.0
        for j in range(3):
            x, y, z = p[k, 0], p[k, 1], p[k, 2]
            T[0, 3 + j] = -z * R[k, 1, j] + y * R[k, 2, j]
            T[1, 3 + j] = z * R[k, 0, j] + -x * R[k, 2, j]
            T[2, 3 + j] = -y * R[k, 0, j] + x * R[k, 1, j]
        for i in range(6):
            total = 0.0
            for j in range(offset[k], offset[k + 1]):
                total += S[j, i] * qd[j]
            rate[i] = total
            if up < 0:
                v[k, i] = total
            else:
                total = T[0, i] * v[up, 0]
                for j in range(1, 6):
                    total += T[j, i] * v[up, j]
                v[k, i] = total + rate[i]
        for i in range(6):
            total = M[k, i, 0] * v[k, 0]
            for j in range(1, 6):
                total += M[k, i, j] * v[k, j]
            force[i] = total
        w, u = v[k, :3], v[k, 3:]
        for i in range(3):
            one, two = (i + 1) % 3, (i + 2) % 3
            a[k, i] = (w[one] * rate[two] - w[two] * rate[one]) + joint_bias[k, i]
            linear = w[one] * rate[3 + two] - w[two] * rate[3 + one]
            linear = linear + (u[one] * rate[two] - u[two] * rate[one])
            a[k, 3 + i] = linear + joint_bias[k, 3 + i]
            moment = w[one] * force[two] - w[two] * force[one]
            moment = moment + (u[one] * force[3 + two] - u[two] * force[3 + one])
            b[k, i] = moment - wrench[k, i]
            b[k, 3 + i] = (w[one] * force[3 + two] - w[two] * force[3 + one]) - wrench[k, 3 + i]
        if up < 0:  # gravity enters as the base's acceleration
            for i in range(6):
                total = 0.0
                for j in range(3):
                    total += T[3 + j, i] * -gravity[j]
                a[k, i] += total


@njit(cache=True)
def outside(x, mask, one):  # pragma: no cover
    """Whether an entry is nonzero where ``mask`` is not, or other than 1 where ``one`` is."""
    x, mask, one = x.ravel(), mask.ravel(), one.ravel()
    wrong = 0
    for i in range(len(x)):
        wrong |= (x[i] != 0.0) & (not mask[i]) | (x[i] != 1.0) & one[i]
    return wrong != 0
