"""What many answers leave of equation (4): the normwise backward error, states side by side.

The same as :func:`kkt.proof.residual.backward_error` gives for one answer, in compiled loops over
the blocks of (4): a few nanoseconds a nonzero and state.  Products and sums are exact to twice the digits of
float64 (Ogita, Rump & Oishi 2005, algorithm Dot2) where the answers have those digits, and in
float64 where they are shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.arithmetic import Format
from pivotree.kkt.arithmetic.floats import _two_product, _two_sum
from pivotree.kkt.base.compiled import njit
from pivotree.kkt.matrix.blocks import Tie, sides_of
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.proof.longer import longer_name

Floats = NDArray[np.float64]


class _Blocks(NamedTuple):
    """The blocks of (4) of m states, as compiled loops take them."""

    parent: NDArray[np.int64]  # (n,)
    offset: NDArray[np.int64]  # (n + 1,)
    M: Floats  # (m, n, 6, 6)
    Phi: Floats  # (m, n, 6, 6)
    S: Floats  # (m, N, 6)
    a: Floats  # (m, n, 6)
    b: Floats  # (m, n, 6)
    tau: Floats  # (m, N)
    A: Floats  # (m, N) inertia of the joints themselves, or (m, 0)
    sides: NDArray[np.int64]  # (rows of G, 3) of loops: their multiplier, body and sign
    G: Floats  # (m, rows of all sides, 6)
    gamma: Floats  # (m, multipliers)
    compliance: Floats  # (m, multipliers)


@dataclass(frozen=True)
class Equations:
    """(4) of m states of one tree with its entries rounded to a format, m in front of each."""

    blocks: _Blocks
    norms: Floats  # (m, 2) largest row sum of |A|, and largest entry of |b|
    pairs: bool  # sums are formed in twice the digits of float64

    @classmethod
    def of(cls, tree: Any, entries: Entries, chosen: Format, ties: Sequence[Tie] = ()) -> Equations:
        """``entries`` (m, ...) in float64; what overflows the format leaves states without norm.

        ``ties`` are the structure's closed loops and contacts.
        """
        rounded = (np.asarray(chosen.cast(getattr(entries, x)), dtype=float) for x in LETTERS)
        given = Entries(*map(np.ascontiguousarray, rounded))
        m = len(given.tau)
        flat = (x.reshape(m, -1) for x in (given.gamma, given.compliance))
        blocks = _Blocks(
            tree.parent,
            tree.offset,
            given.M,
            given.Phi,
            given.S,
            given.a,
            given.b,
            given.tau,
            given.A.reshape(m, -1),
            sides_of(ties),
            given.G.reshape(m, -1, 6),
            *flat,
        )
        norms = np.empty((m, 2))
        _norms(blocks, norms)
        return cls(blocks, norms, longer_name(chosen) != "float64")

    def backward_errors(
        self,
        here: NDArray[np.int64],
        pdd: NDArray[Any],
        qdd: NDArray[Any],
        f: NDArray[Any],
        lam: NDArray[Any],
    ) -> Floats:
        """(k,) max |A x - b| / (max row sum of |A| times max |x| + max |b|) of k answers.

        ``here`` (k,) are their states, ``pdd`` (k, 6 n), ``qdd`` (k, N), ``f`` (k, 6 n) and ``lam``
        (k, multipliers) the unknowns.  Rigal & Gaches 1967; not a number where an unknown is none.
        """
        n, k = len(self.blocks.parent), len(here)
        given = (pdd, qdd, f, lam)
        p, q, forces, held = (np.ascontiguousarray(x, dtype=float) for x in given)
        unknowns = (p.reshape(k, n, 6), q, forces.reshape(k, n, 6), held)
        found = np.empty(k)
        _backward(self.blocks, self.norms, here, unknowns, self.pairs, found)
        return found


@njit(cache=True, error_model="numpy")
def _norms(blocks, out):  # pragma: no cover
    parent, offset, M, Phi, S, a, b, tau, A, sides, G, gamma, c_lam = blocks
    m, n = b.shape[0], b.shape[1]
    force, motion, held = np.empty((n, 6)), np.empty((n, 6)), np.empty(gamma.shape[1])
    for s in range(m):
        force[:], motion[:] = 1.0, 1.0
        right = norm = 0.0
        for k in range(n):
            up = parent[k]
            for i in range(6):
                right = _larger(_larger(right, a[s, k, i]), b[s, k, i])
                for j in range(6):
                    force[k, i] += abs(M[s, k, i, j])
                    if up >= 0:
                        motion[k, i] += abs(Phi[s, k, j, i])
                        force[up, i] += abs(Phi[s, k, i, j])
            for c in range(offset[k], offset[k + 1]):
                row = abs(A[s, c]) if A.shape[1] else 0.0
                for i in range(6):
                    motion[k, i] += abs(S[s, c, i])
                    row += abs(S[s, c, i])
                norm, right = _larger(norm, row), _larger(right, tau[s, c])
        for c in range(len(held)):
            held[c], right = abs(c_lam[s, c]), _larger(right, gamma[s, c])
        for g in range(len(sides)):
            c, k = sides[g, 0], sides[g, 1]
            for i in range(6):
                held[c] += abs(G[s, g, i])
                force[k, i] += abs(G[s, g, i])
        for c in range(len(held)):
            norm = _larger(norm, held[c])
        for k in range(n):
            for i in range(6):
                norm = _larger(_larger(norm, force[k, i]), motion[k, i])
        out[s, 0], out[s, 1] = norm, right


@njit(cache=True, error_model="numpy")
def _backward(blocks, norms, here, unknowns, pairs, out):  # pragma: no cover
    parent, offset, M, Phi, S, a, b, tau, A, sides, G, gamma, c_lam = blocks
    pdd, qdd, f, lam = unknowns
    n = b.shape[1]
    force, motion = np.empty((n, 6, 2)), np.empty((n, 6, 2))  # sums, and what they have lost
    effort, held = np.empty(2), np.empty((gamma.shape[1], 2))
    for o in range(len(here)):
        s = here[o]
        left = size = 0.0
        for k in range(n):
            for i in range(6):
                force[k, i, 0], force[k, i, 1] = f[o, k, i], 0.0
                motion[k, i, 0], motion[k, i, 1] = pdd[o, k, i], 0.0
                size = _larger(_larger(size, f[o, k, i]), pdd[o, k, i])
        for k in range(n):
            up = parent[k]
            for i in range(6):
                _add(force[k, i], -b[s, k, i], 1.0, pairs)
                _add(motion[k, i], a[s, k, i], 1.0, pairs)
                for j in range(6):
                    _add(force[k, i], M[s, k, i, j], pdd[o, k, j], pairs)
                    if up >= 0:
                        _add(motion[k, i], -Phi[s, k, j, i], pdd[o, up, j], pairs)
                        _add(force[up, i], -Phi[s, k, i, j], f[o, k, j], pairs)
            for c in range(offset[k], offset[k + 1]):
                effort[0], effort[1] = -tau[s, c], 0.0
                for i in range(6):
                    _add(motion[k, i], S[s, c, i], qdd[o, c], pairs)
                    _add(effort, S[s, c, i], f[o, k, i], pairs)
                if A.shape[1]:
                    _add(effort, A[s, c], qdd[o, c], pairs)
                left, size = _larger(left, effort[0] + effort[1]), _larger(size, qdd[o, c])
        for c in range(len(held)):
            held[c, 0], held[c, 1] = gamma[s, c], 0.0
            _add(held[c], -c_lam[s, c], lam[o, c], pairs)
            size = _larger(size, lam[o, c])
        for g in range(len(sides)):
            c, k, sign = sides[g, 0], sides[g, 1], float(sides[g, 2])
            for i in range(6):
                _add(held[c], sign * G[s, g, i], pdd[o, k, i], pairs)
                _add(force[k, i], sign * G[s, g, i], lam[o, c], pairs)
        for c in range(len(held)):
            left = _larger(left, held[c, 0] + held[c, 1])
        for k in range(n):
            for i in range(6):
                left = _larger(left, force[k, i, 0] + force[k, i, 1])
                left = _larger(left, motion[k, i, 0] + motion[k, i, 1])
        size = norms[s, 0] * size + norms[s, 1]
        out[o] = left / size if size != 0.0 else 0.0


@njit(cache=True, error_model="numpy", inline="always")
def _add(total, x, y, pairs):  # pragma: no cover
    """total += x y, and in its second number what that leaves out."""
    if x == 0.0 or y == 0.0:
        if not np.isfinite(x + y):
            total[0] = np.nan
    elif pairs:
        p, e = _two_product(x, y)
        total[0], t = _two_sum(total[0], p)
        total[1] += e + t
    else:
        total[0] += x * y


@njit(cache=True, error_model="numpy", inline="always")
def _larger(x, y):  # pragma: no cover
    """The larger of x and |y|; not a number where one is none."""
    y = abs(y)
    return y if y > x or y != y else x
