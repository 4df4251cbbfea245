"""Solving without elimination: a block triangular order of (4), as in inverse dynamics.

With qdd known and tau unknown, the rows f_k, pdd_k, qdd_k of (4) give pdd_k, f_k, tau_k one after
another; nothing is filled in.  A sequence is a list of (row, unknown) blocks, each unknown found
from a row in which all others are known (Luh, Walker & Paul 1980).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..base.errors import OrderError
from ..matrix.blocks import Block, Structure
from .program import Program, Ref
from .residual_program import Equations

Substitution = Sequence[tuple[tuple[str, Hashable], tuple[str, Hashable]]]


def trace_substitution(sequence: Substitution, structure: Structure, name: str) -> Program:
    """The block program of a substitution; the slot of tau holds qdd.

    Raises OrderError where a row holds another unknown that is not known yet.
    """
    structure.require_tree(f"order {name!r}: substitution, which finds no force of a loop,")
    w = Equations(structure, rates="tau")
    known: dict[tuple[str, Hashable], Ref | None] = {}

    def need(kind: str, body: Hashable, row: tuple[str, Hashable]) -> Ref | None:
        if (kind, body) not in known:
            raise OrderError(
                f"order {name!r}",
                f"row {Block(*row)} needs {Block(kind, body)}, which is not known yet",
                "put it first",
            )
        return known[kind, body]

    for step, (row, unknown) in enumerate(sequence):
        kind, body = row
        k = structure.index[body]
        w.step = w.pivot = step
        w.at(unknown[0], structure.index[unknown[1]])
        if (kind, unknown) == ("f", ("pdd", body)):
            up = structure.parent_of(body)
            value = w.motion(k, None if up is None else need("pdd", up, row))
        elif (kind, unknown) == ("pdd", ("f", body)):
            children = structure.children(body)
            carried = (w.mul(w.Phi(structure.index[c]), need("f", c, row)) for c in children)
            value = w.force(k, need("pdd", body, row), carried)
        elif (kind, unknown) == ("qdd", ("tau", body)):
            value = w.add(w.mul(w.H(k), need("f", body, row)), w.geared(k))
        else:
            raise OrderError(
                f"order {name!r}", f"row {Block(*row)} has no invertible block for {Block(*unknown)}"
            )
        known[unknown] = value
    # tau takes the place of qdd in the solution
    solution = {Block("qdd" if kind == "tau" else kind, body): x for (kind, body), x in known.items()}
    return w.program(name, solution, len(sequence))
