"""Equation (4) of Ascher, Pai & Cloutier 1996 as a scipy.sparse array, for a tree in a state.

Closed loops and contacts (:mod:`kkt.model.loops`) are rows and columns at its end.

What efforts, gravity and rates would do to each joint alone: the size beside which qdd is wrong.

A robot that holds still has qdd = 0, since its efforts carry its weight; what rounding leaves there
is small beside what either would do without the other.  An error of qdd is therefore taken relative
to the largest joint acceleration, or to :data:`SHARE` of what one cause alone would do, where that is
more: in ordinary states it is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError
from ..base.shown import CELLS, LARGEST, Shown, spy
from ..model.spatial import Array, levels, lift, locked_inertia, transpose
from ..model.tree import BodyTree, compile_tree, require_graph
from .blocks import KINDS, Block, Partition, Structure, Tie
from .entries import Entries, Pattern, assemble, pattern_of, step_of
from .state import State, state_of

if TYPE_CHECKING:
    import scipy.sparse as sp

    from ..model.loops import Loop

SHARE = 0.01  # less than this of the size of qdd is what a cancellation has left
Floats = NDArray[np.float64]
LETTERS = {("pdd", "pdd"): "M", ("pdd", "f"): "-Φ", ("qdd", "f"): "H", ("qdd", "qdd"): "A"}  # of blocks
LETTERS |= {("lam", "pdd"): "G", ("lam", "lam"): "-ε"}


def _letter(row: Block, column: Block) -> str:
    """What (4) calls the block in a row and a column of blocks."""
    kinds = row.kind, column.kind
    one = row.body == column.body and {*kinds} == {"pdd", "f"}
    return "1" if one else LETTERS.get(kinds) or f"{LETTERS[kinds[::-1]]}ᵀ"


@dataclass(frozen=True, repr=False, eq=False)
class System(Shown):
    """Equation (4) of one tree in one state.

    >>> system = pt.build(pt.chain(3))
    >>> system
    <System chain_3: 3 bodies, 3 freedoms, 39 unknowns, 124 nonzeros>
    >>> system.matrix.shape, system.rhs.shape
    ((39, 39), (39,))
    """

    graph: nx.DiGraph[Any]  # without bodies where the tree was built from arrays
    tree: BodyTree
    state: State
    structure: Structure
    pattern: Pattern
    entries: Entries  # blocks in float64
    loops: tuple[Loop, ...] = ()  # constraints, whose multipliers come last
    # by name, what other rooms derive from structure and pattern, once for all states
    plans: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: without what other rooms keep, which may be large, or machine code."""
        return self.__dict__ | {"plans": {}}

    @property
    def name(self) -> str:
        return self.tree.name

    def facts(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "bodies": self.tree.n,
            "freedoms": self.tree.N,
            "unknowns": self.size,
            "nonzeros": self.nonzeros,
            "loops": len(self.loops) or None,
        }

    def picture(self) -> str:
        few = self.blocks.items() if self.size <= CELLS else ()
        letters = [(i, j, _letter(a, b)) for a, i in few for b, j in few if self.matrix[i, j].nnz]
        return spy(self.matrix, self.name, letters) if self.size <= LARGEST else ""

    @cached_property
    def blocks(self) -> dict[Block, slice]:
        """("pdd", body) -> slice into the unknowns, likewise "qdd", "f", and ("lam", loop).

        >>> system = pt.build(pt.chain(2))
        >>> system.blocks["f", "j2"]
        slice(20, 26, None)
        >>> system.matrix[system.blocks["f", "j2"], system.blocks["f", "j2"]].nnz  # f has no diagonal
        0
        """
        dof, names = self.tree.dof, self.structure.names
        found = [
            (Block(kind, name), slice(first, first + size))
            for kind, starts, sizes in zip(KINDS, self.starts, (0 * dof + 6, dof, 0 * dof + 6), strict=False)
            for name, first, size in zip(names, starts.tolist(), sizes.tolist(), strict=True)
        ]
        last = self._tree_size
        for tie in self.structure.ties:
            found.append((Block("lam", tie.name), slice(last, last := last + tie.rows)))
        return dict(found)

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
        whole = [np.count_nonzero(x) for x in (pattern.M, pattern.compliance, pattern.A)]
        return int(sum(whole) + 2 * (sum(half) + 6 * self.tree.n))

    @property
    def _tree_size(self) -> int:
        return 12 * self.tree.n + self.tree.N

    @cached_property
    def matrix(self) -> sp.csc_array:
        """(size) square, symmetric, indefinite; both triangles stored."""
        import scipy.sparse as sp

        indptr, indices, source = self._places
        return sp.csc_array((self._values()[source], indices, indptr), shape=(self.size,) * 2)

    @cached_property
    def rhs(self) -> NDArray[np.float64]:
        """(size,): b, tau, -a of each body, -gamma of each loop."""
        e = self.entries
        return np.concatenate([e.b, e.tau, -e.a, -e.gamma], axis=None)

    @cached_property
    def starts(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """First unknown of each body's pdd, qdd, f."""
        n, offset = self.tree.n, self.tree.offset
        first = 6 * np.arange(n)
        return first, 6 * n + offset[:-1], 6 * n + offset[-1] + first

    @cached_property
    def _places(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Column pointers, row indices, and for each stored entry its place in ``_values``."""
        import scipy.sparse as sp

        def nonzero(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.int32]]:
            return (x.astype(np.int32) for x in np.nonzero(mask))

        p, _, f = (x.astype(np.int32) for x in self.starts)
        pattern, parent = self.pattern, self.tree.parent
        k, i, j = nonzero(pattern.M)
        one = np.arange(6 * self.tree.n, dtype=np.int32)  # rows of pdd; each holds its force once
        owner = self.tree.owner
        rows_q = 6 * self.tree.n + np.arange(len(owner), dtype=np.int32)
        c, s = nonzero(pattern.S)
        x, y, z = nonzero(pattern.Phi & (parent >= 0)[:, None, None])
        g, t = nonzero(pattern.G)
        multiplier, body, _ = self.structure.rows_of_G.astype(np.int32)
        half_row = np.concatenate([rows_q[c], p[parent[x]] + y, one, self._tree_size + multiplier[g]])
        half_col = np.concatenate([f[owner[c]] + s, f[x] + z, f[0] + one, p[body[g]] + t])
        (soft,), (armed,) = nonzero(pattern.compliance), nonzero(pattern.A)
        own = np.concatenate([self._tree_size + soft, rows_q[armed]])
        row = np.concatenate([p[k] + i, half_row, half_col, own])
        col = np.concatenate([p[k] + j, half_col, half_row, own])
        stored = len(k) + len(half_row) + len(own)
        source = np.arange(stored, dtype=sp.get_index_dtype(maxval=stored))
        M, half, last = np.split(source, [len(k), len(k) + len(half_row)])
        source = np.concatenate([M, half, half, last])
        placed = sp.coo_array((source, (row, col)), shape=(self.size,) * 2).tocsc()
        return placed.indptr, placed.indices, placed.data

    def _values(self) -> NDArray[np.float64]:
        """M, H, -Phi, 1, G, -compliance and A where the pattern has entries; one triangle's."""
        G = self.structure.rows_of_G[2][:, None] * self.entries.G
        inner = (self.tree.parent >= 0)[:, None, None]
        M, inertial = self.entries.M, self.pattern.M
        alike = not (M.strides[0] or inertial.strides[0])  # one body's stand for all
        return np.concatenate(
            [
                np.tile(M[0][inertial[0]], len(M)) if alike else M[inertial],
                self.entries.S[self.pattern.S],
                -self.entries.Phi[self.pattern.Phi & inner],
                np.ones(6 * self.tree.n),
                G[self.pattern.G],
                -self.entries.compliance[self.pattern.compliance],
                self.entries.A[self.pattern.A],
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
        given = (q, qd, tau, f_ext, self.loops, self.state.step)
        state = state_of(self.tree, self.graph, *given)
        if state.loops:
            from .redundancy import require_independent

            require_independent(state)
        fresh = replace(self, state=state, entries=assemble(state, None, self.entries.M))
        if not self.pattern.holds(fresh.entries):
            return replace(fresh, pattern=pattern_of(self.tree, state, fresh.entries.a), plans={})
        if "_places" in self.__dict__:  # computed once for all states
            fresh.__dict__["_places"] = self._places
        return fresh


def require_system(system: object) -> None:
    """Raise ModelError for anything but a system, such as a name or a tree that is not built."""
    if isinstance(getattr(system, "structure", None), Partition):
        raise ModelError(
            "system",
            "this asks for a robot",
            "a matrix of one's own is taken by eliminate, factor, certify, compare, blame, spy, figures, "
            "search, listings and the page",
        )
    if not isinstance(system, System):
        made = "build(load(...))" if isinstance(system, str) else "build(...) of a tree"
        raise ModelError("system", f"{type(system).__name__} is none", f"pass {made}")


def build(
    tree: nx.DiGraph[Any] | BodyTree,
    q: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    *,
    loops: Sequence[Loop] | None = None,
    implicit: float | None = None,
) -> System:
    """Equation (4) of a tree at one state.

    ``tree`` is a graph, or from :func:`kkt.tree_from_arrays` where it is large.
    ``q``, ``qd``, ``tau`` (N,) [rad or m, per s, N m or N]; ``f_ext`` (n, 6) [N m, N], moment
    first, acts on each body at its joint origin.  ``loops`` are cut joints and contacts
    (:mod:`kkt.model.loops`).  ``implicit`` is the step h [s] of a linearly implicit Euler step,
    whose qdd is solved for (:mod:`kkt.model.joints`).  What else is None comes from
    ``tree.graph``, ``f_ext`` from the bodies' attribute ``wrench``, or else is zero.
    Raises ModelError, one sentence, for a tree or a state that is wrong, and for loops whose rows
    depend on each other; warns (LoopWarning) for loops that are open.

    >>> system = pt.build(pt.chain(3), q=[0.1, 0.2, 0.3], tau=[0.0, 0.0, 1.0])
    >>> system.matrix.shape  # 3 bodies with 6 + 1 + 6 unknowns
    (39, 39)
    >>> x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    >>> qdd = pt.eliminate(system, pt.orderings.get("abm")).qdd
    >>> np.allclose(x[system.blocks["qdd", "j3"]], qdd[2])
    True
    """
    # the tree, checked, and its arrays
    if isinstance(tree, BodyTree):
        compiled, tree = tree, nx.DiGraph(name=tree.name, gravity=tuple(tree.gravity.tolist()))
        tree.graph.update(q=q, qd=qd, tau=tau)  # what a refresh starts from
    else:
        tree = require_graph(tree)
        compiled = compile_tree(tree)

    # one state of it, with the loops that it keeps
    given = tree.graph.get("loops", ()) if loops is None else loops
    closed: tuple[Loop, ...] = ()
    if not isinstance(given, Sequence) or len(given):
        from ..model.loops import checked_loops, warn_if_open
        from .redundancy import require_independent

        closed = checked_loops(given, compiled.names, tree.graph.get("merged", {}))
    state = state_of(compiled, tree, q, qd, tau, f_ext, closed, step_of(implicit))
    if closed:
        require_independent(state)
    for closure in state.loops:
        warn_if_open(closure.loop, closure.whole.gap)

    # numbers of (4), and which of them are zero or one in every state
    entries = assemble(state)
    pattern = pattern_of(compiled, state, entries.a)

    # an order sees the tree and the ties, without values
    ties = tuple(
        Tie(
            closure.loop.name,
            tuple(k for k, _ in closure.ends),
            tuple(sign for _, sign in closure.ends),
            closure.rows,
            bool(closure.loop.compliance.any()),
        )
        for closure in state.loops
    )
    armature = np.zeros(compiled.n, dtype=bool)
    if len(pattern.A):
        armature[compiled.owner[pattern.A]] = True
    structure = Structure(compiled.names, compiled.parent, compiled.dof, ties=ties, armature=armature)
    return System(tree, compiled, state, structure, pattern, entries, closed)


def least_size(system: System) -> float:
    """The size [rad/s^2, m/s^2] that an error of qdd is relative to, where no qdd is larger.

    >>> from pivotree.kkt.matrix.system import least_size
    >>> pendulum = pt.build(pt.chain(1), q=[0.3], qd=[0.0], tau=[0.0])
    >>> qdd = pt.eliminate(pendulum, pt.orderings.get("abm")).qdd
    >>> bool(np.isclose(least_size(pendulum), 0.01 * abs(qdd[0])))
    True
    """
    if isinstance(system.structure, Partition):  # a matrix of one's own, of which nothing is known
        return 0.0
    if "_least_size" not in system.__dict__:
        found = unopposed(system.tree, system.entries)
        system.__dict__["_least_size"] = SHARE * float(found.max(initial=0.0))
    return float(system.__dict__["_least_size"])


def unopposed(tree: BodyTree, entries: Entries) -> Floats:
    """(N,) accelerations [rad/s^2, m/s^2] that one cause would give, all joints beyond locked.

    The inertia that a joint moves then is the diagonal of the joint-space inertia.  A joint that
    moves none has 0.
    """
    efforts, inertia = efforts_alone(tree, entries)
    return qdd_alone(np.abs(efforts).max(axis=0, initial=0.0), inertia)


def qdd_alone(efforts: Array, inertia: Array) -> Array:
    """(N,) what efforts do to the inertia that their joints move, in any number type; 0 without one.

    An inertia of an array of objects that is no float depends on the state, and is there.
    """
    moves = inertia > 0.0 if inertia.dtype != object else [not isinstance(x, float) or x > 0 for x in inertia]
    return np.divide(efforts, inertia, out=np.full_like(efforts, 0.0), where=np.asarray(moves, dtype=bool))


def efforts_alone(tree: BodyTree, entries: Entries) -> tuple[Floats, Floats]:
    """(3, N) efforts [N m, N] that act alone, and (N,) the inertia that each joint would move.

    They are tau, what holds gravity, and what holds rates, wrenches and biases: inverse dynamics of
    the open tree at qdd = 0 (Featherstone, Rigid Body Dynamics Algorithms, section 5.3).
    """
    e, Phi, parent = entries, entries.Phi, tree.parent
    depth = levels(parent)[1:]
    # accelerations without qdd, outwards: of gravity, which enters at the roots, and of rates
    lifted = np.zeros_like(e.a)
    lift(lifted, parent, Phi, tree.gravity)
    alpha = np.stack([lifted, e.a - lifted], axis=2)
    for level in depth:
        alpha[level] += transpose(Phi[level]) @ alpha[parent[level]]
    # forces on subtrees, inwards
    force = e.M @ alpha
    force[:, :, 1] += e.b
    for level in reversed(depth):
        np.add.at(force, parent[level], Phi[level] @ force[level])
    held = (e.S[:, None, :] @ force[tree.owner])[:, 0, :]
    moved = locked_inertia(parent, Phi, e.M, e.S, tree.owner)
    return np.vstack([e.tau, held.T]), moved + (e.A if len(e.A) else 0.0)
