"""Kinds of bodies: bodies whose blocks of (4) have zeros and ones in the same places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..base.errors import SizeError
from ..matrix.pattern import Pattern
from .bodywise import children_of, rows_of
from .template import Bodywise

MOST = 16  # kinds that are told apart by their patterns of zeros and ones
LIMIT = 126  # kinds at most: a walk has seven bits for them, and for a sum that was made before
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
    children: tuple[int, ...]  # their freedoms, where their updates are not summed
    rows: tuple[int, ...]  # of S that a split solves for
    A: tuple[int, ...]  # (dof,) the joint's own inertia, or ()

    def sums(self, order: Bodywise) -> int:
        """How many updates of children, or sums of updates, a body of this kind reads."""
        return int(not self.leaf) if order.merges else len(self.children)


def kinds_of(
    parent: NDArray[np.int64],
    offset: NDArray[np.int64],
    leaf: NDArray[np.bool_],
    pattern: Pattern,
    further: NDArray[np.int64] | None = None,
) -> tuple[list[Kind], NDArray[np.uint8]]:
    """The kinds of a tree's bodies, and (n,) the kind of each body.

    ``further`` (n, 2) are words of :mod:`.bodywise` by which bodies differ whatever their patterns.
    If there are too many patterns, bodies that differ in their patterns alone are one kind: an
    entry is then ONE or ZERO if it is so in all of them.  Raises SizeError where kinds are still
    too many.
    """
    keys = _keys(
        parent,
        offset,
        leaf,
        pattern.M,
        pattern.Phi,
        pattern.Phi_one,
        pattern.S,
        pattern.S_one,
        pattern.a,
        pattern.A,
    )
    most = MOST
    if further is not None:
        keys[:, 3:] = further
        most = min(LIMIT, MOST + len(np.unique(further, axis=0)))
    found, kind = _distinct(keys, most)
    if len(found) > most:
        armed = (keys[:, 0] >> _OWN) != 0  # a block A_k changes the program, so it stays apart
        family = np.column_stack([(keys[:, 0] >> _DOF) & 0b11111, armed, keys[:, 3:]])
        names, kind = np.unique(family, axis=0, return_inverse=True)
        if len(names) > LIMIT:
            raise SizeError(
                f"the tree has {len(names)} kinds of bodies for this order, more than {LIMIT}; "
                "kkt.eliminate runs it"
            )
        found = np.array([_union(keys[kind == i]) for i in range(len(names))])
    return [_kind(*map(int, key)) for key in found], kind.astype(np.uint8)


def _union(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """One key for several: entries that are nonzero in any of them, and 1 in all."""
    ones = ((1 << 9) - 1) << _ONE
    either, both = np.bitwise_or.reduce(keys), np.bitwise_and.reduce(keys)
    return np.array([either[0] & ~ones | both[0] & ones, either[1], both[2], *keys[0, 3:]])


def _kind(word: int, S: int, S_one: int, children: int, rows: int) -> Kind:
    """The kind of a key, whose five words are those of :func:`_keys`."""
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
        children=children_of(children),
        rows=rows_of(rows),
        A=own if any(own) else (),
    )


@njit(cache=True)
def _keys(parent, offset, leaf, M, Phi, Phi_one, S, S_one, a, A):  # pragma: no cover
    """(n, 5) bits of each body: M, Phi and so on; nonzeros of S; ones of S; two further words."""
    n = len(parent)
    keys = np.zeros((n, 5), dtype=np.int64)
    one = np.int64(1)
    for k in range(n):
        word, place = np.int64(0), 0
        for i in range(6):
            for j in range(i, 6):
                word |= np.int64(M[k, i, j]) << place
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
    found = np.empty((most + 1, keys.shape[1]), dtype=np.int64)
    kind = np.full(n, -1, dtype=np.int64)
    count = 0
    for k in range(n):
        at = 0
        while at < count and not (found[at] == keys[k]).all():
            at += 1
        if at == count:
            found[at] = keys[k]
            count += 1
            if count > most:
                break
        kind[k] = at
    return found[:count], kind
