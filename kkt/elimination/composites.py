"""Composite inertias as ten numbers: a sum of rigid inertias is rigid.

As long as no joint has been eliminated behind body k, M^_k is the inertia of one rigid body, its
mass m, first moment h = m d and moments of inertia J about the joint: ten numbers, where a
symmetric 6 x 6 block holds 21.  Carried to the parent's frame they are (Featherstone 2008,
section 2.13)

    h' = R h + m p,    J' = R J R^T + (h'.p + p.Rh) 1 - (h' p^T + p (Rh)^T),    m' = m.

This is Phi M Phi^T where R R^T = 1: an identity of values, not of zeros.  Rotations that have been
rounded satisfy it to rounding only, so that it belongs to programs that start from joint positions
(:func:`kkt.compile`), and to floating point; no digit can be certified with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..errors import FormatError
from .emit import Emitter, Scalars, mirrored, mul, mul_symmetric
from .program import Instruction, Program, Ref

# Places of h in the upper right block, which is its cross-product matrix: (row, column), h_x first.
_CROSS = ((2, 1), (0, 2), (1, 0))


def with_rigid_composites(program: Program) -> Program:
    """The same program, Phi M^ Phi^T and sums of M^ formed from ten numbers where M^ is rigid."""
    by_value = {i.out: i for i in program.instructions}
    rigid: set[int] = set()
    rewritten = []
    for i in program.instructions:
        if i.op == "input" and i.info[0] == "M":
            rigid.add(i.out)
        elif i.op == "add" and i.symmetric and all(_plain(ref, rigid) for ref in i.args):
            i = i._replace(op="join")
            rigid.add(i.out)
        elif i.op == "mul" and i.symmetric:
            moved = _congruence(i, by_value, rigid)
            if moved is not None:
                i = i._replace(op="shift", args=moved)
                rigid.add(i.out)
        rewritten.append(i)
    return replace(program, instructions=tuple(rewritten), composites="rigid")


def require_general(program: Program, what: str) -> None:
    """Raise FormatError where a program takes R R^T = 1, which ``what`` would find untrue."""
    if program.composites == "rigid":
        raise FormatError(
            f"order {program.name!r}: traced with composites 'rigid', which takes R R^T = 1, and "
            f"rounded rotations are not so in {what}; give it composites 'general'"
        )


def _plain(ref: Ref | None, rigid: set[int]) -> bool:
    return ref is not None and ref.value in rigid and ref.sign > 0


def _congruence(
    i: Instruction, by_value: dict[int, Instruction], rigid: set[int]
) -> tuple[Ref, Ref] | None:
    """(Phi, M) where an instruction is Phi (M Phi^T) of a rigid M, else None."""
    left, right = i.args
    if left is None or right is None or left.transposed or right.transposed:
        return None
    outer, inner = by_value[left.value], by_value[right.value]
    if outer.op != "input" or outer.info[0] != "Phi" or inner.op != "mul":
        return None
    M, Phi = inner.args
    if M is None or Phi is None or M.value not in rigid:
        return None
    positive = left.sign * right.sign * M.sign * Phi.sign > 0
    same = Phi.value == left.value and Phi.transposed
    return (Ref(left.value), Ref(M.value)) if positive and same else None


def shift(e: Emitter, Phi: Scalars, M: Scalars) -> Scalars:
    """Phi M Phi^T of a rigid M; by the plain product where zeros make that cheaper."""
    trial, plain = Emitter(0), Emitter(0)
    _shifted(trial, Phi, M)
    mul_symmetric(plain, Phi, mul(plain, M, Phi.T))
    if plain.count < trial.count:
        return mul_symmetric(e, Phi, mul(e, M, Phi.T))
    return _shifted(e, Phi, M)


def _shifted(e: Emitter, Phi: Scalars, M: Scalars) -> Scalars:
    R, B = Phi[:3, :3], Phi[:3, 3:]
    m, h = M[3:4, 3], np.array([M[r, 3 + c] for r, c in _CROSS])
    p = _arm(e, R, B)
    g = mul(e, R, h[:, None])[:, 0]
    moved = e.add(g, e.mul(m, p))
    J = mul_symmetric(e, R, mul(e, M[:3, :3], R.T))
    own = e.mul(p, e.add(moved, g))  # diagonal of h' p^T + p g^T, whose sum is h'.p + p.g
    i, j = np.triu_indices(3, 1)
    diagonal = e.add(J.diagonal(), e.add(own[[1, 0, 0]], own[[2, 2, 1]]))
    across = e.sub(J[i, j], e.add(e.mul(moved[i], p[j]), e.mul(p[i], g[j])))
    upper = np.diag(diagonal)
    upper[i, j] = across
    return _assembled(mirrored(upper), moved, m[0])


def _arm(e: Emitter, R: Scalars, B: Scalars) -> Scalars:
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
    i, j = np.triu_indices(3)
    J = np.zeros((3, 3), dtype=np.int64)
    J[i, j] = e.add(A[i, j], B[i, j])
    a, b = (np.array([X[r, 3 + c] for r, c in _CROSS]) for X in (A, B))
    h, m = e.add(a, b), e.add(A[3:4, 3], B[3:4, 3])
    return _assembled(mirrored(J), h, m[0])


def _assembled(J: Scalars, h: Scalars, m: np.int64) -> Scalars:
    out = np.zeros((6, 6), dtype=np.int64)
    out[:3, :3] = J
    for x, (r, c) in zip(h, _CROSS, strict=True):
        out[r, 3 + c] = out[3 + c, r] = x
        out[c, 3 + r] = out[3 + r, c] = -x
    out[[3, 4, 5], [3, 4, 5]] = m
    return out


OPERATIONS: dict[str, Callable[..., Scalars]] = {"shift": shift, "join": join}
