"""More right-hand sides for the same pivots.

Equation (4) is K x = r, and a program is linear in r: its factors do not depend on r.  The
instructions that depend on r are written once more for every set of columns, and those that meet a
block of zeros are left out, so that a column's sparsity follows from the tree.  A column that
starts at body k touches the ancestors of k, and in the backward pass their descendants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from ..base.errors import OrderError
from ..matrix.blocks import Block
from ..matrix.entries import RIGHT_HAND_SIDE
from .program import Instruction, Program, Ref, Writer

LETTER = {"pdd": ("b", 1), "qdd": ("tau", 1), "f": ("a", -1), "lam": ("gamma", -1)}  # r, by row


class ContinuedProgram:
    """A program that is continued with more right-hand sides, for which its pivots serve again."""

    def __init__(self, program: Program) -> None:
        """Raises OrderError for an order by rotations, which take the right-hand side along."""
        self.base = program
        self.write: Writer = Writer.after(program)
        self.found: list[dict[Block, Ref]] = []
        self._linear: list[Instruction] = []
        self._depends: set[int] = set()  # values that depend on r
        for i in program.instructions:
            own = [ref.value in self._depends for ref in i.present]
            if i.op == "input" and i.info[0] in RIGHT_HAND_SIDE:
                self._depends.add(i.out)
            elif any(own):
                if i.op not in _WRITTEN or not (all(own) or own.index(True) == len(own) - 1):
                    raise OrderError(
                        f"order {program.name!r}: its rotations take the right-hand side along, "
                        "and no others can follow; use an order of pivots, such as abm"
                    )
                self._depends.add(i.out)
                self._linear.append(i)

    def solve(
        self, right: Mapping[Block, Ref | None], wanted: Collection[Block] | None = None
    ) -> dict[Block, Ref]:
        """K^-1 times columns, given by rows of (4), each named by the block on its diagonal.

        Blocks of unknowns that are zero, or not ``wanted``, are left out.
        """
        w, structure = self.write, self.structure
        values: dict[int, Ref] = {}
        for i in self.base.instructions:
            if i.op == "input" and i.info[0] in RIGHT_HAND_SIDE:
                letter, k = i.info
                kind, sign = next((x, s) for x, (y, s) in LETTER.items() if y == letter)
                name = structure.ties[k].name if kind == "lam" else structure.names[k]
                ref = right.get(Block(kind, name))
                if ref is not None:
                    values[i.out] = ref if sign > 0 else -ref
        before = w.step
        for i in self._linear:
            args = [self._as_used(ref, values) for ref in i.args]
            if any(ref is not None and ref.value in values for ref in i.args):
                w.step = i.step
                out = _WRITTEN[i.op](w, i, args)
                if out is not None:
                    values[i.out] = out
        w.step = before
        solution = {
            block: self._as_used(ref, values)
            for block, ref in self.base.solution.items()
            if wanted is None or block in wanted
        }
        self.found.append({block: ref for block, ref in solution.items() if ref is not None})
        return self.found[-1]

    @property
    def structure(self) -> Any:
        """The order's structure; bodies of the tree come first, then pieces and carriers."""
        assert self.base.symbolic is not None
        return self.base.symbolic.plan.graph.structure

    def program(self) -> Program:
        """The program with all columns that were solved for."""
        w = self.write
        return replace(
            self.base,
            instructions=tuple(w.instructions),
            shapes=tuple(w.shapes),
            places=tuple(w.places),
            columns=tuple(self.found),
        )

    def _as_used(self, ref: Ref | None, values: Mapping[int, Ref]) -> Ref | None:
        """A value as the columns use it: None where it is zero, itself where r is not in it."""
        if ref is None or ref.value not in self._depends:
            return ref
        new = values.get(ref.value)
        if new is None:
            return None
        new = new.T if ref.transposed else new
        return new if ref.sign > 0 else -new


def _stacked(w: Writer, i: Instruction, args: list[Ref | None]) -> Ref | None:
    columns = next((w.shape(ref)[1] for ref in args if ref is not None), 0)
    return w.stack(args, list(i.info[0]), columns)


_WRITTEN: dict[str, Callable[[Writer, Instruction, list[Any]], Ref | None]] = {
    "mul": lambda w, i, x: w.mul(*x),
    "add": lambda w, i, x: w.add(*x),
    "forward": lambda w, i, x: w.forward(*x),
    "solve": lambda w, i, x: w.solve(*x),
    "inner": lambda w, i, x: w.inner(*x),
    "stack": _stacked,
    "rows": lambda w, i, x: w.rows(x[0], *i.info),
    "divide": lambda w, i, x: w.divide(x[0], *i.info),
    "same": lambda w, i, x: x[0],
}
