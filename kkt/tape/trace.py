"""From an order to the tape that every number format reads.

The entry of its instruction's result to which each operation of a tape contributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.shadows import InResidues, random_residues
from ..base.compiled import uncollected
from ..base.errors import OrderError, SingularError, SizeError
from ..base.foreign import foreign
from ..matrix.blocks import Block
from ..matrix.entries import UNIT
from ..matrix.system import System, require_system
from ..model.spatial import paths
from ..order.sequence import OrderLike, PivotSequence, as_sequence, plan
from ..program.program import Program
from ..program.tracer import program_of
from ..structure.symbolic import SymbolicFactor, symbolic
from .inputs import pivot_rows
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
        raise SizeError(
            f"order {factor.plan.sequence.name!r}",
            f"updates {factor.updates:.1e} pairs of blocks on this tree, more than {MAX_UPDATES:.0e}",
            "use an order with less fill, such as abm",
        )
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
    indefinite = {system.tree.names[k] for k in system.tree.indefinite()}
    singular = {system.tree.names[k] for k in system.tree.singular()}
    if not indefinite and not singular:
        return
    tree = system.tree
    if tree.dof.any() and not (tree.mass.any() or tree.inertia.any() or system.entries.A.any()):
        raise SingularError(tree.name, "no link has a mass", "give each link that a joint moves its inertia")
    assert program.symbolic is not None
    if program.symbolic.plan.sequence.rules.elimination == "orthogonal":
        return _unweighable(program, system)
    structure = program.symbolic.plan.graph.structure
    made_by = {i.out: i for i in program.instructions}
    for record in program.pivots:
        for block in record.blocks:
            if record.pair or block.kind != "pdd":
                continue
            body = structure.names[structure.copy_of[structure.index[block.body]]]  # also of its pieces
            what = None
            if body in indefinite:
                what = "is not positive definite"
            elif body in singular:
                (factored,) = made_by[record.factor].args
                source = made_by[factored.value] if factored else made_by[record.factor]
                what = "is singular" if source.op in ("input", "divide", "square") else None
            if what:
                fixed = system.tree.joint[system.structure.index[body]] == "fixed"
                merge = (
                    "merge its fixed joint (merge_fixed=True; on the command line, no --urdf keep-fixed), or "
                )
                raise SingularError(
                    f"body {body!r}",
                    f"field 'inertia' (or 'mass') {what}",
                    f"{merge * fixed}use an order that pairs pdd with f, such as abm",
                    f"and order {program.name!r} pivots on M_k at step {record.step + 1}",
                )


def _unweighable(program: Program, system: System) -> None:
    """Refuse rotations where M_k is not R^T D R, D >= 0, with the zeros of D in its pattern."""
    tree = system.tree
    singular = [k for k in tree.singular() if not _zeros_are_structure(system, k)]
    for record in program.pivots:
        if record.blocks[0].kind == "lam":
            continue
        k = system.structure.index[record.blocks[0].body]
        if k in tree.indefinite() or k in singular:
            what = "is not positive definite" if k in tree.indefinite() else "is singular"
            raise SingularError(
                f"body {tree.names[k]!r}",
                f"field 'inertia' (or 'mass') {what}",
                "give it a full inertia or none, or use an order that pairs pdd with f, such as abm",
                f"and order {program.name!r} takes its root at step {record.step + 1}",
            )


def _zeros_are_structure(system: System, k: int) -> bool:
    """Whether the rows of [S E]^T M [S E] are zero or independent, in any state."""
    S = system.state.S[k]
    basis = np.concatenate([S, np.delete(np.eye(6), pivot_rows(S), axis=1)], axis=1)
    K = basis.T @ system.entries.M[k] @ basis
    kept = (np.abs(basis.T) @ system.pattern.M[k] @ np.abs(basis)).any(axis=1)
    K = K[np.ix_(kept, kept)]
    size = np.sqrt(K.diagonal())
    if not len(K):  # numpy before 2.2 has no rank of an empty matrix
        return True
    return bool((size > 0).all() and np.linalg.matrix_rank(K / np.outer(size, size)) == len(K))


def structurally_singular(tape: Tape, system: System) -> None:
    """Refuse pivots that are singular whatever the numbers: zero modulo a prime, at random."""
    v = np.zeros(tape.slots, dtype=np.int64)
    v[1] = 1
    count = tape.inputs.count
    v[2:count] = random_residues(count - 2)
    for number, slot in tape.inputs.whole.items():
        v[slot] = number
    played(tape, InResidues(), v)
    for number, slots in sorted(tape.pivots.items()):
        if (v[np.abs(slots)] == 0).any():
            record = tape.program.pivots[number]
            rank = f"rank {int((v[np.abs(slots)] != 0).sum())} of {len(slots)}"
            where = f"pivot {record.blocks[0]} at step {record.step + 1} is structurally singular"
            name = tape.program.name
            if record.blocks[0].kind == "lam":
                raise OrderError(f"order {name!r}", f"{where} ({rank})", _mend(tape, number))
            _require_regular(system, name)
            partner = Block(
                "pdd" if record.blocks[0].kind in ("f", "fC", "fJ") else "f", record.blocks[0].body
            )
            gone = {block for earlier in tape.program.pivots[:number] for block in earlier.blocks}
            why = "" if partner in gone else f", since {partner} comes after it"
            raise OrderError(
                f"order {name!r}", f"{where} ({rank}){why}", "use an order that pairs the two, such as abm"
            )


def _require_regular(system: System, order: str) -> None:
    """Raise SingularError for a robot that moves, in part, without moving a mass, whatever the order."""
    if order != "abm":  # whose pivots of joints are zero for singular robots alone
        tape_for(system)
        return
    from .idle import unresisted

    idle = unresisted(system, system.entries, UNIT, cut=True)
    if idle is not None:
        loops = " where its loops are cut" if system.structure.ties else ""
        raise SingularError(system.name, f"is singular{loops}: {idle.why}")


def _mend(tape: Tape, number: int) -> str:
    """The remedy for multipliers whose pivot is singular: eliminate them later, or drop rows."""
    records, factor = tape.program.pivots, tape.program.symbolic
    assert factor is not None
    structure, loop = factor.plan.graph.structure, records[number].blocks[0].body
    tie = structure.ties[structure.tie_index[loop]]
    gone = {block for record in records[:number] for block in record.blocks}
    late = [
        Block("qdd", structure.names[k])
        for k in paths(tie.bodies, structure.parent)
        if structure.dof[k] and Block("qdd", structure.names[k]) not in gone
    ]
    if late:
        more = f" and {len(late) - 1} more of its loop's joints" if late[1:] else ""
        return f"eliminate {late[0]}{more} first, or leave it out, and it comes last"
    return "keep fewer of its rows, or give them a compliance"


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
