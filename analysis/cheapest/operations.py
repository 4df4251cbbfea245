"""The cost of an order on a robot: scalar operations that qdd needs, as in the engine's own tape.

Operations are additions, multiplications and divisions from the entries of (4) to qdd, this robot's
zeros and ones folded away: ``kkt.trace(system, order, composites).flops``.  Here they are counted
without writing the tape, and by group, so that the counts of one order serve the next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotSequence, System, plan, symbolic
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.tracer import program_of
from pivotree.kkt.tape.inputs import InputSlots
from pivotree.kkt.tape.lowering import Lowering


class Meter:
    """Counts operations of sequences on one system."""

    def __init__(self, system: System, composites: str) -> None:
        self.system, self.composites = system, composites
        tree = system.tree
        self.inputs = InputSlots(
            system.pattern, tree.names, tree.parent, tree.dof, system.state.S, ties=system.structure.ties
        )
        self._shared: dict[bool, dict[str, Any]] = {}  # templates, by the way of rank updates
        self.traces = 0

    def groups(self, sequence: PivotSequence) -> NDArray[np.int64]:
        """(groups,) operations of each group, forward and backward."""
        self.traces += 1
        sequence = replace(sequence, composites=self.composites)
        program = program_of(symbolic(plan(sequence, self.system.structure)))
        counting = _Counting(program, self.inputs)
        known = ("templates", "codes", "known", "variants")
        if program.gain in self._shared:
            vars(counting).update(self._shared[program.gain])
        self._shared[program.gain] = {name: getattr(counting, name) for name in known}
        return counting.by_group()


class _Counting(Lowering):
    """A lowering whose operations are counted and not kept."""

    def __init__(self, program: Program, inputs: InputSlots) -> None:
        super().__init__(program, inputs)
        self.counts = np.zeros(program.groups + 1, dtype=np.int64)  # the last: before any group

    def by_group(self) -> NDArray[np.int64]:
        program = self.program
        needed = program.live(("qdd",))
        for place, i in enumerate(program.instructions):
            if not needed[place]:
                continue
            if i.op == "factor" and (i.info or program.shapes[i.out][0] > 24):
                for _ in self.large_factor(i):
                    pass
            else:
                self.lower(i)
        return self.counts[:-1]

    def append(self, op: NDArray, dst: Any, a: Any, b: Any, step: int) -> None:
        self.counts[step] += len(op)
