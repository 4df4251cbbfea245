"""The bound of the composite rigid body method's pivots: docs/theory/guarantee.md, *Composites*.

The order forms composites M^C_k, carries forces H_k M^C_k to the base, and factors the joint-space
inertia, M(q) = L D L*.  Three things are rounded.

* Composites are sums of congruences: what is computed is that of a robot whose inertias are changed
  by a relative g, and so are M(q) and its pivots, as in ABM.
* Forces, and the factor, are off by eps_ij u sqrt(M_ii M_jj) in an entry of M.
* That is little of M only where M is well conditioned once its diagonal is made 1.  With the
  kinetic energies e_k^2 of the bodies, whose sum is qd* M qd, M_ii qd_i^2 is at most (N e)_i^2, so
  that |qd* E qd| <= u |N* eps N| qd* M qd, whatever q is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from .ranges import Ranges
from .roundings import eliminated
from .support import Reach, has_armature, reach, share, support

Floats = NDArray[np.float64]
SECOND = 1.25  # covers what is of second order, while what is bounded is at most LARGEST
LARGEST = 0.02  # of an inertia
PHI = 2.1  # units of |Phi| |M| |Phi|* by which rounding Phi may move what a child holds up
LENGTHS = np.array([6.0, 6.0, 6.0, 3.0, 3.0, 3.0])  # of the rows of Phi
NORM = 1.0 + 1e-6  # more than float64 can lose of a norm
SPLITS = (0.1, 0.3, 1.0, 3.0, 10.0)  # between moments and masses of what a body carries


@dataclass(frozen=True)
class Composites:
    """What is rounded on the way to the factor of M(q), in units of roundoff; n bodies."""

    inertia: Floats  # (n,) g of the composites: |x* (computed - exact) x| <= g u x* M^C_k x
    joint: float  # |x* E x| <= joint u x* M(q) x for all else
    worst: int  # the body whose inertia, beside what it carries, is behind the largest share


def composites(system: System, M: Floats, ranges: Ranges, unit: float) -> Composites:
    """The bound for inertias M (n, 6, 6), over all states within the ranges.

    Infinite where a body that moves has no inertia in some direction.
    """
    sizes = reach(system, ranges, unit, rigid=True)
    least = _least(system, M, sizes, unit)
    inertia = _summed(system, M, least, sizes)
    energy = _energies(system, M, least, sizes)
    if not np.isfinite(energy).all():
        return Composites(inertia, math.inf, int(np.argmax(~np.isfinite(energy).all(axis=0))))
    eps = _entries(system, least, sizes)
    product = energy.T @ eps @ energy
    if not np.isfinite(product).all():
        return Composites(inertia, math.inf, int(np.argmax(~np.isfinite(product).all(axis=0))))
    values, vectors = np.linalg.eigh(product)
    worst = int(np.abs(vectors[:, -1]).argmax())
    return Composites(inertia, float(values[-1]) * NORM, worst)


def _least(system: System, M: Floats, sizes: Reach, unit: float) -> Floats:
    """(n, 6, 6) what composites are at least, in every state, with Phi rounded to the format."""
    tree, held = system.tree, support(system, M, rigid=True)
    C = np.zeros((tree.n, 6, 6))
    for k in np.flatnonzero(tree.parent >= 0).tolist():
        C[tree.parent[k]] += np.outer(sizes.carried[k], sizes.carried[k])
    firm = [SECOND * PHI * unit * share(L, X) <= LARGEST for L, X in zip(held, C, strict=True)]
    return np.where(np.array(firm)[:, None, None], held, M)


def _summed(system: System, M: Floats, least: Floats, sizes: Reach) -> Floats:
    """(n,) g of the composites, in units: the largest counts against M_k, the sum against more."""
    tree, g = system.tree, np.zeros(system.tree.n)
    rounds = LENGTHS[:, None] + LENGTHS
    for level in reversed(tree.levels):
        for k in level.tolist():
            children = np.flatnonzero(tree.parent == k)
            if not len(children):
                continue
            B = np.outer(sizes.size[k], sizes.size[k])
            for c in children:
                B += (rounds + len(children) - 1) * np.outer(sizes.carried[c], sizes.carried[c])
            behind = g[children].max()
            own, held = (share(*_met(system, k, X, B)) for X in (M[k], least[k]))
            g[k] = min(max(own, behind), held + behind)
    return g


def _met(system: System, k: int, M: Floats, B: Floats) -> tuple[Floats, Floats]:
    """An inertia and a bound of its changes: of a body on the ground along its joint alone."""
    if system.tree.parent[k] >= 0:
        return M, B
    S = _motions(system, k)
    X = S @ M @ S.T
    return 0.5 * (X + X.T), np.abs(S) @ B @ np.abs(S).T


def _motions(system: System, k: int) -> Floats:
    offset = system.tree.offset
    return np.asarray(system.entries.S[offset[k] : offset[k + 1]])


def _energies(system: System, M: Floats, least: Floats, sizes: Reach) -> Floats:
    """N (n, n): sqrt(sum of M_ii qd_i^2) over joint k is at most sum of N_kj |v_j| in M_j.

    H* qd is v_k - Phi* v_p, both in the norm of M^C_k, which M_k and M_p bound in every state.
    """
    tree, N = system.tree, np.zeros((system.tree.n, system.tree.n))
    for k in range(tree.n):
        S, up = _motions(system, k), int(tree.parent[k])
        if not len(S):
            continue
        diagonal = np.diag((np.abs(S) @ sizes.size[k]) ** 2)
        if up < 0 or not _moves(system, up):
            N[k, k] = share(_along(S, M[k]), diagonal)  # v_p = 0
            continue
        alone = 1.0 if len(S) == 1 else share(_along(S, least[k]), diagonal)
        of_children = np.sqrt(np.maximum(sizes.size[k] ** 2 - np.diagonal(M[k]), 0.0)) * NORM
        below = tree.parent == k
        own = _carried(M[k], sizes.moment[below].sum(), sizes.mass[below].sum(), of_children)
        N[k, k] = alone * (1.0 + own)
        N[k, up] = alone * _carried(M[up], sizes.moment[k], sizes.mass[k], sizes.carried[k])
    return np.sqrt(N)


def _moves(system: System, k: int) -> bool:
    """Whether a joint moves body k."""
    tree = system.tree
    while k >= 0 and tree.dof[k] == 0:
        k = int(tree.parent[k])
    return k >= 0


def _along(S: Floats, M: Floats) -> Floats:
    own = S @ M @ S.T
    return np.asarray(0.5 * (own + own.T))


def _carried(M: Floats, moment: float, mass: float, diagonal: Floats) -> float:
    """c with X <= c M for the inertia X of bodies with this moment and mass, about M's origin.

    |w x r + v|^2 <= (1 + 1/a) |w x r|^2 + (1 + a) |v|^2, for every a; or by X's diagonal, squared.
    """
    moments, masses = np.diag([moment] * 3 + [0.0] * 3), np.diag([0.0] * 3 + [mass] * 3)
    bounds = [(1.0 + 1.0 / a) * moments + (1.0 + a) * masses for a in SPLITS]
    return min(share(M, B) for B in (*bounds, np.outer(diagonal, diagonal)))


def _entries(system: System, least: Floats, sizes: Reach) -> Floats:
    """eps (n, n): norms of errors of blocks of M(q), in units, each entry over sqrt(M_ii M_jj)."""
    tree, n = system.tree, system.tree.n
    freedoms = tree.dof.astype(float)
    below = freedoms.copy()  # freedoms of the subtree
    for level in reversed(tree.levels[1:]):
        np.add.at(below, tree.parent[level], below[level])
    wide = np.sqrt(freedoms)
    rounds, root_eta, formed, step = np.zeros((4, n))
    for k in range(n):
        up = int(tree.parent[k])
        if up >= 0:
            step[k] = _root(least[up], LENGTHS * sizes.carried[k])
        S = _motions(system, k)
        if not len(S):
            continue
        rounds[k] = _products(S)
        own = np.diagonal(S @ least[k] @ S.T)  # eta: sigma_i^2 over at least M_ii
        with np.errstate(divide="ignore"):
            root_eta[k] = np.sqrt(((np.abs(S) @ sizes.size[k]) ** 2 / own).sum())
        if rounds[k]:
            formed[k] = rounds[k] * root_eta[k] * _root(least[k], sizes.size[k])
    eps = np.zeros((n, n))
    for d in np.flatnonzero(freedoms).tolist():
        extra = float(has_armature(system, d))
        factor = eliminated(int(below[d]))[-1]
        of_joint = (2.0 * rounds[d] + extra) * root_eta[d] ** 2 if rounds[d] else extra
        eps[d, d] = of_joint + factor * freedoms[d]
        way, a = 0.0, d
        while tree.parent[a] >= 0:
            way, a = way + step[a], int(tree.parent[a])
            met = rounds[a] * root_eta[a] if rounds[a] else 0.0
            both = wide[d] * wide[a] * (way + factor) + formed[d] * wide[a] + wide[d] * met
            eps[d, a] = eps[a, d] = both
    return eps


def _root(M: Floats, t: Floats) -> float:
    """The largest |e* y| of forces |e| <= t and motions y* M y = 1."""
    return math.sqrt(share(M, np.outer(t, t)))


def _products(S: Floats) -> int:
    """Roundings of a row of H with a matrix: its entries, one less where all are 1 or -1."""
    entries = (S != 0.0).sum(axis=1)
    ones = (np.abs(S) == (S != 0.0)).all(axis=1)
    return int((entries - ones).max())
