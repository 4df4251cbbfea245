"""The tree of rigid bodies: a networkx.DiGraph with checked attributes, and its arrays.

Edges run parent -> child; a body without a parent hangs from the world by its own joint.  Each
node is a body together with the joint that carries it:

=========  ==========================================================================
mass       float [kg]
com        (3,) centre of mass in the body's joint frame [m]
inertia    (3, 3) about the centre of mass, in the joint frame's directions [kg m^2]
joint      "general", or a name of ``kkt.model.joints.TYPES``
axis       (3,) or (2, 3) unit axes in the joint frame, for joints that have any
S          (6, N) motion subspace, for ``joint="general"`` only
R, p       (3, 3) and (3,) [m]: pose of the joint frame in the parent's at q = 0
armature, damping, friction, stiffness, rest
           a number or (N,) each: terms of the joint itself (:mod:`kkt.model.joints`)
wrench     (6,) on the body at its joint's origin, in its frame [N m, N]
bias       (6,) S° qd of a general joint, in one state
joint_name, limits, effort
           what readers of files note of a joint: its name; least and largest position and largest
           rate [rad, m; per s]; largest effort [N m, N]
=========  ==========================================================================

``tree.graph`` may hold ``gravity``, a state, ``q``, ``qd`` and ``tau``, and ``loops``; readers of
files note more there.  A joint's fields may stand on the edge to its body instead.  What is not named
here is refused as a misspelling (docs/tree.md).

For trees that prescribe no state there is one, deterministic and without zeros
(:func:`default_state`).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError, PivotreeWarning, nearest
from ..base.foreign import of_kind
from ..base.shown import Shown
from .fields import Floats, check_names, checked, checked_columns, require_name, stacked
from .joints import GENERAL, TERMS, TYPES, JointTerms, each, joint_terms, known
from .spatial import cross, force_transform, in_pieces, levels, locked_inertia, matmul, spatial_inertia

STANDARD_GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2]


class InertiaWarning(PivotreeWarning):
    """An inertia that no distribution of mass can have.

    >>> pt.InertiaWarning.code
    'inertia'
    """

    code = "inertia"


@of_kind
def new_tree(name: str, gravity: Sequence[float] = STANDARD_GRAVITY) -> nx.DiGraph[Any]:
    """An empty tree; add bodies with :func:`add_body`.

    ``gravity`` (3,) [m/s^2] is in the world's frame.  Raises ModelError where it has no three
    finite numbers.

    >>> tree = pt.new_tree("on the moon", gravity=(0.0, 0.0, -1.62))
    >>> pt.add_body(tree, "a", mass=1.0, joint="floating", inertia=np.eye(3))
    >>> pt.eliminate(pt.build(tree), pt.orderings.get("abm")).qdd
    array([ 0.  ,  0.  ,  0.  ,  0.  ,  0.  , -1.62])
    """
    checked("tree", "gravity", gravity, (3,))
    return nx.DiGraph(name=name, gravity=tuple(float(g) for g in gravity))


def add_body(
    tree: nx.DiGraph[Any],
    name: Hashable,
    parent: Hashable | None = None,
    *,
    mass: float,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike = ((0.0,) * 3,) * 3,
    joint: str = "revolute",
    axis: ArrayLike = (0.0, 0.0, 1.0),
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    p: ArrayLike = (0.0, 0.0, 0.0),
    S: ArrayLike | None = None,
    armature: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    friction: ArrayLike | None = None,
    stiffness: ArrayLike | None = None,
    rest: ArrayLike | None = None,
) -> None:
    """Add one body and the joint that carries it; ``parent`` None hangs it from the world.

    ``mass`` [kg], ``com`` (3,) [m] in the joint's frame, ``inertia`` (3, 3) [kg m^2] about the
    centre of mass; ``axis`` (3,), or (2, 3) for two, of length 1, without unit; ``R`` (3, 3) and
    ``p`` (3,) [m] place the joint's frame in the parent's at q = 0; ``S`` (6, N), angular rows
    first [1 or 1/m], is the motion subspace of a ``general`` joint.  The joint's own terms are
    each one number or one a freedom, zero or more: ``armature`` (N,), reflected rotor inertia [kg
    m^2, kg], viscous ``damping`` (N,) [N m s, N s/m], Coulomb ``friction`` (N,) [N m, N], and
    ``stiffness`` (N,) [N m, N/m] of a spring that rests at ``rest`` (N,) [rad, m]
    (:mod:`kkt.model.joints`).  Raises ModelError where the name is taken or the parent
    unknown; :func:`compile_tree` checks the values.

    >>> tree = pt.new_tree("pendulum")
    >>> rod = {"mass": 2.0, "com": (0.5, 0, 0), "inertia": np.diag([0, 0.2, 0.2])}
    >>> pt.add_body(tree, "rod", axis=(0, 1, 0), **rod)
    >>> pt.eliminate(pt.build(tree), pt.orderings.get("abm")).qdd.round(3)  # held level: 9.81 / 0.7
    array([14.014])
    """
    if not isinstance(tree, nx.DiGraph):
        require_graph(tree)  # refuses it; of a graph it reads all edges
    require_name(name)
    check_names((name,))
    if name in tree:
        raise ModelError(f"body {name!r}", "name is used twice", "every body needs its own name")
    if parent is not None and parent not in tree:
        raise ModelError(
            f"body {name!r}", f"parent {parent!r} is unknown", "add the parent first or use None"
        )
    tree.add_node(name, mass=mass, com=com, inertia=inertia, joint=joint, axis=axis, R=R, p=p)
    terms = (armature, damping, friction, stiffness, rest)
    given = {"S": S, **dict(zip((*TERMS, "rest"), terms, strict=True))}
    tree.nodes[name].update({key: value for key, value in given.items() if value is not None})
    if parent is not None:
        tree.add_edge(parent, name)


@dataclass(frozen=True, repr=False, eq=False)
class BodyTree(Shown):
    """The checked tree as arrays, bodies in the order of the graph's nodes.

    >>> tree = pt.compile_tree(pt.chain(3))
    >>> tree
    <BodyTree chain_3: 3 bodies, 3 freedoms, joints 3 revolute>
    >>> tree.names, tree.parent
    (('j1', 'j2', 'j3'), array([-1,  0,  1]))
    """

    name: str
    names: Sequence[Hashable]  # (n,) bodies
    parent: NDArray[np.int64]  # (n,) index of the parent, -1 for a root
    joint: tuple[str, ...]  # (n,) joint types
    axis: Floats  # (n, 2, 3) unit axes, zero where the joint has none
    S: dict[int, Floats]  # motion subspaces of general joints
    R: Floats  # (n, 3, 3) placement at q = 0
    p: Floats  # (n, 3) [m]
    mass: Floats  # (n,) [kg]
    com: Floats  # (n, 3) [m]
    inertia: Floats  # (n, 3, 3) about the centre of mass [kg m^2]
    gravity: Floats  # (3,) [m/s^2]
    terms: JointTerms | None = None  # of the joints themselves; None where no joint has any

    @property
    def n(self) -> int:
        return len(self.names)

    def facts(self) -> dict[str, Any]:
        kinds = {kind: len(bodies) for kind, bodies in self.by_joint.items()}
        joints = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        return {"name": self.name, "bodies": self.n, "freedoms": self.N, "joints": joints}

    @property
    def freedom_names(self) -> list[str]:
        """(N,) the body of each degree of freedom, with [j] where its joint has several."""
        bodies = zip(self.names, self.dof.tolist(), strict=True)
        return [f"{name}[{j}]" if dof > 1 else str(name) for name, dof in bodies for j in range(dof)]

    @cached_property
    def turning_springs(self) -> list[int]:
        """Bodies whose joint has a spring and motions that do not commute: the rates of its q are not qd."""
        if self.terms is None or not self.terms.stiffness.any():
            return []
        from .rotations import commute

        kinds = [*self.by_joint.get("spherical", ()), *self.by_joint.get(GENERAL, ())]
        stiff = np.add.reduceat(np.append(self.terms.stiffness, 0.0), self.offset[:-1]) * (self.dof > 0)
        return [k for k in kinds if stiff[k] and (self.joint[k] != GENERAL or not commute(self.S[k]))]

    @cached_property
    def sprung_balls(self) -> list[int]:
        """Where the q of balls begin that have a spring alike about all axes, spherical or general."""

        def alike(k: int) -> bool:
            stiff = self.terms.stiffness[self.freedoms_of(k)] if self.terms else np.zeros(0)
            return np.array_equal(self.S[k], np.eye(6, 3)) and len(np.unique(stiff)) == 1

        return [int(self.offset[k]) for k in self.turning_springs if self.joint[k] != GENERAL or alike(k)]

    @cached_property
    def dof(self) -> NDArray[np.int64]:
        """(n,) N_k, degrees of freedom of each joint."""
        return freedoms(self.joint, self.S)

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """(n + 1,) start of each body's slice in qd, qdd and tau."""
        return np.concatenate([[0], np.cumsum(self.dof)])

    @property
    def N(self) -> int:
        """Degrees of freedom of all joints."""
        return int(self.offset[-1])

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """(N,) the body of each degree of freedom."""
        return np.repeat(np.arange(self.n), self.dof)

    def freedoms_of(self, k: int) -> slice:
        """Where the freedoms of body k stand in qd, qdd and tau."""
        return slice(int(self.offset[k]), int(self.offset[k + 1]))

    @cached_property
    def by_joint(self) -> dict[str, NDArray[np.int64]]:
        """The bodies of each type of joint."""
        number = {kind: i for i, kind in enumerate(sorted(set(self.joint)))}
        kinds = each(self.joint, number)
        return {kind: np.flatnonzero(kinds == i) for kind, i in number.items()}

    @cached_property
    def levels(self) -> list[NDArray[np.int64]]:
        """Bodies by depth, roots first."""
        return levels(self.parent)

    def indefinite(self) -> list[int]:
        """Bodies whose spatial inertia M_k has a negative eigenvalue."""
        return [k for k in range(self.n) if self._least_inertia[k] < 0.0]

    def singular(self) -> list[int]:
        """Bodies whose spatial inertia M_k is positive semidefinite but singular."""
        return [k for k in range(self.n) if self._least_inertia[k] == 0.0]

    @cached_property
    def moments(self) -> Floats:
        """(n, 3) principal moments of inertia of the bodies, ascending [kg m^2]."""
        return in_pieces(_principal, self.inertia)

    @cached_property
    def _least_inertia(self) -> Floats:
        """Sign of the least eigenvalue of M_k: M_k is congruent to diag(J, m 1)."""
        least = self.moments
        size = np.abs(least).max(axis=1)
        floor = np.where(np.abs(least[:, 0]) <= 1e-14 * size, 0.0, least[:, 0])
        return np.minimum(np.sign(floor), np.sign(self.mass))


def freedoms(joint: Sequence[str], S: dict[int, Floats]) -> NDArray[np.int64]:
    """(n,) N_k of joints by type, and by S where they are general."""
    found = each(joint, {kind: 0 if kind == GENERAL else TYPES[kind].dof for kind in set(joint)})
    found[list(S)] = [basis.shape[1] for basis in S.values()]
    return found


def _principal(inertia: Floats) -> Floats:
    """(n, 3) principal moments of inertias (n, 3, 3), ascending."""
    least = np.sort(np.diagonal(inertia, axis1=1, axis2=2), axis=1)
    turned = inertia[:, (0, 0, 1, 1, 2, 2), (1, 2, 0, 2, 0, 1)].any(axis=1)
    if turned.any():
        least[turned] = np.linalg.eigvalsh(inertia[turned])
    return least


LINK, JOINT = ("mass", "com", "inertia", "wrench"), ("joint", "axis", "R", "p", "S", "bias")
NOTED = ("limits", "effort", "joint_name")
OF_JOINTS = {*JOINT, *TERMS, "rest", *NOTED}
OF_BODIES = {*LINK, *OF_JOINTS}
STATE, FROM_FILES = ("q", "qd", "tau", "loops"), ("source", "merged", "expected", "state_formulas")
OF_TREES = {"name", "gravity", *STATE, *FROM_FILES}


OTHERS = {"center": "com", "cog": "com", "I": "inertia", "m": "mass", "type": "joint", "g": "gravity"}
OTHERS |= {"rotation": "R", "position": "p", "xyz": "p", "velocity": "qd", "torque": "tau", "force": "wrench"}


def _meant(field: str, names: set[str]) -> str:
    """The name for what another library calls ``field``, or else the nearest."""
    other = OTHERS.get(field.lower() if len(field) > 1 else field)
    return f"did you mean {other}?" if other in names else nearest(field, names)


def require_graph(tree: object) -> nx.DiGraph[Any]:
    """The tree, with what its edges say of joints at the bodies that these carry.

    Raises ModelError for anything but a graph of bodies, such as a name or arrays.
    """
    if isinstance(tree, str):
        raise ModelError(f"tree {tree!r}", "is a name", f"pass load({tree!r})")
    if not isinstance(tree, nx.DiGraph) or tree.is_multigraph():
        what = f"a networkx.DiGraph is expected, not {type(tree).__name__}"
        raise ModelError("tree", what, "give what kkt.load or kkt.new_tree makes")
    edges = [(parent, child, given) for parent, child, given in tree.edges(data=True) if given]
    if not edges or max(degree for _, degree in tree.in_degree) > 1:  # the latter is refused later
        return tree
    moved, graph = tree.copy(), tree.graph
    moved.graph = graph  # one state for both
    for parent, child, given in edges:
        own, where = moved.nodes[child], f"body {child!r}"
        edge = f"the edge from {parent!r}"
        for field in sorted(map(str, given.keys() - OF_JOINTS)):
            if field in LINK:
                raise ModelError(where, f"{edge} holds {field!r}, which is the body's", "give it at the body")
            raise ModelError(f"{where}: {edge}", f"field {field!r} is unknown", _meant(field, OF_JOINTS))
        for field in sorted(given.keys() & own.keys()):
            raise ModelError(where, f"{edge} holds {field!r}, and so does the body", "give it once")
        own.update(given)
        moved.edges[parent, child].clear()
    return moved


def compile_tree(tree: nx.DiGraph[Any]) -> BodyTree:
    """Check a tree and gather its attributes into arrays.

    Raises ModelError, one sentence, for a cycle, two parents, an unknown parent, or an attribute
    that is missing, of the wrong shape, not finite, or out of range; warns (InertiaWarning) for
    an inertia that breaks the triangle inequality.

    >>> pt.compile_tree(pt.humanoid())
    <BodyTree humanoid: 45 bodies, 50 freedoms, joints 1 floating, 44 revolute>
    """
    tree = require_graph(tree)
    if tree.number_of_nodes() == 0:
        raise ModelError("tree", "has no bodies", "add at least one with kkt.add_body")
    names = tuple(tree.nodes)
    check_names(names)
    check_names((str(tree.graph.get("name") or "tree"),), "tree")
    index = {name: k for k, name in enumerate(names)}
    parent = np.full(len(names), -1, dtype=np.int64)
    for a, b in tree.edges:
        if parent[index[b]] >= 0:
            what = f"has two parents, {names[parent[index[b]]]!r} and {a!r}"
            raise ModelError(f"body {b!r}", what, "a tree allows one (cut the loop at a joint)")
        parent[index[b]] = index[a]
    bare = [name for name, data in tree.nodes(data=True) if "mass" not in data]
    if bare:
        child = next(iter(tree.successors(bare[0])), None)
        if child is None or tree.nodes[bare[0]]:
            raise ModelError(f"body {bare[0]!r}", "field 'mass' is missing", "give it in kg")
        what = f"parent {bare[0]!r} is unknown"
        raise ModelError(f"body {child!r}", what, "add it with its mass and joint")
    if sum(len(level) for level in levels(parent)) < len(names):
        cycle = " -> ".join(repr(edge[0]) for edge in nx.find_cycle(tree))
        raise ModelError("tree", f"bodies {cycle} form a cycle", "a tree has none")
    data = [tree.nodes[name] for name in names]
    _require_attributes(tree)
    joint = tuple(known(d.get("joint", "revolute"), k) for k, d in zip(names, data, strict=True))
    general = [k for k, kind in enumerate(joint) if kind == GENERAL]
    S = {k: checked_columns(f"body {names[k]!r}", "S", data[k].get("S"), 6) for k in general}
    offset = np.concatenate([[0], np.cumsum(freedoms(joint, S))])
    compiled = BodyTree(
        name=str(tree.graph.get("name") or "tree"),
        names=names,
        parent=parent,
        joint=joint,
        axis=_axes(names, joint, data),
        S=S,
        R=stacked(names, data, "R", (3, 3), np.eye(3)),
        p=stacked(names, data, "p", (3,), np.zeros(3)),
        mass=stacked(names, data, "mass", (), None),
        com=stacked(names, data, "com", (3,), np.zeros(3)),
        inertia=stacked(names, data, "inertia", (3, 3), np.zeros((3, 3))),
        gravity=checked("tree", "gravity", tree.graph.get("gravity", STANDARD_GRAVITY), (3,)),
        terms=joint_terms(names, joint, offset, data),
    )
    check_values(compiled)
    return compiled


def _require_attributes(tree: nx.DiGraph[Any]) -> None:
    """Raise ModelError for an attribute that nothing reads: a word that is misspelt, or misplaced."""
    for name, given in tree.nodes(data=True):
        if given.keys() - OF_BODIES:
            field = min(map(str, given.keys() - OF_BODIES))
            raise ModelError(f"body {name!r}", f"field {field!r} is unknown", _meant(field, OF_BODIES))
        if "inertia" not in given and given["mass"]:
            told = "give it in kg m^2 about the centre of mass, or zeros (3, 3) for a point mass"
            raise ModelError(f"body {name!r}", "field 'inertia' is missing", told)
    if tree.graph.keys() - OF_TREES:
        field = min(map(str, tree.graph.keys() - OF_TREES))
        raise ModelError("tree", f"field {field!r} of its graph is unknown", _meant(field, OF_TREES))


def _axes(names: tuple[Hashable, ...], joint: tuple[str, ...], data: list[dict[str, Any]]) -> Floats:
    axis = np.zeros((len(names), 2, 3))
    for k, kind in enumerate(joint):
        wanted = 0 if kind == GENERAL else TYPES[kind].axes
        if wanted == 0:
            continue
        shape = (3,) if wanted == 1 else (2, 3)
        axis[k, :wanted] = checked(f"body {names[k]!r}", "axis", data[k].get("axis"), shape)
    return unit_axes(axis, names, joint)


def unit_axes(axis: Floats, names: Sequence[Hashable], joint: tuple[str, ...]) -> Floats:
    """Axes (n, 2, 3) scaled to unit length.  Raises ModelError for a zero axis or parallel ones."""
    length = in_pieces(lambda some: np.sqrt((some * some).sum(-1)), axis)
    wanted = each(joint, {kind: 0 if kind == GENERAL else TYPES[kind].axes for kind in set(joint)})
    for k in np.nonzero((length == 0.0) & (np.arange(2) < wanted[:, None]))[0].tolist():
        raise ModelError(f"body {names[k]!r}", "field 'axis' is zero", "give a direction, such as 0 0 1")
    if (two := np.flatnonzero(wanted == 2)).size:
        between = np.abs(cross(axis[two, 0], axis[two, 1])).max(axis=1)
        for k in two[between <= 1e-12 * length[two].prod(axis=1)].tolist():
            what = "field 'axis' holds two parallel axes"
            raise ModelError(f"body {names[k]!r}", what, "a universal joint needs two directions")
    # an axis that is unit to rounding stays as it is given
    longer = (length != 0.0) & (np.abs(length - 1.0) > 4e-16)
    axis[longer] /= length[longer, None]
    return axis


def check_values(tree: BodyTree) -> None:
    """Check masses, inertias and placements.  Raises ModelError, warns (InertiaWarning)."""

    def body(k: np.integer) -> str:
        return f"body {tree.names[int(k)]!r}"

    for k in np.flatnonzero(tree.mass < 0.0):
        raise ModelError(body(k), f"field 'mass' is {tree.mass[k]}", "give zero or more, in kg")
    for k in np.flatnonzero(in_pieces(_skewed, tree.inertia)):
        raise ModelError(body(k), "field 'inertia' is not symmetric", "give J with J = J^T")
    for k in np.flatnonzero(in_pieces(_unlike_rotations, tree.R)):
        raise ModelError(body(k), "field 'R' is not a rotation", "give R with R R^T = 1 and determinant 1")
    for k in np.flatnonzero(in_pieces(_broken, tree.moments)):
        least = tree.moments[k]
        what = "is not positive" if least[0] < 0.0 else "breaks the triangle inequality"
        warnings.warn(
            f"{body(k)}: field 'inertia' {what} (principal moments "
            f"{', '.join(f'{x:.3g}' for x in least)} kg m^2); no rigid body has it",
            InertiaWarning,
            stacklevel=3,
        )


def _skewed(inertia: Floats) -> NDArray[np.bool_]:
    turned = np.swapaxes(inertia, 1, 2)
    if (inertia == turned).all():
        return np.zeros(len(inertia), dtype=bool)
    return np.abs(inertia - turned).max((1, 2)) > 1e-9 * np.abs(inertia).max((1, 2))


def _unlike_rotations(R: Floats) -> NDArray[np.bool_]:
    if (np.eye(3) == R).all():
        return np.zeros(len(R), dtype=bool)
    apart = np.abs(matmul(R, np.swapaxes(R, 1, 2)) - np.eye(3)).max((1, 2))
    return (apart > 1e-6) | ((cross(R[:, 0], R[:, 1]) * R[:, 2]).sum(1) < 0.0)


def _broken(least: Floats) -> NDArray[np.bool_]:
    """Whether the triangle inequality does not hold for principal moments, ascending."""
    return least[:, 0] + least[:, 1] < least[:, 2] * (1.0 - 1e-6) - 1e-300


def count_dof(tree: nx.DiGraph[Any]) -> int:
    """N, the degrees of freedom of all joints, before the tree is checked."""
    total = 0
    for name, data in tree.nodes(data=True):
        kind = known(data.get("joint", "revolute"), name)
        total += np.shape(data["S"])[1] if kind == GENERAL else TYPES[kind].dof
    return total


@of_kind
def default_state(
    tree: nx.DiGraph[Any], rate: float = 0.2, effort: float = 0.1, most: float = np.inf
) -> nx.DiGraph[Any]:
    """Put ``q``, ``qd`` and ``tau`` into ``tree.graph``, each (N,), and return the tree.

    With k = 1 ... N over the degrees of freedom in the order of the graph's nodes,

        q = 0.3 sin(1.7 k)   qd = rate cos(2.3 k)   tau = effort sin(0.9 k)

    in rad or m, rad/s or m/s, N m or N.  No joint stands at a special angle or at rest.  The
    coordinates of spherical and floating joints are rotation vectors, here shorter than 0.52
    rad, so that every joint's state is valid; limits of joints are ignored.  Raises ModelError
    for a joint that is unknown, or has a ``bias`` of other rates.

    No effort is larger than what gives its joint ``most`` [rad/s^2, m/s^2] at q = 0, all joints beyond
    it locked: that holds for robots of files, whose fingers 2 N m would turn at 1e7 rad/s^2.

    A state that the tree has already is overwritten: :func:`humanoid` and :func:`quadruped` come
    with the same formulas, but rates of 0.5 and efforts of 2.

    >>> tree = pt.default_state(pt.chain(2))
    >>> tree.graph["q"].round(3)
    array([ 0.297, -0.077])
    >>> own = pt.humanoid()
    >>> [round(float(tree.graph["qd"][0]), 3) for tree in (own, pt.default_state(own.copy()))]
    [-0.333, -0.133]
    """
    tree = require_graph(tree)
    for name, bias in tree.nodes(data="bias"):
        if np.any(bias):
            what = "field 'bias' belongs to the rates that the tree has"
            raise ModelError(f"body {name!r}", what, "keep its state, or read the joint from a URDF")
    k = np.arange(1.0, count_dof(tree) + 1.0)
    tree.graph["q"] = 0.3 * np.sin(1.7 * k)
    tree.graph["qd"] = rate * np.cos(2.3 * k)
    tree.graph["tau"] = effort * np.sin(0.9 * k)
    capped = ""
    if np.isfinite(most):
        tau = tree.graph["tau"]
        tree.graph["tau"] = np.clip(tau, *(_efforts(tree, most) * [[-1.0], [1.0]]))
        capped = (
            f" up to what gives its joint {most:g} rad/s² or m/s²" if (tau != tree.graph["tau"]).any() else ""
        )
    tree.graph["state_formulas"] = {  # what the user, who gave no state, is told of it
        "q": "0.3 sin(1.7 k)",
        "qd": f"{rate:g} cos(2.3 k)",
        "tau": f"{effort:g} sin(0.9 k){capped}",
    }
    return tree


def _efforts(tree: nx.DiGraph[Any], most: float) -> Floats:
    """(N,) efforts that give ``most`` to each joint at q = 0; infinite where it moves no inertia."""
    flat = compile_tree(tree)
    S = np.zeros((flat.N, 6))
    for kind, bodies in flat.by_joint.items():
        zero = np.zeros((len(bodies), 0 if kind == GENERAL else TYPES[kind].dof))
        own = (
            [flat.S[k] for k in bodies] if kind == GENERAL else TYPES[kind].subspace(flat.axis[bodies], zero)
        )
        for k, motions in zip(bodies.tolist(), own, strict=True):
            S[flat.freedoms_of(k)] = motions.T
    M = spatial_inertia(flat.mass, flat.com, flat.inertia)
    inertia = locked_inertia(flat.parent, force_transform(flat.R, flat.p), M, S, flat.owner)
    if flat.terms is not None:
        inertia = inertia + flat.terms.armature
    return np.where(inertia > 0.0, most * inertia, np.inf)
