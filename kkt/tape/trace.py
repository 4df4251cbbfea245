"""From an order to the tape that every number format reads.

A tape also tells which entry of its instruction's result each operation serves (:func:`entries_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.shadows import InResidues, random_residues
from ..base.compiled import uncollected
from ..base.errors import SingularError, SizeError
from ..base.foreign import foreign
from ..matrix.blocks import Block
from ..matrix.entries import UNIT
from ..matrix.system import System, require_system
from ..order.sequence import OrderLike, PivotSequence, as_sequence, plan
from ..program.program import Program
from ..program.tracer import program_of
from ..structure.symbolic import SymbolicFactor, symbolic
from .lowering import Patterns, Template
from .player import played
from .tape import Tape, lower

KEPT = 1_000_000  # operations of the tapes that are kept with a system
MAX_UPDATES = 3_000_000  # of pairs of blocks, in one trace


def trace(system: System, order: OrderLike, composites: str | None = None) -> Tape:
    """Eliminate once on structure and write the tape that every number format reads.

    Source: equation (4) of Ascher, Pai & Cloutier 1996; docs/elimination.md tells how.

    Inertias behind which no joint has been eliminated are ten numbers.  ``composites`` says whether
    they are formed as such ("rigid", "centre"), for floating point alone, or only "counted" so, or
    not even that ("general"); see :class:`kkt.PivotSequence`.  None: as the order says.

    Time and memory grow with the factor: O(n) for n bodies by abm, O(n^3) by crbm on a chain.

    An order that was traced before on this system, or in another state of it, is not traced again:
    tapes of up to KEPT operations in all are kept with it.

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
    require_system(system)
    sequence = as_sequence(order, system.structure)
    if composites is not None:
        sequence = replace(sequence, composites=composites)
    return kept(system, sequence, lambda: traced(system, symbolic(plan(sequence, system.structure))))


@uncollected()
def traced(system: System, factor: SymbolicFactor) -> Tape:
    """The tape of a symbolic factor; raises SizeError and SingularError as :func:`trace` does."""
    if factor.updates > MAX_UPDATES:
        where = f"order {factor.plan.sequence.name!r}"
        what = f"updates {factor.updates:.1e} pairs of blocks on this tree, more than {MAX_UPDATES:.0e}"
        raise SizeError(where, what, "use an order with less fill, such as abm")
    program = program_of(factor)
    unphysical(program, system)
    tape = lower(program, system)
    structurally_singular(tape, system)
    return tape


def kept(system: System, sequence: PivotSequence, make: Callable[[], Tape]) -> Tape:
    """The tape of a sequence on this system's structure, made once for all its states.

    The key is what an order says, not the order: a function may say something else the next time.
    """
    known: dict[Any, Tape] = system.plans.setdefault("tapes, by order", {})
    rest = [value for name, value in vars(sequence).items() if name != "groups"]
    key: tuple[Any, ...] | None = None
    with foreign(f"order {sequence.name!r}"):  # blocks are hashed, which may be a user's code
        try:
            key = (*rest, tuple(map(tuple, sequence.groups)))
            hash(key)
        except TypeError:  # blocks that are lists, or names that cannot be hashed
            key = None
    if key is None:
        return make()
    found = known.pop(key, None)
    if found is None or not found.reads(system):
        found = make()
    known[key] = found  # the last one that was used stands last
    room = KEPT
    for old, tape in reversed(list(known.items())):
        room -= tape.length
        if room < 0:
            known.pop(old, None)
    return found


def tape_for(system: System, order: OrderLike | Tape | None = None) -> Tape:
    """The tape of an order; one that was traced before must fit this system.

    None stands for leaf to root, body by body (articulated body), which every tree allows.
    """
    if isinstance(order, Tape):
        order.require(system)
        return order
    if order is None:
        groups = [[(kind, k) for kind in ("pdd", "qdd", "f")] for k in system.structure.tip_to_base]
        order = PivotSequence(groups, name="abm")
    return trace(system, order)


# -- what is refused ------------------------------------------------------------------------------


def unphysical(program: Program, system: System) -> None:
    """Refuse orders that pivot on an M_k which is not positive definite.  Raises SingularError."""
    if system.tree.indefinite() or system.tree.singular():
        from .idle import require_weighed

        require_weighed(program, system)


def structurally_singular(tape: Tape, system: System) -> None:
    """Refuse pivots that are singular whatever the numbers: zero modulo a prime, at random."""
    v = np.zeros(tape.slots, dtype=np.int64)
    v[1] = 1
    count = tape.inputs.count
    v[2:count] = random_residues(count - 2)
    for number, slot in tape.inputs.whole.items():
        v[slot] = number
    played(tape, InResidues(), v)
    for number, slots in tape.pivots.items():
        if (v[np.abs(slots)] == 0).any():
            record = tape.program.pivots[number]
            if record.blocks[0].kind != "lam":
                _require_regular(system, tape.program.name, record.blocks[0])
            from .idle import without_rank

            raise without_rank(tape, number, int((v[np.abs(slots)] != 0).sum()))


def _require_regular(system: System, order: str, zero: Block) -> None:
    """Raise SingularError for a robot that moves, in part, without moving a mass, whatever the order.

    ``zero`` is the order's pivot that is zero modulo a prime.
    """
    if order != "abm":  # whose pivots of joints are zero for singular robots alone
        tape_for(system)
        return
    from .idle import unresisted

    idle = unresisted(system, system.entries, UNIT, cut=True)
    loops = " where its loops are cut" if system.structure.ties else ""
    if idle is not None:
        raise SingularError(system.name, f"is singular{loops}: {idle.why}")
    if zero.kind == "qdd":  # its motion is hidden by rounding
        what = f"the joint of {zero.body!r} moves no inertia where the joints beyond it move against it"
        raise SingularError(
            system.name, f"is singular{loops}: {what}", "give its body an inertia, or fix one of them"
        )


def entries_of(tape: Tape, instructions: Iterable[int]) -> dict[int, NDArray[np.int64]]:
    """Entries (i, j), 0-based, of the result for each operation of some instructions.

    Arrays (operations of the instruction, 2), in the tape's order; -1 where an operation serves no
    entry of its own, and for large factors.  An operation that serves several entries is counted
    for the last of them, one that serves (i, j) and (j, i) for the upper one.  The program's
    patterns are found once more.
    """
    program, wanted = tape.program, set(instructions)
    result = {}
    for place, template in Patterns(program, tape.inputs).walk(program.kept):
        if place in wanted:
            none = np.full((tape.first[place + 1] - tape.first[place], 2), -1, dtype=np.int64)
            result[place] = none if template is None else _served(template)
        if len(result) == len(wanted):
            break
    return result


def _served(template: Template) -> NDArray[np.int64]:
    """(operations, 2) the entry that each operation of a template leads to."""
    count, first, out = len(template.op), template.first, np.abs(template.out)
    entry = np.full((count, 2), -1, dtype=np.int64)
    rows, columns = np.nonzero(out >= first)
    for r, c in zip(rows[::-1].tolist(), columns[::-1].tolist(), strict=True):
        entry[out[r, c] - first] = r, c  # the upper of two mirrored ones is set last
    for k in range(count - 1, -1, -1):
        for operand in (template.a[k], template.b[k]):
            if operand >= first and entry[operand - first, 0] < 0:
                entry[operand - first] = entry[k]
    return entry
