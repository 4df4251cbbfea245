"""From an order to the tape that every number format reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base.errors import OrderError, SizeError
from ..matrix.system import System
from ..order.pivots import plan
from ..order.sequence import OrderFunction, PivotSequence, as_sequence
from ..program.tracer import program_of
from ..structure.symbolic import symbolic
from . import refusals
from .tape import Tape, lower

MAX_UPDATES = 3_000_000  # of pairs of blocks, in one trace


def trace(
    system: System, order: PivotSequence | OrderFunction | Any, composites: str | None = None
) -> Tape:
    """Eliminate once on structure and write the tape that every number format reads.

    With ``composites`` "rigid" or "centre", inertias behind which no joint has been eliminated are
    ten numbers (:mod:`kkt.program.composites`): fewer operations, for floating point alone.
    Where it is None the order says it, by itself or in its file.

    Raises OrderError for a sequence that is incomplete, structurally zero or structurally
    singular at a pivot, and SingularError where a pivot needs an inertia that the model lacks.

    >>> system = pt.build(pt.chain(10))
    >>> tape = pt.trace(system, pt.orderings.get("abm"))
    >>> tape.flops
    3256
    >>> single, double = (pt.eliminate(system, tape, name).qdd for name in ("float32", "float64"))
    >>> np.allclose(single, double, rtol=1e-4)
    True
    """
    if isinstance(order, str):
        raise OrderError(f"order {order!r}: is a name; pass orderings.get({order!r})")
    sequence = as_sequence(order, system.structure)
    if composites is not None:
        sequence = replace(sequence, composites=composites)
    factor = symbolic(plan(sequence, system.structure))
    if factor.updates > MAX_UPDATES:
        raise SizeError(
            f"order {factor.plan.sequence.name!r}: updates {factor.updates:.1e} pairs of blocks on "
            f"this tree, more than {MAX_UPDATES:.0e}; use an order with less fill, such as abm"
        )
    program = program_of(factor)
    refusals.unphysical(program, system)
    tape = lower(program, system)
    refusals.structurally_singular(tape, system)
    return tape


def tape_for(system: System, order: PivotSequence | OrderFunction | Tape | Any = None) -> Tape:
    """The tape of an order; one that was traced before must fit this system.

    None stands for leaf to root, body by body (articulated body), which every tree has.
    """
    if isinstance(order, Tape):
        order.require(system)
        return order
    if order is None:
        groups = [[(kind, k) for kind in ("pdd", "qdd", "f")] for k in system.structure.tip_to_base]
        order = PivotSequence(groups, name="abm")
    return trace(system, order)
