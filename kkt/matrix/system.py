"""Equation (4) of Ascher, Pai & Cloutier 1996 as a scipy.sparse array, for a tree in a state.

Closed loops and contacts (:mod:`kkt.model.loops`) are rows and columns at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError
from ..base.shown import LARGEST, Shown, spy
from ..model.joints import GENERAL
from ..model.loops import Loop, checked_loops, warn_if_open
from ..model.spatial import Array, force_transform, skew, spatial_inertia
from ..model.tree import BodyTree, compile_tree
from ..model.tree_kernels import matrix as compiled_matrix
from ..model.tree_kernels import moving as compiled_moving
from ..model.tree_kernels import outside
from ..model.tree_order import MANY, breadth_first
from .bias import bias, joint_rates, velocities
from .blocks import BlockIndex, Structure, Tie
from .closures import closures, constraint_rows
from .redundancy import require_independent
from .state import State, coordinates, kinematics, state_of

LAYOUTS = ("kind", "body")


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
    column = _ragged(np.zeros(n, dtype=np.int64), dof)
    S = cast(state.S.columns)
    M = spatial_inertia(cast(state.mass), cast(state.com), cast(state.inertia))
    Phi = force_transform(cast(state.R), cast(state.p))
    rates = joint_rates(S, owner, column, cast(state.qd), n)
    a, b = bias(
        state.parent, M, Phi, rates,
        cast(state.joint_bias), cast(state.wrench), cast(state.gravity),
    )  # fmt: skip
    if not state.loops:
        return Entries(M, Phi, S, a, b, cast(state.tau))
    v = velocities(state.parent, Phi, rates)
    rows = constraint_rows(state.loops, v, cast(state.gravity), cast)
    return Entries(M, Phi, S, a, b, cast(state.tau), *rows)


def _assembled(state: State, inertias: Array | None) -> Entries:
    """The same in float64 for many bodies, in one loop."""
    n, s = len(state.names), state
    M = spatial_inertia(s.mass, s.com, s.inertia) if inertias is None else inertias
    Phi, v, a, b = np.empty((n, 6, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6))
    order = breadth_first(s.parent)[0]
    compiled_moving(
        order, s.parent, s.S.offset, s.R, s.p, M, s.S.columns, s.qd, s.joint_bias, s.wrench,
        s.gravity, Phi, v, a, b,
    )  # fmt: skip
    return Entries(M, Phi, s.S.columns, a, b, s.tau)


@dataclass(frozen=True)
class Pattern:
    """What does not change with the state: structural zeros and ones, and where entries go."""

    M: NDArray[np.bool_]  # (n, 6, 6) entries that may be nonzero
    Phi: NDArray[np.bool_]  # (n, 6, 6)
    S: NDArray[np.bool_]  # (N, 6)
    Phi_one: NDArray[np.bool_]  # (n, 6, 6) entries that are 1 in every state
    S_one: NDArray[np.bool_]  # (N, 6)
    a: NDArray[np.bool_]  # (n,) bodies whose bias acceleration may be nonzero
    G: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 6), dtype=bool))
    G_one: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 6), dtype=bool))
    compliance: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def holds(self, entries: Entries) -> bool:
        """No entry is nonzero, or other than 1, where the pattern says otherwise."""
        pairs = (
            (self.M, None, entries.M),
            (self.Phi, self.Phi_one, entries.Phi),
            (self.S, self.S_one, entries.S),
            (self.G, self.G_one, entries.G),
            (self.compliance, None, entries.compliance),
        )
        held = all(_within(mask, one, x) for mask, one, x in pairs)
        return held and not entries.a[~self.a].any()


def _within(mask: NDArray[np.bool_], one: NDArray[np.bool_] | None, x: Array) -> bool:
    if len(x) >= MANY:
        return not outside(x, mask, np.zeros_like(mask) if one is None else one)
    return not x[~mask].any() and (one is None or bool((x[one] == 1.0).all()))


def pattern_of(
    tree: BodyTree, q: NDArray[np.float64], a: NDArray[np.float64], loops: Sequence[Loop] = ()
) -> Pattern:
    """The union of nonzeros over this state and generic ones, so that a refresh finds its place.

    General joints are generic only where q moves one: in a model file the poses that are given
    are all that there is, and their zeros are structural.
    """
    generator = np.random.default_rng(1996)
    N = int(tree.offset[-1])
    moved = any(q[tree.offset[k] : tree.offset[k + 1]].any() for k in tree.S)
    free = np.repeat([kind != GENERAL or moved for kind in tree.joint], tree.dof)
    generic = [np.where(free, generator.uniform(0.4, 1.2, N), 0.0) for _ in range(2)]
    states = [q, *generic] if free.any() else [q]
    Phis, Ss, ones_in_Phi, Gs, ones_in_G = [], [], [], [], []
    for q in states:
        R, p, S, _ = kinematics(tree, q, np.zeros(N))
        Phis.append(_transform_pattern(R != 0.0, p != 0.0))
        ones_in_Phi.append(force_transform(R, np.zeros_like(p)) == 1.0)
        Ss.append(S.columns)
        G, one = _constraint_pattern(tree, R, p, loops)
        Gs.append(G)
        ones_in_G.append(one)
    S_all = np.stack(Ss)
    return Pattern(
        M=_inertia_pattern(tree),
        Phi=np.any(np.stack(Phis), axis=0),
        S=np.any(S_all != 0.0, axis=0),
        Phi_one=np.all(np.stack(ones_in_Phi), axis=0),
        S_one=np.all(S_all == 1.0, axis=0),
        a=(tree.dof > 0) | (tree.parent < 0) | a.any(axis=1),
        G=np.any(np.stack(Gs), axis=0),
        G_one=np.all(np.stack(ones_in_G), axis=0),
        compliance=np.concatenate([np.zeros(0), *(loop.compliance for loop in loops)]) != 0.0,
    )


# Patterns come from the factors, not from the products: in float64 a sum of products may cancel
# to 0 where its exact value is 1e-17.


def _transform_pattern(R: NDArray[np.bool_], p: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Entries of Phi = [[R, p~ R], [0, R]] that may be nonzero."""
    upper = np.abs(skew(p.astype(np.int64))) @ R.astype(np.int64) > 0
    zero = np.zeros_like(R)
    return np.block([[R, upper], [zero, R]])


def _constraint_pattern(
    tree: BodyTree, R: Array, p: Array, loops: Sequence[Loop]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Entries of G = C* Phi* that may be nonzero, and those that are always 1."""
    masks, ones = [np.zeros((0, 6), dtype=bool)], [np.zeros((0, 6), dtype=bool)]
    for closure in closures(tree, R, p, loops):
        C = closure.loop.C.T
        unit = (np.count_nonzero(C, axis=1) == 1) & (C == 1.0).any(axis=1)
        for place, _, _ in closure.sides:
            turn, shift = closure.R[place], closure.p[place]
            seen = _transform_pattern(turn != 0.0, shift != 0.0).T
            masks.append((C != 0.0).astype(np.int64) @ seen.astype(np.int64) > 0)
            kept = force_transform(turn, np.zeros(3)).T == 1.0
            ones.append(unit[:, None] & ((C == 1.0).astype(np.int64) @ kept.astype(np.int64) > 0))
    return np.concatenate(masks), np.concatenate(ones)


def _inertia_pattern(tree: BodyTree) -> NDArray[np.bool_]:
    """Entries of M = [[J - m d~ d~, m d~], [-m d~, m 1]] that may be nonzero."""
    massive = (tree.mass != 0.0)[:, None, None]
    d = np.abs(skew((tree.com != 0.0).astype(np.int64)))
    top = (tree.inertia != 0.0) | ((d @ d > 0) & massive)
    side = (d > 0) & massive
    return np.block([[top, side], [side, np.eye(3, dtype=bool) & massive]])


@dataclass(frozen=True, repr=False)
class System(Shown):
    """Equation (4), or (6), of one tree in one state."""

    graph: nx.DiGraph  # without bodies where the tree was built from arrays
    tree: BodyTree
    state: State
    structure: Structure
    pattern: Pattern
    entries: Entries  # blocks in float64
    layout: str  # "kind": equation (4); "body": equation (6)
    loops: tuple[Loop, ...] = ()  # constraints, whose multipliers come last in both
    # by name, what others made of structure and pattern once for all states
    plans: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.tree.name

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name, "bodies": self.tree.n, "freedoms": int(self.tree.offset[-1]),
            "unknowns": self.size, "nonzeros": self.nonzeros,
        } | ({"loops": len(self.loops)} if self.loops else {})  # fmt: skip

    def picture(self) -> str:
        return spy(self.matrix, self.name) if self.size <= LARGEST else ""

    @cached_property
    def blocks(self) -> BlockIndex:
        """("pdd", body) -> slice into the unknowns, likewise "qdd", "f", and ("lam", loop)."""
        return BlockIndex(self.structure, self.layout)

    @property
    def size(self) -> int:
        """12 n + N unknowns, and one for each multiplier."""
        return self._tree_size + len(self.entries.gamma)

    @property
    def nonzeros(self) -> int:
        """Entries that ``matrix`` stores, counted without forming it."""
        pattern = self.pattern
        linked = pattern.Phi[self.tree.parent >= 0]
        half = [np.count_nonzero(x) for x in (pattern.S, linked, pattern.G)]
        whole = [np.count_nonzero(x) for x in (pattern.M, pattern.compliance)]
        return int(sum(whole) + 2 * (sum(half) + 6 * self.tree.n))

    @property
    def _tree_size(self) -> int:
        return 12 * self.tree.n + int(self.tree.offset[-1])

    @cached_property
    def matrix(self) -> sp.csc_array:
        """(size) square, symmetric, indefinite; both triangles stored."""
        if self.tree.n >= MANY and self.layout == "kind" and not self.loops:
            p, e = self.pattern, self.entries
            pointer, row, value = compiled_matrix(
                self.tree.parent, self.tree.offset, (p.M, p.Phi, p.S), (e.M, e.Phi, e.S)
            )
            return sp.csc_array((value, row, pointer), shape=(self.size,) * 2)
        indptr, indices, source = self._places
        return sp.csc_array((self._values()[source], indices, indptr), shape=(self.size,) * 2)

    @cached_property
    def rhs(self) -> NDArray[np.float64]:
        """(size,): b, tau, -a of each body, -gamma of each loop."""
        start_p, start_q, start_f = self._starts
        rhs = np.empty(self.size)
        rhs[start_p[:, None] + np.arange(6)] = self.entries.b
        rhs[start_f[:, None] + np.arange(6)] = -self.entries.a
        rhs[_ragged(start_q, self.tree.dof)] = self.entries.tau
        rhs[self._tree_size :] = -self.entries.gamma
        return rhs

    @cached_property
    def _starts(self) -> tuple[NDArray, NDArray, NDArray]:
        """First unknown of each body's pdd, qdd, f."""
        n, dof, offset = self.tree.n, self.tree.dof, self.tree.offset
        if self.layout == "kind":
            body = np.arange(n)
            return 6 * body, 6 * n + offset[:-1], 6 * n + offset[-1] + 6 * body
        order = self.structure.order
        start = np.empty(n, dtype=np.int64)
        start[order] = np.concatenate([[0], np.cumsum(12 + dof[order])[:-1]])
        return start, start + 6, start + 6 + dof

    @cached_property
    def _places(self) -> tuple[NDArray, NDArray, NDArray]:
        """Column pointers, row indices, and for each stored entry its place in ``_values``."""
        p, q, f = self._starts
        pattern, parent = self.pattern, self.tree.parent
        k, i, j = np.nonzero(pattern.M)
        six = np.arange(6)
        rows_q = _ragged(q, self.tree.dof)
        owner = np.repeat(np.arange(self.tree.n), self.tree.dof)
        c, s = np.nonzero(pattern.S)
        x, y, z = np.nonzero(pattern.Phi & (parent >= 0)[:, None, None])
        one_row, one_col = (p[:, None] + six).ravel(), (f[:, None] + six).ravel()
        g, t = np.nonzero(pattern.G)
        multiplier, body, _ = self._sides
        half_row = np.concatenate([rows_q[c], p[parent[x]] + y, one_row, multiplier[g]])
        half_col = np.concatenate([f[owner[c]] + s, f[x] + z, one_col, p[body[g]] + t])
        own = self._tree_size + np.flatnonzero(pattern.compliance)
        row = np.concatenate([p[k] + i, half_row, half_col, own])
        col = np.concatenate([p[k] + j, half_col, half_row, own])
        first = len(k) + np.arange(len(half_row))
        last = len(k) + len(half_row) + np.arange(len(own))
        source = np.concatenate([np.arange(len(k)), first, first, last])
        order = np.lexsort((row, col))
        indptr = np.searchsorted(col[order], np.arange(self.size + 1))
        return indptr.astype(np.int32), row[order].astype(np.int32), source[order]

    @property
    def _sides(self) -> tuple[NDArray, NDArray, NDArray]:
        """For every row of ``entries.G``: its multiplier among the unknowns, its body, its sign."""
        start = self._tree_size
        found = [np.zeros((3, 0), dtype=np.int64)]
        for tie in self.structure.ties:
            rows = start + np.arange(tie.rows)
            for k, sign in zip(tie.bodies, tie.signs, strict=True):
                found.append(np.stack([rows, np.full(tie.rows, k), np.full(tie.rows, sign)]))
            start += tie.rows
        multiplier, body, sign = np.concatenate(found, axis=1)
        return multiplier, body, sign

    def _values(self) -> NDArray[np.float64]:
        """M, H, -Phi, 1, G and -compliance where the pattern has entries; one triangle's."""
        G = self._sides[2][:, None] * self.entries.G
        inner = (self.tree.parent >= 0)[:, None, None]
        return np.concatenate(
            [
                self.entries.M[self.pattern.M],
                self.entries.S[self.pattern.S],
                -self.entries.Phi[self.pattern.Phi & inner],
                np.ones(6 * self.tree.n),
                G[self.pattern.G],
                -self.entries.compliance[self.pattern.compliance],
            ]
        )

    def refresh(
        self,
        q: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
        qd: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        f_ext: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    ) -> System:
        """The same tree in another state: values only; pattern and places are shared.

        (A general joint that leaves q = 0 for the first time makes a new pattern.)
        Raises ModelError where rows of loops depend on each other in this state.
        """
        position = coordinates(self.tree, self.graph, q)
        state = state_of(self.tree, self.graph, position, qd, tau, f_ext, self.loops)
        require_independent(state)
        fresh = replace(self, state=state, entries=assemble(state, None, self.entries.M))
        if not self.pattern.holds(fresh.entries):
            pattern = pattern_of(self.tree, position, fresh.entries.a, self.loops)
            return replace(fresh, pattern=pattern, plans={})
        if "_places" in self.__dict__:  # computed once for all states
            fresh.__dict__["_places"] = self._places
        return fresh


def build(
    tree: nx.DiGraph | BodyTree,
    q: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    *,
    layout: str = "kind",
    loops: Sequence[Loop] | None = None,
) -> System:
    """Equation (4) of a tree (``layout="body"``: equation (6)) at one state.

    ``tree`` is a graph, or from :func:`kkt.tree_from_arrays` where it is large.
    ``q``, ``qd``, ``tau`` have length N [rad or m; per s; N m or N]; ``f_ext`` is (n, 6), moment
    first, on each body at its joint origin.  ``loops`` are cut joints and contacts
    (:mod:`kkt.model.loops`).  What is None comes from ``tree.graph``, else zero.
    Raises ModelError, one sentence, for a tree or a state that is wrong, and for loops whose rows
    depend on each other; warns (LoopWarning) for loops that are open.
    """
    if layout not in LAYOUTS:
        raise ModelError(f"layout {layout!r} is unknown; use 'kind' for (4) or 'body' for (6)")
    if isinstance(tree, BodyTree):
        compiled, tree = tree, nx.DiGraph(name=tree.name, gravity=tuple(tree.gravity.tolist()))
        tree.graph.update(q=q, qd=qd, tau=tau)  # what a refresh starts from
    else:
        compiled = compile_tree(tree)
    position = coordinates(compiled, tree, q)
    closed = checked_loops(tree.graph.get("loops", ()) if loops is None else loops, compiled.names)
    state = state_of(compiled, tree, position, qd, tau, f_ext, closed)
    require_independent(state)
    for closure in state.loops:
        warn_if_open(closure.loop, closure.gap)
    entries = assemble(state)
    pattern = pattern_of(compiled, position, entries.a, closed)
    ties = tuple(
        Tie(
            closure.loop.name,
            tuple(k for _, k, _ in closure.sides),
            tuple(sign for _, _, sign in closure.sides),
            closure.rows,
            bool(closure.loop.compliance.any()),
        )
        for closure in state.loops
    )
    structure = Structure(compiled.names, compiled.parent, compiled.dof, ties=ties)
    return System(tree, compiled, state, structure, pattern, entries, layout, closed)


def _ragged(start: NDArray, length: NDArray) -> NDArray:
    """start[k], ..., start[k] + length[k] - 1 for every k, one after another."""
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return np.repeat(start, length) + within
