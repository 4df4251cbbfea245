"""``kkt.compile``: forward dynamics by any order, from joint positions to accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..arithmetic.binary import Binary
from ..arithmetic.formats import Hardware
from ..arithmetic.mixed import Mixed
from ..errors import FormatError, ModelError, nearest
from .configuration import Configuration
from .interpreter import Interpreter
from .native import Native, compiled, width
from .program import Program
from .trace import OUTPUTS, program_of, recorder_for, system_to_trace, tape_of
from .trigonometry import expanded

INPUTS = ("wrench",)
PRECISION = {"float64": 53, "float32": 24}


def compile(
    model: Any,
    order: Any,
    format: str | Format = "float64",
    *,
    outputs: Sequence[str] = ("qdd",),
    inputs: Sequence[str] = (),
) -> Kernel:
    """A kernel: forward dynamics of a tree by an order, as one straight-line program.

    ``model`` is a tree, or a :class:`kkt.System`, whose tree, gravity and external wrenches become
    constants; ``order`` is whatever :func:`kkt.eliminate` takes.  ``outputs`` are any of ``qdd``,
    ``pdd``, ``f`` and, where the order leaves it, ``inertia``; ``inputs`` may name ``wrench``, so
    that external wrenches are given with each state.  In float64 and float32 the program becomes
    machine code; every other floating-point format is interpreted, each operation rounded.

    Raises ModelError, OrderError, SingularError or FormatError, one sentence each.
    """
    for field_, given, known in (("outputs", outputs, OUTPUTS), ("inputs", inputs, INPUTS)):
        if isinstance(given, str):
            raise ModelError(f"compile: {field_} is the text {given!r}; give a tuple of names")
        for name in given:
            if name not in known:
                raise ModelError(f"compile: {field_} holds {name!r}; {nearest(name, known)}")
    if not outputs:
        raise ModelError(f"compile: outputs is empty; ask for one of {', '.join(OUTPUTS)}")
    chosen = get_format(format)
    if not isinstance(chosen, Hardware | Binary | Mixed) or getattr(chosen, "D", None) is not None:
        raise FormatError(
            f"format {chosen.name!r}: no kernel runs in it; use float64, float32 or a format of at "
            "most 25 bits, such as bfloat16 or float32:zero, mixed by operation if you like"
        )
    system = system_to_trace(model)
    configuration = Configuration(system.tree, system.graph)
    tape = tape_of(system, order)
    wrench = "wrench" in inputs
    program = program_of(system, configuration, tape, chosen, tuple(outputs), wrench)
    straight = program
    if isinstance(chosen, Hardware):
        recorder = recorder_for(chosen, program.inputs)
        straight = expanded(program, recorder, PRECISION[chosen.name])
    return Kernel(
        tape.program.name, chosen, tuple(outputs), wrench, configuration, program, straight
    )


@dataclass(frozen=True)
class Kernel:
    """A compiled program; call it with states.  Machine code is made when it is first needed."""

    order: str
    number: Format
    outputs: tuple[str, ...]
    wrench: bool  # whether external wrenches are an input
    places: Configuration  # of joint positions among x
    program: Program  # as it is counted
    straight: Program  # as it is run: sines and cosines are arithmetic, where it is machine code
    _made: dict[int, Native] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def N(self) -> int:
        """Degrees of freedom: numbers of qd, tau and qdd."""
        return int(self.places.tree.offset[-1])

    @property
    def nx(self) -> int:
        """Numbers of a configuration."""
        return self.places.size

    @property
    def format(self) -> str:
        return self.number.name

    @property
    def operations(self) -> dict[str, int]:
        """Operations of one state by kind: add (and subtract), mul, div, sqrt, sin, cos."""
        return self.program.operations

    @property
    def how(self) -> str:
        """How the program is run."""
        if not isinstance(self.number, Hardware):
            return f"interpreted, each operation rounded to {self.format}"
        return f"machine code, one state or {self.lanes} side by side"

    @property
    def lanes(self) -> int:
        """States in one vector of this processor; 1 where the program is interpreted."""
        if not isinstance(self.number, Hardware):
            return 1
        return width() // np.dtype(self.number.dtype).itemsize

    def __call__(
        self,
        x: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
    ) -> Any:
        """The outputs at one state, or at m states, in the type that carries the format.

        ``x`` (nx,) configuration numbers, ``qd`` (N,) [rad/s, m/s], ``tau`` (N,) [N m, N], zero
        where None, ``wrench`` (n, 6) [N m, N] where it is an input; each with m states in front,
        or without for all of them.  An output is qdd (N,), pdd or f (n, 6), inertia (N, N), with m
        in front; several are a tuple.  Raises ModelError for a wrong shape or a number that is
        not finite.
        """
        given, m = self._states(x, qd, tau, wrench)
        count = 1 if m is None else m
        if isinstance(self.number, Hardware):
            values = self._machine(given, count)
        else:
            values = Interpreter(self.straight, self.number).run(
                np.concatenate([v.reshape(count, -1) for v in given], axis=1)
            )
        return self._shaped(values, m)

    # -- states in, outputs out -------------------------------------------------------------------

    def _fields(
        self, x: Any, qd: Any, tau: Any, wrench: Any
    ) -> list[tuple[str, Any, tuple[int, ...]]]:
        N = self.N
        fields: list[tuple[str, Any, tuple[int, ...]]] = [("x", x, (self.nx,)), ("qd", qd, (N,))]
        fields.append(("tau", np.zeros(N) if tau is None else tau, (N,)))
        if self.wrench:
            fields.append(("wrench", wrench, (self.places.tree.n, 6)))
        elif wrench is not None:
            raise ModelError(
                "state: 'wrench' is given, but is no input of this kernel; compile it with "
                "inputs=('wrench',)"
            )
        return fields

    def _states(self, x: Any, qd: Any, tau: Any, wrench: Any) -> tuple[list[NDArray], int | None]:
        """Arrays (m, ...) in the carrying type, and m, or None for one state."""
        arrays, many = [], None
        for name, value, shape in self._fields(x, qd, tau, wrench):
            try:
                array = np.asarray(value, dtype=self.number.dtype)
            except (TypeError, ValueError):
                raise ModelError(f"state: field {name!r} holds no numbers") from None
            if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1:
                raise ModelError(
                    f"state: field {name!r} has shape {array.shape}; this kernel needs {shape}, "
                    f"or (m, {str(shape)[1:].rstrip(',)')}) for m states"
                )
            if array.ndim > len(shape):
                if many is not None and many != len(array):
                    raise ModelError(
                        f"state: field {name!r} has {len(array)} states and another has {many}; "
                        "give as many of each, or one for all"
                    )
                many = len(array)
            arrays.append((name, array, shape))
        whole = [
            np.ascontiguousarray(a if many is None else np.broadcast_to(a, (many, *shape)))
            for _, a, shape in arrays
        ]
        return whole, many

    def _shaped(self, values: NDArray, m: int | None) -> Any:
        n, N = self.places.tree.n, self.N
        shapes = {"qdd": (N,), "pdd": (n, 6), "f": (n, 6), "inertia": (N, N)}
        first, parts = 0, []
        for name in self.outputs:
            size = int(np.prod(shapes[name]))
            part = values[:, first : first + size].reshape(len(values), *shapes[name])
            parts.append(part[0] if m is None else part)
            first += size
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _machine(self, given: list[NDArray], m: int) -> NDArray:
        native = self.native(1 if m == 1 else self.lanes)
        out = np.empty((m, len(self.straight.outputs)), dtype=self.number.dtype)
        if m:
            with self._lock:  # the work array is one
                bad = native.call([v.ctypes.data for v in given], out.ctypes.data, m)
            if bad:
                self._refuse(given)
        return out

    def _refuse(self, given: list[NDArray]) -> None:
        for name, array in zip(("x", "qd", "tau", "wrench"), given, strict=False):
            wrong = np.argwhere(~np.isfinite(array))
            if len(wrong):
                at = tuple(wrong[0].tolist())
                raise ModelError(
                    f"state: field {name!r} holds {array[at]} at {at}; give finite numbers"
                )

    def native(self, lanes: int) -> Native:
        """Machine code for vectors of ``lanes`` states, made when it is first asked for."""
        with self._lock:
            if lanes not in self._made:
                n, N = self.places.tree.n, self.N
                given = (self.nx, N, N, 6 * n) if self.wrench else (self.nx, N, N)
                self._made[lanes] = compiled(self.straight, self.number.dtype, lanes, given)
            return self._made[lanes]

    # -- joint positions --------------------------------------------------------------------------

    def configuration(self, q: Any = None) -> NDArray[np.float64]:
        """(nx,) configuration numbers of q, given as :func:`kkt.build` takes it."""
        return self.places.from_coordinates(q)

    def coordinates(self, x: ArrayLike) -> NDArray[np.float64]:
        """(N,) coordinates q of configuration numbers (nx,): rotation vectors, at most pi long."""
        return self.places.to_coordinates(x)

    def rate(self, x: ArrayLike, qd: ArrayLike) -> NDArray:
        """dx/dt (..., nx) [per s] at rates qd (..., N), in the type of x."""
        numbers, rates = np.asarray(x), np.asarray(qd)
        return self.places.rate(numbers, rates)
