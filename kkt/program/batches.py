"""A block program in batches: operations of one kind on blocks of one shape, side by side.

An operation belongs to the first batch of its kind in which all its operands are known, so that
equal subtrees, and equal steps of one bracket, are one operation on stacks of blocks.  For readers
whose cost is counted in calls and not in numbers (XLA compiles calls).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .program import Instruction, Program, Ref

NAMED_BY_PLACE = ("input", "factor")  # whose ``info`` says where, and not what


class Batch(NamedTuple):
    """Instructions of one kind; operand j of all of them is ``operands[j]``, None for zeros."""

    op: str
    symmetric: bool
    info: tuple
    outs: tuple[int, ...]  # values that are made
    operands: tuple[tuple[Ref, ...] | None, ...]
    places: tuple[tuple, ...]  # ``info`` of each instruction
    shape: tuple[int, int]


def batches(
    instructions: Iterable[Instruction],
    shapes: Sequence[tuple[int, int]],
    known: Iterable[int] = (),
) -> list[Batch]:
    """Instructions, in any sequence in which operands come first, as batches in such a sequence.

    ``known`` are values that were made before.
    """
    depth = dict.fromkeys(known, 0)
    members: dict[tuple, list[Instruction]] = {}
    for i in instructions:
        depth[i.out] = 1 + max((depth[ref.value] for ref in i.present), default=0)
        kinds = tuple(
            None if ref is None else (shapes[ref.value], ref.transposed) for ref in i.args
        )
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


class Parts(NamedTuple):
    """A program in two: what the matrix alone decides, and what right-hand sides need beside it."""

    factor: tuple[Instruction, ...]
    rest: tuple[Instruction, ...]
    found: tuple[Ref | None, ...]  # what was asked for, None where it is zero


def parted(program: Program, wanted: Sequence[Ref], zero: Sequence[str] = ()) -> Parts:
    """The instructions that ``wanted`` need, where the inputs called ``zero`` are zero.

    What begins at the right-hand side (a, b, tau) comes apart from the rest.  Values keep their
    numbers, so that one factor serves right-hand sides with other zeros.
    """
    right: set[int] = set()
    stands_for: dict[int, Ref | None] = {}
    kept: list[Instruction] = []
    for i in program.instructions:
        if i.op == "input" and i.info[0] in zero:
            stands_for[i.out] = None
            continue
        args = tuple(_standing(ref, stands_for) for ref in i.args)
        if i.op == "add" and None in args:
            stands_for[i.out] = next((ref for ref in args if ref is not None), None)
            continue
        if args != i.args and _vanishes(i.op, args):
            stands_for[i.out] = None
            continue
        if (i.op == "input" and i.info[0] in ("a", "b", "tau")) or any(
            ref is not None and ref.value in right for ref in args
        ):
            right.add(i.out)
        kept.append(i._replace(args=args))
    found = tuple(_standing(ref, stands_for) for ref in wanted)
    need = {ref.value for ref in found if ref is not None}
    live: list[Instruction] = []
    for i in reversed(kept):
        if i.out in need:
            live.append(i)
            need.update(ref.value for ref in i.present)
    live.reverse()
    return Parts(
        tuple(i for i in live if i.out not in right),
        tuple(i for i in live if i.out in right),
        found,
    )


def _standing(ref: Ref | None, stands_for: dict[int, Ref | None]) -> Ref | None:
    """What stands for a use of a value: itself, another value, or None for zeros."""
    if ref is None or ref.value not in stands_for:
        return ref
    other = stands_for[ref.value]
    if other is None:
        return None
    return Ref(other.value, other.transposed != ref.transposed, other.sign * ref.sign)


def _vanishes(op: str, args: tuple[Ref | None, ...]) -> bool:
    """Whether an operation with some operands zero gives zero."""
    return all(ref is None for ref in args) if op in ("stack", "square") else None in args
