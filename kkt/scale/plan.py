"""How the bodies of a large tree are walked, and their kinds.

The order in which a large tree is walked: depth first, children before parents.

Finds joints whose pivots are singular in any state, which rounded pivots need not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.errors import SingularError
from ..matrix.pattern import Pattern
from ..model.tree import BodyTree
from .bodywise import Bodies, further
from .classes import Kind, kinds_of
from .passes import PADDING
from .template import Bodywise, articulated

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """Bodies in depth-first postorder; children of one body in the order of elimination.

    The update of a body waits on a stack for its parent.  Where updates are summed, the children of
    one parent add to one place, so that a chain needs a single place.  Else each child has its own.
    """

    up: Integers  # (n,) parents
    order: NDArray[np.int32]  # (n,) bodies
    first: NDArray[np.bool_]  # (n,) by body: its update begins a new place, or it is a root
    leaf: NDArray[np.bool_]  # (n,) by body
    places: int  # that the stack needs


def walk_of(parent: Integers, sequence: NDArray[np.int32] | None = None, merges: bool = True) -> Walk:
    """The walk of a tree given by its parents, -1 for a root.

    ``sequence`` (n,) are the bodies as they are eliminated, by ascending index where it is None;
    ``merges`` says that updates are summed.
    """
    if sequence is None:
        sequence = np.arange(len(parent), dtype=np.int32)
    return Walk(parent, *_postorder(parent, sequence, merges))


@njit(cache=True)
def _postorder(parent, sequence, merges):  # pragma: no cover
    """The fields of :class:`Walk` after the first, by a depth-first walk without recursion."""
    n = len(parent)
    child = np.full(n + 1, -1, dtype=np.int32)  # first child; the world is number n
    following = np.full(n, -1, dtype=np.int32)
    for k in sequence[::-1]:
        up = parent[k] if parent[k] >= 0 else n
        following[k], child[up] = child[up], k
    order = np.empty(n, dtype=np.int32)
    first = np.zeros(n, dtype=np.bool_)
    leaf = np.empty(n, dtype=np.bool_)
    k, filled, waiting, most = child[n], 0, 0, 0
    while k >= 0:
        while child[k] >= 0:
            k = child[k]
        while True:
            up = parent[k]
            order[filled] = k
            filled += 1
            leaf[k] = child[k] < 0
            first[k] = up < 0 or child[up] == k or not merges
            if merges:
                waiting -= not leaf[k]
            else:
                c = child[k]
                while c >= 0:
                    waiting -= 1
                    c = following[c]
            if up >= 0:
                most = max(most, waiting + 1)
                waiting += first[k]
            if following[k] >= 0:
                k = following[k]
                break
            k = up
            if k < 0:
                break
    return order, first, leaf, most


def require_inertia(
    tree: BodyTree, order: NDArray[Any], name: str = "abm", own: NDArray[np.bool_] | None = None
) -> None:
    """Raise SingularError where the bodies behind a joint have too little inertia for its freedoms.

    The rank of a body's articulated inertia is at most that of its own inertia plus, for each
    child, the rank of the child's articulated inertia less the freedoms of its joint that have no
    inertia of their own.  ``own`` (N,) says which freedoms have one; none has where it is None or
    empty.  ``order`` (n,) has children before parents.
    """
    mass, inertia = tree.mass, tree.inertia
    full = (mass != 0.0) & inertia[:, (0, 1, 2), (0, 1, 2)].all(axis=1)
    if full.all():
        return
    free = np.diff(tree.offset)
    if own is not None and len(own):
        free = free - np.bincount(np.repeat(np.arange(tree.n), tree.dof)[own], minlength=tree.n)
    rank = np.where(full, 6, 3 * (mass != 0.0) + (inertia != 0.0).any(axis=2).sum(axis=1))
    up = np.where(tree.parent < 0, tree.n, tree.parent)
    behind = np.bincount(up[full], weights=(6 - free)[full], minlength=tree.n + 1).astype(int)
    for k in order[~full[order]].tolist():
        most = min(6, int(rank[k] + behind[k]))
        if most < free[k]:
            raise SingularError(
                f"order {name!r}: pivot qdd_{tree.names[k]} is singular in any state (rank "
                f"{most} of {free[k]}); give the massless links an inertia"
            )
        behind[up[k]] += most - free[k]


@dataclass(frozen=True)
class TreePlan:
    """An order on a large tree: the kinds of the bodies, and the walk."""

    order: Bodywise
    kinds: tuple[Kind, ...]
    body: NDArray[np.int32]  # in the order of the walk, padded by PADDING on both sides
    code: NDArray[np.uint8]  # (n,) twice the kind, plus 1 for the first child of its parent
    walk: Walk
    offset: NDArray[np.int64]  # (n + 1,) of the tree
    codes: dict[bool, Any]  # machine code, strict or relaxed

    @property
    def places(self) -> int:
        """Of the stack: one more for the update that is being formed, and one to spare."""
        return self.walk.places + 2

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Addresses of the arrays of the tree and of the walk, and the number of bodies."""
        body, code = self.body[PADDING:].ctypes.data, self.code.ctypes.data
        known = {"offset": self.offset.ctypes.data, "parent": self.walk.up.ctypes.data}
        return {**known, "body": body, "code": code, "count": len(self.code)}

    @cached_property
    def _bodies(self) -> Integers:
        """(kinds,) how many bodies are of each kind."""
        return np.bincount(self.code >> 1, minlength=len(self.kinds))

    def total(self, sizes: tuple[int, ...]) -> int:
        """The length of a stream, given its count of numbers for each kind."""
        return int((self._bodies * np.array(sizes, dtype=np.int64)).sum())


def plan_of(
    tree: BodyTree, pattern: Pattern, S: NDArray[np.float64], bodies: Bodies | None = None
) -> TreePlan:
    """The plan of a tree whose entries have a pattern.

    ``bodies`` is the order, None the articulated body method; ``S`` (N, 6) are the motion subspaces
    of the state.  Raises SingularError where a pivot is singular in any state.
    """
    rules, sequence = articulated(set(np.unique(tree.dof).tolist())), None
    if bodies is not None:
        rules, sequence = bodies.order, bodies.sequence
    walk = walk_of(tree.parent, sequence, rules.merges)
    require_inertia(tree, walk.order, rules.name, pattern.A)
    more = None
    if sequence is not None and (rules.split or not rules.merges):
        more = further(rules, tree.parent, tree.offset, sequence, S)
    kinds, kind = kinds_of(tree.parent, tree.offset, walk.leaf, pattern, more)
    code = (2 * kind + walk.first)[walk.order].astype(np.uint8)
    body = np.pad(walk.order, PADDING, mode="edge")
    return TreePlan(rules, tuple(kinds), body, code, walk, tree.offset, {})
