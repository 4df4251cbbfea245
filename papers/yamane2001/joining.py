"""Links joined and cut between steps: structure-varying trees.

Nakamura & Yamane (2000) simulate figures that grasp and let go: the structure changes while the
motion goes on.  Each function here takes a tree in one state and returns another tree, whose
``graph`` holds the state from which the motion goes on.  Poses are the same.  Velocities are the
same too, unless a joint that closes does not allow them.  Then there is an impact.  Its impulse
follows from (4) with velocities in place of accelerations and momenta in place of forces: the new
velocities are those that the new joints allow and that are nearest to the old ones in the metric of
kinetic energy.

Default efforts ``tau`` are dropped, since the number of freedoms changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from pivotree import kkt
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.matrix.entries import velocities
from pivotree.kkt.matrix.state import coordinates, state_of
from pivotree.kkt.model.fields import Floats, checked
from pivotree.kkt.model.joints import GENERAL, in_plane, rotation_vector
from pivotree.kkt.model.spatial import cross, force_transform, matvec, spatial_inertia
from pivotree.kkt.model.tree import NOTED

Given = ArrayLike | Mapping[Hashable, ArrayLike] | None  # a state, as kkt.build takes it
EYE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FITS = 1e-9  # relative residual up to which a joint can follow a velocity
FREE = "floating"


@dataclass(frozen=True)
class Pose:
    """The pose of a frame in an outer one."""

    R: Floats  # (3, 3)
    p: Floats  # (3,) [m]

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    @property
    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)

    def motion(self, v: Floats) -> Floats:
        """A velocity (6,) that is given in the outer frame, in this one, which is fixed to it."""
        return np.concatenate([self.R.T @ v[:3], self.R.T @ (v[3:] + cross(v[:3], self.p))])

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Pose:
        """The pose of a body's joint in its parent."""
        R, p = data.get("R", EYE), data.get("p", np.zeros(3))
        return cls(np.array(R, dtype=float), np.array(p, dtype=float))

    def force(self, f: Floats) -> Floats:
        """A wrench (6,), moment first, that is given in the outer frame, in this one."""
        return np.concatenate([self.R.T @ (f[:3] - cross(self.p, f[3:])), self.R.T @ f[3:]])


IDENTITY = Pose(np.eye(3), np.zeros(3))


def released(tree: nx.DiGraph, what: Hashable, q: Given = None, qd: Given = None) -> nx.DiGraph:
    """The tree after the joint of a body, or a loop of this name, was cut: the body flies free.

    ``q`` and ``qd`` (N,) [rad, m; rad/s, m/s] are the state at that moment (:func:`kkt.build`).
    The body becomes a root with a floating joint and keeps its subtree; poses and velocities stay.
    Raises ModelError for a name that is neither a body nor a loop, and for a body that is free
    already.

    >>> from pivotree.papers.yamane2001.joining import released
    >>> pt.compile_tree(released(pt.chain(3), "j2"))
    <BodyTree chain_3: 3 bodies, 8 freedoms, joints 1 floating, 2 revolute>
    """
    now = _Moment.of(tree, q, qd)
    if what not in tree:
        kept = [loop for loop in now.loops if loop.name != what]
        if len(kept) == len(now.loops):
            known = (*tree, *(loop.name for loop in now.loops))
            told = nearest(str(what), map(str, known))
            raise kkt.ModelError(f"{what!r}: is neither a body nor a loop of tree {now.name!r}; {told}")
        result = tree.copy()
        result.graph["loops"] = kept
        return _at(result, now.q, now.qd)
    if tree.nodes[what].get("joint", "revolute") == FREE and not list(tree.predecessors(what)):
        raise kkt.ModelError(f"body {what!r}: hangs on nothing; there is no joint to cut")
    result = tree.copy()
    result.remove_edges_from(list(tree.in_edges(what)))
    place = now.pose[what]
    _carry(result.nodes[what], FREE, place)
    q_of = dict(now.q) | {what: np.zeros(6)}
    return _at(result, q_of, dict(now.qd) | {what: now.velocity[what]})


def rerooted(tree: nx.DiGraph, body: Hashable, q: Given = None, qd: Given = None) -> nx.DiGraph:
    """The same free-flying tree with another body as its root.

    ``q`` and ``qd`` (N,) [rad, m; rad/s, m/s] are its state, which is converted too.  Joints
    between the old root and ``body`` are reversed; each body between them gets the frame of the
    joint that now carries it.  Raises ModelError where the joint between root and world is not a
    floating one, and for a joint whose motion subspace would not be constant once reversed.

    >>> from pivotree.papers.yamane2001.joining import rerooted
    >>> tree = pt.quadruped()
    >>> foot = list(tree)[-1]
    >>> for robot in (tree, rerooted(tree, foot)):
    ...     print(pt.build(robot).structure.parent_of(foot))
    hind_right_thigh
    None
    """
    now = _Moment.of(tree, q, qd)
    _require_body(tree, body)
    root = _root(tree, body)
    up = nx.shortest_path(tree, root, body)[::-1]
    if tree.nodes[root].get("joint", "revolute") != FREE:
        raise kkt.ModelError(
            f"body {root!r}: hangs from the world by a {tree.nodes[root].get('joint', 'revolute')} "
            "joint; only a tree on a floating joint can have another root"
        )
    result = tree.copy()
    q_of, frames = dict(now.q), dict.fromkeys(tree, IDENTITY)
    for child, parent in pairwise(up):
        frames[parent] = Pose.of(tree.nodes[child])
    for child, parent in pairwise(up):
        result.remove_edge(parent, child)
        result.add_edge(child, parent)
        old = tree.nodes[child]
        joint, axis, q_of[parent] = _turned(old, now.q[child])
        _carry(result.nodes[parent], joint, frames[child].inverse, axis, old.get("S"), _reversed(old))
    _carry(result.nodes[body], FREE, now.pose[body])
    q_of[body] = np.zeros(6)
    for name, frame in frames.items():
        if frame is not IDENTITY:
            _reframe(result, tree, name, frame, set(up))
    result.graph["loops"] = [_reframed(loop, frames) for loop in now.loops]
    v = {name: frames[name].motion(now.velocity[name]) for name in tree}
    return _at(result, q_of, _rates(_Moment.of(_at(result, q_of, {}), None, None), v))


def joined(
    tree: nx.DiGraph,
    body: Hashable,
    onto: Hashable | None,
    joint: str = "fixed",
    q: Given = None,
    qd: Given = None,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    S: ArrayLike | None = None,
    p: ArrayLike = (0.0, 0.0, 0.0),
    R: ArrayLike = EYE,
    rows: Sequence[int] | None = None,
    name: Hashable = None,
) -> nx.DiGraph:
    """The tree after ``body`` was joined to the body ``onto`` (None: the world) where they are now.

    ``q`` and ``qd`` (N,) [rad, m; rad/s, m/s] are that state (:func:`kkt.build`).  The joint's
    frame lies at ``R`` (3, 3), ``p`` (3,) [m] in the body's frame, ``axis`` (3,) and ``S`` (6, N)
    [1 or 1/m] are in it (:func:`kkt.add_body`), and the joint is at q = 0 in the present pose.

    Where the two bodies belong to different trees, the free-flying tree is attached to the other
    one, and gets another root if need be.  Where they are connected already, or both trees are
    fixed to the world, the joint closes a loop: a cut joint ``name`` in ``graph["loops"]``, which
    keeps ``rows`` (:func:`kkt.cut_joint`).  Velocities that the joint does not allow end in an
    impact without rebound.  Raises ModelError for an unknown body, for a joint that cannot close a
    loop, and as :func:`rerooted` does.

    >>> from pivotree.papers.yamane2001.joining import joined
    >>> tree = pt.chain(2)
    >>> pt.add_body(tree, "box", mass=0.1, inertia=1e-4 * np.eye(3), joint="floating")
    >>> tree = pt.default_state(tree)  # the chain's own is of 2 freedoms
    >>> pt.compile_tree(tree)
    <BodyTree chain_2: 3 bodies, 8 freedoms, joints 1 floating, 2 revolute>
    >>> pt.compile_tree(joined(tree, "box", onto="j2"))  # held by the hand, wherever it is now
    <BodyTree chain_2: 3 bodies, 2 freedoms, joints 1 fixed, 2 revolute>
    """
    now = _Moment.of(tree, q, qd)
    for one in (body,) if onto is None else (body, onto):
        _require_body(tree, one)
    if body == onto:
        raise kkt.ModelError(f"body {body!r}: cannot be joined to itself; give another body, or None")
    frame = Pose(checked(f"body {body!r}", "R", R, (3, 3)), checked(f"body {body!r}", "p", p, (3,)))
    place = now.pose[body] @ frame  # of the joint, in the world
    on = IDENTITY if onto is None else now.pose[onto]
    there = on.inverse @ place
    free = _free_root(tree, body)
    if free is None or (onto is not None and _root(tree, onto) == free):
        other = None if onto is None else _free_root(tree, onto)
        if onto is None or other is None or other == free:
            ends: dict[str, Any] = {"R": there.R, "p": there.p, "R_second": frame.R, "p_second": frame.p}
            loop = kkt.cut_joint(onto, body, joint, axis=axis, S=S, rows=rows, name=name, **ends)
            result = tree.copy()
            result.graph["loops"] = [*now.loops, loop]
            return _after_blow(_at(result, now.q, now.qd), now.velocity)
        turned, axes, _ = _turned({"joint": joint, "axis": axis}, np.zeros(6))
        return joined(tree, onto, body, turned, q, qd, axis=axes, S=S, p=there.p, R=there.R)
    if free != body:
        tree = rerooted(tree, body, now.vector(now.q), now.vector(now.qd))
        now = _Moment.of(tree, None, None)
    result = tree.copy()
    _carry(result.nodes[body], joint, there, axis, S)
    if onto is not None:
        result.add_edge(onto, body)
    v = dict(now.velocity)
    if not np.array_equal(frame.R, np.eye(3)) or frame.p.any():
        _reframe(result, tree, body, frame, {body})
        v[body] = frame.motion(v[body])
        result.graph["loops"] = [
            _reframed(loop, dict.fromkeys(tree, IDENTITY) | {body: frame}) for loop in now.loops
        ]
    none = np.zeros(np.asarray(S).shape[1] if joint == GENERAL and S is not None else 0)
    q_of = {k: x for k, x in now.q.items() if k != body} | ({body: none} if none.size else {})
    return _after_blow(_at(result, q_of, {}), v)


# -- a state, body by body ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Moment:
    """A tree in one state, by the names of its bodies."""

    name: str
    names: tuple[Hashable, ...]
    state: kkt.State
    q: dict[Hashable, Floats]
    qd: dict[Hashable, Floats]
    pose: dict[Hashable, Pose]  # in the world
    velocity: dict[Hashable, Floats]  # (6,) in the body's frame
    loops: tuple[kkt.Loop, ...]

    @classmethod
    def of(cls, tree: nx.DiGraph, q: Any, qd: Any) -> _Moment:
        """A tree in the state q and qd, each given as :func:`kkt.build` takes it."""
        compiled = kkt.compile_tree(tree)
        _require_no_terms(compiled)
        state = state_of(compiled, tree, q, qd)
        position = coordinates(compiled, tree, q)
        cuts = compiled.offset[1:-1]
        names = compiled.names
        pose: dict[Hashable, Pose] = {}
        for k in (k for level in compiled.levels for k in level.tolist()):
            own = Pose(state.R[k], state.p[k])
            up = int(compiled.parent[k])
            pose[names[k]] = own if up < 0 else pose[names[up]] @ own
        columns, owner = state.S.columns, np.repeat(np.arange(compiled.n), compiled.dof)
        rates = np.zeros((compiled.n, 6))
        np.add.at(rates, owner, columns * state.qd[:, None])
        v = velocities(compiled.parent, force_transform(state.R, state.p), rates)
        return cls(
            compiled.name,
            names,
            state,
            dict(zip(names, np.split(position, cuts), strict=True)),
            dict(zip(names, np.split(state.qd, cuts), strict=True)),
            pose,
            dict(zip(names, v, strict=True)),
            tuple(tree.graph.get("loops", ())),
        )

    def vector(self, parts: Mapping[Hashable, Floats]) -> Floats:
        return np.concatenate([np.zeros(0), *(parts[name] for name in self.names)])


def _at(tree: nx.DiGraph, q: Mapping[Hashable, Floats], qd: Mapping[Hashable, Floats]) -> nx.DiGraph:
    """The tree with this state as its default; numbers that are not given are zero."""
    compiled = kkt.compile_tree(tree)
    for field, given in (("q", q), ("qd", qd)):
        parts = [
            given[name] if name in given else np.zeros(dof)
            for name, dof in zip(compiled.names, compiled.dof, strict=True)
        ]
        tree.graph[field] = np.concatenate([np.zeros(0), *parts])
    tree.graph.pop("tau", None)
    return tree


def _rates(now: _Moment, v: Mapping[Hashable, Floats]) -> dict[Hashable, Floats]:
    """Joint rates of given body velocities; raises ModelError where a joint cannot follow."""
    result = {}
    for k, name in enumerate(now.names):
        up, S = int(now.state.parent[k]), now.state.S[k]
        own = v[name].copy()
        if up >= 0:
            own -= Pose(now.state.R[k], now.state.p[k]).motion(v[now.names[up]])
        rate = np.linalg.lstsq(S, own, rcond=None)[0] if S.size else np.zeros(0)
        off = float(np.abs(own - S @ rate).max())
        if off > FITS * max(1.0, float(np.abs(own).max()), float(np.abs(v[name]).max())):
            raise kkt.ModelError(
                f"body {name!r}: its joint, turned about, has a motion subspace that turns with "
                "it; join it where this joint keeps its direction"
            )
        result[name] = rate
    return result


def _after_blow(tree: nx.DiGraph, v: Mapping[Hashable, Floats]) -> nx.DiGraph:
    """The tree with the joint rates after the impact of its new joints, from body velocities v.

    They are the accelerations of the tree at rest, without gravity, under the wrenches M_k v_k: the
    projection of v on the motions that joints and loops allow, in the metric of kinetic energy.
    """
    now = _Moment.of(tree, None, None)
    state = now.state
    M = spatial_inertia(state.mass, state.com, state.inertia)
    momentum = matvec(M, np.array([v[name] for name in now.names]))
    still = tree.copy()
    still.graph["gravity"] = (0.0, 0.0, 0.0)
    still.graph["qd"] = np.zeros_like(state.qd)
    loops = [replace(loop, baumgarte=(0.0, 0.0)) for loop in now.loops]
    for name in still:
        still.nodes[name].pop("bias", None)
    system = kkt.build(still, f_ext=momentum, loops=loops)
    result = kkt.eliminate(system, None, records=False)
    if result.failed_at:
        raise kkt.SingularError(f"{now.name}: no velocity follows from the blow: {result.failed_at}")
    tree.graph["qd"] = result.qdd
    return tree


# -- joints and frames ----------------------------------------------------------------------------


def _carry(
    data: dict[str, Any],
    joint: str,
    place: Pose,
    axis: Any = (0.0, 0.0, 1.0),
    S: Any = None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Give a body another joint, and what ``more`` is known of it, in the place of its own."""
    for field in ("S", "bias", *NOTED):
        data.pop(field, None)
    data.update(joint=joint, R=place.R, p=place.p, axis=axis, **more)
    if joint == GENERAL:
        data["S"] = S


def _reversed(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a joint whose two bodies change places, so that q becomes -q."""
    more = {field: data[field] for field in NOTED if data.get(field) is not None}
    if "limits" in more:
        low, high, rate = more["limits"]
        more["limits"] = (-high, -low, rate)
    return more


def _turned(data: Mapping[str, Any], q: Floats) -> tuple[str, Any, Floats]:
    """The joint that moves the parent relative to the child: type, axes and coordinates."""
    joint, axis = data.get("joint", "revolute"), data.get("axis", (0.0, 0.0, 1.0))
    other = _REVERSED.get(joint)
    return (joint, axis, -q) if other is None else (joint, *other(np.array(axis), q))


def _planar_reversed(axis: Floats, q: Floats) -> tuple[Floats, Floats]:
    normal = axis / np.linalg.norm(axis)
    first, second = in_plane(normal[None])
    p = -rotation_vector(-q[2] * normal[None])[0] @ (first[0] * q[0] + second[0] * q[1])
    return axis, np.array([first[0] @ p, second[0] @ p, -q[2]])


def _floating_reversed(axis: Floats, q: Floats) -> tuple[Floats, Floats]:
    back = rotation_vector(-q[None, :3])[0]
    return axis, np.concatenate([-q[:3], -back @ q[3:]])


# (axis, q) of a joint, seen from the child; that of all others is (axis, -q)
_REVERSED: dict[str, Callable[[Floats, Floats], tuple[Floats, Floats]]] = {
    "universal": lambda axes, q: (axes[::-1], -q[::-1]),
    "planar": _planar_reversed,
    "floating": _floating_reversed,
}


def _require_no_terms(tree: kkt.BodyTree) -> None:
    """Raise ArmatureError where joints have terms of their own."""
    if tree.terms is not None:
        given = [name for name, x in asdict(tree.terms).items() if name != "rest" and x.any()]
        j = int(np.flatnonzero(getattr(tree.terms, given[0]))[0])
        body = tree.names[int(np.searchsorted(tree.offset, j, side="right")) - 1]
        raise kkt.ArmatureError(
            f"joining and releasing bodies does not know {given[0]} of joints yet, and body {body!r} has "
            f"it; leave {' and '.join(given)} out of the model, or use kkt.eliminate, which knows it"
        )


def _reframe(result: nx.DiGraph, tree: nx.DiGraph, name: Hashable, frame: Pose, way: set[Hashable]) -> None:
    """Express mass, wrench and children of a body in another frame that is fixed to it."""
    data = result.nodes[name]
    data["com"] = frame.R.T @ (np.asarray(data.get("com", np.zeros(3)), dtype=float) - frame.p)
    data["inertia"] = frame.R.T @ np.asarray(data.get("inertia", np.zeros((3, 3)))) @ frame.R
    if data.get("wrench") is not None:
        data["wrench"] = frame.force(np.asarray(data["wrench"], dtype=float))
    for child in tree.successors(name):
        if child not in way:
            new = frame.inverse @ Pose.of(tree.nodes[child])
            result.nodes[child].update(R=new.R, p=new.p)


def _reframed(loop: kkt.Loop, frames: Mapping[Hashable, Pose]) -> kkt.Loop:
    """The same loop where its bodies have other frames."""
    if loop.curved:
        told = "other root, and no other tree"
        raise kkt.LoopError(f"loop {loop.name!r}: its ratio depends on q; a tree with it takes no {told}")
    own = [IDENTITY if body is None else frames[body] for body in loop.bodies]
    here = [f.inverse @ Pose(R, p) for f, R, p in zip(own, loop.R, loop.p, strict=True)]
    beside = loop.beside and _reframed(loop.beside, frames)
    R, p = np.stack([x.R for x in here]), np.stack([x.p for x in here])
    return replace(loop, R=R, p=p, beside=beside, follows=None)  # joints may be turned about


def _require_body(tree: nx.DiGraph, body: Hashable) -> None:
    if body not in tree:
        raise kkt.ModelError(f"body {body!r}: is not in the tree; {nearest(str(body), map(str, tree))}")


def _root(tree: nx.DiGraph, body: Hashable) -> Hashable:
    return next(k for k in (body, *nx.ancestors(tree, body)) if not tree.in_degree(k))


def _free_root(tree: nx.DiGraph, body: Hashable) -> Hashable | None:
    """The root of a body's tree if its joint is a floating one, else None."""
    root = _root(tree, body)
    return root if tree.nodes[root].get("joint", "revolute") == FREE else None
