"""Orders that go body by body: how they are recognised, and which words tell their bodies apart.

Such an order eliminates all blocks of a body in a row, after those of its children and before
those of its parent.  Then the blocks eliminated so far are coupled with the rest of the matrix only
through the parent's acceleration: fronts do not grow, and bodies of one kind need the same
operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.errors import OrderError
from ..matrix.blocks import KINDS, Structure
from ..model.tree import BodyTree
from ..order.pivots import Plan
from .template import Bodywise, Groups

Integers = NDArray[np.int64]
BITS = 3  # for each child's freedoms, plus 1, in a word of a body's key
MOST_CHILDREN = 20  # children whose freedoms fit in such a word


@dataclass(frozen=True, eq=False)
class Bodies:
    """An order that goes body by body, on a tree."""

    order: Bodywise
    sequence: NDArray[np.int32]  # (n,) bodies as they are eliminated
    structure: Structure

    @cached_property
    def key(self) -> str:
        """The name under which a system keeps the plan of this order."""
        return blake2b(repr(self.order).encode() + self.sequence.tobytes()).hexdigest()

    def require_tree_of(self, tree: BodyTree) -> None:
        """Raise OrderError for a tree other than the plan's."""
        own = self.structure
        if not (np.array_equal(own.parent, tree.parent) and np.array_equal(own.dof, tree.dof)):
            raise OrderError(
                f"order {self.order.name!r}: is a plan of another tree; make it of this structure"
            )


def bodywise(plan: Plan) -> Bodies | None:
    """The order of a plan, body by body; None for a plan that does not go body by body.

    None also where an order reads each child's update apart and a body has too many children.
    """
    graph, sequence = plan.graph, plan.sequence
    structure, n = graph.structure, graph.structure.n
    if structure.divided or structure.ties or sequence.composites != "general":
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
    if structure.armature.any() and not _alike(order):
        return None
    if np.bincount(structure.parent[inner], minlength=n).max() > MOST_CHILDREN and not order.merges:
        return None
    return Bodies(order, bodies.astype(np.int32), structure)


def _alike(order: Bodywise) -> bool:
    """Whether a joint's block A_k changes nothing outside its body."""
    try:
        return order.alike
    except OrderError:  # the order is not feasible without A_k
        return False


def _groups(code: int) -> Groups:
    groups: list[tuple[str, ...]] = []
    while code:
        kind = KINDS[(code & 7) - 1]
        groups = [*groups, (kind,)] if code & 8 else [*groups[:-1], (*groups[-1], kind)]
        code >>= 4
    return tuple(groups)


def further(
    order: Bodywise, parent: Integers, offset: Integers, sequence: NDArray[np.int32], S: NDArray
) -> NDArray[np.int64]:
    """(n, 2) words that tell kinds of bodies apart, in addition to their entries of (4).

    The first word holds the freedoms of the children in turn, where the order needs more than the
    sum of their updates; the second the rows of S that a split of forces solves for.
    """
    words = np.zeros((len(parent), 2), dtype=np.int64)
    if not order.merges:
        _children(parent, offset, sequence, words[:, 0])
    if order.split:
        words[:, 1] = pivot_rows_of(offset, S)
    return words


def children_of(word: int) -> tuple[int, ...]:
    """The freedoms of the children, from their word."""
    found: list[int] = []
    while word:
        found.insert(0, (word & 7) - 1)
        word >>= BITS
    return tuple(found)


def rows_of(word: int) -> tuple[int, ...]:
    """The rows of S that a split of forces solves for, from their word."""
    return tuple(row - 1 for row in (word >> 3 * i & 7 for i in range(6)) if row)


def pivot_rows_of(offset: Integers, S: NDArray) -> NDArray[np.int64]:
    """(n,) for each body a word of the rows of S that a split of its forces solves for."""
    words = np.zeros(len(offset) - 1, dtype=np.int64)
    _rows(offset, S, words)
    return words


@njit(cache=True)
def _children(parent, offset, sequence, word):  # pragma: no cover
    for k in sequence:
        up = parent[k]
        if up >= 0:
            word[up] = word[up] << 3 | (offset[k + 1] - offset[k] + 1)


@njit(cache=True)
def _rows(offset, S, word):  # pragma: no cover
    """Fill ``word`` (n,) with pivot rows of S, those of :func:`kkt.tape.inputs.pivot_rows`."""
    A = np.empty((6, 6))
    for k in range(len(word)):
        dof = offset[k + 1] - offset[k]
        for j in range(dof):
            for i in range(6):
                A[i, j] = S[offset[k] + j, i]
        for j in range(dof):
            row = 0
            for i in range(1, 6):
                if abs(A[i, j]) > abs(A[row, j]):
                    row = i
            word[k] |= (row + 1) << (3 * j)
            pivot = A[row, j]
            column = A[:, j].copy()
            for m in range(dof):
                ratio = A[row, m] / pivot
                for i in range(6):
                    A[i, m] -= column[i] * ratio
            A[row, :dof] = 0.0
