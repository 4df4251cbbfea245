"""What is refused before any number is computed, with the body, the step and a remedy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import modular
from ..base.errors import OrderError, SingularError
from ..matrix.blocks import Block
from ..matrix.system import System
from ..model.parents import path
from ..program.program import Program
from .inputs import pivot_rows
from .tape import Tape


def unphysical(program: Program, system: System) -> None:
    """Orders that pivot on M_k need it positive definite."""
    indefinite = {system.tree.names[k] for k in system.tree.indefinite()}
    singular = {system.tree.names[k] for k in system.tree.singular()}
    if not indefinite and not singular:
        return
    assert program.symbolic is not None
    if program.symbolic.plan.sequence.rules.elimination == "orthogonal":
        return _unweighable(program, system)
    graph = program.symbolic.plan.graph
    made_by = {i.out: i for i in program.instructions}
    for record in program.pivots:
        for block in record.blocks:
            if record.pair or block.kind != "pdd":
                continue
            body = _own_body(graph.structure, block.body)
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
                    "merge its fixed joint (merge_fixed=True; on the command line, no "
                    "--keep-fixed), or "
                    if fixed
                    else ""
                )
                raise SingularError(
                    f"body {body!r}: field 'inertia' (or 'mass') {what}, and order "
                    f"{program.name!r} pivots on M_k at step "
                    f"{record.step + 1}; {merge}use an order that pairs pdd with f, such as abm"
                )


def _unweighable(program: Program, system: System) -> None:
    """Rotations start from M_k = R^T D R, D >= 0, whose zeros must be seen in its pattern."""
    tree = system.tree
    singular = [k for k in tree.singular() if not _zeros_are_structure(system, k)]
    for record in program.pivots:
        k = system.structure.index[record.blocks[0].body]
        if k in tree.indefinite() or k in singular:
            what = "is not positive definite" if k in tree.indefinite() else "is singular"
            raise SingularError(
                f"body {tree.names[k]!r}: field 'inertia' (or 'mass') {what}, and order "
                f"{program.name!r} takes its root at step {record.step + 1}; give it a full "
                "inertia or none, or use an order that pairs pdd with f, such as abm"
            )


def _zeros_are_structure(system: System, k: int) -> bool:
    """Whether the rows of [S E]^T M [S E] are zero or independent, in any state."""
    S = system.state.S[k]
    basis = np.concatenate([S, np.delete(np.eye(6), pivot_rows(S), axis=1)], axis=1)
    K = basis.T @ system.entries.M[k] @ basis
    kept = (np.abs(basis.T) @ system.pattern.M[k] @ np.abs(basis)).any(axis=1)
    K = K[np.ix_(kept, kept)]
    size = np.sqrt(K.diagonal())
    return bool((size > 0).all() and np.linalg.matrix_rank(K / np.outer(size, size)) == len(K))


def _own_body(structure: Any, name: Any) -> Any:
    """The body of the tree that a piece of a split link belongs to."""
    if structure.copy_of is None:
        return name
    return structure.names[structure.copy_of[structure.index[name]]]


def structurally_singular(tape: Tape, system: System) -> None:
    """Pivots that are singular whatever the numbers: zero modulo a prime for random entries."""
    v = np.zeros(tape.slots, dtype=np.int64)
    v[1] = 1
    count = tape.inputs.count
    v[2:count] = modular.random_residues(count - 2)
    for number, slot in tape.inputs.whole.items():
        v[slot] = number
    for chunk in tape.chunks():
        modular.run(chunk, v)
    for number, slots in sorted(tape.pivots.items()):
        if (v[np.abs(slots)] == 0).any():
            record = tape.program.pivots[number]
            rank = f"rank {int((v[np.abs(slots)] != 0).sum())} of {len(slots)}"
            where = f"pivot {record.blocks[0]} at step {record.step + 1} is structurally singular"
            name = tape.program.name
            if record.blocks[0].kind == "lam":
                raise OrderError(f"order {name!r}: {where} ({rank}); {_mend(tape, number)}")
            massless = _massless(system, record.blocks[0].body)
            if massless:
                raise SingularError(
                    f"body {massless!r}: carries a joint but no mass beyond it, so {where} "
                    f"({rank}) in order {name!r}; give it an inertia or fix its joint"
                )
            raise OrderError(
                f"order {name!r}: {where} ({rank}); "
                f"eliminate {_force_partner(record.blocks[0])} first"
            )


def _massless(system: System, body: Any) -> Any:
    """The body, where neither it nor anything that it carries has a full inertia."""
    weak = set(system.tree.singular())
    k = system.structure.index.get(body)
    if k is None or k not in weak:
        return None
    carried = [system.structure.index[child] for child in system.structure.children(body)]
    while carried:
        child = carried.pop()
        if child not in weak:
            return None
        carried += [
            system.structure.index[c] for c in system.structure.children(system.tree.names[child])
        ]
    return body


def _mend(tape: Tape, number: int) -> str:
    """What to do about multipliers whose pivot is singular: wait, or drop rows."""
    records, factor = tape.program.pivots, tape.program.symbolic
    assert factor is not None
    structure, loop = factor.plan.graph.structure, records[number].blocks[0].body
    tie = structure.ties[structure.tie_index[loop]]
    gone = {block for record in records[:number] for block in record.blocks}
    late = [
        Block("qdd", structure.names[k])
        for k in path((*tie.bodies, -1)[:2], structure.parent)  # type: ignore[arg-type]
        if structure.dof[k] and Block("qdd", structure.names[k]) not in gone
    ]
    if late:
        more = f" and {len(late) - 1} more of its loop's joints" if late[1:] else ""
        return f"eliminate {late[0]}{more} first, or leave it out, and it comes last"
    return "keep fewer of its rows, or give them a compliance"


def _force_partner(block: Block) -> str:
    return str(Block("pdd" if block.kind in ("f", "fC", "fJ") else "f", block.body))
