"""Velocities and the bias terms a_k, b_k of equation (4), for any number type."""

from __future__ import annotations

import numpy as np

from ..model.parents import levels
from ..model.spatial import Array, cross_force, cross_motion, matvec, transpose
from ..model.tree_kernels import MANY, breadth_first
from ..model.tree_kernels import velocities as compiled_velocities


def joint_rates(S: Array, owner: Array, column: Array, qd: Array, n: int) -> Array:
    """S_k qd_k of every body (n, 6); S holds the columns (N, 6) of body ``owner``."""
    total = np.zeros_like(S, shape=(n, 6))
    for j in range(6):
        take = column == j
        total[owner[take]] = total[owner[take]] + S[take] * qd[take, None]
    return total


def velocities(parent: Array, Phi: Array, rates: Array) -> Array:
    """Spatial velocities v_k = Phi* v_parent + S_k qd_k (n, 6)."""
    if len(parent) >= MANY and rates.dtype == Phi.dtype == np.float64:
        return compiled_velocities(breadth_first(parent)[0], parent, Phi, rates)
    v = rates + 0
    for level in levels(parent)[1:]:
        up = parent[level]
        v[level] = matvec(transpose(Phi[level]), v[up]) + rates[level]
    return v


def unit_motions(parent: Array, Phi: Array, S: Array, owner: Array) -> Array:
    """(n, 6, N) velocities of all bodies while each freedom moves alone at rate 1.

    ``S`` (N, 6) holds the columns of bodies ``owner`` (N,).
    """
    v = np.zeros((len(parent), 6, len(owner)))
    v[owner, :, np.arange(len(owner))] = S
    for level in levels(parent)[1:]:
        v[level] += transpose(Phi[level]) @ v[parent[level]]
    return v


def bias(
    parent: Array, M: Array, Phi: Array, rates: Array, joint_bias: Array, wrench: Array, gravity: Array
) -> tuple[Array, Array]:
    """a (n, 6) and b (n, 6): a body's acceleration is Phi* alpha_parent + H* qdd + a.

    With alpha = -pdd the force on the body is M alpha + b.  a_k is v_k x (S_k qd_k) + S°_k qd_k,
    and Phi* (0, -g) more for a root, since gravity enters as the base's acceleration; b_k is
    v_k x* (M_k v_k) - external wrench (Ascher 1996, eqs (1), (2)).
    """
    v = velocities(parent, Phi, rates)
    a = cross_motion(v, rates) + joint_bias
    roots = np.flatnonzero(parent < 0)
    base = np.concatenate([gravity * 0, -gravity])
    lift = matvec(transpose(Phi[roots]), np.broadcast_to(base, (len(roots), 6)))
    a[roots] = a[roots] + lift
    b = cross_force(v, matvec(M, v)) - wrench
    return a, b
