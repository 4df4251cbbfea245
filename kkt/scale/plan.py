"""Orders that go body by body: how they are recognised, and how large trees are walked in them.

Such an order eliminates all blocks of a body in a row, after those of its children and before
those of its parent, splits no force, and reads the updates of a body's children as their sum.  Then
the blocks eliminated so far are coupled with the rest of the matrix only through the parent's
acceleration: fronts do not grow, and bodies of one kind need the same operations.

Bodies are of one kind where their blocks of (4) have zeros and ones in the same places.  The walk is
depth first, children before parents.  Joints whose pivots are singular in any state, which rounded
pivots need not show, are found beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import njit
from ..base.errors import OrderError, SingularError, SizeError
from ..matrix.blocks import KINDS
from ..matrix.entries import Pattern
from ..model.spatial import stored
from ..model.tree import BodyTree
from ..order.sequence import TEN, Plan
from .template import Bodywise, Groups, articulated


@dataclass(frozen=True, eq=False)
class Bodies:
    """An order that goes body by body, on a tree."""

    order: Bodywise
    sequence: NDArray[np.int32]  # (n,) bodies as they are eliminated

    @cached_property
    def key(self) -> str:
        """The name under which a system keeps the plan of this order."""
        return blake2b(repr(self.order).encode() + self.sequence.tobytes()).hexdigest()


def bodywise(plan: Plan) -> Bodies | None:
    """The order of a plan, body by body; None for a plan that does not go body by body."""
    graph, sequence = plan.graph, plan.sequence
    structure, n = graph.structure, graph.structure.n
    if structure.divided or structure.ties or graph.split or sequence.composites in TEN:
        return None
    if sequence.rules.elimination != "gauss" or not n:
        return None
    member, group = graph.member[plan.blocks], plan.group
    new = np.diff(group, prepend=-1) != 0
    if (~new[1:] & (np.diff(member) != 0)).any():  # a group of several bodies
        return None
    start = np.flatnonzero(np.diff(member, prepend=-1) != 0)
    if len(start) != n:  # a body comes twice
        return None
    bodies = member[start]
    place = np.empty(n, dtype=np.int64)
    place[bodies] = np.arange(n)
    inner = np.flatnonzero(structure.parent >= 0)
    if (place[inner] > place[structure.parent[inner]]).any():
        return None
    within = np.arange(len(member)) - np.repeat(start, np.diff([*start.tolist(), len(member)]))
    code = (graph.kind[plan.blocks] + 1 + 8 * new) << 4 * within
    code = np.bitwise_or.reduceat(code, start) << 3 | structure.dof[bodies]
    found = np.unique(code).tolist()
    if len({word & 7 for word in found}) < len(found):  # equal freedoms, but different groups
        return None
    groups = tuple(sorted((word & 7, _groups(word >> 3)) for word in found))
    order = Bodywise(sequence.name, sequence.rules, groups)
    return Bodies(order, bodies.astype(np.int32)) if _told_by_templates(order) else None


def _told_by_templates(order: Bodywise) -> bool:
    """Whether updates are read as sums, a zero pivot can be named, and A_k changes its body alone."""
    try:
        return order.merges and order.told and order.alike
    except OrderError:  # the order is not feasible without A_k
        return False


def _groups(code: int) -> Groups:
    groups: list[tuple[str, ...]] = []
    while code:
        kind = KINDS[(code & 7) - 1]
        groups = [*groups, (kind,)] if code & 8 else [*groups[:-1], (*groups[-1], kind)]
        code >>= 4
    return tuple(groups)


MOST = 16  # kinds that are told apart by their patterns of zeros and ones
LIMIT = 126  # kinds at most: a walk has seven bits for them, and for a sum that was made before
AHEAD = 10  # bodies of the walk by which the numbers of a body are fetched in advance
PADDING = 2 * AHEAD  # entries before and after the bodies of a walk, which are only fetched
ZERO, ONE, ANY = range(3)  # what is known of an entry
UPPER = [6 * i + j for i in range(6) for j in range(i, 6)]  # places in a symmetric 6 x 6 block
TURN = [6 * i + j for i in range(3) for j in range(3)]  # R and p~ R in Phi
SHIFT = [6 * i + j for i in range(3) for j in range(3, 6)]
# bits of a key's first word
_PHI, _ONE, _DOF, _ROOT, _LEAF, _BIAS, _OWN = 21, 39, 48, 51, 52, 53, 54


@dataclass(frozen=True)
class Kind:
    """What is known of every body of a kind; entries of its blocks are ZERO, ONE or ANY."""

    dof: int
    root: bool
    leaf: bool
    bias: bool  # a_k may be nonzero
    M: tuple[int, ...]  # (36,) row by row
    Phi: tuple[int, ...]  # (36,)
    S: tuple[int, ...]  # (6 dof,)
    A: tuple[int, ...]  # (dof,) the joint's own inertia, or ()


def kinds_of(
    parent: NDArray[np.int64], offset: NDArray[np.int64], leaf: NDArray[np.bool_], pattern: Pattern
) -> tuple[list[Kind], NDArray[np.uint8]]:
    """The kinds of a tree's bodies, and (n,) the kind of each body.

    If there are too many patterns, bodies that differ in their patterns alone are one kind: an
    entry is then ONE or ZERO if it is so in all of them.  Raises SizeError where kinds are still
    too many.
    """
    keys = _keys(
        parent,
        offset,
        leaf,
        stored(pattern.M),
        pattern.Phi,
        pattern.Phi_one,
        pattern.S,
        pattern.S_one,
        pattern.a,
        pattern.A,
    )
    found, kind = _distinct(keys, MOST)
    if len(found) > MOST:
        armed = (keys[:, 0] >> _OWN) != 0  # a block A_k changes the program, so it stays apart
        family = np.column_stack([(keys[:, 0] >> _DOF) & 0b11111, armed])
        names, kind = np.unique(family, axis=0, return_inverse=True)
        if len(names) > LIMIT:
            what = f"has {len(names)} kinds of bodies for this order, more than {LIMIT}"
            raise SizeError("tree", what, "kkt.eliminate runs it")
        found = np.array([_union(keys[kind == i]) for i in range(len(names))])
    return [_kind(*map(int, key)) for key in found], kind.astype(np.uint8)


def _union(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """One key for several: entries that are nonzero in any of them, and 1 in all."""
    ones = ((1 << 9) - 1) << _ONE
    either, both = np.bitwise_or.reduce(keys), np.bitwise_and.reduce(keys)
    return np.array([either[0] & ~ones | both[0] & ones, either[1], both[2]])


@lru_cache(maxsize=512)
def _kind(word: int, S: int, S_one: int) -> Kind:
    """The kind of a key, whose three words are those of :func:`_keys`."""
    dof = word >> _DOF & 7
    bit = [word >> i & 1 for i in range(64)]
    M, Phi = [ZERO] * 36, [ZERO] * 36
    for place, at in enumerate(UPPER):
        i, j = divmod(at, 6)
        M[6 * i + j] = M[6 * j + i] = ANY * bit[place]
    for place, at in enumerate(TURN):
        Phi[at] = ONE if bit[_ONE + place] else ANY * bit[_PHI + place]
        Phi[at + 21] = Phi[at]
    for place, at in enumerate(SHIFT):
        Phi[at] = ANY * bit[_PHI + 9 + place]
    own = tuple(ANY * x for x in bit[_OWN : _OWN + dof])
    columns = (ONE if S_one >> i & 1 else ANY * (S >> i & 1) for i in range(6 * dof))
    return Kind(
        dof,
        bool(bit[_ROOT]),
        bool(bit[_LEAF]),
        bool(bit[_BIAS]),
        tuple(M),
        tuple(Phi),
        tuple(columns),
        A=own if any(own) else (),
    )


@njit(cache=True)
def _keys(parent, offset, leaf, M, Phi, Phi_one, S, S_one, a, A):  # pragma: no cover
    """(n, 3) bits of each body: M, Phi and so on; nonzeros of S; ones of S."""
    n = len(parent)
    keys = np.zeros((n, 3), dtype=np.int64)
    one = np.int64(1)
    for k in range(n):
        word, place = np.int64(0), 0
        for i in range(6):
            for j in range(i, 6):
                word |= np.int64(M[min(k, len(M) - 1), i, j]) << place
                place += 1
        root = parent[k] < 0
        if not root:
            for i in range(3):
                for j in range(3):
                    at = 3 * i + j
                    word |= np.int64(Phi[k, i, j]) << (21 + at)
                    word |= np.int64(Phi[k, i, 3 + j]) << (30 + at)
                    word |= np.int64(Phi_one[k, i, j]) << (39 + at)
        dof = offset[k + 1] - offset[k]
        word |= dof << 48 | np.int64(root) << 51 | np.int64(leaf[k]) << 52 | np.int64(a[k]) << 53
        for j in range(dof if len(A) else 0):
            word |= np.int64(A[offset[k] + j]) << (54 + j)
        keys[k, 0] = word
        for j in range(dof):
            for i in range(6):
                if S[offset[k] + j, i]:
                    keys[k, 1] |= one << (6 * j + i)
                if S_one[offset[k] + j, i]:
                    keys[k, 2] |= one << (6 * j + i)
    return keys


@njit(cache=True)
def _distinct(keys, most):  # pragma: no cover
    """Distinct keys, and (n,) the number of each body's key among them.

    The search ends at one key more than ``most``; then the last body's number is -1.
    """
    n = len(keys)
    found = np.empty((most + 1, 3), dtype=np.int64)
    kind = np.full(n, -1, dtype=np.int64)
    count = 0
    for k in range(n):
        at, a, b, c = 0, keys[k, 0], keys[k, 1], keys[k, 2]
        while at < count and (found[at, 0] != a or found[at, 1] != b or found[at, 2] != c):
            at += 1
        if at == count:
            found[at] = keys[k]
            count += 1
            if count > most:
                break
        kind[k] = at
    return found[:count], kind


Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """Bodies in depth-first postorder; children of one body in the order of elimination.

    The update of a body waits on a stack for its parent.  The children of one parent add to one
    place, so that a chain needs a single place.
    """

    up: Integers  # (n,) parents
    order: NDArray[np.int32]  # (n,) bodies
    first: NDArray[np.bool_]  # (n,) by body: its update begins a new place, or it is a root
    leaf: NDArray[np.bool_]  # (n,) by body
    places: int  # that the stack needs


def walk_of(parent: Integers, sequence: NDArray[np.int32] | None = None) -> Walk:
    """The walk of a tree given by its parents, -1 for a root.

    ``sequence`` (n,) are the bodies as they are eliminated, by ascending index where it is None.
    """
    if sequence is None:
        sequence = np.arange(len(parent), dtype=np.int32)
    return Walk(parent, *_postorder(parent, sequence))


@njit(cache=True)
def _postorder(parent, sequence):  # pragma: no cover
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
            first[k] = up < 0 or child[up] == k
            waiting -= not leaf[k]
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
    full = (mass != 0.0) & np.diagonal(inertia, axis1=1, axis2=2).all(axis=1)
    if full.all():
        return
    free = np.diff(tree.offset)
    if own is not None and len(own):
        free = free - np.bincount(tree.owner[own], minlength=tree.n)
    rank = np.where(full, 6, 3 * (mass != 0.0) + (inertia != 0.0).any(axis=2).sum(axis=1))
    up = np.where(tree.parent < 0, tree.n, tree.parent)
    behind = np.bincount(up[full], weights=(6 - free)[full], minlength=tree.n + 1).astype(int)
    for k in order[~full[order]].tolist():
        most = min(6, int(rank[k] + behind[k]))
        if most < free[k]:
            raise SingularError(
                f"order {name!r}",
                f"pivot qdd_{tree.names[k]} is singular in any state (rank {most} of {free[k]})",
                "give the massless links an inertia",
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
    codes: dict[tuple[bool, bool], Any]  # machine code: of one M or of many, strict or relaxed

    @property
    def places(self) -> int:
        """Of the stack: one more for the update that is being formed, and one to spare."""
        return self.walk.places + 2

    @cached_property
    def _bodies(self) -> Integers:
        """(kinds,) how many bodies are of each kind."""
        return np.bincount(self.code >> 1, minlength=len(self.kinds))

    def total(self, sizes: Integers) -> int:
        """The count of numbers of all bodies, given that of each kind."""
        return int(self._bodies @ sizes)


def plan_of(tree: BodyTree, pattern: Pattern, bodies: Bodies | None = None) -> TreePlan:
    """The plan of a tree whose entries have a pattern.

    ``bodies`` is the order, None the articulated body method.  Raises SingularError where a pivot is
    singular in any state.
    """
    rules, sequence = articulated(frozenset(np.flatnonzero(np.bincount(tree.dof)).tolist())), None
    if bodies is not None:
        rules, sequence = bodies.order, bodies.sequence
    walk = walk_of(tree.parent, sequence)
    require_inertia(tree, walk.order, rules.name, pattern.A)
    kinds, kind = kinds_of(tree.parent, tree.offset, walk.leaf, pattern)
    code = (2 * kind + walk.first)[walk.order].astype(np.uint8)
    first, last = walk.order[[0] * PADDING], walk.order[[-1] * PADDING]
    body = np.concatenate([first, walk.order, last])
    return TreePlan(rules, tuple(kinds), body, code, walk, tree.offset, {})
