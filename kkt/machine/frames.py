"""The same tree in the same state, written in other body frames.

A body's frame may be turned about its joint's origin, or moved: R, p, S, the inertia and whatever
else is written in it change, the joint accelerations do not, and neither does their condition.
Rounding does: where the frames are aligned with the joint axes, the large entries of M~ that cancel along a
joint are zeros (Ascher, Pai & Cloutier 1996, end of section 3, and Example 3, case 1).

Frames are changed once, in float64, which rounds what is written in them to about 1e-16 of its size
there.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from ..base.errors import LoopError, ModelError
from ..matrix.system import System, build, require_system
from ..model.fields import Floats
from ..model.joints import GENERAL
from ..model.loops import LoopWarning, turned
from ..model.spatial import levels, matmul, matvec, skew, transpose
from ..model.tree import InertiaWarning, new_tree

PLACES = ("com", "root", "world", "directions")
NOISE = 8 * np.finfo(float).eps  # smaller entries of a turned unit vector are zero in exact turns
Z = np.array([0.0, 0.0, 1.0])


def aligned(system: System) -> System:
    """The system with every joint's axis along a coordinate axis of its body's frame.

    The first axis (the direction of S's first column) becomes z or -z by the least turn, a second
    one that is not parallel is brought into the z-x plane; a frame whose axes are coordinate axes
    already stays.  A body on a fixed joint takes over its parent's directions.  Entries that
    differ from 0 or 1 by rounding alone are set to it, so that the pattern may get sparser.

    The result is that state alone, as in a model file: joints are ``general`` or ``fixed``.
    Raises nothing: any system has such frames.

    >>> system = pt.build(pt.example1(q1=0.5, tilt=0.3))
    >>> system.matrix.nnz, pt.aligned(system).matrix.nnz
    (104, 74)
    """
    require_system(system)
    state = system.state
    turns = np.broadcast_to(np.eye(3), (len(state.names), 3, 3)).copy()
    for level in levels(state.parent):
        for k in level.tolist():
            if state.S[k].shape[1]:
                turns[k] = _to_axes(state.S[k])
            elif not _is_coordinate(state.R[k]):
                up = int(state.parent[k])
                turns[k] = matmul(turns[up], state.R[k]) if up >= 0 else state.R[k]
    return in_frames(system, turns, tidy=True)


def gathered(system: System, at: str = "com") -> System:
    """The system with all bodies written in one frame: the world's directions, at one point.

    ``at`` is "com", the tree's centre of mass, as MuJoCo and MJX write inertias and axes (``cinert``
    and ``cdof``), "world", the world's origin, or "root", the centre of mass of a root that floats
    and the world's origin for one that does not: every Phi is then 1, and a body's inertia about its
    own joint is the small difference of large numbers.  With "directions" each body keeps its
    joint's origin.  Raises ModelError for another place, and LoopError for closed loops.

    >>> system = pt.build(pt.chain(3))
    >>> bool((pt.gathered(system).entries.Phi[1:] == np.eye(6)).all())
    True
    """
    require_system(system)
    if at not in PLACES:
        raise ModelError("gathered", f"at is {at!r}", f"give one of {', '.join(PLACES)}")
    if system.loops:
        raise LoopError(
            "gathered", "moves no closed loops or contacts", "build(tree, loops=[]) leaves them out"
        )
    state = system.state
    n = len(state.names)
    turns, place = np.empty((n, 3, 3)), np.empty((n, 3))
    for level in levels(state.parent):
        for k in level.tolist():
            up = int(state.parent[k])
            turns[k] = matmul(turns[up], state.R[k]) if up >= 0 else state.R[k]
            place[k] = place[up] + matvec(turns[up], state.p[k]) if up >= 0 else state.p[k]
    if at == "directions":
        return in_frames(system, turns, tidy=True)
    centre, top = place + matvec(turns, state.com), np.arange(n)
    for level in levels(state.parent)[1:]:
        top[level] = top[state.parent[level]]
    point = np.zeros((n, 3))
    if at == "root":
        free = np.diff(state.S.offset) == 6
        point = np.where(free[top][:, None], centre[top], 0.0)
    if at == "com":
        moment = state.mass[:, None] * centre
        mass = np.bincount(top, state.mass, n)[top]
        sums = np.stack([np.bincount(top, x, n) for x in moment.T], axis=1)[top]
        point = sums / np.where(mass, mass, 1.0)[:, None]
    origins = matvec(transpose(turns), point - place)
    return in_frames(system, turns, tidy=True, one=origins)


def in_frames(system: System, turns: Floats, *, tidy: bool, one: Floats | None = None) -> System:
    """The state with body k's vectors x written as turns[k] x; tidied where it has moved.

    ``one`` (n, 3) [m] is the origin of one frame for all bodies, in each of theirs.
    """
    s, n = system.state, len(system.state.names)
    moved = np.zeros((n, 3)) if one is None else one
    root = (s.parent < 0)[:, None]
    above = np.where(root[..., None], np.eye(3), turns[s.parent])
    origin_above = np.where(root, 0.0, moved[s.parent])
    fields = {
        "R": matmul(matmul(above, s.R), transpose(turns)),
        "p": matvec(above, s.p + matvec(s.R, moved) - origin_above),
        "com": matvec(turns, s.com - moved),
        "inertia": matmul(matmul(turns, s.inertia), transpose(turns)),
    }
    fields["inertia"] = (fields["inertia"] + transpose(fields["inertia"])) / 2
    if tidy:
        fields = {key: (_tidy_inertias if key == "inertia" else _tidy)(x) for key, x in fields.items()}
    if one is not None:  # but for the root's place in the world
        fields["R"] = np.where(root[..., None], fields["R"], np.eye(3))
        fields["p"] = np.where(root, fields["p"], 0.0)
    still = (turns == np.eye(3)).all((1, 2)) & ~moved.any(1)
    beside = still & (above == np.eye(3)).all((1, 2))  # frames on both sides of the joint stay
    tree = new_tree(system.name, tuple(s.gravity))
    for k, name in enumerate(s.names):
        S, here = s.S[k], {}
        for key, value in fields.items():
            kept = beside[k] if key in ("R", "p") else still[k]
            here[key] = getattr(s, key)[k] if kept else value[k]
        if S.shape[1]:
            parts = [S[:3], S[3:]]
            if not still[k]:
                parts = [matmul(turns[k], x) for x in (S[:3], S[3:] - matmul(skew(moved[k]), S[:3]))]
            if tidy and not still[k]:
                parts = [_tidy(x.T).T for x in parts]
            here["S"] = np.concatenate(parts)
        along, about = s.joint_bias[k].reshape(2, 3), s.wrench[k].reshape(2, 3)
        along = along - [np.zeros(3), np.cross(moved[k], along[0])]
        about = about - [np.cross(moved[k], about[1]), np.zeros(3)]
        for key, six in (("bias", along), ("wrench", about)):
            if six.any():
                here[key] = matvec(turns[k], six).ravel()
        own = slice(s.S.offset[k], s.S.offset[k + 1])
        if len(system.entries.A) and S.shape[1]:
            here["armature"] = system.entries.A[own]
        joint = GENERAL if S.shape[1] else "fixed"
        tree.add_node(name, mass=float(s.mass[k]), joint=joint, **here)
    tree.add_edges_from((s.names[s.parent[k]], s.names[k]) for k in range(n) if s.parent[k] >= 0)
    # damping, springs and friction act in the efforts, an implicit step in the joints' inertia
    tree.graph.update(q=np.zeros(len(s.qd)), qd=s.qd, tau=system.entries.tau)
    side = {name: turns[k] for k, name in enumerate(s.names)}
    loops = [turned(closure.from_here, side) for closure in s.loops]
    with warnings.catch_warnings():  # the user was warned when the tree itself was built
        warnings.simplefilter("ignore", InertiaWarning)
        warnings.simplefilter("ignore", LoopWarning)
        built = build(tree, loops=loops)
    return replace(built, state=replace(built.state, q=s.q))


# -- axes -----------------------------------------------------------------------------------------


def _to_axes(S: Floats) -> Floats:
    """The rotation (3, 3) that turns the first axis of S (6, N) to z or -z; see :func:`aligned`."""
    axes = [x[:3] if x[:3].any() else x[3:] for x in S.T]
    axes = [x / np.linalg.norm(x) for x in axes]
    across = [x for x in axes if np.linalg.norm(np.cross(axes[0], x)) > 1e-8][:1]
    if all(_is_coordinate(x) for x in (axes[0], *across)):
        return np.eye(3)
    turn = np.eye(3)
    if not _is_coordinate(axes[0]):
        # 1 + K + K^2 / (1 + c) carries u to z; for c < 0 it is -u that goes there
        u = axes[0] if axes[0][2] >= 0.0 else -axes[0]
        K = skew(np.cross(u, Z))
        turn = np.eye(3) + K + matmul(K, K) / (1.0 + u[2])
    elif across:
        turn = np.eye(3)[np.roll(np.arange(3), 2 - int(np.argmax(np.abs(axes[0]))))]
    if across:
        x, y, _ = matvec(turn, across[0])
        c, s = np.array([x, y]) / np.hypot(x, y)
        turn = matmul(np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]), turn)
    return turn


def _is_coordinate(x: Floats) -> bool:
    """Whether each vector (..., 3) of x has exactly one entry that is not zero."""
    return bool((np.count_nonzero(x, axis=-1) == 1).all())


# -- entries that differ from 0 or 1 by rounding alone --------------------------------------------


def _tidy(x: Floats) -> Floats:
    """Vectors (..., 3) of any length; where one entry remains, it gets the vector's length."""
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    x = np.where(np.abs(x) <= NOISE * length, 0.0, x)
    length = np.where(np.abs(length - 1.0) <= NOISE, 1.0, length)
    alone = (x != 0.0) & (np.count_nonzero(x, axis=-1)[..., None] == 1)
    return np.where(alone, np.sign(x) * length, x)


def _tidy_inertias(J: Floats) -> Floats:
    """Inertias (..., 3, 3), negligible products set to zero; moments on the diagonal stay."""
    small = np.abs(J) <= NOISE * np.abs(J).max((1, 2), keepdims=True)
    return np.where(small & ~np.eye(3, dtype=np.bool_), 0.0, J)
