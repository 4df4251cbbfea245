"""From a tree and an order to one scalar program: kinematics, then the order's tape.

Programs of a tree and an order are made once, and then kept on disk by content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import get_format
from ..arithmetic.formats import DIV, MUL, Chunk, Format, Hardware
from ..base.compiled import uncollected
from ..base.errors import (
    ArmatureError,
    FormatError,
    LoopError,
    ModelError,
    OrderError,
    SingularError,
    SizeError,
    Undefined,
)
from ..matrix.closures import closures
from ..matrix.configuration import Configuration, in_general
from ..matrix.entries import LETTERS, UNIT, Entries
from ..matrix.system import System, build, qdd_alone
from ..model.joints import GENERAL, TYPES
from ..model.loops import Loop
from ..model.spatial import Array
from ..model.tree import BodyTree
from ..order.sequence import PivotSequence, as_sequence, plan
from ..program.joint_space import SOLVERS
from ..program.residual_program import residual_program
from ..tape.derivatives import DERIVED, differentiated, inertia_slots
from ..tape.tape import Tape, lower
from ..tape.trace import tape_for, trace
from . import store
from .checking import (
    by_rotations,
    divided,
    looked_at,
    pivots_of,
    pivots_of_rows,
    require_pivots,
    sizes_of_pivots,
)
from .emission import PIECE
from .equivalent import in_fewer_operations, joints_last
from .kinematics import entries, kinematics, outside, positions, variables
from .recorder import (
    Recorder,
    ScalarProgram,
    depth_first,
    expanded,
    finished,
    operate,
    reference,
    relaxed_sine_and_cosine,
    sine_and_cosine,
)
from .reduced import leaves_inertia, reduced

LONGEST = 5_000_000  # operations of a tape at most
OUTPUTS = ("qdd", "pdd", "f", "inertia", "lambda", *DERIVED)


def system_to_trace(model: Any, loops: Sequence[Loop] | None = None, what: str = "compile") -> System:
    """Equation (4) of a tree, or of a system's tree, in a state like any other.

    ``loops`` None are those of the tree or the system; ``what`` begins the
    sentence of an error.  Raises ArmatureError for dry friction, ModelError for a body's ``bias``,
    and LoopError for a gain on the turn between two frames.
    """
    system = model
    if not isinstance(model, System):
        system = build(model, loops=loops)
    elif loops is not None:
        step, pushed = model.state.step or None, model.state.wrench
        system = build(model.graph, f_ext=pushed, implicit=step, loops=loops)
    tree = system.tree
    if tree.terms is not None and tree.terms.friction.any():
        body = tree.names[int(tree.owner[tree.terms.friction > 0][0])]
        raise ArmatureError(
            what,
            "dry friction turns with the sign of the rates, and a program has no branch",
            f"leave friction out at body {body!r}, and give it with tau",
        )
    for name, value in system.graph.nodes(data="bias"):
        if value is not None:
            raise ModelError(
                f"body {name!r}",
                "field 'bias' belongs to one state, and a compiled program to all",
                "give the joint by its type, such as universal",
            )
    require_springs(system.tree, what)
    for loop in system.loops:
        turns_freely = loop.point or (loop.free is not None and loop.free.shape[1] > 0)
        if loop.baumgarte[1] and not turns_freely:
            raise LoopError(
                what,
                f"loop {loop.name!r} has a gain on the turn between two frames, whose angle a program "
                "without branches does not find",
                "give baumgarte=(a, 0.0), or a spherical joint and rows beside it",
            )
    return in_general(system)


def require_springs(tree: BodyTree, what: str) -> None:
    """Raise ModelError for a spring whose q are not among the numbers that a program takes."""
    for k in tree.turning_springs:
        raise ModelError(
            what,
            f"the motions of the {tree.joint[k]} joint of body {tree.names[k]!r} do not commute, so that a "
            "program knows its pose but not the q of its spring",
            "leave the spring out, or give its effort as tau",
        )


def in_world(system: System, configuration: Configuration) -> System:
    """The system with the zeros and ones that (4) has when it is written in the world's directions.

    They are found by tracing the entries, in which all that is the same in every state is folded.
    """
    tree = system.tree
    nx, N = configuration.size, tree.N
    recorder = recorder_for(get_format("float64"), nx + 2 * N)
    x, qd, tau = np.split(variables(recorder, 2, nx + 2 * N), [nx, nx + N])
    with np.errstate(all="ignore"):
        pushed = np.zeros((tree.n, 6), dtype=object)
        step, loops = system.state.step, system.loops
        seen = entries(configuration, x, qd, tau, pushed, "world", step, loops)

    def among(values: NDArray[Any], number: float) -> NDArray[np.bool_]:
        held = [isinstance(v, float) and v == number for v in values.ravel().tolist()]
        return np.array(held, dtype=bool).reshape(values.shape)

    pattern = replace(
        system.pattern,
        M=~among(seen.M, 0.0),
        Phi=~among(seen.Phi, 0.0),
        S=~among(seen.S, 0.0),
        Phi_one=among(seen.Phi, 1.0),
        S_one=among(seen.S, 1.0),
        G=~among(seen.G, 0.0),
        G_one=among(seen.G, 1.0),
    )
    return replace(system, pattern=pattern, plans={})


def tape_of(system: System, order: Any, frames: str = "own") -> Tape:
    """The order's tape.

    Raises OrderError for an order that splits forces or accelerations along the joints' axes, where
    these turn with the state, and SizeError for a tape that is too long.
    """
    tape = tape_for(system, order)
    factor = tape.program.symbolic
    split = factor is not None and factor.plan.along_the_joint
    if frames == "world" and (split or by_rotations(tape)):
        raise OrderError(
            f"order {tape.program.name!r}",
            "splits forces or accelerations along the joints' axes, which turn in the world's frame",
            "use frames 'own', or abm or another order that keeps f whole",
        )
    moving = [
        (n, t)
        for n, t in zip(system.tree.names, system.tree.joint, strict=True)
        if t != GENERAL and TYPES[t].moving
    ]
    if split and moving:
        raise OrderError(
            f"order {tape.program.name!r}",
            f"splits the force of each joint along its axes, and those of body {moving[0][0]!r}, "
            f"{moving[0][1]}, turn with q",
            "compile abm or another order that keeps f whole",
        )
    require_length(tape)
    return tape


def require_length(tape: Tape) -> None:
    """Raise SizeError for a tape that is too long to be one program."""
    if tape.length > LONGEST:
        raise SizeError(
            f"order {tape.program.name!r}",
            f"{tape.length} operations on this tree, more than {LONGEST:.0e} in one program",
            "use an order with less fill, such as abm",
        )


def recorder_for(chosen: Format, variables: int) -> Recorder:
    """An empty program in a format: constants are rounded to it, and folded if it is hardware's."""

    def cast(x: float) -> float:
        value = float(chosen.cast(np.array([x]))[0])
        if not np.isfinite(value):
            raise FormatError(
                f"format {chosen.name!r}",
                f"overflows at {x:.3g}, a constant of the model",
                "use a format with a larger range, such as float64, or other units",
            )
        return value

    if not isinstance(chosen, Hardware):
        return Recorder(variables, cast, None)

    def fold(op: int, x: float, y: float) -> float:
        with np.errstate(all="ignore"):
            return float(operate(op, chosen.dtype(x), chosen.dtype(y)))

    return Recorder(variables, cast, fold)


@dataclass(frozen=True)
class Request:
    """The options of a program, beside the tree and the order; see :func:`.kernel.compile`."""

    outputs: tuple[str, ...]
    wrench: bool
    solver: str | None
    bias: str
    check: bool = False
    frames: str = "own"
    shifts: tuple[float, ...] = ()  # added to x of the robot of :mod:`.equivalent`; else empty


def require_rows(system: System, request: Request) -> None:
    """Raise ModelError or LoopError for outputs and options that do not fit loops or each other."""
    held = [x for x in request.outputs if x.removeprefix("d").startswith("lambda")]
    if held and not system.loops:
        raise ModelError(
            "compile",
            f"{held[0]} is an output, and {system.name} has no loops and no contacts",
            "give loops=, or ask for qdd",
        )
    derived = [name for name in request.outputs if name in DERIVED]
    if derived and (request.solver or request.bias != "propagated" or request.frames != "own"):
        raise ModelError(
            "compile",
            f"{derived[0]} follows from the bias of (4) in the bodies' own frames",
            "leave out solver=, bias= and frames=",
        )
    if request.solver is not None:
        system.structure.require_tree(
            f"compile: solver {request.solver!r}", "leave the solver out: the order solves for both"
        )


def forward_dynamics(
    system: System, configuration: Configuration, tape: Tape, chosen: Format, request: Request
) -> tuple[ScalarProgram, ...]:
    """The program from x (nx,), qd (N,), tau (N,) and, if requested, a wrench (n, 6) to outputs.

    With a check, a row for its status follows the outputs, and the numbers that
    :mod:`kkt.machine.checking` needs come at the end; in a format that is shorter than float64 the
    program has the three stages of :mod:`kkt.machine.checking`.
    """
    n, N, m = system.tree.n, system.tree.N, len(system.entries.gamma)
    inputs = configuration.size + 2 * N + (6 * n if request.wrench else 0)
    staged = request.check and chosen.unit > UNIT
    late = N + 6 * n + m  # numbers of a residual
    recorder = recorder_for(chosen, inputs + staged * late)
    x, qd, traced = _from_state(recorder, system, configuration, request)
    solved, none = traced, np.zeros((n, 6), dtype=object)
    if request.bias == "inverse_dynamics":
        left, _, rows = defect(recorder, system, traced)
        solved = traced._replace(a=none, b=none, tau=left, gamma=-rows)
    heads: list[int] = []
    wanted: list[int] = []
    questions: list[int] = []
    if request.check:
        sizes = sizes_of_pivots(system, *kinematics(configuration, x, qd)[:3])
        with np.errstate(all="ignore"):
            ties = pivots_of_rows(system, traced)
            wrong = outside(configuration, x)
            pushes = qdd_alone(traced.tau, np.array([*(x for body in sizes[1] for x in body), None])[:-1])
    place = replayed(recorder, tape, solved, by_reciprocals=bool(request.shifts))
    qdd = qdd_of(recorder, tape, system, place, solved.tau, request.solver)
    derived = derivatives(recorder, tape, system, configuration, (x, qd), solved, request)
    for output in request.outputs:
        if output == "qdd":
            wanted += [reference(recorder, value) for value in qdd]
        elif output in derived:
            wanted += derived[output]
        else:
            wanted += references(place, slots_of(output, tape, system))
    if request.check:
        lam = taken(recorder, place, slots_of("lambda", tape, system))
        if staged:
            heads += [reference(recorder, x) for x in (*qdd, *lam)]
            left, pdd, rows = np.split(variables(recorder, 2 + inputs, late), [N, N + 6 * n])
        else:
            left, pdd, rows = defect(recorder, system, traced, qdd, lam)
        again = traced._replace(a=none, b=none, tau=left, gamma=-rows)
        at = replayed(recorder, tape, again)  # the factor's operations are found again
        correction = qdd_of(recorder, tape, system, at, left, request.solver)
        pivots = pivots_of(tape, system)
        wanted.append(0)
        checked = (*qdd, *correction, *pdd, *left, *rows, *wrong, *pushes)
        questions += [reference(recorder, x) for x in checked]
        questions += references(place, pivots[:, 4])
        questions += [reference(recorder, x) for x in ties[0]]
        questions += [reference(recorder, sizes[kind][k][i]) for kind, k, i in pivots[:, :3].tolist()]
        questions += [reference(recorder, x) for x in ties[1]]
    whole = finished(recorder, inputs + staged * late, heads + wanted + questions)
    if not staged:
        return (whole,)
    first, last = divided(whole, inputs, len(heads))
    return first, _residual(system, configuration, request, inputs), last


def _from_state(
    recorder: Recorder, system: System, configuration: Configuration, request: Request
) -> tuple[Array, Array, Entries]:
    """x and qd as the first inputs of a program, and the entries of (4) from them and the next ones."""
    n, N, nx = system.tree.n, system.tree.N, configuration.size
    x, qd, tau = np.split(variables(recorder, 2, nx + 2 * N), [nx, nx + N])
    pushed = system.state.wrench.astype(object)
    if request.wrench:
        pushed = variables(recorder, 2 + nx + 2 * N, 6 * n).reshape(n, 6)
    for i, shift in enumerate(request.shifts):
        x[i] = x[i] + shift if shift else x[i]
    M = system.entries.M.astype(object) if request.shifts else None
    points = bool(request.shifts) and not set(request.outputs) & set(DERIVED)
    with np.errstate(all="ignore"):
        step, loops = system.state.step, system.loops
        return x, qd, entries(configuration, x, qd, tau, pushed, request.frames, step, loops, M, points)


def _residual(system: System, configuration: Configuration, request: Request, given: int) -> ScalarProgram:
    """In float64, from a state's ``given`` numbers and qdd and lambda of the order to :func:`defect`."""
    N, m = system.tree.N, len(system.entries.gamma)
    recorder = recorder_for(get_format("float64"), given + N + m)
    *_, traced = _from_state(recorder, system, configuration, request)
    answer = variables(recorder, 2 + given, N + m)
    parts = defect(recorder, system, traced, answer[:N], answer[N:])
    return finished(recorder, given + N + m, [reference(recorder, x) for part in parts for x in part])


def derivatives(
    recorder: Recorder,
    tape: Tape,
    system: System,
    configuration: Configuration,
    state: tuple[NDArray[Any], NDArray[Any]],
    traced: Entries,
    request: Request,
) -> dict[str, list[int]]:
    """References of the derivatives that are among the outputs, by name.

    For an order that forms the joint-space inertia they follow from a second factor, by
    :func:`in_fewer_operations`: the same pivots in the same sequence, in fewer operations.
    """
    wanted = [name for name in DERIVED if name in request.outputs]
    if not wanted:
        return {}
    x, qd = state
    leaves = leaves_inertia(tape.program) and not by_rotations(tape)
    if leaves:
        assert tape.program.symbolic is not None
        tape = trace(system, in_fewer_operations(tape.program.symbolic.plan.sequence))
    with np.errstate(all="ignore"):
        R, p, *_ = kinematics(configuration, x, qd)
        held = closures(system.tree, R, p, positions(configuration, x), system.loops)
        found = differentiated(tape, system, wanted, (qd, held, partial(reduced, system)))
    require_length(found.tape)
    place = replayed(recorder, found.tape, traced, {"beside": found.numbers}, by_reciprocals=leaves)
    return {name: references(place, slots) for name, slots in found.slots.items()}


def replayed(
    recorder: Recorder,
    tape: Tape,
    traced: Entries,
    unknowns: dict[str, NDArray[Any]] | None = None,
    *,
    by_reciprocals: bool = False,
) -> list[int]:
    """Append the operations of a tape, on the traced entries; returns the references of its slots.

    Unknowns that the tape takes as inputs are zero, unless ``unknowns`` gives them by name.  With
    ``by_reciprocals`` a / b is a (1 / b), so that each pivot is divided by only once, at the cost
    of one more rounding.
    """
    place: list[int] = [0] * (tape.slots + 1)  # one more for a reciprocal
    place[1] = 1
    chunks = (_inverted(c, tape.slots) if by_reciprocals else c for c in tape.chunks())
    given = {letter: (tape.inputs.slots(letter), getattr(traced, letter)) for letter in LETTERS}
    for name, values in (unknowns or {}).items():
        if name in tape.inputs.given:
            given[name] = tape.inputs.given[name], values
    for slots, values in given.values():
        for slot, value in zip(slots.ravel().tolist(), values.ravel().tolist(), strict=True):
            if slot > 1:
                place[slot] = reference(recorder, value)
    for number, slot in tape.inputs.whole.items():
        place[slot] = recorder.constant(float(number))
    for chunk in chunks:
        recorder.replay(chunk, place)
    return place


def _inverted(chunk: Chunk, slot: int) -> Chunk:
    """The chunk with each quotient as a product with a reciprocal, which is put into ``slot``."""
    quotient = chunk.op == DIV
    twice = np.repeat(np.arange(len(chunk)), 1 + quotient)
    op, dst, a, b = chunk.op[twice], chunk.dst[twice], chunk.a[twice], chunk.b[twice]
    last = np.flatnonzero(quotient) + np.cumsum(quotient)[quotient]
    dst[last - 1], a[last - 1] = slot, 1
    op[last], b[last] = MUL, slot
    return Chunk(op, dst, a, b, chunk.step[twice])


def defect(
    recorder: Recorder, system: System, traced: Entries, *unknowns: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """tau - ID(qdd) (N,), pdd (6 n,) of inverse dynamics, and the residual of rows of loops (m,).

    ``unknowns`` are qdd (N,) and the multipliers (m,), which are 0 where they are not given.
    """
    tape = lower(residual_program(system.structure, "dynamics"), system)
    place = replayed(recorder, tape, traced, dict(zip(("qdd", "lam"), unknowns, strict=False)))
    left, pdd, rows = (taken(recorder, place, slots_of(x, tape, system)) for x in ("qdd", "pdd", "lambda"))
    return left, pdd.ravel(), rows


def qdd_of(
    recorder: Recorder, tape: Tape, system: System, place: list[int], tau: NDArray[Any], solver: str | None
) -> NDArray[Any]:
    """(N,) qdd of a tape that was appended, or by a solver from its joint-space inertia and tau."""
    if solver is None:
        return taken(recorder, place, slots_of("qdd", tape, system))
    return SOLVERS[solver](taken(recorder, place, slots_of("inertia", tape, system)), tau)


def references(place: list[int], slots: NDArray[np.int64]) -> list[int]:
    """The references of signed slots."""
    return [place[s] if s >= 0 else -place[-s] for s in slots.ravel().tolist()]


def taken(recorder: Recorder, place: list[int], slots: NDArray[np.int64]) -> NDArray[Any]:
    """The values of signed slots as traced numbers, in the shape of ``slots``."""
    out = np.empty(slots.size, dtype=object)
    out[:] = [recorder.value(ref) for ref in references(place, slots)]
    return out.reshape(slots.shape)


def slots_of(output: str, tape: Tape, system: System) -> NDArray[np.int64]:
    """Signed slots of the tape: qdd (N,), pdd and f (n, 6), inertia (N, N), lambda (rows,)."""
    if output == "inertia":
        return inertia_slots(system, tape)
    return getattr(tape.unknowns(system), "lam" if output == "lambda" else output)


PRECISION = {"float64": 53, "float32": 24}


@dataclass(frozen=True)
class Stage:
    """A program as it is counted and as it is run."""

    program: ScalarProgram
    straight: ScalarProgram  # in machine code, sines and cosines are arithmetic


@dataclass(frozen=True)
class Programs:
    """A program in one stage or three (:mod:`.checking`), and the name of its order."""

    order: str
    stages: tuple[Stage, ...]
    pivots: NDArray[np.int64] | None = None  # of a check: kind, body and step
    rotates: bool = False  # whether the order eliminates by rotations


def programs_of(
    system: System, configuration: Configuration, order: Any, chosen: Format, request: Request
) -> Programs:
    """The programs, from the disk where the same were traced before; errors are never kept."""
    if isinstance(order, Tape) or order is None or not isinstance(chosen, Hardware):
        return _trace(system, configuration, order, chosen, request)
    # called once, since an order function may return something else the next time
    sequence = as_sequence(order, system.structure)
    if request.shifts:
        sequence = in_fewer_operations(sequence)
        if joints_last(sequence) and not set(request.outputs) & set(DERIVED):
            request = replace(request, bias="inverse_dynamics")
    name = _content(system, sequence, chosen, request)
    kept = store.read(name)
    if kept is not None:
        count = sum(part.endswith("straight_op") for part in kept)
        stages = tuple(
            Stage(_program(kept, f"{i}_program"), _program(kept, f"{i}_straight")) for i in range(count)
        )
        rotates = sequence.rules.elimination == "orthogonal"
        return Programs(sequence.name, stages, kept.get("pivots"), rotates)
    with uncollected():
        made = _trace(system, configuration, sequence, chosen, request)
    arrays = {} if made.pivots is None else {"pivots": made.pivots}
    for i, stage in enumerate(made.stages):
        arrays |= _arrays(stage.program, f"{i}_program") | _arrays(stage.straight, f"{i}_straight")
    store.write(name, arrays)
    return made


def _trace(
    system: System, configuration: Configuration, order: Any, chosen: Format, request: Request
) -> Programs:
    """The programs, traced; raises SingularError for a pivot that is zero in any state."""
    tape = tape_of(system, order, request.frames)
    if not request.shifts:  # else no body is idle
        require_pivots(system, tape, chosen)
    try:
        found = forward_dynamics(system, configuration, tape, chosen, request)
    except Undefined as error:
        raise SingularError(
            f"order {tape.program.name!r}",
            f"in any state {error}, so that a pivot is zero for {chosen.name}",
            "use another order or format, such as abm in float64",
        ) from None
    stages = tuple(Stage(program, program) for program in found)
    if isinstance(chosen, Hardware):
        formats = (chosen, get_format("float64"), chosen)
        sines = relaxed_sine_and_cosine if request.shifts else sine_and_cosine
        straight = [
            expanded(p, recorder_for(f, p.inputs), PRECISION[f.name], sines)
            for p, f in zip(found, formats, strict=False)
        ]
        stages = tuple(_as_run(*both) for both in zip(found, straight, strict=True))
    pivots = looked_at(tape, system) if request.check else None
    return Programs(tape.program.name, stages, pivots, by_rotations(tape))


def _as_run(program: ScalarProgram, straight: ScalarProgram) -> Stage:
    """The program with its operations in the sequence in which they run."""
    if len(straight) > PIECE:  # values of a shorter one fit into the fastest cache anyway
        straight = depth_first(straight)
    return Stage(program, straight)


def _content(system: System, sequence: PivotSequence, chosen: Format, request: Request) -> str:
    """The key of a program: a hash of everything that it depends on."""
    tree, pattern = system.tree, system.pattern
    met = plan(sequence, system.structure)
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
        system.entries.M if request.shifts else None,
        system.state.step,
        *terms,
        *zeros,
        *(sequence.rules, sequence.links, sequence.composites),
        *(met.graph.split, met.blocks, met.group, met.paired),
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
