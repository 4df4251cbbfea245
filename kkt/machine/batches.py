"""A block program in batches: operations of one kind on blocks of one shape, side by side.

An operation belongs to the first batch of its kind in which all its operands are known, so that
equal subtrees, and equal steps of one bracket, are one operation on stacks of blocks.  Batches are
for XLA, which compiles calls: its cost grows with these and not with numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..program.program import Instruction, Ref

NAMED_BY_PLACE = ("input", "factor")  # their ``info`` says where they stand, not what they do


class Batch(NamedTuple):
    """Instructions of one kind; operand j of all of them is ``operands[j]``, None for zeros."""

    op: str
    symmetric: bool
    info: tuple[Any, ...]
    outs: tuple[int, ...]  # values that are made
    operands: tuple[tuple[Ref, ...] | None, ...]
    places: tuple[tuple[Any, ...], ...]  # ``info`` of each instruction
    shape: tuple[int, int]


def batches(
    instructions: Iterable[Instruction], shapes: Sequence[tuple[int, int]], known: Iterable[int] = ()
) -> list[Batch]:
    """The batches of some instructions; in both sequences operands come before their uses.

    ``known`` are values that were made before.
    """
    depth = dict.fromkeys(known, 0)
    members: dict[tuple[Any, ...], list[Instruction]] = {}
    for i in instructions:
        depth[i.out] = 1 + max((depth[ref.value] for ref in i.present), default=0)
        kinds = tuple(None if ref is None else (shapes[ref.value], ref.transposed) for ref in i.args)
        what = i.info[:1] if i.op == "input" else () if i.op in NAMED_BY_PLACE else i.info
        key = (depth[i.out], i.op, i.symmetric, what, kinds, shapes[i.out])
        members.setdefault(key, []).append(i)
    result = []
    for (_, op, symmetric, info, _, shape), group in sorted(members.items(), key=lambda x: x[0][0]):
        columns = zip(*(i.args for i in group), strict=True)
        operands = tuple(None if None in column else column for column in columns)
        outs, places = tuple(i.out for i in group), tuple(i.info for i in group)
        result.append(Batch(op, symmetric, info, outs, operands, places, shape))
    return result
