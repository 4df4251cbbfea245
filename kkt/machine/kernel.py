"""``kkt.compile``: forward dynamics by any order, from joint positions to accelerations."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.binary import Binary
from ..arithmetic.formats import Hardware
from ..arithmetic.own import Mixed
from ..base.errors import FormatError, ModelError, SingularError, nearest
from ..base.shown import Shown
from ..matrix.blocks import Block
from ..matrix.configuration import Configuration
from ..matrix.system import System
from ..model.loops import Loop
from ..order.sequence import OrderLike
from ..program.joint_space import SOLVERS
from ..proof.trust import ZERO
from ..tape.idle import all_resist
from ..tape.tape import Tape
from . import equivalent
from .builtin import Builtin
from .checking import KINDS, WORDS, Judged, in_stages, judged_by, require_pivots
from .forward_dynamics import (
    OUTPUTS,
    Programs,
    Request,
    Stage,
    in_world,
    programs_of,
    require_rows,
    system_to_trace,
    tape_of,
)
from .native import LONGEST, Native, compiled, width
from .portable import write_c, write_cuda
from .recorder import Interpreter, ScalarProgram
from .states import Fields

LOG = logging.getLogger("pivotree")  # what was compiled, and how long it took
INPUTS = ("wrench",)
BIASES = ("propagated", "inverse_dynamics")
FRAMES = ("own", "world")


def compile(
    model: Any,
    order: OrderLike | Tape,
    format: str | Format = "float64",
    *,
    outputs: Sequence[str] = ("qdd",),
    inputs: Sequence[str] = (),
    solver: str | None = None,
    bias: str = "propagated",
    frames: str = "own",
    relaxed: bool = False,
    check: bool = False,
    loops: Sequence[Loop] | None = None,
) -> Kernel:
    """A kernel: forward dynamics of a tree by an order, as one straight-line program.

    ``model`` is a tree, or a :class:`kkt.System`, whose tree, gravity and external wrenches become
    constants; ``order`` is anything that :func:`kkt.eliminate` takes.  ``outputs`` are any of
    ``qdd``, ``pdd``, ``f``, ``lambda``, the derivatives ``dqdd_dq``, ``dqdd_dqd`` and ``dqdd_dtau``
    of :func:`kkt.derivatives`, the same of lambda, such as ``dlambda_dq``, and, for orders that form
    the joint-space inertia, ``inertia``; ``inputs`` may name ``wrench``, so that external wrenches are
    given with each state.

    ``loops`` are closed loops and contacts as :func:`kkt.build` takes them; None: the tree's or the
    system's own.  Their bodies, rows, frames and gains are constants of the program, and
    ``lambda`` are their multipliers, one after another.

    With ``bias`` "inverse_dynamics", recursive Newton-Euler at qdd = 0 first gives tau - c, and the
    order solves for qdd without velocities and gravity.  With a ``solver``, cholesky, lu or
    gauss_jordan, this is done too, and M qdd = tau - c is solved with the joint-space inertia M
    that the order forms (Walker & Orin 1982).

    ``frames`` are those in which (4) is written: each body's "own", where its inertia is constant,
    or the directions of the "world" for all, where Phi only shifts and M_k turns with the body; pdd
    and f are then given in these directions, while a wrench is still in the body's frame.
    Accelerations are the same but for rounding.

    In float64 and float32 the program becomes machine code.  Every other floating-point format is
    interpreted, each operation rounded.  ``relaxed`` machine code may round a product and a sum
    once, divide by a reciprocal, write (4) in frames of its own and move inertia to parents
    (:mod:`kkt.machine.equivalent`): it is faster, but its bits depend on the machine, on the
    compiler and on whether a state comes alone or in a batch.

    With ``check`` a status follows the outputs: 0 where qdd can be relied on, else a
    number that :meth:`Kernel.reason` puts into words: a pivot that is zero for the format, an
    overflow, or an error that leaves fewer than half of the digits (:mod:`kkt.machine.checking`).
    Where rows of loops depend on each other, a multiplier's pivot is zero.  Outputs have the same
    bits as without a check.

    Time and memory grow with the operations: O(n) for n bodies by abm, O(n^3) by crbm on a chain.
    Raises ModelError, OrderError, SingularError or FormatError, one sentence each.

    >>> kernel = pt.compile(pt.chain(3), pt.orderings.get("abm"), "float32")
    >>> qdd = kernel(np.zeros((500, 3)), np.zeros((500, 3)), np.zeros((500, 3)))  # q, qd, tau
    >>> qdd.dtype, qdd.shape
    (dtype('float32'), (500, 3))
    """
    for field_, given, known in (("outputs", outputs, OUTPUTS), ("inputs", inputs, INPUTS)):
        if isinstance(given, str | bytes) or not isinstance(given, Collection):
            raise ModelError("compile", f"{field_} is {given!r}", "give a tuple of names")
        for name in given:
            if name not in known:
                raise ModelError("compile", f"{field_} holds {name!r}", nearest(str(name), known))
            if list(given).count(name) > 1:
                raise ModelError("compile", f"{field_} holds {name!r} twice", "give it once")
    words = {"solver": (solver, tuple(SOLVERS)), "bias": (bias, BIASES), "frames": (frames, FRAMES)}
    for option, (word, known) in words.items():
        if word not in known and (option, word) != ("solver", None):
            raise ModelError("compile", f"{option} is {word!r}", nearest(str(word), known))
    if solver is not None and {"pdd", "f"} & set(outputs):
        raise ModelError(
            "compile", f"solver {solver!r} finds qdd alone", "ask for qdd, or leave the solver out"
        )
    if bias == "inverse_dynamics" and {"pdd", "f"} & set(outputs):
        raise ModelError(
            "compile",
            "bias 'inverse_dynamics' leaves pdd and f without velocities and gravity",
            "ask for qdd, or use bias 'propagated'",
        )
    if check and "qdd" not in outputs:
        raise ModelError("compile", "check is of qdd", "ask for it among the outputs")
    if not outputs:
        raise ModelError("compile", "outputs is empty", f"ask for one of {', '.join(OUTPUTS)}")
    chosen = get_format(format)
    if not isinstance(chosen, Hardware | Binary | Mixed) or getattr(chosen, "on_tapes", False):
        raise FormatError(
            f"format {chosen.name!r}",
            "no kernel runs in it",
            "use float64, float32 or a format of at most 25 bits, such as bfloat16 or float32:zero, mixed "
            "by operation if you like",
        )
    if relaxed and not isinstance(chosen, Hardware):
        raise FormatError(
            "compile",
            f"relaxed is for machine code, and {chosen.name} is interpreted",
            "use float64 or float32, or leave it out",
        )
    system = system_to_trace(model, loops)
    configuration = Configuration(system.tree, system.graph)
    if frames == "world":
        system = in_world(system, configuration)
    bias = bias if solver is None else "inverse_dynamics"
    request = Request(tuple(outputs), "wrench" in inputs, solver, bias, check, frames)
    require_rows(system, request)
    found = _programs(system, configuration, order, chosen, request, relaxed)
    tree = system.tree
    N = tree.N
    given = request.outputs + (("status",) if check else ())
    rows = len(system.entries.gamma)
    fields = Fields(tree.n, N, configuration.size, request.wrench, given, rows)
    judged = None
    if found.pivots is not None:
        judged = judged_by(found.pivots, found.rotates, fields, chosen.unit, system, configuration)
    name = found.order if solver is None else f"{found.order} + {solver}"
    name = name if frames == "own" else f"{name}, {frames}"
    return Kernel(
        name,
        chosen,
        fields,
        configuration,
        found.stages,
        relaxed,
        judged,
        found.pivots,
        system.structure.constraints,
    )


def _programs(
    system: System, configuration: Configuration, order: Any, chosen: Format, request: Request, relaxed: bool
) -> Programs:
    """The programs of the robot, or, relaxed where it may be, of one with the same qdd."""
    plain = request.frames == "own" and not (request.check or request.wrench)
    plain = plain and set(request.outputs) <= equivalent.OUTPUTS
    if relaxed and plain and equivalent.takes(order, system):
        if not all_resist(system.tree, chosen.unit):  # what is refused of the robot that was given
            require_pivots(system, tape_of(system, order), chosen)
        other, shifts = equivalent.equivalent(system)
        places = Configuration(other.tree, other.graph)
        with suppress(SingularError):  # an order may ask its frames without mass for an inertia
            return programs_of(other, places, order, chosen, replace(request, shifts=shifts))
    return programs_of(system, configuration, order, chosen, request)


@dataclass(frozen=True, repr=False, eq=False)
class Kernel(Shown):
    """A compiled program; call it with states.  Machine code is made when it is first needed.

    >>> kernel = pt.compile(pt.chain(3), pt.orderings.get("abm"))
    >>> kernel.format, kernel.outputs
    ('float64', ('qdd',))
    >>> kernel.operations["sin"], kernel.operations["div"]
    (2, 7)
    """

    order: str
    number: Format
    fields: Fields  # names and shapes of inputs and outputs
    places: Configuration  # of joint positions among x
    stages: tuple[Stage, ...]  # one, or three of a check in float64
    relaxed: bool = False  # whether products may be fused with sums and reciprocals used
    judged: Judged | None = None  # the checks, where a status is among the outputs
    pivots: NDArray[np.int64] | None = None  # kind, body or loop, step
    ties: tuple[Hashable, ...] = ()  # names of loops and contacts
    _made: dict[tuple[int, int], Native] = field(default_factory=dict, repr=False)  # by lanes and stage
    _calls: list[Builtin] = field(default_factory=list, repr=False)  # built-in functions so far
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __getstate__(self) -> dict[str, Any]:  # machine code is made again where it is needed
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _made={}, _calls=[], _lock=Lock())

    @property
    def N(self) -> int:
        """Degrees of freedom: the length of qd, tau and qdd."""
        return self.fields.N

    @property
    def nx(self) -> int:
        """Count of configuration numbers x."""
        return self.fields.nx

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.fields.outputs

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}",
            "bodies": self.fields.n,
            "freedoms": self.N,
            "outputs": ", ".join(self.outputs),
            "operations": sum(self.operations.values()),
            "run as": self.how,
        }

    @property
    def format(self) -> str:
        return self.number.name

    @property
    def operations(self) -> dict[str, int]:
        """Operations of one state by kind: add (and subtract), mul, div, sqrt, sin, cos."""
        found = [stage.program.operations for stage in self.stages]
        return {name: sum(each[name] for each in found) for name in found[0]}

    @property
    def counted(self) -> str:
        """The operations as ``export`` and its files tell them; a sine is one operation."""
        return ", ".join(f"{count:,} {kind}" for kind, count in self.operations.items() if count)

    @property
    def program(self) -> ScalarProgram:
        """The first stage's program as it is counted."""
        return self.stages[0].program

    @property
    def straight(self) -> ScalarProgram:
        """The first stage's program as it is run."""
        return self.stages[0].straight

    @property
    def in_machine_code(self) -> bool:
        length = sum(len(stage.straight) for stage in self.stages)
        return isinstance(self.number, Hardware) and length <= LONGEST

    @property
    def how(self) -> str:
        """How the program is run."""
        if self.in_machine_code:
            how = f"machine code, one state or {self.lanes} side by side"
            return f"{how}, relaxed: fused multiply-add, reciprocals" if self.relaxed else how
        return f"interpreted, each operation rounded to {self.format}"

    @property
    def lanes(self) -> int:
        """States in one vector of this processor; 1 where the program is interpreted."""
        if not self.in_machine_code:
            return 1
        return width() // np.dtype(self.number.dtype).itemsize

    def __call__(
        self, x: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, wrench: ArrayLike | None = None
    ) -> Any:
        """The outputs at one state, or at m states, in the type that carries the format.

        ``x`` (nx,) are configuration numbers, ``qd`` (N,) [rad/s, m/s], ``tau`` (N,) [N m, N] and,
        where it is an input, ``wrench`` (n, 6) [N m, N]; the last two are zero where None.  Each
        may have an axis of m states in front; one without it is the same for all states.  Outputs
        are qdd (N,), pdd or f (n, 6), inertia (N, N), lambda (rows of loops,), derivatives of qdd
        (N, N) and of lambda (rows, N), with m in front; several are a tuple.  A zero pivot gives the
        infinities and nans of IEEE arithmetic.  Threads may call one kernel at the same time.
        Raises ModelError for a wrong shape or a number that is not finite.
        """
        for call in self._calls:
            found = call(x, qd, tau, wrench)
            if found is not None:
                return found
        return self._states(x, qd, tau, wrench)

    def _states(self, x: Any, qd: Any, tau: Any, wrench: Any) -> Any:
        """The outputs for one state or many, given as anything that holds numbers."""
        values = {"x": x, "qd": qd, "tau": tau, "wrench": wrench}
        arrays, many = self.fields.arrays(self.number.dtype, values)
        m = len(arrays[0])
        lanes = 1 if many is None else self.lanes
        if self.in_machine_code and len(self.stages) == 1:
            native = self.native(lanes)
            out: NDArray[Any] = np.empty((m, native.outputs), dtype=self.number.dtype)
            if not native.run(arrays, out):
                self.fields.require_finite(arrays)
        else:
            self.fields.require_finite(arrays)
            flat = np.concatenate([a.reshape(m, math.prod(a.shape[1:])) for a in arrays], axis=1)
            programs = [stage.straight for stage in self.stages]

            def run(stage: int, chosen: Format, given: NDArray[Any]) -> NDArray[Any]:
                if not self.in_machine_code:
                    return Interpreter(programs[stage], chosen).run(given)
                native = self.native(lanes if stage != 1 else -(-lanes // 2), stage)
                found: NDArray[Any] = np.empty((m, native.outputs), dtype=chosen.dtype)
                native.run([given], found)
                return found

            out = in_stages(programs, self.number, flat, run)
        out = out if self.judged is None else self.judged.judge(out)
        return self.fields.shaped(out[0] if many is None else out)

    def native(self, lanes: int, stage: int = 0) -> Native:
        """Machine code for vectors of ``lanes`` states, made when it is first needed."""
        with self._lock:
            if (lanes, stage) not in self._made:
                begun = time.perf_counter()
                program, loose = self.stages[stage].straight, len(self.stages) > 1
                dtype = np.float64 if stage == 1 else self.number.dtype
                sizes = (program.inputs,) if loose else self.fields.sizes
                made = compiled(program, dtype, lanes, sizes, relaxed=self.relaxed, loose=loose)
                call = made.builtin(list(self.fields.given.values())) if not self.judged else None
                if call is not None:
                    self._calls.append(call if self.outputs == ("qdd",) else self._apart(call))
                self._made[lanes, stage] = made
                took = time.perf_counter() - begun
                LOG.info("%s in %s for %d at once: %.2f s", self.order, self.format, lanes, took)
            return self._made[lanes, stage]

    def _apart(self, call: Builtin) -> Callable[..., Any]:
        """The function with its array of results split into the outputs."""

        def outputs(*given: Any) -> Any:
            found = call(*given)
            return None if found is None else self.fields.shaped(found)

        return outputs

    def reason(self, status: int) -> str | None:
        """A status in words; None for 0, a good answer."""
        if status <= 0 or self.pivots is None:
            return WORDS[status].format(self.format) if status else None
        kind, body, step = self.pivots[status - 1].tolist()
        names = self.ties if KINDS[kind] == "lam" else self.places.tree.names
        pivot = Block(KINDS[kind], names[body])
        return ZERO.format(f"{pivot}, step {step + 1}", self.format)

    def export_c(self, path: str | Path, name: str | None = None) -> tuple[Path, Path]:
        """Write the program as portable C99: FILE.c and its header FILE.h; returns both paths.

        ``name`` is that of the function, made from the model's and the order's where None.  Results
        have the bits of this kernel, if it is not relaxed, wherever C keeps to IEEE arithmetic, which
        the file checks.  Raises FormatError for a format that C does not have and for a file that
        cannot be written, ModelError for a name that is not valid and for a checked kernel, and
        SizeError for a file too long to compile.
        """
        return write_c(self, path, name)

    def export_cuda(self, path: str | Path, name: str | None = None) -> Path:
        """Write the program in CUDA as FILE.cu; returns its path.  One thread solves one state.

        Arrays hold number i of state s at [i * states + s].  Operations are those of
        :meth:`export_c`, each rounded once and none fused, so that a device gives the same bits.
        ``name`` is that of the ``__global__`` function.  Raises as :meth:`export_c` does.

        >>> kernel = pt.compile(pt.chain(2), pt.orderings.get("abm"), "float32")
        >>> "__global__ void arm(" in kernel.export_cuda("arm.cu", "arm").read_text()
        True
        """
        return write_cuda(self, path, name)

    # -- joint positions --------------------------------------------------------------------------

    def configuration(self, q: Any = None) -> NDArray[np.float64]:
        """(nx,) configuration numbers of q, given as :func:`kkt.build` takes it."""
        return self.places.from_coordinates(q)

    def coordinates(self, x: ArrayLike) -> NDArray[np.float64]:
        """(N,) coordinates q of configuration numbers (nx,): rotation vectors, at most pi long."""
        return self.places.to_coordinates(x)

    def rate(self, x: ArrayLike, qd: ArrayLike) -> NDArray[Any]:
        """dx/dt (..., nx) [per s] at rates qd (..., N), in the type of x."""
        numbers, rates = np.asarray(x), np.asarray(qd)
        for name, array, size in (("x", numbers, self.nx), ("qd", rates, self.N)):
            if array.shape[-1:] != (size,):
                raise ModelError(
                    "state",
                    f"field {name!r} has shape {array.shape}",
                    f"give {size} numbers, or m x {size} for m states",
                )
        if numbers.shape[:-1] != rates.shape[:-1]:
            many = np.broadcast_shapes(numbers.shape[:-1], rates.shape[:-1])
            numbers = np.broadcast_to(numbers, (*many, self.nx))
            rates = np.broadcast_to(rates, (*many, self.N))
        return self.places.rate(numbers, rates)
