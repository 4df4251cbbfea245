"""How the bodies of a large tree are walked: their kinds, and the parts that threads share.

The order in which a large tree is walked: depth first, children before parents.

Finds joints whose pivots are singular in any state, which rounded pivots need not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.errors import ModelError, SingularError
from ..base.foreign import is_whole
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
    size: NDArray[np.int32]  # (n,) by body: bodies in its subtree
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
    size = np.ones(n, dtype=np.int32)
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
                size[up] += size[k]
                most = max(most, waiting + 1)
                waiting += first[k]
            if following[k] >= 0:
                k = following[k]
                break
            k = up
            if k < 0:
                break
    return order, first, leaf, size, most


@njit(cache=True)
def cuts(order, up, size, piece):  # pragma: no cover
    """Places in the walk at which the largest subtrees of at most ``piece`` bodies end."""
    found = np.empty(len(order), dtype=np.int64)
    count = 0
    for t in range(len(order)):
        k = order[t]
        if size[k] <= piece and (up[k] < 0 or size[up[k]] > piece):
            found[count] = t
            count += 1
    return found[:count]


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


PIECES = 8  # parts of a walk for each thread, so that no thread waits long for another
LEAST = 500  # bodies in a part, at least, for which another thread pays


@dataclass(frozen=True)
class Part:
    """A part of a walk: bodies, in its order."""

    body: NDArray[np.int32]  # padded by PADDING on both sides; for a held sum, its number
    code: NDArray[np.uint8]  # twice the kind, plus 1 for the first child of its parent
    places: int  # of the stack
    held: int  # updates that stay on the stack at the end
    known: dict[tuple[int, ...], int]  # lengths of streams found so far

    @property
    def count(self) -> int:
        return len(self.code)

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Addresses of the arrays of the walk, and the number of bodies."""
        body, code = self.body[PADDING:].ctypes.data, self.code.ctypes.data
        return {"body": body, "code": code, "count": self.count}

    def total(self, sizes: tuple[int, ...]) -> int:
        """The length of a stream, given its count of numbers for each kind."""
        if sizes not in self.known:
            count = np.bincount(self.code >> 1, minlength=len(sizes))[: len(sizes)]
            self.known[sizes] = int((count * np.array(sizes, dtype=np.int64)).sum())
        return self.known[sizes]


@dataclass(frozen=True)
class Shares:
    """Parts that threads walk independently, and the rest of the walk.

    Every part consists of consecutive subtrees, whose updates stay on its stack; in the rest an
    entry of the walk stands for each of these updates.
    """

    parts: tuple[Part, ...]
    rest: Part


@dataclass(frozen=True)
class TreePlan:
    """An order on a large tree: the kinds of the bodies, and the walk."""

    order: Bodywise
    kinds: tuple[Kind, ...]
    code: NDArray[np.uint8]  # (n,) of the walk
    walk: Walk
    offset: NDArray[np.int64]  # (n + 1,) of the tree
    known: dict[int, Shares]  # by the number of threads
    codes: dict[bool, Any]  # machine code, strict or relaxed

    @cached_property
    def addresses(self) -> dict[str, int]:
        """Addresses of the arrays of the tree."""
        return {"offset": self.offset.ctypes.data, "parent": self.walk.up.ctypes.data}

    def shares(self, threads: int) -> Shares:
        """The walk for a number of threads; it stays whole for one, and for a tree that is a chain.

        Raises ModelError where ``threads`` is not 1 or more.
        """
        if not is_whole(threads, 1):
            raise ModelError(f"threads is {threads!r}; give 1 or more")
        if threads not in self.known:
            self.known[threads] = self._shares(threads)
        return self.known[threads]

    def _shares(self, threads: int) -> Shares:
        order, n = self.walk.order, len(self.walk.order)
        piece = n // (PIECES * threads)
        if threads < 2 or piece < LEAST:
            return Shares((), _part(order, self.code, self.walk.places))
        last = cuts(order, self.walk.up, self.walk.size, piece)  # where each subtree ends
        size = self.walk.size[order[last]]
        if size.sum() < 2 * piece:  # most bodies are in one long chain
            return Shares((), _part(order, self.code, self.walk.places))
        inside = np.zeros(n + 1, dtype=np.int8)
        np.add.at(inside, last + 1 - size, 1)
        np.add.at(inside, last + 1, -1)
        apart = np.cumsum(inside[:-1]).astype(bool)
        group = (np.cumsum(size) - 1) // piece
        code = self.code.copy()
        code[last] |= 1  # a subtree puts its update in a new place of the stack
        bounds = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(last)]
        where, parts = np.flatnonzero(apart), []
        stop = np.cumsum(size)
        root = self.walk.up[order[last]] < 0
        for i, j in pairwise(bounds):
            take = where[stop[i] - size[i] : stop[j - 1]]
            held = j - i - int(root[i:j].sum())
            parts.append(_part(order[take], code[take], self.walk.places + held, held))
        # in the rest, a held sum takes the place of its subtree's root; roots of the tree have none
        inner = last[~root]
        body, kind = order.copy(), self.code.copy()
        body[inner] = np.arange(len(inner))
        kind[inner] = 2 * len(self.kinds) + (self.code[inner] & 1)
        keep = ~apart
        keep[inner] = True
        return Shares(tuple(parts), _part(body[keep], kind[keep], self.walk.places))


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
    return TreePlan(rules, tuple(kinds), code, walk, tree.offset, {}, {})


def _part(body: NDArray[np.int32], code: NDArray[np.uint8], places: int, held: int = 0) -> Part:
    # one further place for the update that is being formed
    return Part(np.pad(body, PADDING, mode="edge"), code, places + 2, held, {})
