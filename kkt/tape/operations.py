"""What an instruction of a block program is in scalars: the one place that says so.

Blocks are arrays of signed scalars (:mod:`.emit`).  The tape lowers whole programs with these two
functions, and :mod:`kkt.scale.template` the bracket of one body.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..program.program import Instruction, Ref
from . import centre, emit, emit_orthogonal
from .emit import Emitter, Scalars


def arranged(i: Instruction, take: Callable[[Ref | None], Scalars], columns: int) -> Scalars | None:
    """The result of an instruction that only renames scalars; None for one that is arithmetic.

    ``take`` gives the scalars of a reference; ``columns`` are those of the result.
    """
    if i.op == "eye":
        return np.eye(i.info[0], dtype=np.int64)
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


def emitted(e: Emitter, i: Instruction, blocks: list[Scalars], info: tuple, gain: bool) -> Scalars:
    """The result of an instruction that is arithmetic, written down by an emitter.

    ``info`` is what the robot adds to the instruction: rows of S, columns of rotations.
    """
    if i.op in ("along", "across"):
        return getattr(emit, i.op)(e, blocks[0], info)
    if i.op == "basis":
        return emit_orthogonal.basis(e, blocks[0], info)
    if i.op in emit_orthogonal.OPERATIONS:
        return emit_orthogonal.OPERATIONS[i.op](e, *blocks, *info)
    if i.op in centre.OPERATIONS:
        return centre.OPERATIONS[i.op](e, *blocks)
    if i.op == "divide":
        out = e.div(blocks[0], blocks[1])
        return emit.mirrored(out) if i.symmetric else out
    if i.op in emit.FACTORS:
        return emit.FACTORS[i.op](e, *blocks, gain)
    return emit.OPERATIONS[i.op, i.symmetric](e, *blocks)
