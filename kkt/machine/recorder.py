"""Record scalar operations as they happen; zeros, ones and common subexpressions are folded.

A reference is a slot with a sign, as on the tape (:mod:`kkt.tape.emit`).  :class:`Scalar` is a
number whose arithmetic is recorded, so that spatial algebra on arrays of objects is traced by
running it.  Constants are Python floats until they meet a variable.

A recorder's operations become a :class:`ScalarProgram`, in single assignment, without those that no
output needs; :class:`Interpreter` runs them one after another, each rounded to a format.

In machine code sin and cos are additions, subtractions and multiplications, with the same bits on
every machine.  The angle is reduced by multiples k of pi/2 as by Cody & Waite (1980): pi/2 is a sum
of parts so short that k times a part is exact, and the rounding errors of the differences are kept.
Taylor polynomials give s and c, the sine and cosine of the reduced angle in [-pi/4, pi/4].  The
quadrant j = k - 4 round(k/4), between -2 and 2, enters without a branch: C = 1 - j^2 (7 - j^2)/6 and
S = j (4 - j^2)/3 are 0 or +-1, and sin = s C + c S, cos = c C - s S.

For |x| <= LARGEST both are within one unit in the last place, in float64 and in float32; beyond,
the error grows with x (no argument is refused).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import ADD, ARITHMETIC, DIV, MUL, SQRT, SUB, Chunk, Format
from ..base.errors import Undefined
from ..tape.emit import added, divided, multiplied

SIN, COS = 5, 6  # operations beside those of a tape
NAMES = ("add", "add", "mul", "div", "sqrt", "sin", "cos")  # under which operations are counted


class Recorder:
    """A growing list of operations; the result of each new operation gets a new slot."""

    def __init__(
        self,
        variables: int,
        cast: Callable[[float], float],
        fold: Callable[[int, float, float], float] | None,
    ) -> None:
        """``variables`` inputs are in slots 2, 3, ...; ``cast`` rounds a constant to the format.

        ``fold(op, x, y)`` is an operation on two constants, rounded as the format would; None
        leaves such operations to the program.
        """
        self.cast = cast
        self.fold = fold
        self.first: int = 2 + variables
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.slot: list[int] = []  # of each operation's result
        self.top: int = self.first
        self.values: dict[int, float] = {0: 0.0, 1: 1.0}  # slot of a constant -> its value
        self._constants: dict[float, int] = {0.0: 0, 1.0: 1}  # size -> slot
        self._met: dict[float, int] = {}
        self._known: dict[tuple[int, int, int], int] = {}  # slot of an operation on two slots

    def constant(self, x: float) -> int:
        """The reference of a number, rounded to the format."""
        if x in self._met:
            return self._met[x]
        value = self.cast(x)
        size = abs(value)
        if size not in self._constants:
            # stored with the sign that is met first: bodies that differ in signs share operations
            self._constants[size] = self.top
            self.values[self.top] = value
            self.top += 1
        slot = self._constants[size]
        self._met[x] = slot if self.values[slot] == value else -slot
        return self._met[x]

    def _write(self, op: int, a: int, b: int) -> int:
        """The slot of an operation on slots, which is recorded if it is new."""
        key = (op, b, a) if a > b and op in (MUL, ADD) else (op, a, b)
        slot = self._known.get(key)
        if slot is None:
            if self.fold and a in self.values and b in self.values:
                return self.constant(self.fold(op, self.values[a], self.values[b]))
            slot = self._known[key] = self.top
            self.top += 1
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)
            self.slot.append(slot)
        return slot

    def add(self, a: int, b: int) -> int:
        known, op, x, y, sign = added(a, b)
        return a + b if known else sign * self._write(op, x, y)

    def sub(self, a: int, b: int) -> int:
        return self.add(a, -b)

    def mul(self, a: int, b: int) -> int:
        known, op, x, y, sign = multiplied(a, b)
        return a * b if known else sign * self._write(op, x, y)

    def div(self, a: int, b: int) -> int:
        known, op, x, y, sign = divided(a, b)
        if known:
            return a * b
        if y == 0 and self.fold:
            raise Undefined("a number is divided by 0")
        return sign * self._write(op, x, y)

    def sqrt(self, a: int, b: int = 0) -> int:
        if 0 <= a <= 1:
            return a
        return self._write(SQRT, a if a > 0 else self._write(SUB, 0, -a), 0)

    def sin(self, a: int, b: int = 0) -> int:
        slot = self._write(SIN, abs(a), 0)
        return slot if a > 0 else -slot

    def cos(self, a: int, b: int = 0) -> int:
        return self._write(COS, abs(a), 0)

    def replay(self, chunk: Chunk, place: list[int]) -> None:
        """Append the operations of a piece of a tape; ``place`` has the references of its slots."""
        do = (self.add, self.sub, self.mul, self.div, self.sqrt)
        columns = (column.tolist() for column in (chunk.op, chunk.dst, chunk.a, chunk.b))
        for op, dst, a, b in zip(*columns, strict=True):
            place[dst] = do[op](place[a], place[b])

    def value(self, ref: int) -> Scalar | float:
        """The traced number of a reference; a float for 0, 1 and -1."""
        return float(ref) if -1 <= ref <= 1 else Scalar(self, ref)


class Scalar:
    """A number of the program; arithmetic on it is recorded."""

    __slots__ = ("recorder", "ref")

    def __init__(self, recorder: Recorder, ref: int) -> None:
        self.recorder: Recorder = recorder
        self.ref: int = ref

    def _ref(self, x: Scalar | float) -> int:
        return x.ref if isinstance(x, Scalar) else self.recorder.constant(float(x))

    def __add__(self, x: Scalar | float) -> Scalar | float:
        return self.recorder.value(self.recorder.add(self.ref, self._ref(x)))

    def __radd__(self, x: float) -> Scalar | float:
        return self.recorder.value(self.recorder.add(self._ref(x), self.ref))

    def __sub__(self, x: Scalar | float) -> Scalar | float:
        return self.recorder.value(self.recorder.add(self.ref, -self._ref(x)))

    def __rsub__(self, x: float) -> Scalar | float:
        return self.recorder.value(self.recorder.add(self._ref(x), -self.ref))

    def __mul__(self, x: Scalar | float) -> Scalar | float:
        return self.recorder.value(self.recorder.mul(self.ref, self._ref(x)))

    def __rmul__(self, x: float) -> Scalar | float:
        return self.recorder.value(self.recorder.mul(self._ref(x), self.ref))

    def __truediv__(self, x: Scalar | float) -> Scalar | float:
        return self.recorder.value(self.recorder.div(self.ref, self._ref(x)))

    def __rtruediv__(self, x: float) -> Scalar | float:
        return self.recorder.value(self.recorder.div(self._ref(x), self.ref))

    def __neg__(self) -> Scalar:
        return Scalar(self.recorder, -self.ref)

    def sqrt(self) -> Scalar | float:
        return self.recorder.value(self.recorder.sqrt(self.ref))

    def sin(self) -> Scalar | float:
        """Called by ``numpy.sin`` on an array of objects."""
        return self.recorder.value(self.recorder.sin(self.ref))

    def cos(self) -> Scalar | float:
        return self.recorder.value(self.recorder.cos(self.ref))


def reference(recorder: Recorder, x: Scalar | float) -> int:
    """The reference of an entry of an array of objects."""
    return x.ref if isinstance(x, Scalar) else recorder.constant(float(x))


def operate(op: int, x: float, y: float) -> float:
    """One operation of a tape on two numbers of one floating-point type.

    Raises Undefined for x / 0 and for roots of negative numbers.
    """
    if op == DIV and y == 0.0:
        raise Undefined(f"{x:.3g} is divided by 0")
    if op == SQRT and x < 0.0:
        raise Undefined(f"the root of {x:.3g} is taken")
    return math.sqrt(x) if op == SQRT else ARITHMETIC[op](x, y)


Slots = NDArray[np.int32]


@dataclass(frozen=True)
class ScalarProgram:
    """A program; slots are zero, one, the inputs, the constants, then one result an operation."""

    inputs: int  # numbers of a state
    constants: NDArray[np.float64]  # (c,) rounded to the format
    op: NDArray[np.int8]  # (T,)
    a: Slots  # (T,) operands; b is 0 for sqrt, sin and cos
    b: Slots
    outputs: Slots  # signed: minus slot i is the negative of its value

    @property
    def first(self) -> int:
        """Slot of the first operation's result."""
        return 2 + self.inputs + len(self.constants)

    def __len__(self) -> int:
        return len(self.op)

    @cached_property
    def chunk(self) -> Chunk:
        """The operations as a piece of a tape."""
        dst = np.arange(self.first, self.first + len(self), dtype=np.int32)
        return Chunk(self.op, dst, self.a, self.b, np.zeros(len(self), dtype=np.int32))

    @property
    def depth(self) -> int:
        """Operations of the longest sequence in which each waits for the one before."""
        depths = [0] * self.first
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            depths.append(1 + max(depths[a], depths[b]))
        return max(depths)

    @property
    def operations(self) -> dict[str, int]:
        """Counts of operations by kind; differences are counted as sums."""
        count = Counter(NAMES[op] for op in self.op.tolist())
        return {name: count[name] for name in dict.fromkeys(NAMES)}


def finished(recorder: Recorder, inputs: int, outputs: list[int]) -> ScalarProgram:
    """The program of those operations of a recorder that ``outputs``, signed references, need."""
    marks = bytearray(recorder.top)
    for ref in outputs:
        marks[abs(ref)] = True
    columns = (reversed(x) for x in (recorder.slot, recorder.a, recorder.b))
    for result, one, two in zip(*columns, strict=True):
        if marks[result]:
            marks[one] = marks[two] = True
    needed = np.frombuffer(marks, dtype=bool)
    op, a, b, slot = (
        np.array(x, dtype=np.int64) for x in (recorder.op, recorder.a, recorder.b, recorder.slot)
    )
    constants = [s for s in recorder.values if s > 1 and needed[s]]
    live = needed[slot] if len(slot) else np.zeros(0, dtype=bool)
    place = np.zeros(recorder.top, dtype=np.int32)
    place[: 2 + inputs] = np.arange(2 + inputs)
    place[constants] = 2 + inputs + np.arange(len(constants))
    first = 2 + inputs + len(constants)
    place[slot[live]] = first + np.arange(live.sum())
    signed = np.array(outputs, dtype=np.int64)
    return ScalarProgram(
        inputs,
        np.array([recorder.values[s] for s in constants], dtype=float),
        op[live].astype(np.int8),
        place[a[live]],
        place[b[live]],
        (np.sign(signed) * place[np.abs(signed)]).astype(np.int32),
    )


def depth_first(program: ScalarProgram) -> ScalarProgram:
    """The same operations in depth-first order, from one output after another.

    Results are then read soon after they are computed, so that fewer values are live at a time.
    """
    first, a, b = program.first, program.a.tolist(), program.b.tolist()
    place = [*range(first), *([-1] * len(program))]
    order: list[int] = []
    waiting = np.abs(program.outputs)[::-1].tolist()
    while waiting:
        slot = waiting[-1]
        if place[slot] >= 0:
            waiting.pop()
            continue
        one, two = a[slot - first], b[slot - first]
        # the first operand is computed first: it is put on top
        later = [x for x in (two, one) if place[x] < 0]
        waiting += later
        if not later:
            place[slot] = first + len(order)
            order.append(slot - first)
            waiting.pop()
    to = np.array(place, dtype=np.int32)
    return ScalarProgram(
        program.inputs,
        program.constants,
        program.op[order],
        to[program.a[order]],
        to[program.b[order]],
        (np.sign(program.outputs) * to[np.abs(program.outputs)]).astype(np.int32),
    )


class Interpreter:
    """Runs a program state by state; sines and cosines are those of float64, rounded once."""

    def __init__(self, program: ScalarProgram, chosen: Format) -> None:
        self.program = program
        self.format = chosen
        trigonometry = np.isin(program.op, (SIN, COS))
        cuts = np.flatnonzero(np.diff(trigonometry.astype(np.int8))) + 1
        bounds = [0, *cuts.tolist(), len(program)]
        self.pieces: list[tuple[bool, Chunk]] = [
            (bool(trigonometry[i]), program.chunk.part(slice(i, j)))
            for i, j in itertools.pairwise(bounds)
            if i < j
        ]
        self.places: NDArray[Any] = np.abs(program.outputs)
        self.signs: NDArray[Any] = np.sign(program.outputs)

    def run(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """(m, outputs) at inputs (m, inputs), in the type that carries the format."""
        program, chosen = self.program, self.format
        dtype = chosen.dtype
        assert dtype is not None
        out: NDArray[Any] = np.empty((len(inputs), len(self.places)), dtype=dtype)
        v: NDArray[Any] = np.zeros(program.first + len(program), dtype=dtype)
        v[1] = 1
        v[2 + program.inputs : program.first] = program.constants
        given = chosen.cast(inputs)
        with np.errstate(all="ignore"):
            for i in range(len(inputs)):
                v[2 : 2 + program.inputs] = given[i]
                self._run(v)
                out[i] = self.signs * v[self.places]
        return out

    def _run(self, v: NDArray[Any]) -> None:
        runner = self.format.runner(None)
        for trigonometry, chunk in self.pieces:
            if not trigonometry:
                runner.run(chunk, v)
                continue
            angle = v[chunk.a].astype(float)
            value = np.where(chunk.op == SIN, np.sin(angle), np.cos(angle))
            v[chunk.dst] = self.format.cast(value)


MULTIPLES = 13  # bits of k for which the reduction is exact
LARGEST = 2**MULTIPLES * math.pi / 2  # [rad], 12867
HALF_PI = Fraction(0x1921FB54442D18469898CC51701B839A252049C1114CF98E804, 1 << 200)


@dataclass(frozen=True)
class Series:
    """The constants for a precision of p bits."""

    magic: float  # 1.5 2^(p-1): adding and subtracting it rounds to a whole number
    parts: tuple[float, ...]  # of pi/2
    sin: tuple[float, ...]  # of r^3, r^5, ...
    cos: tuple[float, ...]  # of r^4, r^6, ...


@cache
def series(precision: int) -> Series:
    """Parts of pi/2 and coefficients, so many that the next term is below 1/32 of a rounding."""
    short, rest = precision - MULTIPLES, HALF_PI
    parts = []
    while rest > Fraction(1, 1 << (2 * precision + MULTIPLES + 8)):
        bits = short - 1 - math.floor(math.log2(rest))
        part = Fraction(math.floor(rest * (1 << bits)), 1 << bits)
        parts.append(float(part))
        rest -= part
    small = 2.0 ** (-precision - 5)
    odd: list[float] = []
    even: list[float] = []
    for n in range(3, 40):
        if (math.pi / 4) ** (n - 1) / math.factorial(n) > small:
            sign = -1.0 if n % 4 > 1 else 1.0
            (odd if n % 2 else even).append(sign / math.factorial(n))
    return Series(1.5 * 2.0 ** (precision - 1), tuple(parts), tuple(odd), tuple(even))


def sine_and_cosine(e: Recorder, x: int, precision: int) -> tuple[int, int]:
    """References of sin and cos of a reference [rad]."""
    known, constant = series(precision), e.constant
    magic = constant(known.magic)

    def whole(y: int) -> int:
        return e.sub(e.add(y, magic), magic)

    k = whole(e.mul(x, constant(2.0 / math.pi)))
    high = e.sub(x, e.mul(k, constant(known.parts[0])))  # exact
    low = 0
    for part in known.parts[1:]:
        shift = e.mul(k, constant(part))
        next_high = e.sub(high, shift)
        low = e.add(low, e.sub(e.sub(high, next_high), shift))
        high = next_high
    z = e.mul(high, high)
    s = e.add(high, e.add(low, e.mul(e.mul(high, z), _horner(e, known.sin, z))))
    half = e.mul(z, constant(0.5))
    near = e.sub(1, half)
    rest = e.sub(e.mul(e.mul(z, z), _horner(e, known.cos, z)), e.mul(high, low))
    c = e.add(near, e.add(e.sub(e.sub(1, near), half), rest))
    j = e.sub(k, e.mul(constant(4.0), whole(e.mul(k, constant(0.25)))))
    square = e.mul(j, j)
    C = e.sub(1, e.mul(e.mul(square, e.sub(constant(7.0), square)), constant(1.0 / 6.0)))
    S = e.mul(e.mul(j, e.sub(constant(4.0), square)), constant(1.0 / 3.0))
    return e.add(e.mul(s, C), e.mul(c, S)), e.sub(e.mul(c, C), e.mul(s, S))


def relaxed_sine_and_cosine(e: Recorder, x: int, precision: int) -> tuple[int, int]:
    """References of sin and cos of a reference [rad], each off by a few roundings of 1.

    h is half of the angle, less a multiple k of pi, and sin = 2 s c, cos = 1 - 2 s^2 with those of h.
    """
    constant, magic = e.constant, e.constant(series(precision).magic)
    k = e.sub(e.add(e.mul(x, constant(0.5 / math.pi)), magic), magic)
    h = e.mul(x, constant(0.5))
    for part in series(precision).parts[: 2 if precision > 24 else 3]:
        h = e.sub(h, e.mul(k, constant(2.0 * part)))
    z = e.mul(h, h)
    s, c = (_horner(e, each, z) for each in half_turn(precision))
    s = e.add(h, e.mul(e.mul(h, z), s))
    twice = e.add(s, s)
    return e.mul(twice, e.add(1, e.mul(z, c))), e.sub(1, e.mul(twice, s))


@cache
def half_turn(precision: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients of (sin h/h - 1)/z and (cos h - 1)/z in z = h^2, for |h| <= pi/2, by Chebyshev."""
    few = 8 if precision > 24 else 5
    with mpmath.workprec(200):
        most = (mpmath.pi / 2) ** 2 * 1.001
        sin = mpmath.chebyfit(lambda z: (mpmath.sinc(mpmath.sqrt(z)) - 1) / z, [most / 10**9, most], few)
        cos = mpmath.chebyfit(lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1) / z, [most / 10**9, most], few)
        return tuple(map(float, reversed(sin))), tuple(map(float, reversed(cos)))


def _horner(e: Recorder, coefficients: tuple[float, ...], z: int) -> int:
    total = e.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = e.add(e.constant(c), e.mul(z, total))
    return total


def expanded(
    program: ScalarProgram,
    e: Recorder,
    precision: int,
    sines: Callable[[Recorder, int, int], tuple[int, int]] = sine_and_cosine,
) -> ScalarProgram:
    """The program with sines and cosines replaced by arithmetic; ``e`` is an empty recorder."""
    place = list(range(2 + program.inputs))
    place += [e.constant(x) for x in program.constants.tolist()]
    place += [0] * len(program)
    done, before = dict[int, tuple[int, int]](), 0
    for i in np.flatnonzero((program.op == SIN) | (program.op == COS)).tolist():
        e.replay(program.chunk.part(slice(before, i)), place)
        before, a = i + 1, int(program.a[i])
        if a not in done:
            done[a] = sines(e, place[a], precision)
        place[program.first + i] = done[a][int(program.op[i]) - SIN]
    e.replay(program.chunk.part(slice(before, len(program))), place)
    outputs = [place[s] if s >= 0 else -place[-s] for s in program.outputs.tolist()]
    return finished(e, program.inputs, outputs)
