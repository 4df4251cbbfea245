"""Programs of a tree and its orders: made once, and then kept on disk by content."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import get_format
from ..arithmetic.formats import Format, Hardware
from ..base.errors import SingularError, Undefined
from ..matrix.configuration import Configuration
from ..matrix.system import System
from ..order.pivots import plan
from ..order.sequence import PivotSequence, as_sequence
from ..tape.tape import Tape
from . import store
from .checking import by_rotations, looked_at, require_pivots
from .emission import PIECE
from .forward_dynamics import Request, forward_dynamics, recorder_for, tape_of
from .scalar_program import ScalarProgram, depth_first
from .trigonometry import expanded

PRECISION = {"float64": 53, "float32": 24}


@dataclass(frozen=True)
class Stage:
    """A program as it is counted and as it is run."""

    program: ScalarProgram
    straight: ScalarProgram  # in machine code, sines and cosines are arithmetic


@dataclass(frozen=True)
class Programs:
    """A program in one stage or three (:mod:`.checking`), and the name of its order or orders."""

    order: str
    stages: tuple[Stage, ...]
    pivots: tuple[NDArray[np.int64], ...] = ()  # of each order: kind, body and step
    rotations: tuple[bool, ...] = ()  # which orders eliminate by rotations


def programs_of(
    system: System, configuration: Configuration, orders: list[Any], chosen: Format, request: Request
) -> Programs:
    """The programs, from the disk where the same were traced before; errors are never kept."""
    whole = any(isinstance(order, Tape) or order is None for order in orders)
    if whole or not isinstance(chosen, Hardware):
        return _trace(system, configuration, orders, chosen, request)
    # called once, since an order function may return something else the next time
    sequences = [as_sequence(order, system.structure) for order in orders]
    name = _content(system, sequences, chosen, request)
    kept = store.read(name)
    if kept is not None:
        count = sum(part.endswith("straight_op") for part in kept)
        stages = tuple(
            Stage(_program(kept, f"{i}_program"), _program(kept, f"{i}_straight")) for i in range(count)
        )
        pivots = tuple(kept[f"pivots_{i}"] for i in range(len(sequences))) if request.check else ()
        rotations = tuple(s.rules.elimination == "orthogonal" for s in sequences)
        names = ", ".join(s.name for s in sequences)
        return Programs(names, stages, pivots, rotations)
    with uncollected():
        made = _trace(system, configuration, sequences, chosen, request)
    arrays = {f"pivots_{i}": pivots for i, pivots in enumerate(made.pivots)}
    for i, stage in enumerate(made.stages):
        arrays |= _arrays(stage.program, f"{i}_program") | _arrays(stage.straight, f"{i}_straight")
    store.write(name, arrays)
    return made


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles among the small objects of a trace, which takes a third of its time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _trace(
    system: System, configuration: Configuration, orders: list[Any], chosen: Format, request: Request
) -> Programs:
    """The programs, traced; raises SingularError for a pivot that is zero in any state."""
    tapes = [tape_of(system, order, request.frames) for order in orders]
    require_pivots(system, tapes, chosen)
    try:
        found = forward_dynamics(system, configuration, tapes, chosen, request)
    except Undefined as error:
        names = ", ".join(tape.program.name for tape in tapes)
        raise SingularError(
            f"order {names!r}: in any state {error}, so that a pivot is zero for {chosen.name}; "
            "use another order or format, such as abm in float64"
        ) from None
    stages = tuple(Stage(program, program) for program in found)
    if isinstance(chosen, Hardware):
        formats = (chosen, get_format("float64"), chosen)
        straight = [_without_sines(p, f) for p, f in zip(found, formats, strict=False)]
        stages = tuple(_as_run(*both) for both in zip(found, straight, strict=True))
    pivots = tuple(looked_at(tape, system) for tape in tapes) if request.check else ()
    rotations = tuple(by_rotations(tape) for tape in tapes)
    names = ", ".join(tape.program.name for tape in tapes)
    return Programs(names, stages, pivots, rotations)


def _without_sines(program: ScalarProgram, chosen: Format) -> ScalarProgram:
    """The program with sines and cosines as arithmetic."""
    return expanded(program, recorder_for(chosen, program.inputs), PRECISION[chosen.name])


def _as_run(program: ScalarProgram, straight: ScalarProgram) -> Stage:
    """The program with its operations in the sequence in which they run."""
    if len(straight) > PIECE:  # values of a shorter one fit into the fastest cache anyway
        straight = depth_first(straight)
    return Stage(program, straight)


def _content(system: System, sequences: list[PivotSequence], chosen: Format, request: Request) -> str:
    """The key of a program: a hash of everything that it depends on."""
    tree, pattern = system.tree, system.pattern
    orders: list[Any] = []
    for sequence in sequences:
        met = plan(sequence, system.structure)
        orders += [sequence.rules, sequence.links, sequence.composites]
        orders += [met.graph.split, met.blocks, met.group, met.paired]
    zeros = [getattr(pattern, letter) for letter in ("M", "Phi", "S", "Phi_one", "S_one", "a")]
    terms = () if tree.terms is None else astuple(tree.terms)
    index = system.structure.index
    held = [
        (
            *(index.get(body, -1) for body in loop.bodies),
            loop.R,
            loop.p,
            loop.C,
            loop.free,
            loop.point,
            loop.baumgarte,
            loop.compliance,
            loop.beside is None,
            loop.follows if loop.curved else None,
        )
        for one in system.loops
        for loop in one.pairs
    ]
    return store.key(
        "program",
        chosen.name,
        astuple(request),
        tree.parent,
        tree.joint,
        tree.axis,
        tree.R,
        tree.p,
        tree.mass,
        tree.com,
        tree.inertia,
        tree.gravity,
        *system.state.S,
        system.state.wrench,
        pattern.A,
        system.state.step,
        *terms,
        *zeros,
        *orders,
        *(part for loop in held for part in loop),
    )


def _arrays(program: ScalarProgram, name: str) -> store.Arrays:
    return {
        f"{name}_{part}": np.asarray(getattr(program, part))
        for part in ("inputs", "constants", "op", "a", "b", "outputs")
    }


def _program(kept: store.Arrays, name: str) -> ScalarProgram:
    inputs, *arrays = (kept[f"{name}_{part}"] for part in ("inputs", "constants", "op", "a", "b", "outputs"))
    return ScalarProgram(int(inputs), *arrays)
