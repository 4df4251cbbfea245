"""Rigid inertias about the joint as ten numbers: mass m, first moment h = m d, moments J.

Carried to the parent's frame they are (Featherstone 2008, section 2.13)

    h' = R h + m p,    J' = R J R^T + (h'.p + p.Rh) 1 - (h' p^T + p (Rh)^T),    m' = m.

Mass, centre of mass and the inertia about it are ten other numbers (Walker & Orin 1982, method 3, as
Cloutier 1995 tells it in section 3.1.1): the inertia about the joint follows from them by the
parallel-axis theorem.  A composite is kept as [[E, c~], [-c~, m 1]], with E its inertia about
its centre of mass and c where that is.  Carried to the parent's frame it is

    c' = R c + p,    E' = R E R^T,    m' = m,

two composites are one body with

    m = m_1 + m_2,    c = (m_1 c_1 + m_2 c_2) / m,
    E = E_1 + m_1 (|r_1|^2 1 - r_1 r_1^T) + E_2 + m_2 (|r_2|^2 1 - r_2 r_2^T),    r_i = c_i - c,

and about the joint it is [[E + m (|c|^2 1 - c c^T), m c~], [-m c~, m 1]].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .emit import Emitter, Scalars, add_symmetric, mirrored, mul, mul_symmetric

# Places of h in the upper right block, which is its cross-product matrix: (row, column), h_x first.
_CROSS = ((2, 1), (0, 2), (1, 0))


def shift(e: Emitter, Phi: Scalars, M: Scalars) -> Scalars:
    """Phi M Phi^T of a rigid M by ten numbers, or by the plain product where zeros favour it."""
    trial, plain = Emitter(0), Emitter(0)
    shifted(trial, Phi, M)
    mul_symmetric(plain, Phi, mul(plain, M, Phi.T))
    if plain.count < trial.count:
        return mul_symmetric(e, Phi, mul(e, M, Phi.T))
    return shifted(e, Phi, M)


def shifted(e: Emitter, Phi: Scalars, M: Scalars) -> Scalars:
    R, B = Phi[:3, :3], Phi[:3, 3:]
    h, m = first_moment(M), M[3:4, 3]
    p = arm(e, R, B)
    g = mul(e, R, h[:, None])[:, 0]
    moved = e.add(g, e.mul(m, p))
    J = mul_symmetric(e, R, mul(e, M[:3, :3], R.T))
    own = e.mul(p, e.add(moved, g))  # diagonal of h' p^T + p g^T, whose sum is h'.p + p.g
    i, j = np.triu_indices(3, 1)
    diagonal = e.add(J.diagonal(), e.add(own[[1, 0, 0]], own[[2, 2, 1]]))
    across = e.sub(J[i, j], e.add(e.mul(moved[i], p[j]), e.mul(p[i], g[j])))
    upper = np.diag(diagonal)
    upper[i, j] = across
    return assembled(mirrored(upper), moved, m[0])


def arm(e: Emitter, R: Scalars, B: Scalars) -> Scalars:
    """p (3,) of B = p~ R: each entry from the cheaper of the two places of p~ = B R^T."""
    out = np.zeros(3, dtype=np.int64)
    for k, (r, c) in enumerate(_CROSS):
        ways = [(B[r], R[c], 1), (B[c], R[r], -1)]
        a, b, sign = min(ways, key=lambda way: _cost(way[0], way[1]))
        out[k] = sign * mul(e, a[None], b[:, None])[0, 0]
    return out


def _cost(a: Scalars, b: Scalars) -> int:
    e = Emitter(0)
    mul(e, a[None], b[:, None])
    return e.count


def join(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """The sum of two rigid inertias."""
    J = add_symmetric(e, A[:3, :3], B[:3, :3])
    h, m = e.add(first_moment(A), first_moment(B)), e.add(A[3:4, 3], B[3:4, 3])
    return assembled(J, h, m[0])


def first_moment(M: Scalars) -> Scalars:
    """h (3,) of a rigid inertia."""
    return np.array([M[r, 3 + c] for r, c in _CROSS])


def assembled(J: Scalars, h: Scalars, m: np.int64) -> Scalars:
    """The block [[J, h~], [-h~, m 1]]."""
    out = np.zeros((6, 6), dtype=np.int64)
    out[:3, :3] = J
    for x, (r, c) in zip(h, _CROSS, strict=True):
        out[r, 3 + c] = out[3 + c, r] = x
        out[c, 3 + r] = out[3 + r, c] = -x
    out[[3, 4, 5], [3, 4, 5]] = m
    return out


def centred(e: Emitter, M: Scalars) -> Scalars:
    """A single body about its centre of mass; one without mass about the joint.

    (4) holds a body's inertia about the joint; E is this inertia less m (|c|^2 1 - c c^T).
    """
    h, m = first_moment(M), M[3:4, 3]
    c = e.div(h, m) if m[0] else h
    return assembled(add_symmetric(e, M[:3, :3], -_steiner(e, h, c)), c, m[0])


def about_joint(e: Emitter, C: Scalars) -> Scalars:
    """The spatial inertia of a composite about the joint."""
    c, m = first_moment(C), C[3:4, 3]
    h = e.mul(m, c)
    return assembled(add_symmetric(e, C[:3, :3], _steiner(e, h, c)), h, m[0])


def carried(e: Emitter, Phi: Scalars, C: Scalars) -> Scalars:
    """A composite in the parent's frame."""
    R = Phi[:3, :3]
    c = e.add(mul(e, R, first_moment(C)[:, None])[:, 0], arm(e, R, Phi[:3, 3:]))
    E = mul_symmetric(e, R, mul(e, C[:3, :3], R.T))
    return assembled(E, c if C[3, 3] else np.zeros_like(c), C[3, 3])


def met(e: Emitter, A: Scalars, B: Scalars) -> Scalars:
    """Two composites as one body."""
    total = e.add(A[3:4, 3], B[3:4, 3])
    E = [A[:3, :3], B[:3, :3]]
    if not A[3, 3] or not B[3, 3]:  # no mass, no centre
        return assembled(add_symmetric(e, *E), first_moment(A if A[3, 3] else B), total[0])
    moments = [e.mul(X[3:4, 3], first_moment(X)) for X in (A, B)]
    c = e.div(e.add(*moments), total)
    for i, X in enumerate((A, B)):
        r = e.sub(first_moment(X), c)
        E[i] = add_symmetric(e, E[i], _steiner(e, e.mul(X[3:4, 3], r), r))
    return assembled(add_symmetric(e, *E), c, total[0])


def _steiner(e: Emitter, h: Scalars, c: Scalars) -> Scalars:
    """m (|c|^2 1 - c c^T) of h = m c, (3, 3)."""
    own = e.mul(h, c)
    i, j = np.triu_indices(3, 1)
    upper = np.diag(e.add(own[[1, 0, 0]], own[[2, 2, 1]]))
    upper[i, j] = -e.mul(h[i], c[j])
    return mirrored(upper)


OPERATIONS: dict[str, Callable[..., Scalars]] = {
    "shift": shift,
    "join": join,
    "centred": centred,
    "carried": carried,
    "met": met,
    "about_joint": about_joint,
}
