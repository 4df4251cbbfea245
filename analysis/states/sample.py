"""Random states of a robot: positions within its limits, and efforts that suit it.

State number i of a seed is drawn from its own generator, so that it is the same whatever else is
computed, in whatever order, on however many processors.

Where closed loops must close, positions are drawn as a tree's, and Newton's iteration, in the metric
of kinetic energy, leads to a state that closes them (:mod:`analysis.states.manifold`); rates lose what
breaks them.  A draw from which it leads nowhere, out of the limits of the model's joints, or to a
state in which rows of the loops depend on each other, is drawn again.

Many states at a time are a forest of copies of the tree.  Poses, bias and entries of (4) are formed by
the same operations on more bodies, so that every copy agrees bit for bit with a system that is built alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt import LoopError, LoopWarning, System, build
from pivotree.kkt.matrix.closures import closures
from pivotree.kkt.matrix.entries import Entries, Pattern, assemble
from pivotree.kkt.matrix.redundancy import following, unfollowed
from pivotree.kkt.matrix.state import State, kinematics, node_field, own_bias
from pivotree.kkt.matrix.system import SHARE, require_system, unopposed
from pivotree.kkt.model.joints import JointTerms
from pivotree.kkt.model.loops import Loop, kept
from pivotree.kkt.model.rotations import quaternion_to_vector
from pivotree.kkt.model.tree import BodyTree
from pivotree.kkt.theorem import ranges as plain
from pivotree.kkt.theorem.ranges import ANGLE, SHIFT, Limits, Ranges

from .manifold import Floats, Manifold

SLACK = 1e-9  # rad or m: beyond limits that are met to rounding
MOST = 100  # draws of one state whose loops must close


def require_joints(system: System) -> None:
    """Raise ModelError for anything but a robot that has an acceleration."""
    require_system(system)
    if not system.tree.N:
        raise kkt.ModelError(
            system.name,
            "has no joint that moves, and so no acceleration that could lose digits",
            "give one that has; the base of a .urdf floats with --urdf floating, or floating=True",
        )


def ranges_of(system: kkt.System, limits: Limits = MappingProxyType({})) -> Ranges:
    """The ranges of a robot, from its joints' types and limits, and the loops that must close.

    ``limits`` are (low, high) [rad, m] of bodies' joints, in the place of the model's.  Raises
    ModelError for a body that there is not, a joint of other than one freedom, and no range, and
    LoopError for a cut joint of general directions, whose gap is not defined.

    >>> from pivotree.analysis import states
    >>> states.ranges_of(pt.build(pt.two_link())).upper.round(2)
    array([3.14, 3.14])
    """
    found = plain.ranges_of(system, limits)
    # no state opens a contact, nor joints whose rates alone are coupled
    loops = tuple(x for x in system.loops if not x.point and (x.beside is None or x.follows is not None))
    if all(loop.follows for loop in loops):  # positions that follow others need no iteration
        return found
    for loop in loops:
        if loop.free is None and not loop.follows:
            raise kkt.LoopError(
                f"loop {loop.name!r}",
                "how far a cut joint of general directions is open is not defined, so that no random state "
                "can be closed",
                "look at one state with compare, or sweep the model's own (distribution = 'given')",
            )
    return ClosedRanges(**_parts(found), graph=nx.DiGraph(system.graph, loops=loops))


def _parts(ranges: Ranges) -> dict[str, Any]:
    return {field.name: getattr(ranges, field.name) for field in fields(ranges)}


@dataclass(frozen=True, eq=False)
class ClosedRanges(Ranges):
    """Ranges of a robot with closed loops; its states are drawn by :func:`analysis.states.draw`."""

    graph: nx.DiGraph[Any]  # the tree, with the loops that a state must close

    __hash__ = object.__hash__  # its states are kept for this very object

    def __getstate__(self) -> Mapping[str, Any]:
        return _parts(self)  # kernels stay in their process

    @cached_property
    def manifold(self) -> Manifold:
        """Its loops as hard rows: soft ones close too."""
        hard = [replace(x, compliance=np.zeros(x.rows)) for x in self.graph.graph["loops"]]
        found = Manifold.of(nx.DiGraph(self.graph, loops=hard))
        assert found is not None
        return found

    def closed(self, q: Floats, qd: Floats) -> tuple[Floats, Floats] | None:
        """The nearest state to q and qd, each (N,), that keeps the loops; None where it is none."""
        places = self.manifold.places
        near = self.manifold.nearest(np.concatenate([places.from_coordinates(q), qd])[None])[0]
        x, rates = np.split(near, [places.size])
        if not np.isfinite(near).all():
            return None
        q = places.to_coordinates(x)
        own = ~(np.isin(self.upper, (ANGLE, SHIFT)) & (self.lower == -self.upper))
        if ((q < self.lower - SLACK) | (q > self.upper + SLACK))[own].any():
            return None
        loops = self.graph.graph["loops"]
        stiff = [np.flatnonzero(loop.compliance == 0.0) for loop in loops]
        state = self.manifold.state(x, loops)
        if any(True for _ in following(state, stiff)) or unfollowed(state) is not None:
            return None
        return q, rates

    def in_words(self) -> str:
        """The distribution, in one sentence."""
        return (
            f"{super().in_words()}; positions and rates then brought to the nearest that keep the "
            "closed loops, and drawn again where none is near"
        )


def draw(ranges: Ranges, seed: int, number: int) -> tuple[Floats, Floats, Floats]:
    """q, qd and qdd, each (N,), of one state: that of a seed and a number, always the same.

    Where the ranges are those of closed loops, q and qd keep them; qdd is what
    the joints would do without the loops' forces.  Raises LoopError where no draw can be closed.

    >>> from pivotree.analysis import states
    >>> q, qd, qdd = states.draw(states.ranges_of(pt.build(pt.two_link())), seed=0, number=1)
    >>> q.round(3)
    array([2.449, 0.359])
    """
    if isinstance(ranges, ClosedRanges):
        return _closed(ranges, seed, number)[:3]
    return _once(ranges, [seed, number])


def drawn_again(ranges: Ranges, seed: int, number: int) -> int:
    """How many draws led to no state that closes the loops, before the one that did."""
    return _closed(ranges, seed, number)[3] if isinstance(ranges, ClosedRanges) else 0


@lru_cache(maxsize=1000)
def _closed(ranges: ClosedRanges, seed: int, number: int) -> tuple[Floats, Floats, Floats, int]:
    """q, qd, qdd, and the draws before that led nowhere."""
    for again in range(MOST):
        q, qd, qdd = _once(ranges, [seed, number, again] if again else [seed, number])
        near = ranges.closed(q, qd)
        if near is not None:
            return *near, qdd, again
    name = ranges.graph.graph["loops"][0].name
    raise LoopError(
        f"loop {name!r}",
        f"none of {MOST} random states leads to one that closes the loops, within the joints' limits and "
        "with independent rows",
        "look at one state with compare, or sweep the model's own (distribution = 'given')",
    )


def _once(ranges: Ranges, seeds: list[int]) -> tuple[Floats, Floats, Floats]:
    generator = np.random.default_rng(seeds)
    q = generator.uniform(ranges.lower, ranges.upper)
    for start in ranges.attitudes:
        q[start : start + 3] = quaternion_to_vector(generator.normal(size=4))
    qd = generator.uniform(-ranges.rate, ranges.rate)
    qdd = generator.uniform(-ranges.acceleration, ranges.acceleration)
    q = kept(ranges.coupled, q)
    return q, kept(ranges.coupled, q, qd), qdd


def drawn_system(tree: nx.DiGraph[Any], seed: int) -> tuple[System, Ranges]:
    """Equation (4) of a tree in random state 0 of a seed, tau the tree's own, and the ranges.

    In the tree's own state loops may be open.  No coordinate is where it makes a zero of the
    matrix.  Raises ModelError and LoopError, as :func:`kkt.build`, :func:`ranges_of` and
    :func:`draw` do.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopWarning)
        base = build(tree)
    ranges = ranges_of(base)
    return build(tree, *draw(ranges, seed, 0)[:2]), ranges


def system_at(system: System, ranges: Ranges, seed: int, number: int) -> System:
    """The robot in one random state, its efforts chosen for the accelerations that were drawn.

    >>> from pivotree.analysis import states
    >>> system = pt.build(pt.two_link(0.01))
    >>> ranges = states.ranges_of(system)
    >>> robot = states.system_at(system, ranges, seed=0, number=1)
    >>> wanted = states.draw(ranges, seed=0, number=1)[2]
    >>> bool(abs(pt.eliminate(robot, pt.orderings.get("abm")).qdd - wanted).max() < 1e-9)
    True
    """
    q, qd, qdd = draw(ranges, seed, number)
    free = system.refresh(q, qd, np.zeros_like(q))
    tau, right = _given(free.tree, free.entries, qdd)
    return replace(free, state=replace(free.state, tau=tau), entries=free.entries._replace(tau=right))


def entries_at(system: System, ranges: Ranges, seed: int, numbers: Sequence[int]) -> Entries:
    """The entries of (4) that :func:`system_at` gives in m random states, m in front of each."""
    q, qd, qdd = map(np.array, zip(*(draw(ranges, seed, number) for number in numbers), strict=True))
    forest, entries = forest_of(system, q, qd)
    _, right = _given(forest, entries, qdd.ravel())
    return apart(entries._replace(tau=right), len(numbers))


def efforts_of(system: System, q: Floats, qd: Floats, qdd: Floats) -> Floats:
    """The efforts (m, N) that give accelerations qdd (m, N) in m states."""
    forest, free = forest_of(system, q, qd)
    return _given(forest, free, qdd.ravel())[0].reshape(q.shape)


def entries_of(system: System, q: Floats, qd: Floats, tau: Floats) -> Entries:
    """The entries of (4) in m states (m, N), m in front of each."""
    _, free = forest_of(system, q, qd)
    return apart(free._replace(tau=free.tau + tau.ravel()), len(q))


def _given(tree: BodyTree, free: Entries, qdd: Floats) -> tuple[Floats, Floats]:
    """tau (N,) that gives qdd, and the right-hand side that it makes; ``free`` are for tau = 0."""
    tau = efforts(tree, free, qdd)
    if tree.terms is None:
        return tau, tau
    tau = tau - free.tau  # the joints' resistance is overcome
    return tau, tau + free.tau


def efforts(tree: BodyTree, entries: Entries, qdd: Floats) -> Floats:
    """The right-hand side (N,) of rows qdd that gives qdd: (4) solved, root to leaf and back.

    In plain float64: tau is data of the state that is made, so its own rounding is no error.
    """
    pdd = -entries.a.copy()
    np.subtract.at(pdd, tree.owner, entries.S * qdd[:, None])
    for level in tree.levels[1:]:
        above = pdd[tree.parent[level]]
        pdd[level] += np.einsum("kji,kj->ki", entries.Phi[level], above)
    f = entries.b - np.einsum("kij,kj->ki", entries.M, pdd)
    for level in reversed(tree.levels[1:]):
        np.add.at(f, tree.parent[level], np.einsum("kij,kj->ki", entries.Phi[level], f[level]))
    tau = (entries.S * f[tree.owner]).sum(axis=1)
    return np.asarray(tau + entries.A * qdd if len(entries.A) else tau)


# -- many states at a time: a forest of copies, each in a state of its own -----------------------------


def forest_of(system: System, q: Floats, qd: Floats) -> tuple[BodyTree, Entries]:
    """m copies of a system's tree, at q and qd (m, N), and the entries of (4) for efforts 0.

    Biases and wrenches come from the tree.  Rows of loops are those of each copy, one copy after
    another; whether they depend on each other in a state is not checked.
    """
    m, forest = len(q), copies(system.tree, len(q))
    R, p, S, bias = kinematics(forest, q.ravel(), qd.ravel())
    own, wrench = own_bias(system.tree, system.graph, qd), node_field(system.tree, system.graph, "wrench")
    state = State(
        forest.names,
        forest.parent,
        R,
        p,
        S,
        forest.mass,
        forest.com,
        forest.inertia,
        q.ravel(),
        qd.ravel(),
        np.zeros(q.size),
        forest.gravity,
        bias + _tiled(own, m),
        _tiled(wrench, m),
        closures(forest, R, p, q.ravel(), _copied(system, m)),
        None if forest.terms is None else forest.terms.at(q.ravel(), forest.sprung_balls),
        system.state.step,
    )
    return forest, assemble(state)


def _copied(system: System, m: int) -> list[Loop]:
    """The loops of m copies, copy by copy, on bodies called 0, 1, 2, ..."""
    index, n = system.structure.index, system.tree.n

    def of(loop: Loop, i: int) -> Loop:
        first, second = (None if b is None else i * n + index[b] for b in loop.bodies)
        return replace(loop, bodies=(first, second), beside=loop.beside and of(loop.beside, i))

    return [of(loop, i) for i in range(m) for loop in system.loops]


def copies(tree: BodyTree, m: int) -> BodyTree:
    """m copies of a tree, one after another; bodies are called 0, 1, 2, ..."""
    n = tree.n
    first = n * np.arange(m)[:, None]
    parent = np.where(tree.parent < 0, -1, tree.parent + first).ravel()
    S = {i * n + k: value for i in range(m) for k, value in tree.S.items()}
    tiled: dict[str, Any] = {
        x: _tiled(getattr(tree, x), m) for x in ("axis", "R", "p", "mass", "com", "inertia")
    }
    terms = None if tree.terms is None else JointTerms(*(_tiled(x, m) for x in astuple(tree.terms)))
    names = tuple(range(m * n))
    return replace(tree, names=names, parent=parent, joint=tree.joint * m, S=S, terms=terms, **tiled)


def apart(entries: Entries, m: int) -> Entries:
    """Entries of m copies, with m as the first axis."""
    return Entries(*(array.reshape(m, len(array) // m, *array.shape[1:]) for array in entries))


def least_sizes(system: System, entries: Entries) -> Floats:
    """(m,) the least size of m states' entries, m in front (:func:`kkt.matrix.system.least_size`)."""
    m = len(entries.tau)
    flat = Entries(*(x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]) for x in entries))
    found = unopposed(copies(system.tree, m), flat).reshape(m, -1)
    return np.asarray(SHARE * found.max(axis=1, initial=0.0))


def _tiled(array: Floats, m: int) -> Floats:
    return np.tile(array, (m, *(1,) * (array.ndim - 1)))


def held(pattern: Pattern, entries: Entries) -> NDArray[np.bool_]:
    """(m,) states whose entries, m in front, are zero and one where the pattern says so."""
    result = ~entries.M[:, ~pattern.M].any(axis=1) & ~entries.a[:, ~pattern.a].any(axis=(1, 2))
    pairs = (
        (entries.Phi, pattern.Phi, pattern.Phi_one),
        (entries.S, pattern.S, pattern.S_one),
        (entries.G, pattern.G, pattern.G_one),
    )
    for values, mask, one in pairs:
        result &= ~values[:, ~mask].any(axis=1) & (values[:, one] == 1.0).all(axis=1)
    return np.asarray(result)
