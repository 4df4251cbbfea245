"""Record scalar operations as they happen; zeros, ones and common subexpressions are folded.

A reference is a slot with a sign, as on the tape (:mod:`kkt.tape.emit`).  :class:`Scalar` is a
number whose arithmetic is recorded, so that spatial algebra on arrays of objects is traced by
running it.  Constants are Python floats until they meet a variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..arithmetic.chunk import ADD, DIV, MUL, SQRT, SUB, Chunk
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
        self.cast, self.fold = cast, fold
        self.first = 2 + variables
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.slot: list[int] = []  # of each operation's result
        self.top = self.first
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
        self.recorder, self.ref = recorder, ref

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
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == MUL:
        return x * y
    if op == DIV:
        return x / y
    return math.sqrt(x)
