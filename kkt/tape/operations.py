"""The meaning of a block program's instructions in scalars, which is defined here alone.

Blocks are arrays of signed scalars (:mod:`.emit`).  The tape lowers whole programs with these two
functions, and :mod:`kkt.scale.template` the bracket of one body.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..program.program import Instruction, Ref
from . import emit, emit_orthogonal, rigid
from .branches import branches
from .emit import Emitter, Scalars


def arranged(i: Instruction, take: Callable[[Ref | None], Scalars], columns: int) -> Scalars | None:
    """The result of an instruction that only renames scalars; None for one that is arithmetic.

    ``take`` gives the scalars of a reference; ``columns`` are those of the result.
    """
    if i.op == "eye":
        return np.eye(i.info[0], dtype=np.int64)
    if i.op == "cross":
        return crossing(take(i.args[0])[:, 0], *i.info)
    if i.op == "inertial":
        return inertial(take(i.args[0])[:, 0])
    if i.op == "mirror":
        return emit.mirrored(take(i.args[0]))
    if i.op == "rows":
        return take(i.args[0])[i.info[0] : i.info[1]]
    if i.op == "stack":
        parts = [
            np.zeros((rows, columns), dtype=np.int64) if ref is None else take(ref)
            for ref, rows in zip(i.args, i.info[0], strict=True)
        ]
        return np.concatenate(parts)
    if i.op == "square":
        (sizes,) = i.info
        at = np.concatenate([[0], np.cumsum(sizes)])
        out = np.zeros((int(at[-1]),) * 2, dtype=np.int64)
        blocks = iter(i.args)
        for r in range(len(sizes)):
            for c in range(r, len(sizes)):
                ref = next(blocks)
                if ref is not None:
                    out[at[r] : at[r + 1], at[c] : at[c + 1]] = take(ref)
        return emit.mirrored(out)
    return None


def tilde(x: Scalars) -> Scalars:
    """The cross-product matrix (3, 3) of x (3,)."""
    zero = 0 * x[0]
    return np.array([[zero, -x[2], x[1]], [x[2], zero, -x[0]], [-x[1], x[0], zero]])


def inertial(u: Scalars) -> Scalars:
    """(6, 10) E with M u = E theta of a motion (6,), theta = m, m c, I by its lower triangle."""
    w, v, none = u[:3], u[3:], np.zeros((3, 1), dtype=np.int64)
    turned = np.zeros((3, 6), dtype=np.int64)
    for column, (i, j) in enumerate(zip(*np.tril_indices(3), strict=True)):
        turned[i, column] = w[j]
        turned[j, column] = w[i]
    return np.block([[none, -tilde(v), turned], [v[:, None], tilde(w), 0 * turned]])


def crossing(u: Scalars, kind: str = "motion") -> Scalars:
    """The matrix (6, 6) u x for motions; of a force u (6,), the matrix from v to v x* u."""
    first, last, none = tilde(u[:3]), tilde(u[3:]), np.zeros((3, 3), dtype=np.int64)
    if kind == "motion":
        return np.block([[first, none], [last, first]])
    return -np.block([[first, last], [last, none]])


def emitted(
    e: Emitter, name: str, symmetric: bool, blocks: list[Scalars], info: tuple, gain: bool
) -> Scalars:
    """The result of an operation that is arithmetic, which an emitter writes down.

    ``info`` holds what the operation takes from the robot: rows of S, columns of rotations.
    """
    if name in ("along", "across"):
        return getattr(emit, name)(e, blocks[0], info)
    if name == "basis":
        return emit_orthogonal.basis(e, blocks[0], info)
    if name in emit_orthogonal.OPERATIONS:
        return emit_orthogonal.OPERATIONS[name](e, *blocks, *info)
    if name in rigid.OPERATIONS:
        return rigid.OPERATIONS[name](e, *blocks)
    if name == "divide":
        out = e.div(blocks[0], blocks[1])
        return emit.mirrored(out) if symmetric else out
    if name == "branches":
        return branches(e, *blocks)
    if name in emit.FACTORS:
        return emit.FACTORS[name](e, *blocks, gain)
    return emit.OPERATIONS[name, symmetric](e, *blocks)
