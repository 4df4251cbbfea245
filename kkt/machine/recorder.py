"""Record scalar operations as they happen; zeros, ones and common subexpressions are folded.

A reference is a slot with a sign, as on the tape (:mod:`kkt.tape.emit`).  :class:`Scalar` is a
number whose arithmetic is recorded, so that spatial algebra on arrays of objects is traced by
running it.  Constants are Python floats until they meet a variable.

A tape's operations are appended by compiled loops on arrays, with the results of the recorder's own
methods, operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..arithmetic.chunk import ADD, DIV, MUL, SQRT, SUB, Chunk
from ..base.errors import Undefined
from ..tape.emit import added, divided, folded, multiplied

Ints = NDArray[np.int64]


class Replay:
    """Appends operations for a recorder; at the end :meth:`done` hands them over to it."""

    def __init__(self, recorder: Recorder, most: int) -> None:
        """``most`` is the largest number of operations that will be appended."""
        self.recorder = recorder
        room = recorder.top + 2 * most  # slots: of operations, and of constants folded
        self.constant = np.zeros(room, dtype=np.bool_)
        self.folds = recorder.fold is not None
        self.constant[list(recorder.values)] = self.folds
        known = recorder.known
        size = 1 << int(np.ceil(np.log2(2 * (len(known) + most) + 16)))
        self.table = np.full(size, -1), np.zeros(size, dtype=np.int64)  # keys, slots
        keys, values = (np.fromiter(x, np.int64, len(known)) for x in (known, known.values()))
        _fill(*self.table, keys, values)
        a, b, slot = (np.zeros(most, dtype=np.int64) for _ in range(3))
        self.out = np.zeros(most, dtype=np.int8), a, b, slot
        self.count = 0

    def run(self, chunk: Chunk, place: Ints) -> None:
        """Append operations of a tape; ``place`` maps its slots to references."""
        recorder, i = self.recorder, 0
        do = (recorder.add, recorder.sub, recorder.mul, recorder.div, recorder.sqrt)
        while True:
            i, recorder.top, self.count = _run(
                i, recorder.top, self.count, chunk, place, self.folds, self.constant, self.table, self.out
            )
            if i == len(chunk.op):
                return
            # an operation on constants is left to the recorder, which rounds it
            ref = do[chunk.op[i]](int(place[chunk.a[i]]), int(place[chunk.b[i]]))
            place[chunk.dst[i]] = ref
            self.constant[abs(ref)] = True
            i += 1

    def done(self) -> None:
        recorder, n = self.recorder, self.count
        op, a, b, slot = (x[:n] for x in self.out)
        recorder.op += op.tolist()
        recorder.a += a.tolist()
        recorder.b += b.tolist()
        recorder.slot += slot.tolist()
        recorder.later.append((op, a, b, slot))


@njit(cache=True)
def _fill(keys, slots, new, values):  # pragma: no cover
    for i in range(len(new)):
        at = _at(keys, new[i])
        keys[at], slots[at] = new[i], values[i]


@njit(cache=True)
def _at(keys, key):  # pragma: no cover
    """The place of a key in a hash table of 2^k places, or the place where it would be put."""
    mask = len(keys) - 1
    x = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(x >> np.uint64(20)) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True)
def _run(i, top, count, chunk, place, folds, constant, table, out):  # pragma: no cover
    """Append operations up to the end or to one on constants; returns (next, top, count)."""
    op, dst, a, b = chunk.op, chunk.dst, chunk.a, chunk.b
    while i < len(op):
        one, two = place[a[i]], place[b[i]]
        if op[i] == SQRT:
            known, o, x, y, sign = 0 <= one <= 1, SQRT, one, 0, 1
            result = one
        else:
            (known, o, x, y, sign), result = folded(op[i], one, two)
        if known:
            place[dst[i]] = result
            i += 1
            continue
        if (constant[abs(x)] and constant[y]) or (folds and o == DIV and y == 0):
            return i, top, count
        if x < 0:  # a root of -slot: 0 - slot first
            x, top, count = _found(SUB, 0, -x, top, count, table, out)
        slot, top, count = _found(o, x, y, top, count, table, out)
        place[dst[i]] = sign * slot
        i += 1
    return i, top, count


@njit(cache=True)
def _found(o, x, y, top, count, table, out):  # pragma: no cover
    """The slot of an operation on slots, recorded if it is new; returns (slot, top, count)."""
    keys, slots = table
    out_op, out_a, out_b, out_slot = out
    if x > y and o in (ADD, MUL):
        key = (np.int64(o) << 60) | (y << 30) | x
    else:
        key = (np.int64(o) << 60) | (x << 30) | y
    at = _at(keys, key)
    if keys[at] < 0:
        keys[at], slots[at] = key, top
        out_op[count], out_a[count], out_b[count], out_slot[count] = o, x, y, top
        top += 1
        count += 1
    return slots[at], top, count


@njit(cache=True)
def marked(needed, slot, a, b):  # pragma: no cover
    """Mark in ``needed`` all operands of operations whose results are needed."""
    for i in range(len(slot) - 1, -1, -1):
        if needed[slot[i]]:
            needed[a[i]] = needed[b[i]] = True


def latest(first: int, a: NDArray, b: NDArray, outputs: NDArray) -> tuple[Ints, NDArray[np.int32]]:
    """Operations in depth-first order, and the new slots of old ones."""
    place = np.full(first + len(a), -1, dtype=np.int32)
    place[:first] = np.arange(first)
    order = np.empty(len(a), dtype=np.int64)
    waiting = np.empty(2 * len(a) + len(outputs), dtype=np.int64)
    made = outputs[::-1][outputs[::-1] >= first]
    waiting[: len(made)] = made
    return order[: _latest(first, a, b, len(made), waiting, place, order)], place


@njit(cache=True)
def _latest(first, a, b, top, waiting, place, order):  # pragma: no cover
    count = 0
    while top:
        slot = waiting[top - 1]
        one, two = a[slot - first], b[slot - first]
        if place[slot] >= 0 or (place[one] >= 0 and place[two] >= 0):
            top -= 1
            if place[slot] < 0:
                place[slot] = first + count
                order[count] = slot - first
                count += 1
            continue
        if place[two] < 0:
            waiting[top] = two
            top += 1
        if place[one] < 0:
            waiting[top] = one
            top += 1
    return count


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
        self._known: dict[int, int] = {}  # key of an operation -> slot
        self.later: list[tuple[NDArray, ...]] = []  # op, a, b, slot not yet added to ``_known``

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

    @property
    def known(self) -> dict[int, int]:
        """Slots by :func:`key_of` operations; sums and products have the smaller operand first."""
        for op, a, b, slot in self.later:
            swap = (a > b) & ((op == MUL) | (op == ADD))
            keys = key_of(op.astype(np.int64), np.where(swap, b, a), np.where(swap, a, b))
            self._known.update(zip(keys.tolist(), slot.tolist(), strict=True))
        self.later.clear()
        return self._known

    def _write(self, op: int, a: int, b: int) -> int:
        """The slot of an operation on slots, which is recorded if it is new."""
        key = key_of(op, b, a) if a > b and (op in (MUL, ADD)) else key_of(op, a, b)
        slot = (self.known if self.later else self._known).get(key)
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

    def value(self, ref: int) -> Scalar | float:
        """The traced number of a reference; a float for 0, 1 and -1."""
        return float(ref) if -1 <= ref <= 1 else Scalar(self, ref)


def key_of(op: Any, a: Any, b: Any) -> Any:
    """An operation on slots below 2^30 as one number."""
    return op << 60 | a << 30 | b


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
