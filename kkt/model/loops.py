"""Constraints beside the tree: cut joints that close loops, contacts, and coupled joints.

A constraint ties two bodies, or a body and the world (None).  It has a frame c, and columns C
(6, m) in that frame along which the second body must not accelerate relative to the first.  Its
multipliers lambda (m,) are the constraint's forces: C lambda is the wrench that the first body
passes to the second, as f_k is the wrench that a parent passes to body k.

A loop is cut at one of its joints, so that a tree remains (Lubich, Nowak, Pohle & Engstler 1992;
Ascher, Pai & Cloutier 1996, section 2).  Constraints are given to :func:`kkt.build` as ``loops=``,
or stand in ``tree.graph["loops"]``.

Joints that follow others: positions and rates that keep q = ratio q_to + offset.

The rows of (4) couple accelerations alone (:func:`kkt.coupled_joints`), so that a state has to keep
the positions and rates by itself.  A URDF's <mimic> and MuJoCo's equality of joints are such rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError, PivotreeWarning, nearest
from .fields import Floats, check_names, checked, checked_columns, require_name
from .joints import GENERAL, TYPES, in_plane
from .spatial import Array, matmul, matvec
from .tree import BodyTree, compile_tree, require_graph


class Coupling(NamedTuple):
    """q[place] = ratio q[to] + offset, places among the N freedoms; ``to`` -1 where it is held."""

    place: int
    to: int
    ratio: float
    offset: float

    def at(self, q: Floats) -> float:
        """Where the joint is when the other is at q (N,)."""
        return float(self.offset + q[self.to] * self.ratio) if self.to >= 0 else self.offset

    def rate(self, qd: Floats) -> float:
        """How fast it moves when the other moves at qd (N,)."""
        return float(self.ratio * qd[self.to]) if self.to >= 0 else 0.0


def couplings(tree: BodyTree, loops: Sequence[Loop]) -> tuple[Coupling, ...]:
    """Of the loops that say what positions keep, each behind those that it follows."""
    first = dict(zip(tree.names, tree.offset.tolist(), strict=False))
    found = {}
    for loop in loops:
        if loop.follows:
            to = -1 if loop.beside is None else first[loop.beside.bodies[1]]
            found[first[loop.bodies[1]]] = Coupling(first[loop.bodies[1]], to, *loop.follows)
    ordered: dict[int, Coupling] = {}
    for one in found.values():
        way: list[Coupling] = []
        while one.place not in ordered and one not in way:
            way.append(one)
            one = found.get(one.to, one)
        ordered |= {each.place: each for each in reversed(way)}
    return tuple(ordered.values())


def kept(
    coupled: Sequence[Coupling], q: Floats, qd: Floats | None = None, but: Collection[int] = ()
) -> Floats:
    """q (N,), or with ``qd`` the rates there, in which joints follow others; places ``but`` stay."""
    found = (q if qd is None else qd).copy()
    for one in coupled:
        if one.place not in but:
            found[one.place] = one.at(found) if qd is None else one.rate(found)
    return found


def follow(tree: nx.DiGraph[Any]) -> None:
    """Make the state in ``tree.graph`` keep its coupled joints."""
    coupled = couplings(compile_tree(tree), tree.graph["loops"])
    q = kept(coupled, tree.graph["q"])
    tree.graph.update(q=q, qd=kept(coupled, q, tree.graph["qd"]))


JOINTS = (*(name for name, t in TYPES.items() if not t.moving and t.dof < 6), GENERAL)
OPEN = 1e-6  # rad or m by which a loop may be open without a warning
EYE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class LoopWarning(PivotreeWarning):
    """A loop is open in the state in which the system is built.

    >>> pt.LoopWarning.code
    'loop'
    """

    code = "loop"


@dataclass(frozen=True, eq=False)
class Loop:
    """One constraint; made by :func:`cut_joint`, :func:`contact` and :func:`coupled_joints`.

    >>> loop = pt.contact("j3", point=(0.1, 0.0, 0.0), normal=(0.0, 0.0, 1.0))
    >>> loop.bodies, loop.rows
    ((None, 'j3'), 1)
    """

    name: Hashable
    bodies: tuple[Hashable, Hashable]  # first and second; None is the world
    R: Floats = field(repr=False)  # (2, 3, 3) orientation of the frame c on each of them
    p: Floats = field(repr=False)  # (2, 3) its origin there [m]
    C: Floats = field(repr=False)  # (6, m) directions in c that the second may not take relative to the first
    free: Floats | None = field(repr=False)  # (3, d) axes in c about which it may turn; None: without a gap
    point: bool  # c has the second body's origin p[1] and the first's directions (a contact);
    #              else it is fixed on the first body
    baumgarte: tuple[float, float]  # a [1/s] and b [1/s^2] of gap'' + a gap' + b gap = 0
    compliance: Floats = field(repr=False)  # (m,) c >= 0 in  G acceleration + c lambda = gamma
    numbers: tuple[int, ...]  # (m,) of the rows that are kept; a contact's normal is 0
    beside: Loop | None = None  # two other bodies, whose rows are added to these: coupled joints
    # ratio and offset [rad, m] of coupled joints whose positions keep q = ratio q_to + offset; None: any
    follows: tuple[float, float] | None = None
    # (6, d) directions whose rows follow from others wherever all loops are closed: not in (4)
    implied: Floats | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """m, 1 to 6."""
        return int(self.C.shape[1])

    def having(self, C: Floats) -> Loop:
        """The constraint with columns C (6, m); those that it had not are as soft as its softest."""
        rows = C.shape[1]
        soft = np.append(self.compliance, np.full(rows, self.compliance.max()))[:rows]
        return replace(self, C=C, compliance=soft, numbers=tuple(range(rows)), implied=None)

    @property
    def whole(self) -> Loop:
        """The constraint with the rows, behind the others, that (4) does without: all that states keep."""
        return self if self.implied is None else self.having(np.hstack([self.C, self.implied]))

    @property
    def pairs(self) -> tuple[Loop, ...]:
        """The pairs of bodies whose rows are added: this one's and those beside it."""
        return (self, *(self.beside.pairs if self.beside else ()))


def cut_joint(
    first: Hashable,
    second: Hashable,
    joint: str = "revolute",
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    S: ArrayLike | None = None,
    R: ArrayLike = EYE,
    p: ArrayLike = (0.0, 0.0, 0.0),
    R_second: ArrayLike = EYE,
    p_second: ArrayLike = (0.0, 0.0, 0.0),
    rows: Sequence[int] | None = None,
    baumgarte: tuple[float, float] = (0.0, 0.0),
    compliance: ArrayLike = 0.0,
    name: Hashable = None,
) -> Loop:
    """The joint at which a loop is cut: between two bodies of the tree, or a body and the world.

    ``R`` (3, 3) and ``p`` (3,) [m] place the joint's frame on the first body, ``R_second``
    (3, 3) and ``p_second`` (3,) [m] on the second; in a closed loop the two frames differ by the
    joint's own motion.  ``joint`` is fixed, revolute, prismatic, cylindrical, spherical, planar or,
    with ``S`` (6, N) [1 or 1/m], general; ``axis`` (3,) is in the joint's frame.  Rows are numbered
    from 0, turning before sliding, beside the axis before along it; ``rows`` keeps some of the m
    rows, such as (2, 3) in a planar linkage of revolute joints about z, whose rows 0, 1 and 4 hold
    by themselves.  ``compliance`` is one number or (m,) [rad/(s^2 N m), m/(s^2 N)].

    Raises ModelError, one sentence, for a joint, pose or number that is wrong.

    >>> knee = pt.cut_joint("j3", "j1", "spherical", p=(0.1, 0.0, 0.0))
    >>> knee.bodies, knee.rows
    (('j3', 'j1'), 3)
    """
    name = _name(name, first, second)
    where = f"loop {name!r}"
    C, free = _complement(where, joint, axis, S)
    numbers = checked_numbers(where, "rows", rows, C.shape[1])
    C = C[:, numbers]
    gains = checked_gains(where, baumgarte)
    soft = checked_compliance(where, compliance, len(numbers))
    if free is None and gains[1]:
        what = "field 'baumgarte' corrects the position of a general joint, which is not known"
        raise ModelError(where, what, "give (a, 0.0)")
    turns = np.stack([checked_rotation(where, "R", R), checked_rotation(where, "R_second", R_second)])
    places = np.stack([checked(where, "p", p, (3,)), checked(where, "p_second", p_second, (3,))])
    return Loop(name, (first, second), turns, places, C, free, False, gains, soft, numbers)


def contact(
    body: Hashable,
    point: ArrayLike,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    tangents: ArrayLike = (),
    *,
    on: Hashable = None,
    damping: float = 0.0,
    compliance: ArrayLike = 0.0,
    name: Hashable = None,
) -> Loop:
    """A point of a body that must not accelerate along a normal, and along tangents if it sticks.

    ``point`` (3,) [m] in the body's frame; ``normal`` (3,) and up to two ``tangents`` (t, 3) in
    the frame of the body ``on``, or in the world's where it is None; lambda is the force on the
    body along them, normal first.  These are rows only: whether a contact sticks, slides or opens
    is for a contact law, which chooses rows.  ``damping`` [1/s] is a of velocity' + a velocity = 0,
    and ``compliance`` one number or (1 + t,) [1/kg].

    Raises ModelError, one sentence, for a direction or a number that is wrong.

    >>> foot = pt.contact("j3", point=(0.1, 0.0, 0.0))
    >>> system = pt.build(pt.chain(3), loops=[foot])
    >>> pt.eliminate(system, pt.orderings.get("abm")).lam.shape  # the force along the normal
    (1,)
    """
    name = _name(name, on, body)
    where = f"loop {name!r}"
    along = checked(where, "normal", normal, (3,))[None]
    if isinstance(tangents, str):
        raise ModelError(where, f"field 'tangents' is {tangents!r}", "give none, one or two vectors")
    beside = tangents if isinstance(tangents, Sequence | np.ndarray) else (tangents,)
    if len(beside) and isinstance(beside[0], int | float | np.number):
        beside = (beside,)  # one tangent
    if len(beside):
        along = np.concatenate([along, checked(where, "tangents", beside, (len(beside), 3))])
    rank = np.linalg.matrix_rank(along)
    if len(along) > 3 or rank < len(along):
        what = f"its normal and {len(along) - 1} tangents have rank {rank}"
        raise ModelError(where, what, "give a direction and at most two others across it")
    along = along / np.linalg.norm(along, axis=1)[:, None]
    C = np.concatenate([np.zeros_like(along.T), along.T])
    places = np.stack([np.zeros(3), checked(where, "point", point, (3,))])
    gains, soft = checked_damping(where, damping), checked_compliance(where, compliance, len(along))
    turns, numbers = np.stack([np.eye(3)] * 2), tuple(range(len(along)))
    return Loop(name, (on, body), turns, places, C, None, True, gains, soft, numbers)


def coupled_joints(
    tree: nx.DiGraph[Any],
    body: Hashable,
    to: Hashable = None,
    ratio: float = 1.0,
    *,
    offset: float | None = None,
    damping: float = 0.0,
    compliance: float = 0.0,
    name: Hashable = None,
) -> Loop:
    """The joint of a body moves ``ratio`` times as fast as another's: qd = ratio qd_to.

    One row: the motion of ``body`` beside its parent, along its joint, is ``ratio`` [1, rad/m,
    m/rad] times that of the body ``to`` beside its own; ``to`` None holds the joint where it is.
    Both joints have one freedom.  The row couples accelerations.  With ``offset`` [rad, m] states
    keep q = ratio q_to + offset too: random ones do, and others are told to be open; where it is
    None, any two positions do.  lambda is the coupling's effort on the joint of ``body``.
    ``damping`` is a [1/s] and ``compliance`` [1/(kg m^2), 1/kg] one number, as in :func:`contact`.

    Raises ModelError, one sentence, for a body that is unknown, or whose joint has another number
    of freedoms.

    >>> tree = pt.chain(3)
    >>> loop = pt.coupled_joints(tree, "j3", "j2", -2.0)
    >>> system = pt.build(tree, qd=[0.1, 0.2, -0.4], loops=[loop])
    >>> qdd = pt.eliminate(system, pt.orderings.get("abm")).qdd
    >>> bool(np.isclose(qdd[2], -2.0 * qdd[1]))
    True
    """
    name = body if name is None else name
    require_name(name, "loop")
    where = f"loop {name!r}"
    size = float(checked(where, "ratio", ratio, ()))
    gains = checked_damping(where, damping)
    soft = checked_compliance(where, compliance, 1)
    first = _along(where, tree, body, 1.0, name, gains, soft)
    if offset is not None:
        start = float(checked(where, "offset", offset, ()))
        first = replace(first, follows=(size if to is not None else 0.0, start))
    if to is None or size == 0.0:
        return first
    if to == body:
        raise ModelError(where, f"couples the joint of {body!r} to itself", "name another")
    return replace(first, beside=_along(where, tree, to, -size, name, gains, soft))


def _along(
    where: str,
    tree: nx.DiGraph[Any],
    body: Hashable,
    size: float,
    name: Hashable,
    gains: tuple[float, float],
    soft: Floats,
) -> Loop:
    """The motion of a body beside its parent, along its joint, ``size`` times."""
    tree = require_graph(tree)
    if body not in tree:
        raise ModelError(where, f"body {body!r} is unknown", nearest(str(body), map(str, tree)))
    data, kind = tree.nodes[body], tree.nodes[body]["joint"]
    if kind == GENERAL:
        S = checked(where, "S", data["S"], np.shape(data["S"]))
    else:
        axis = checked(where, "axis", data["axis"], np.shape(data["axis"])).reshape(-1, 3)
        unit = axis[:1] / np.linalg.norm(axis[:1])
        S = TYPES[kind].subspace(unit[None], np.zeros((1, TYPES[kind].dof)))[0]
    if S.shape[1] != 1:
        raise ModelError(
            where, f"the {kind} joint of body {body!r} has {S.shape[1]} freedoms", "couple joints of one"
        )
    C = S * (size / (S * S).sum())
    parent = next(iter(tree.predecessors(body)), None)
    turns = np.stack([checked_rotation(where, "R", data["R"]), np.eye(3)])
    places = np.stack([checked(where, "p", data["p"], (3,)), np.zeros(3)])
    return Loop(name, (parent, body), turns, places, C, None, False, gains, soft, (0,))


def turned(loop: Loop, turn: Mapping[Hashable, Array]) -> Loop:
    """The same constraint in turned frames: a vector x of a body in ``turn`` is turn[body] x."""
    turns = [turn.get(body, np.eye(3)) for body in loop.bodies]
    p = np.stack([matvec(Q, x) for Q, x in zip(turns, loop.p, strict=True)])
    if loop.point:  # directions are the first body's
        Q = turns[0]
        return replace(loop, p=p, C=np.concatenate([matmul(Q, loop.C[:3]), matmul(Q, loop.C[3:])]))
    R = np.stack([matmul(Q, x) for Q, x in zip(turns, loop.R, strict=True)])
    return replace(loop, p=p, R=R, beside=loop.beside and turned(loop.beside, turn))


def on_bodies(loop: Loop, merged: Mapping[Hashable, tuple[Hashable, Floats, Floats]]) -> Loop:
    """The same constraint, with the tree's bodies in place of links that were merged into them.

    ``merged`` has, for such a link, its body (None, the world) and its pose (R, p) in it, as
    :func:`kkt.read_urdf` leaves them in ``tree.graph["merged"]``.
    """
    if not any(body in merged for pair in loop.pairs for body in pair.bodies):
        return loop
    homes = [merged.get(b, (b, np.eye(3), np.zeros(3))) for b in loop.bodies]
    moved = turned(replace(loop, beside=None), {body: R for body, (_, R, _) in merged.items()})
    p = moved.p + np.stack([p for _, _, p in homes])
    beside = loop.beside and on_bodies(loop.beside, merged)
    return replace(moved, bodies=(homes[0][0], homes[1][0]), p=p, beside=beside)


def checked_loops(
    loops: Sequence[Loop],
    bodies: Sequence[Hashable],
    merged: Mapping[Hashable, tuple[Hashable, Floats, Floats]] = MappingProxyType({}),
) -> tuple[Loop, ...]:
    """Loops between bodies of a tree, or links that are part of them (:func:`on_bodies`).

    Raises ModelError for an unknown body, a loop that ties a body to itself, and a name used twice.
    """
    known, names = {*bodies, *merged}, set()
    listed = isinstance(loops, Sequence) and all(isinstance(loop, Loop) for loop in loops)
    if not listed:
        raise ModelError("loops", "no list is given", "give one of kkt.cut_joint(...) and kkt.contact(...)")
    for loop in loops:
        where = f"loop {loop.name!r}"
        for pair in loop.pairs:
            for body in pair.bodies:
                if body is not None and body not in known:
                    raise ModelError(where, f"body {body!r} is unknown", nearest(str(body), map(str, known)))
            first, second = on_bodies(pair, merged).bodies
            if first == second:
                also = "" if pair.bodies[0] == pair.bodies[1] else ", of which both links are part"
                what = "the world" if first is None else repr(first)
                raise ModelError(where, f"ties {what} to itself{also}", "name two bodies")
        check_names((loop.name,), "loop")
        if loop.name in names:
            raise ModelError(where, "name is used twice", "give every loop its own, name=...")
        names.add(loop.name)
    return tuple(on_bodies(loop, merged) for loop in loops)


def warn_if_open(loop: Loop, gap: Floats) -> None:
    """Warn (LoopWarning) of a loop that is open by more than rounding explains."""
    if np.max(np.abs(gap), initial=0.0) > OPEN:
        warnings.warn(
            f"loop {loop.name!r} is open by {np.abs(gap).max():.2g} (rad or m) in this state; its "
            "rows hold accelerations, so give q for which it closes, or mend its poses",
            LoopWarning,
            stacklevel=3,
        )


def _name(name: Hashable, first: Hashable, second: Hashable) -> Hashable:
    for body in (name, first, second):
        if body is not None:
            require_name(body, "loop")
    if name is not None:
        return name
    return "-".join("world" if body is None else str(body) for body in (first, second))


def _complement(where: str, joint: str, axis: ArrayLike, S: ArrayLike | None) -> tuple[Floats, Floats | None]:
    """C (6, m), complement of the joint's motion subspace, and the axes about which it turns."""
    if joint not in JOINTS:
        known = ", ".join(sorted(JOINTS))
        raise ModelError(where, f"field 'joint' is {joint!r}", f"cut the loop at one of {known}")
    if joint == GENERAL:
        motion = checked_columns(where, "S", S, 6)
        rank = motion.shape[1]
        if rank == 6:
            raise ModelError(where, "field 'S' allows every motion", "give fewer than 6 columns")
        return np.linalg.svd(motion)[0][:, rank:], None
    direction = checked(where, "axis", axis, (3,))
    length = float(np.linalg.norm(direction))
    frame = np.eye(3)
    if TYPES[joint].axes:
        if length == 0.0:
            raise ModelError(where, "field 'axis' is zero", "give a direction, such as 0 0 1")
        unit = direction[None] if length == 1.0 else direction[None] / length
        frame = np.concatenate([*in_plane(unit), unit]).T
    motion = TYPES[joint].subspace(frame[None, None, :, 2], np.zeros((1, TYPES[joint].dof)))[0]
    turns, slides = (half[:, half.any(axis=0)] for half in (motion[:3], motion[3:]))
    angular, linear = (frame[:, ~(np.abs(frame.T @ taken) > 0.5).any(axis=1)] for taken in (turns, slides))
    C = np.zeros((6, angular.shape[1] + linear.shape[1]))
    C[:3, : angular.shape[1]], C[3:, angular.shape[1] :] = angular, linear
    return C, turns


# -- fields of a loop ------------------------------------------------------------------------------


def checked_rotation(where: str, field: str, value: ArrayLike) -> Floats:
    """A rotation (3, 3).  Raises ModelError."""
    R = checked(where, field, value, (3, 3))
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
        raise ModelError(
            where, f"field {field!r} is not a rotation", "give R with R R^T = 1 and determinant 1"
        )
    return R


def checked_numbers(where: str, field: str, rows: Any, count: int) -> tuple[int, ...]:
    """Numbers of the rows that are kept, all ``count`` of them for None.  Raises ModelError."""
    kept = tuple(range(count)) if rows is None else rows
    whole = isinstance(kept, Sequence) and all(
        isinstance(r, int | np.integer) and not isinstance(r, bool) and 0 <= r < count for r in kept
    )
    if not whole or not kept or len(set(kept)) < len(kept):
        raise ModelError(where, f"field {field!r} is {rows!r}", f"give some of 0 to {count - 1}, each once")
    return tuple(int(r) for r in kept)


def checked_gains(where: str, value: Any) -> tuple[float, float]:
    """Two numbers a and b of zero or more.  Raises ModelError."""
    a, b = checked(where, "baumgarte", value, (2,), least=0.0).tolist()
    return a, b


def checked_damping(where: str, value: Any) -> tuple[float, float]:
    """One number a of zero or more, as gains (a, 0).  Raises ModelError."""
    return float(checked(where, "damping", value, (), least=0.0)), 0.0


def checked_compliance(where: str, value: ArrayLike, rows: int) -> Floats:
    """(rows,) numbers of zero or more, from one for all rows or one a row.  Raises ModelError."""
    c = np.full(rows, value) if isinstance(value, int | float | np.number) else value
    return checked(where, "compliance", c, (rows,), least=0.0)


# -- bodies that a constraint moves, and rows that depend on others -------------------------------


def meeting(bodies: tuple[int, int], parent: NDArray[np.int64]) -> int:
    """The nearest common ancestor of two bodies, which may be one of them; -1 for the world."""
    i, j = bodies
    above = set()
    while i >= 0:
        above.add(i)
        i = int(parent[i])
    while j >= 0 and j not in above:
        j = int(parent[j])
    return j


def paths(bodies: tuple[int, ...], parent: NDArray[np.int64]) -> list[int]:
    """Bodies whose joints move the given ones relative to each other; one, beside the world."""
    ends = bodies if len(bodies) > 1 else (*bodies, -1)
    return list(dict.fromkeys(k for end in ends[1:] for k in path((ends[0], end), parent)))


def path(bodies: tuple[int, int], parent: NDArray[np.int64]) -> list[int]:
    """Bodies whose joints move two relative to each other: from both up to where they meet."""
    up, result = meeting(bodies, parent), []
    for k in bodies:
        while k != up:
            result.append(k)
            k = int(parent[k])
    return result


def extends(basis: list[Array], row: Array, least: float) -> bool:
    """Add to an orthonormal basis what a row has across it; False where that is no longer than ``least``."""
    for _ in range(2):  # twice is enough
        for q in basis:
            row = row - (q @ row) * q
    length = float(np.linalg.norm(row))
    if length <= least:
        return False
    basis.append(row / length)
    return True
