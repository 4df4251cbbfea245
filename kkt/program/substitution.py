"""Solving without elimination: a block triangular order of (4), as in inverse dynamics.

With qdd known and tau unknown, the rows f_k, pdd_k, qdd_k of (4) give pdd_k, f_k, tau_k one after
another; nothing is filled in.  A sequence is a list of (row, unknown) blocks, each unknown found
from a row in which all others are known (Luh, Walker & Paul 1980).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..base.errors import OrderError
from ..matrix.blocks import Block, Structure
from .program import Program, Ref, Writer

Substitution = Sequence[tuple[tuple[str, Hashable], tuple[str, Hashable]]]


def trace_substitution(sequence: Substitution, structure: Structure, name: str) -> Program:
    """The block program of a substitution; the slot of tau holds qdd.

    Raises OrderError where a row holds another unknown that is not known yet.
    """
    structure.require_tree(f"order {name!r}: substitution, which finds no force of a loop,")
    w = Writer()
    known: dict[tuple[str, Hashable], Ref | None] = {}

    def need(kind: str, body: Hashable, row: tuple[str, Hashable]) -> Ref | None:
        if (kind, body) not in known:
            raise OrderError(
                f"order {name!r}: row {Block(*row)} needs {Block(kind, body)}, which is not known "
                "yet; put it first"
            )
        return known[kind, body]

    for step, (row, unknown) in enumerate(sequence):
        kind, body = row
        k = structure.index[body]
        dof = int(structure.dof[k])
        w.step = w.pivot = step
        w.at(unknown[0], structure.index[unknown[1]])
        H = w.input("H", k, (dof, 6)) if dof else None
        Phi = w.input("Phi", k, (6, 6)) if structure.parent[k] >= 0 else None
        if (kind, unknown) == ("f", ("pdd", body)):
            value = w.neg(w.input("a", k, (6, 1)))
            if Phi is not None:
                value = w.add(value, w.mul(Phi.T, need("pdd", structure.parent_of(body), row)))
            if H is not None:
                value = w.sub(value, w.mul(H.T, w.input("tau", k, (dof, 1))))
        elif (kind, unknown) == ("pdd", ("f", body)):
            M = w.input("M", k, (6, 6))
            value = w.sub(w.input("b", k, (6, 1)), w.mul(M, need("pdd", body, row)))
            for child in structure.children(body):
                Phi = w.input("Phi", structure.index[child], (6, 6))
                value = w.add(value, w.mul(Phi, need("f", child, row)))
        elif (kind, unknown) == ("qdd", ("tau", body)):
            value = w.mul(H, need("f", body, row))
            if structure.armature[k]:
                own = w.input("A", k, (dof, dof))
                value = w.add(value, w.mul(own, w.input("tau", k, (dof, 1))))
        else:
            raise OrderError(
                f"order {name!r}: row {Block(*row)} has no invertible block for {Block(*unknown)}"
            )
        known[unknown] = value
    solution = {Block(*key): ref for key, ref in known.items() if ref is not None}
    # tau takes the place of qdd in the solution
    solution = {
        Block("qdd", block.body) if block.kind == "tau" else block: ref for block, ref in solution.items()
    }
    return Program(
        name,
        False,
        len(sequence),
        None,
        tuple(w.instructions),
        tuple(w.shapes),
        (),
        solution,
        None,
        (),
        tuple(w.places),
    )
