"""Solving without elimination: a block triangular order of (4), as in inverse dynamics.

With qdd known and tau unknown, the rows f_k, pdd_k, qdd_k of (4) give pdd_k, f_k, tau_k one after
another; nothing is filled in.  A sequence is a list of (row, unknown) blocks, each unknown found
from a row in which all others are known (Luh, Walker & Paul 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import get_format
from ..blocks import Block, Structure
from ..errors import FormatError, ModelError, OrderError
from ..foreign import foreign
from ..system import System, assemble
from .pivots import name_of
from .program import Program, Ref
from .rounding import rounded_entries
from .run import number_of, run_floats, run_objects
from .tape import Tape, lower
from .writer import Writer

Substitution = Sequence[tuple[tuple[str, Hashable], tuple[str, Hashable]]]


@dataclass(frozen=True)
class InverseDynamics:
    """Joint efforts for given joint accelerations."""

    format: str
    tau: NDArray  # (N,) [N m, N]
    pdd: NDArray  # (n, 6) minus the spatial accelerations
    f: NDArray  # (n, 6) spatial forces [N m, N]
    flops: int
    fill: int = 0  # block triangular: nothing is filled in


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
        else:
            raise OrderError(
                f"order {name!r}: row {Block(*row)} has no invertible block for {Block(*unknown)}"
            )
        known[unknown] = value
    solution = {Block(*key): ref for key, ref in known.items() if ref is not None}
    # tau takes the place of qdd in what comes out
    solution = {
        Block("qdd", block.body) if block.kind == "tau" else block: ref
        for block, ref in solution.items()
    }
    return Program(
        name, False, len(sequence), None,
        tuple(w.instructions), tuple(w.shapes), (), solution, None, (), tuple(w.places),
    )  # fmt: skip


def inverse_dynamics(
    system: System,
    qdd: ArrayLike,
    order: Callable[[Structure], Substitution],
    format: str = "float64",
) -> InverseDynamics:
    """Joint torques tau of (4) for given accelerations, by a substitution order.

    ``qdd`` (N,) [rad/s^2, m/s^2], bodies in the tree's order; tau comes back in [N m, N].  Raises
    ModelError for another shape or a number that is not finite, OrderError for an order of
    pivots, and FormatError for a format that means nothing.
    """
    wanted = np.array(qdd, dtype=float)
    if wanted.shape != system.entries.tau.shape or not np.isfinite(wanted).all():
        raise ModelError(
            f"state: field 'qdd' has shape {wanted.shape}; give {len(system.entries.tau)} "
            "finite numbers, one for each degree of freedom"
        )
    name = name_of(order)
    if getattr(order, "problem", "tau") != "tau":
        raise OrderError(f"order {name!r}: solves for qdd; use orderings.get('inverse_dynamics')")
    with foreign(f"order {name!r}"):
        substitution = order(system.structure)
    program = trace_substitution(substitution, system.structure, name)
    tape: Tape = lower(program, system)
    chosen = get_format(format)
    if chosen.kind in ("ball", "object"):
        raise FormatError(
            f"format {chosen.name!r}: inverse_dynamics needs a floating-point format, exact or mp"
        )
    if chosen.on_arrays:
        rounded_entries(system, chosen)  # or refused
        if not np.isfinite(chosen.cast(wanted)).all():
            raise FormatError(f"state: field 'qdd' overflows {chosen.name}; use a larger range")
        entries = replace(system.entries, tau=wanted)
        solution, _, _ = run_floats(tape, entries, chosen)
    else:
        number = number_of(chosen)
        entries = assemble(replace(system.state, tau=wanted), number)
        solution, _, _ = run_objects(tape, entries, number)
    names, dof = system.tree.names, system.tree.dof
    taus = [solution[Block("qdd", b)] for b, d in zip(names, dof, strict=True) if d]
    return InverseDynamics(
        chosen.name,
        chosen.shown(np.concatenate([np.zeros(0, dtype=chosen.dtype or object), *taus])),
        chosen.shown(np.array([solution[Block("pdd", b)] for b in names])),
        chosen.shown(np.array([solution[Block("f", b)] for b in names])),
        tape.flops,
    )
