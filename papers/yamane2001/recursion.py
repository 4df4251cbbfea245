"""Section 3 as it stands, in the paper's letters and in numpy: equations (8) to (53) on a chain.

Written from the paper and not from the engine, so that both can be held against each other.  Joint
k connects body k, which it carries, with body k + 1, numbered tip to base; the last joint's other
link is the ground, whose A^-1 is 0.  In the paper's letters, k being the carried body,

    H_k,k-1 = K_k        H_k,k = K_k Phi_k*        A_k = M_k        n_J = tau

with K_k H_k* = 0 (11).  Vectors are in the carried body's frame, and h_k = -K_k a_k.  Lines that cannot
be meant as printed may be read literally.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import null_space

from pivotree import kkt
from pivotree.analysis.counts import family_of

from ..item import Progress, Results, between, value
from ..measures import Floats, error

SAYS = {
    "a": "a_i+1 = h_i+1 - H A_i+1^-1 t_i+1",
    "t": "t_i+1 = f_i+1 + H_J* n_Ji+1 - b_i+1",
    "S_J": "q''_i = ... + S_Ji+1,i* n_i+1 - a_Ji",
}
MEANT = {
    "a": "below (32): (23) and (24) give - Gamma_i+1,i A_i^-1 T_i besides, the link i that joint i+1 meets",
    "t": "(28): joint i+1 pushes link i too; (23) leaves - H_Ji+1,i* n_Ji+1 of (15) out",
    "S_J": "(52), (53): Gamma_J A^-1 Gamma* is not symmetric; its block (i, i+1) is - H_Ji,i "
    "A_i^-1 H_i+1,i*, which S_Ji+1,i* is not, and which it has the shape of for ball joints only",
}
PRINTED = tuple(SAYS)
"""Lines that can be taken as printed instead of as meant."""


@dataclass(frozen=True)
class Joint:
    """Joint k and the link that it carries."""

    A: Floats  # (6, 6) inverse inertia A_k^-1
    K: Floats  # (N_C, 6) H_k,k-1: constraint, at the carried link
    K_J: Floats  # (6 - N_C, 6) H_Jk,k-1: along the joint, there
    H: Floats  # (N_C, 6) H_k,k: constraint, at the carrying link
    H_J: Floats  # (6 - N_C, 6)
    h: Floats  # (6,) velocity terms of the relative acceleration
    t: Floats  # (6,) what drives the carried link when it is free, (28)
    alone: Floats  # (6,) the same without the joint torque of the next joint out, as (28) prints
    tau: Floats  # joint torque n_J

    @classmethod
    def of(cls, system: kkt.System, k: int, carried: list[int]) -> Joint:
        entries, own = system.entries, system.tree.freedoms_of(k)
        S, tau = entries.S[own].T, entries.tau[own]
        K, K_J = null_space(S.T).T, np.linalg.pinv(S)
        alone = K_J.T @ tau - entries.b[k]
        t = alone.copy()
        for c in carried:
            joint = system.tree.freedoms_of(c)
            t -= entries.Phi[c] @ np.linalg.pinv(entries.S[joint].T).T @ entries.tau[joint]
        motion = entries.Phi[k].T
        return cls(np.linalg.inv(entries.M[k]), K, K_J, K @ motion, K_J @ motion, entries.a[k], t, alone, tau)


def joint_accelerations(system: kkt.System, *, printed: tuple[str, ...] = ()) -> Floats:
    """qdd (N,) of a serial chain, bodies in the tree's order.

    Each M_k is mirrored, as an inverse of a symmetric matrix is.  ``printed`` names lines of PRINTED to
    be read literally.
    """
    order = [int(k) for k in system.structure.order]  # tip to base
    up = system.tree.parent
    if any(up[k] != above for k, above in zip(order, [*order[1:], -1], strict=True)):
        raise kkt.ModelError(system.name, "section 3 is for serial chains", "give one")
    joints = [Joint.of(system, k, [order[i - 1]] if i else []) for i, k in enumerate(order)]
    each = list(enumerate(joints))
    last = len(joints) - 1
    # of links, joint k being between k and k + 1: the ground, which comes last, has neither
    A = [*(j.A for j in joints), np.zeros((6, 6))]
    t = [*(j.t for j in joints), np.zeros(6)]
    driven = [*(j.alone for j in joints), t[-1]] if "t" in printed else t
    beyond = [np.zeros(6) for _ in t] if "a" in printed else driven
    # below (32), (51): what constraint forces do at their own joint, and what is there without them
    S = [j.K @ A[k] @ j.K.T + j.H @ A[k + 1] @ j.H.T for k, j in each]
    S_J = [j.K_J @ A[k] @ j.K.T + j.H_J @ A[k + 1] @ j.H.T for k, j in each]
    a = [j.K @ (A[k] @ driven[k] - j.h) - j.H @ A[k + 1] @ beyond[k + 1] for k, j in each]
    a_J = [j.K_J @ (j.h - A[k] @ t[k]) + j.H_J @ A[k + 1] @ t[k + 1] for k, j in each]
    # (39): what those of joint k do at joint k + 1, by the link between
    below = [-j.K @ j.A @ out.H.T for out, j in pairwise(joints)]
    M: list[Floats] = []
    n: list[Floats] = []
    for k in range(last + 1):  # path 1: (40), (41)
        pivot, moved = S[k], a[k]
        if k:
            pivot = pivot - below[k - 1] @ M[k - 1] @ below[k - 1].T
            moved = moved - below[k - 1] @ n[k - 1]
        inverse = np.linalg.inv(pivot)
        M.append((inverse + inverse.T) / 2)
        n.append(M[k] @ moved)
    for k in range(last - 1, -1, -1):  # path 2: (47)
        n[k] = n[k] - M[k] @ below[k].T @ n[k + 1]
    qdd = np.zeros(len(system.entries.tau))
    for k, j in each:  # (53), counted from the carried link
        relative = S_J[k] @ n[k] + a_J[k]
        if k:
            relative = relative - j.K_J @ j.A @ joints[k - 1].H.T @ n[k - 1]
        if k < last:
            literal = -j.H @ A[k + 1] @ joints[k + 1].K_J.T
            meant = -j.H_J @ A[k + 1] @ joints[k + 1].K.T
            block = literal if "S_J" in printed and literal.shape == meant.shape else meant
            relative = relative + block @ n[k + 1]
        qdd[system.tree.freedoms_of(order[k])] = -relative
    return qdd


def readings(
    progress: Progress, *, n: int = 8, family: str = "spherical", lines: tuple[str, ...] = PRINTED
) -> Results:
    """Lines that cannot be meant as printed: a_i+1 below (32), t_i+1 (28), S_J* in (53).

    Each is run as printed, all else as meant, and held against a certified answer: errors relative to
    max |qdd| on a chain of n links of a family of analysis.counts.  A line is a misprint where qdd is
    right to rounding with what is meant, and wrong with what is printed.
    """
    for line in lines:
        if line not in PRINTED:
            raise kkt.PivotreeError("setting lines", f"{line!r} is unknown", f"use {', '.join(PRINTED)}")
    between("n", n, 3)
    system = family_of(family).system(n)
    exact = kkt.certify(system, 20)
    for line in lines:
        progress(SAYS[line])
        off = error(exact, joint_accelerations(system, printed=(line,)))
        yield value("printed", off, off <= 1e-12, says=SAYS[line], why=MEANT[line])
    meant = error(exact, joint_accelerations(system))
    for line in lines:
        yield value("meant", meant, meant <= 1e-12, says=SAYS[line])
