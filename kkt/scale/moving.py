"""Kinds of bodies for a kernel: joints and constants have zeros and ones in the same places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.spatial import spatial_inertia
from ..model.tree import BodyTree
from .classes import ANY, MOST, ONE, ZERO, Outline, distinct
from .walk import Walk

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# joints whose poses a pass computes; the poses of others are given (:mod:`.given`)
PLAIN = ("revolute", "prismatic", "fixed")
GIVEN = "given"
MODEL = 25  # constants of a body: R (9), p (3), axis (3), its inertia (10)


@dataclass(frozen=True)
class Moving(Outline):
    """What is known of every body of a kind; entries are ZERO, ONE or ANY."""

    joint: str  # one of PLAIN, or GIVEN
    pushed: bool  # by an external wrench
    model: tuple[int, ...]  # (25,)
    S: tuple[int, ...]  # (6 dof,) of a joint that is given


def constants(tree: BodyTree) -> Floats:
    """(n, 25) R, p and axis of the joint, and the rigid inertia: J (6), m d (3), m."""
    M = spatial_inertia(tree.mass, tree.com, tree.inertia)
    J = M[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]
    md = M[:, (2, 0, 1), (4, 5, 3)]
    first = tree.axis[:, 0]
    return np.concatenate([tree.R.reshape(-1, 9), tree.p, first, J, md, tree.mass[:, None]], axis=1)


def joints(tree: BodyTree) -> NDArray[np.int64]:
    """(n,) the place of each body's joint in PLAIN; len(PLAIN) for a joint that is given."""
    place = dict.fromkeys(set(tree.joint), len(PLAIN))
    place |= {name: i for i, name in enumerate(PLAIN)} | {"continuous": 0}
    return np.array([place[name] for name in tree.joint])


def moving_kinds(
    tree: BodyTree, walk: Walk, model: Floats, S: Flags, S_one: Flags, pushed: Flags, own: Flags
) -> tuple[tuple[Moving, ...], NDArray[np.uint8]]:
    """The kinds of a tree's bodies, and (n,) the kind of each body.

    ``S`` and ``S_one`` (N, 6) say where motion subspaces may be nonzero, and where they are 1 in
    any state; ``pushed`` (n,) on which bodies a wrench may act, ``own`` (N,) which freedoms have a
    block A_k.  If there are too many patterns, bodies that differ in them alone are one kind.
    """
    n, joint, dof = tree.n, joints(tree), tree.dof
    given = np.flatnonzero(joint == len(PLAIN))
    some, one = np.zeros((n, 36), dtype=bool), np.zeros((n, 36), dtype=bool)
    for size in set(dof[given].tolist()):
        bodies = given[dof[given] == size]
        take = tree.offset[bodies, None] + np.arange(size)
        some[bodies, : 6 * size] = S[take].reshape(len(bodies), -1)
        one[bodies, : 6 * size] = S_one[take].reshape(len(bodies), -1)
    armed = np.zeros((n, 6), dtype=bool)
    owner = np.repeat(np.arange(n), dof)
    armed[owner, np.arange(len(owner)) - tree.offset[owner]] = own
    some = np.concatenate([model != 0.0, some, armed], axis=1)
    one = np.concatenate([model == 1.0, one], axis=1)
    family = joint | dof << 2 | (tree.parent < 0) << 5 | walk.leaf << 6 | pushed << 7
    family = family | armed.any(axis=1) << 8
    bits = np.packbits(np.concatenate([some, one], axis=1), axis=1)
    keys = np.zeros((n, 3), dtype=np.int64)
    keys.view(np.uint8)[:, : bits.shape[1]] = bits
    keys[:, 2] |= family << 32
    kind = distinct(keys, MOST)[1]
    if kind[-1] < 0:
        kind = np.unique(family, return_inverse=True)[1]
    kinds = []
    for i in range(int(kind.max()) + 1):
        bodies = np.flatnonzero(kind == i)
        may, is_one = np.asarray(some[bodies].any(axis=0)), one[bodies].all(axis=0)
        known = np.where(is_one, ONE, np.where(may[: MODEL + 36], ANY, ZERO)).tolist()
        k, may_own = bodies[0], may[MODEL + 36 :]
        kinds.append(
            Moving(
                int(dof[k]),
                bool(tree.parent[k] < 0),
                bool(walk.leaf[k]),
                (*PLAIN, GIVEN)[joint[k]],
                bool(pushed[k]),
                tuple(known[:MODEL]),
                tuple(known[MODEL : MODEL + 6 * int(dof[k])]),
                A=tuple((ANY * may_own[: dof[k]]).tolist()) if may_own.any() else (),
            )
        )
    return tuple(kinds), kind.astype(np.uint8)
