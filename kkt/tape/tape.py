"""The tape: the block program lowered to scalar operations, one list for every number type.

Operations are ``op, dst, a, b`` int arrays: ``v[dst] = v[a] op v[b]``, or ``sqrt(v[a])`` with
b = 0.  Slot 0 holds zero, slot 1 one, the next slots the entries of (4).  Operations come in
chunks, so that a long tape needs little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.chunk import Chunk
from ..base.errors import OrderError
from ..base.shown import Shown
from ..matrix.blocks import Block
from ..matrix.system import System
from ..program.owners import Bodies, Owners, diagonal
from ..program.program import Program
from .emit import Scalars
from .inputs import UNKNOWNS, InputSlots, near_centres
from .lowering import Lowering
from .record import Unknowns

KEEP = 60_000_000  # a tape up to this long is kept for the next number type


@dataclass(frozen=True, repr=False)
class Tape(Shown):
    """Scalar operations of a program on one robot's pattern of zeros and ones."""

    program: Program
    inputs: InputSlots
    slots: int  # length of the value array
    solution: dict[Block, Scalars]  # unknowns of every block
    pivots: dict[int, Scalars]  # number of the pivot record -> its d's
    inertia: Scalars | None  # joint-space inertia
    flops: int  # operations that qdd needs
    first: NDArray[np.int64]  # (instructions + 1,) operations before each instruction, and in all
    length: int  # all operations
    kept: tuple[Chunk, ...] | None  # None where the tape is too long to keep
    # unknowns for more right-hand sides, (rows, columns) of every block, as in the program
    columns: tuple[dict[Block, Scalars], ...] = ()

    def facts(self) -> dict[str, Any]:
        name = self.program.name
        return {"name": name, "operations": self.length, "of them for qdd": self.flops, "slots": self.slots}

    def chunks(self) -> Iterator[Chunk]:
        """The operations in order; lowered anew each time where the tape is long."""
        if self.kept is not None:
            return iter(self.kept)
        return Lowering(self.program, self.inputs).run()

    @cached_property
    def found(self) -> Scalars:
        """Signed slots of all unknowns, first columns block by block, and of all pivots."""
        none = np.zeros(0, dtype=np.int64)
        unknowns = (slots[:, 0] for slots in self.solution.values())
        return np.concatenate([none, *unknowns, *map(np.ravel, self.pivots.values())])

    def unknowns(self, system: System) -> Unknowns:
        """Signed slots of all unknowns, bodies in the tree's order."""
        return Unknowns.of(system, {b: x[:, 0] for b, x in self.solution.items()}, np.int64)

    @cached_property
    def pivot_places(self) -> tuple[list[int], NDArray[np.int64], Scalars]:
        """Records with pivots in their order; of all pivots, one after another, record and slot."""
        records = sorted(self.pivots)
        none = np.zeros(0, dtype=np.int64)
        slots = np.concatenate([none, *(self.pivots[i].ravel() for i in records)])
        return records, np.repeat(records, [self.pivots[i].size for i in records]), slots

    def on_diagonal(self, first: int, last: int) -> NDArray[np.bool_]:
        """(last - first,) which of these operations make or use the diagonal blocks D_k."""
        return self._of_instructions(self._diagonal, first, last)

    def bodies(self, first: int, last: int, step: NDArray[np.integer]) -> Owners:
        """(last - first,) the body of each of these operations, at steps ``step``; -1 for none."""
        instruction = self._of_instructions(np.arange(len(self.first) - 1), first, last)
        return self._bodies.of(instruction, step)

    def _of_instructions(self, values: NDArray, first: int, last: int) -> NDArray:
        """The ``values`` of instructions, for each of their operations ``first`` to ``last``."""
        low = int(np.searchsorted(self.first, first, side="right")) - 1
        high = int(np.searchsorted(self.first, last, side="left"))
        bounds = np.clip(self.first[low : high + 1], first, last)
        return np.repeat(values[low:high], np.diff(bounds))

    def joint_space_inertia(self, system: System) -> Scalars:
        """(N, N) signed slots of H Phi M Phi* H*, bodies in the tree's order.

        Raises OrderError for an order that does not eliminate all pdd and f before any qdd.
        """
        offset = system.tree.offset
        N = int(offset[-1])
        matrix = np.zeros((N, N), dtype=np.int64)
        if N and self.inertia is None:
            raise OrderError(
                f"order {self.program.name!r}: does not leave all qdd to the end, so that no "
                "joint-space inertia appears; use crbm"
            )
        if self.inertia is not None:
            at = [
                np.arange(offset[k], offset[k + 1])
                for k in (system.structure.index[b] for b in self.program.inertia_bodies)
            ]
            matrix[np.ix_(*[np.concatenate(at)] * 2)] = self.inertia[:N, :N]  # multipliers follow
        return matrix

    @cached_property
    def _bodies(self) -> Bodies:
        return Bodies(self.program, self.inputs.parent)

    @cached_property
    def _diagonal(self) -> NDArray[np.bool_]:
        return diagonal(self.program)

    def require(self, system: System) -> None:
        """Raise OrderError unless this tape can be read with the system's entries."""
        inputs, tree = self.inputs, system.tree
        if system.pattern is not inputs.pattern and not (
            inputs.names == tree.names
            and np.array_equal(inputs.parent, tree.parent)
            and np.array_equal(inputs.dof, tree.dof)
            and inputs.ties == system.structure.ties
            and inputs.pattern.holds(system.entries)
        ):
            raise OrderError(
                f"order {self.program.name!r}: its tape was traced on another tree, or where "
                "entries were zero that are not zero here; trace it again on this system"
            )
        factor = self.program.symbolic
        if factor is not None and factor.plan.along_the_joint:
            moved = inputs.moved_joint(system.state.S)
            if moved is not None:
                raise OrderError(
                    f"order {self.program.name!r}: the joint of body {moved!r} has turned since "
                    "its tape was traced, so that its force splits otherwise; trace it again"
                )


def lower(program: Program, system: System, beside: tuple[Scalars, ...] = ()) -> Tape:
    """The tape of a program on the structural zeros and ones of one robot.

    ``beside`` are the zeros (0), ones (1) and other entries (2) of the blocks that the program
    takes as inputs beside those of (4).
    """
    numbers = {i.info[0] for i in program.instructions if i.op == "divide"}
    letters = {i.info[0] for i in program.instructions if i.op == "input"}
    rotations = any(i.op == "rotate" for i in program.instructions)
    tree = system.tree
    inputs = InputSlots(
        system.pattern,
        tree.names,
        tree.parent,
        tree.dof,
        system.state.S,
        tuple(sorted(numbers)),
        tuple(letter for letter in UNKNOWNS if letter in letters),
        near=near_centres(tree, system.pattern) if rotations else None,
        ties=system.structure.ties,
        beside=beside,
    )
    lowering = Lowering(program, inputs)
    kept: list[Chunk] = []
    for chunk in lowering.run():
        if lowering.written > KEEP:
            kept.clear()
        else:
            kept.append(chunk)
    return Tape(
        program,
        inputs,
        slots=lowering.top,
        solution=lowering.solution(),
        pivots=lowering.pivots,
        inertia=lowering.inertia,
        flops=lowering.flops,
        first=lowering.first,
        length=lowering.written,
        kept=None if lowering.written > KEEP else tuple(kept),
        columns=lowering.columns(),
    )
