"""One tree in one state: everything that the entries of equation (4) depend on, as doubles.

A state is what a ``pivotree-model/1`` file holds (:mod:`kkt.model.modelfile`).  All number types start
from these doubles: the pose (R, p) is computed once, in float64, and is then data.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError, nearest
from ..base.shown import Shown
from ..model.fields import Floats, checked, shape_of
from ..model.joints import GENERAL, TYPES, JointTerms
from ..model.spatial import CACHED, matmul, matvec
from ..model.tree import BodyTree

if TYPE_CHECKING:
    from ..model.loops import Loop
    from .closures import Closure


@dataclass(frozen=True, eq=False, repr=False)
class State(Shown):
    """A tree in one state; n bodies in any order, N degrees of freedom in the bodies' order.

    >>> state = pt.build(pt.chain(2), q=[0.0, np.pi / 2]).state
    >>> state.mass, state.p[1].round(3)
    (array([1., 1.]), array([0.1, 0. , 0. ]))
    """

    names: Sequence[Hashable]  # (n,)
    parent: NDArray[np.int64]  # (n,) index of the parent, -1 for a root
    R: Floats  # (n, 3, 3) orientation of the joint frame in the parent's
    p: Floats  # (n, 3) its origin in the parent's frame [m]
    S: Subspaces  # (n,) of (6, N_k) motion subspaces
    mass: Floats  # (n,) [kg]
    com: Floats  # (n, 3) [m]
    inertia: Floats  # (n, 3, 3) about the centre of mass [kg m^2]
    q: Floats  # (N,) joint positions [rad, m], orientations as rotation vectors
    qd: Floats  # (N,) joint rates [rad/s, m/s]
    tau: Floats  # (N,) joint efforts [N m, N]
    gravity: Floats  # (3,) [m/s^2] in the world frame
    joint_bias: Floats  # (n, 6) S° qd, apparent derivative of S times qd
    wrench: Floats  # (n, 6) external wrench on each body, at its joint origin [N m, N]
    loops: tuple[Closure, ...] = ()  # constraints beside the tree
    terms: JointTerms | None = None  # of the joints themselves, rest measured from this state's q
    step: float = 0.0  # h [s] of a linearly implicit step; 0 where damping and springs act now

    def facts(self) -> dict[str, Any]:
        return {"name": f"{len(self.names)} bodies", "freedoms": len(self.q), "loops": len(self.loops)}


def state_of(
    tree: BodyTree,
    graph: nx.DiGraph[Any],
    q: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    f_ext: ArrayLike | Mapping[Hashable, ArrayLike] | None = None,
    loops: Sequence[Loop] = (),
    step: float = 0.0,
) -> State:
    """The state of a tree at joint positions q, rates qd, efforts tau and external wrenches.

    Each of q, qd, tau has length N; q may give quaternions instead of rotation vectors
    (x, y, z, w for a spherical joint; position then quaternion for a floating one).  ``f_ext`` is
    (n, 6) or a mapping from bodies to (6,).  What is None comes from ``tree.graph``, ``f_ext`` from
    the bodies' attribute ``wrench``, or else is zero.
    """
    N = tree.N
    stored = graph.graph
    position = coordinates(tree, graph, q)
    rates = _vector("qd", stored.get("qd") if qd is None else qd, N)
    efforts = _vector("tau", stored.get("tau") if tau is None else tau, N)
    wrench = _wrenches(tree, graph, f_ext)
    if step and tree.turning_springs:
        k = tree.turning_springs[0]
        raise ModelError(
            f"body {tree.names[k]!r}",
            f"the motions of its {tree.joint[k]} joint do not commute, so that an implicit step does not "
            "know where its spring ends",
            "build without implicit, or give the spring's effort as tau",
        )
    R, p, S, bias = kinematics(tree, position, rates)
    if len(graph):
        bias = bias + own_bias(tree, graph, rates)
    closed: tuple[Closure, ...] = ()
    if loops:
        from .closures import closures

        closed = closures(tree, R, p, position, loops)
    terms = None if tree.terms is None else tree.terms.at(position, tree.sprung_balls)
    kept = {name: getattr(tree, name) for name in ("names", "parent", "mass", "com", "inertia", "gravity")}
    given: dict[str, Any] = {"q": position, "qd": rates, "tau": efforts, "wrench": wrench}
    return State(**kept, **given, R=R, p=p, S=S, joint_bias=bias, loops=closed, terms=terms, step=step)


class Subspaces(Sequence[Floats]):
    """The (6, N_k) motion subspaces of all bodies, as views of their columns side by side."""

    def __init__(self, columns: Floats, offset: NDArray[np.int64]) -> None:
        self.columns = columns  # (N, 6)
        self.offset = offset  # (n + 1,)

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, k: Any) -> Any:
        k = range(len(self))[k]
        if isinstance(k, range):
            return tuple(self[i] for i in k)
        return self.columns[self.offset[k] : self.offset[k + 1]].T


def kinematics(tree: BodyTree, q: Floats, qd: Floats) -> tuple[Floats, Floats, Subspaces, Floats]:
    """Poses R (n,3,3), p (n,3), motion subspaces S and S° qd (n,6) at q, qd (N,)."""
    R, p, bias = np.empty((tree.n, 3, 3)), np.empty((tree.n, 3)), np.broadcast_to(0.0, (tree.n, 6))
    columns = np.empty((tree.N, 6))
    for at, take, *found, slip in posed(tree, q, qd):
        R[at], p[at], columns[take] = found
        if slip is not None:
            bias = bias if bias.flags.writeable else bias.copy()
            bias[at] += slip
    return R, p, Subspaces(columns, tree.offset), bias


def posed(tree: BodyTree, q: Floats, qd: Floats) -> Iterator[tuple[Any, ...]]:
    """Places, those of freedoms, R, p, S and S° qd of bodies of a type, as many as a core's cache holds."""
    for kind, bodies in tree.by_joint.items():
        # S of general joints is constant, and S q a screw
        if kind == GENERAL:
            from ..model.rotations import exponential

            for k in bodies.tolist():
                own = tree.freedoms_of(k)
                R, p = tree.R[k], tree.p[k]
                if q[own].any():
                    turn, shift = exponential(matvec(tree.S[k], q[own]))
                    R, p = matmul(R, turn), p + matvec(R, shift)
                yield slice(k, k + 1), own, R[None], p[None], tree.S[k].T, None
            continue

        # all others by the table of types
        joint = TYPES[kind]
        for some in (bodies[i : i + CACHED] for i in range(0, len(bodies), CACHED)):
            at: Any = some
            take: Any = (tree.offset[some, None] + np.arange(joint.dof)).ravel()
            if some[-1] - some[0] == len(some) - 1:  # neighbours
                at, take = (slice(x[0], x[-1] + 1) if len(x) else x for x in (at, take))
            axis, placed = (np.asfortranarray(x[at]) for x in (tree.axis, tree.R))
            qk, rates = (x[take].reshape(len(some), joint.dof) for x in (q, qd))
            turn, shift = map(np.asfortranarray, joint.pose(axis, qk))
            S = np.swapaxes(joint.subspace(axis, qk), 1, 2).reshape(-1, 6)
            slip = joint.bias and joint.bias(axis, qk, rates)
            yield at, take, matmul(placed, turn), tree.p[at] + matvec(placed, shift), S, slip


def _vector(field: str, value: Any, length: int) -> Floats:
    if value is None:
        return np.zeros(length)
    return checked("state", field, value, (length,), f"{length} numbers, one for each degree of freedom")


def _require_bodies(tree: BodyTree, field: str, given: Mapping[Any, Any]) -> None:
    for name in given:
        if name not in tree.names:
            told = nearest(str(name), map(str, tree.names))
            raise ModelError("state", f"field {field!r} names the unknown body {name!r}", told)


_WITH_QUATERNION = {"spherical": 4, "floating": 7}


def coordinates(tree: BodyTree, graph: nx.DiGraph[Any], q: Any) -> Floats:
    """q as N numbers, from N numbers, numbers with quaternions, or a mapping by body."""
    value = graph.graph.get("q") if q is None else q
    N = tree.N
    if value is None or (isinstance(value, np.ndarray) and value.shape == (N,)):
        return _vector("q", value, N)
    if isinstance(value, Mapping):
        _require_bodies(tree, "q", value)
        pieces = [value.get(name, np.zeros(d)) for name, d in zip(tree.names, tree.dof, strict=True)]
        return np.concatenate([np.zeros(0)] + [_joint_coordinates(tree, k, x) for k, x in enumerate(pieces)])
    long = [_WITH_QUATERNION.get(t, int(d)) for t, d in zip(tree.joint, tree.dof, strict=True)]
    if shape_of(value) == (sum(long),) and sum(long) != N:
        cuts = np.split(checked("state", "q", value, (sum(long),)), np.cumsum(long)[:-1])
        return np.concatenate([_joint_coordinates(tree, k, x) for k, x in enumerate(cuts)])
    return _vector("q", value, N)


def _joint_coordinates(tree: BodyTree, k: int, x: Any) -> Floats:
    kind, dof, where = tree.joint[k], int(tree.dof[k]), f"body {tree.names[k]!r}"
    shape = shape_of(x)
    if shape == (_WITH_QUATERNION.get(kind),):
        array = checked(where, "q", x, shape)
        if not array[-4:].any():
            raise ModelError(where, "field 'q' holds a quaternion of zeros", "give x, y, z, w of any length")
        from ..model.rotations import quaternion_to_vector

        vector = quaternion_to_vector(array[-4:])
        return vector if kind == "spherical" else np.concatenate([vector, array[:3]])
    return checked(where, "q", x if shape else [x], (dof,), f"{dof} numbers for its {kind} joint")


def _wrenches(tree: BodyTree, graph: nx.DiGraph[Any], f_ext: Any) -> Floats:
    if f_ext is None:
        return node_field(tree, graph, "wrench")
    if isinstance(f_ext, Mapping):
        _require_bodies(tree, "f_ext", f_ext)
        f_ext = [f_ext.get(name, np.zeros(6)) for name in tree.names]
    told = f"{tree.n} x 6 finite numbers, moment first, one wrench for each body"
    return checked("state", "f_ext", f_ext, (tree.n, 6), told)


def own_bias(tree: BodyTree, graph: nx.DiGraph[Any], rates: Floats) -> Floats:
    """(n, 6) the bodies' attributes ``bias``, S° qd at the rates in ``tree.graph``.

    Raises ModelError where a joint that has one moves at other rates (..., N).
    """
    given, stored = node_field(tree, graph, "bias"), graph.graph.get("qd")
    if given.any() and stored is not None:
        theirs = _vector("qd", stored, tree.N)
        for k in np.flatnonzero(given.any(axis=1)).tolist():
            own = tree.freedoms_of(k)
            if (rates[..., own] != theirs[own]).any():
                raise ModelError(
                    f"body {tree.names[k]!r}",
                    "field 'bias' belongs to the rates of its file, and other rates are asked for",
                    "ask for its own state, as compare does, or read the joint by its type from a URDF",
                )
    return given


def node_field(tree: BodyTree, graph: nx.DiGraph[Any], field: str) -> Floats:
    """(n, 6) values of an attribute (6,); zero for the bodies that have none."""
    result = np.zeros((tree.n, 6)) if len(graph) else np.broadcast_to(0.0, (tree.n, 6))
    for k, (_, value) in enumerate(graph.nodes(data=field)):
        if value is not None:
            result[k] = checked(f"body {tree.names[k]!r}", field, value, (6,))
    return result
