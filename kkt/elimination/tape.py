"""The tape: the block program lowered to scalar operations, one list for every number type.

Operations are ``op, dst, a, b`` int arrays: ``v[dst] = v[a] op v[b]``.  Slot 0 holds zero, slot 1
one, the next slots the entries of (4).  Operations come in chunks, so that a long tape needs
little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..blocks import Block
from ..system import System
from .chunk import Chunk
from .emit import Scalars
from .inputs import InputSlots
from .lowering import Lowering
from .program import Program

KEEP = 60_000_000  # a tape up to this long is kept for the next number type


@dataclass
class Tape:
    """Scalar operations of a program on one robot's pattern of zeros and ones."""

    program: Program
    inputs: InputSlots
    slots: int = 0  # length of the value array, known once the tape has been written
    solution: dict[Block, Scalars] = field(default_factory=dict)
    pivots: dict[int, Scalars] = field(default_factory=dict)  # record -> slots of its d's
    inertia: Scalars | None = None
    flops: int = 0  # operations that qdd needs
    length: int = 0  # all operations
    _kept: list[Chunk] | None = None

    def chunks(self) -> Iterator[Chunk]:
        """The operations in order; lowered anew each time where the tape is long."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Chunk] | None = []
        lowering = Lowering(self)
        for chunk in lowering.run():
            if kept is not None:
                kept.append(chunk)
                if lowering.written > KEEP:
                    kept = None
            yield chunk
        self._kept = kept

    def write(self) -> Tape:
        """Lower the program once, so that slots, solution and flops are known."""
        for _ in self.chunks():
            pass
        return self


def lower(program: Program, system: System) -> Tape:
    """The tape of a program on the structural zeros and ones of one robot."""
    numbers = {i.info[0] for i in program.instructions if i.op == "divide"}
    inputs = InputSlots(system.pattern, system.tree.dof, system.state.S, tuple(sorted(numbers)))
    return Tape(program, inputs).write()
