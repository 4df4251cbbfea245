"""The recorder's appending of a tape's operations, in compiled loops on arrays.

The results are those of the recorder's own methods, operation by operation.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..arithmetic.chunk import ADD, DIV, MUL, SQRT, SUB, Chunk
from ..tape.emit import folded
from .recorder import Recorder

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
