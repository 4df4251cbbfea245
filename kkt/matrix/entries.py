"""The blocks of equation (4) in one state: spatial algebra and bias, in any number type.

What joints' own terms add: the block A on the diagonal of qdd, and efforts.  The block is there only
where a joint has an entry in it (:mod:`kkt.model.joints`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..model.spatial import (
    Array,
    cross_force,
    cross_motion,
    force_transform,
    levels,
    matvec,
    spatial_inertia,
    transpose,
)
from ..model.tree_kernels import MANY, breadth_first
from ..model.tree_kernels import moving as compiled_moving
from .closures import constraint_rows
from .state import State


def joint_rates(S: Array, owner: Array, column: Array, qd: Array, n: int) -> Array:
    """S_k qd_k of every body (n, 6); S holds the columns (N, 6) of body ``owner``."""
    total = np.zeros_like(S, shape=(n, 6))
    for j in range(6):
        take = column == j
        total[owner[take]] = total[owner[take]] + S[take] * qd[take, None]
    return total


def velocities(parent: Array, Phi: Array, rates: Array) -> Array:
    """Spatial velocities v_k = Phi* v_parent + S_k qd_k (n, 6)."""
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

    # a_k: what the body accelerates by while its joint's qdd is 0
    a = cross_motion(v, rates) + joint_bias

    # gravity enters as the acceleration of the world, from which roots hang
    roots = np.flatnonzero(parent < 0)
    base = np.concatenate([gravity * 0, -gravity])
    lift = matvec(transpose(Phi[roots]), np.broadcast_to(base, (len(roots), 6)))
    a[roots] = a[roots] + lift

    # b_k: the force that turns the momentum M_k v_k, less what pulls from outside
    b = cross_force(v, matvec(M, v)) - wrench
    return a, b


def joint_entries(state: State, cast: Callable[[NDArray], Array]) -> tuple[Array, Array]:
    """The right-hand side (N,) of rows qdd, and A (N,), or (0,) where no joint has an entry."""
    tau, terms = cast(state.tau), state.terms
    if terms is None:
        return tau, np.zeros(0)
    tau = terms.effort(tau, state.qd, state.step, cast)
    return tau, terms.diagonal(state.step, cast) if len(own_entries(state)) else np.zeros(0)


def own_entries(state: State) -> NDArray[np.bool_]:
    """(N,) freedoms whose qdd has an entry of its own on the diagonal; (0,) where none has."""
    found = np.zeros(0, dtype=bool) if state.terms is None else state.terms.own(state.step)
    return found if found.any() else np.zeros(0, dtype=bool)


def step_of(implicit: Any) -> float:
    """The step [s] of an implicit build, 0 where there is none; raises ModelError."""
    if implicit is None:
        return 0.0
    try:
        step = float(implicit)
    except (TypeError, ValueError):
        step = np.nan
    if not (np.isfinite(step) and step > 0.0):
        raise ModelError(f"build: implicit is {implicit!r}; give a step in s, above 0, or None")
    return step


@dataclass(frozen=True)
class Entries:
    """The blocks of (4) in one number type; arrays of float64 or of objects."""

    M: Array  # (n, 6, 6) spatial inertias
    Phi: Array  # (n, 6, 6) force transforms to the parent; a root's is unused
    S: Array  # (N, 6) columns of the motion subspaces: row j of H
    a: Array  # (n, 6) bias accelerations
    b: Array  # (n, 6) bias forces
    tau: Array  # (N,) joint efforts
    # of closed loops and contacts, one after another:
    G: Array = field(default_factory=lambda: np.zeros((0, 6)))  # C* Phi* on the first body, then
    #                       on the second, m rows each; the first body's enter with minus
    gamma: Array = field(default_factory=lambda: np.zeros(0))  # (m,) of each
    compliance: Array = field(default_factory=lambda: np.zeros(0))  # (m,) of each
    A: Array = field(default_factory=lambda: np.zeros(0))  # (N,) diagonal of (qdd, qdd), or (0,)


LETTERS = tuple(entry.name for entry in fields(Entries))
RIGHT_HAND_SIDE = ("a", "b", "tau", "gamma")


def assemble(
    state: State, number: Callable[[Any], Any] | None = None, inertias: Array | None = None
) -> Entries:
    """Spatial algebra, bias and blocks of (4) from the state's doubles, in any number type.

    ``number`` turns a float into the number type; None stays in float64.  ``inertias`` (n, 6, 6)
    are M of the same bodies, where they are known already.
    """
    if number is None and len(state.names) >= MANY and not state.loops:
        return _assembled(state, inertias)

    def cast(x: NDArray) -> Array:
        if number is None:
            return x
        flat = [number(float(value)) for value in x.ravel()]
        return np.array([*flat, None], dtype=object)[:-1].reshape(x.shape)

    n = len(state.names)
    dof = np.diff(state.S.offset)
    owner = np.repeat(np.arange(n), dof)
    column = ragged(np.zeros(n, dtype=np.int64), dof)

    # the blocks of the matrix: H by its columns S, M and Phi
    S = cast(state.S.columns)
    M = spatial_inertia(cast(state.mass), cast(state.com), cast(state.inertia))
    Phi = force_transform(cast(state.R), cast(state.p))

    # the right-hand side: bias of bodies, efforts of joints
    rates = joint_rates(S, owner, column, cast(state.qd), n)
    a, b = bias(state.parent, M, Phi, rates, cast(state.joint_bias), cast(state.wrench), cast(state.gravity))
    tau, A = joint_entries(state, cast)
    if not state.loops:
        return Entries(M, Phi, S, a, b, tau, A=A)

    # rows of closed loops and contacts, below and beside all others
    v = velocities(state.parent, Phi, rates)
    rows = constraint_rows(state.loops, v, cast(state.gravity), cast)
    return Entries(M, Phi, S, a, b, tau, *rows, A)


def _assembled(state: State, inertias: Array | None) -> Entries:
    """:func:`assemble` in float64 for many bodies, in one compiled loop."""
    n, s = len(state.names), state
    M = spatial_inertia(s.mass, s.com, s.inertia) if inertias is None else inertias
    Phi, v, a, b = np.empty((n, 6, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6))
    order = breadth_first(s.parent)[0]
    given = (s.qd, s.joint_bias, s.wrench, s.gravity)
    compiled_moving(order, s.parent, s.S.offset, (s.R, s.p), M, s.S.columns, given, (Phi, v, a, b))
    tau, A = joint_entries(s, lambda x: x)
    return Entries(M, Phi, s.S.columns, a, b, tau, A=A)


def ragged(start: NDArray, length: NDArray) -> NDArray:
    """start[k], ..., start[k] + length[k] - 1 for every k, one after another."""
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return np.repeat(start, length) + within
