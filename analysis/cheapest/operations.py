"""The cost of an order on a robot: scalar operations that qdd needs, as in the engine's own tape.

Operations are additions, multiplications and divisions from the entries of (4) to qdd, this robot's
zeros and ones folded away: ``kkt.trace(system, order, composites).flops``.  Here they are counted
without writing the tape, and by group, so that the counts of one order serve the next.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotSequence, System, plan, symbolic
from pivotree.kkt.program.tracer import as_counted, program_of
from pivotree.kkt.tape.inputs import InputSlots
from pivotree.kkt.tape.templates import Known, Patterns


class Meter:
    """Counts operations of sequences on one system."""

    def __init__(self, system: System, composites: str) -> None:
        self.system = system
        self.composites = composites
        tree = system.tree
        self.inputs: InputSlots = InputSlots(
            system.pattern, tree.names, tree.parent, tree.dof, system.state.S, ties=system.structure.ties
        )
        self._known = {gain: Known() for gain in (False, True)}  # templates, by the way of rank updates

    def groups(self, sequence: PivotSequence) -> NDArray[np.int64]:
        """(groups,) operations of each group, forward and backward."""
        sequence = replace(sequence, composites=self.composites)
        program = as_counted(program_of(symbolic(plan(sequence, self.system.structure))))
        return Patterns(program, self.inputs, self._known[program.gain]).work()[:-1]
