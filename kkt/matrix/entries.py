"""The blocks of equation (4) in one state: spatial algebra and bias, in any number type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.spatial import Array, force_transform, spatial_inertia
from ..model.tree_kernels import MANY, breadth_first
from ..model.tree_kernels import moving as compiled_moving
from .bias import bias, joint_rates, velocities
from .closures import constraint_rows
from .joint_entries import joint_entries
from .state import State


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
    S = cast(state.S.columns)
    M = spatial_inertia(cast(state.mass), cast(state.com), cast(state.inertia))
    Phi = force_transform(cast(state.R), cast(state.p))
    rates = joint_rates(S, owner, column, cast(state.qd), n)
    a, b = bias(state.parent, M, Phi, rates, cast(state.joint_bias), cast(state.wrench), cast(state.gravity))
    tau, A = joint_entries(state, cast)
    if not state.loops:
        return Entries(M, Phi, S, a, b, tau, A=A)
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
