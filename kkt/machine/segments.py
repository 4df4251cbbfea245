"""Cut a program into segments, so that operations repeated for body after body are cut alike.

Bodies are not known here: cuts follow from the operations around them, so that equal sequences of
operations are cut at equal places.  First each operation becomes a token: its kind, and how many
operations before it its operands were made.  A cut is made where a hash of the next few tokens is
smaller than the hashes near it (content-defined chunking).  Then neighbours that nearly always
occur together are joined, until a segment holds all operations for a body at one time, or those
between two repeated parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .scalar_program import ScalarProgram

Ints = NDArray[np.int64]

NEAR = 64  # operands made fewer operations before are told apart by their distance
WINDOW = 8  # tokens that decide on a cut
APART = 32  # operations between cuts at least
RUN = 192  # operations between cuts at most: longer chunks, of equal tokens, are cut evenly
LONGEST = 2000  # operations of a segment at most
TOGETHER = 0.7  # share of both kinds' occurrences in which they must be neighbours to be joined


@dataclass(frozen=True)
class Segments:
    """Consecutive parts of a program; segments of one kind have the same tokens."""

    start: Ints  # (S + 1,) first operation of each, and the end
    kind: Ints  # (S,)


def segments_of(program: ScalarProgram, longest: int = LONGEST) -> Segments:
    """A program's segments, each of at most ``longest`` operations."""
    hashes = _hashed(_tokens(program))
    start = _chunks(hashes, len(program))
    length = np.diff(start)
    # a chunk's kind is its length and a sum of its tokens' hashes, weighted by place
    at = np.arange(len(program), dtype=np.uint64) - np.repeat(start[:-1], length).astype(np.uint64)
    weighed = hashes * (2 * _hashed(at) + np.uint64(1))
    total = np.add.reduceat(weighed, start[:-1]) if len(program) else weighed
    kind = np.unique(np.stack([total, length.astype(np.uint64)], 1), axis=0, return_inverse=True)[1]
    return _joined(Segments(start, kind.reshape(-1).astype(np.int64)), longest)


def _tokens(program: ScalarProgram) -> NDArray[np.uint64]:
    """(T,) kind of an operation and, for both operands, distance if near, else constant or far."""
    here = program.first + np.arange(len(program), dtype=np.int64)
    token = program.op.astype(np.int64)
    for operand in (program.a, program.b):
        back = here - operand
        constant = (operand <= 1) | ((operand >= 2 + program.inputs) & (operand < program.first))
        near = (operand >= program.first) & (back < NEAR)
        token = token * (NEAR + 2) + np.where(near, back, np.where(constant, 0, NEAR + 1))
    return token.astype(np.uint64)


def _hashed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _chunks(hashes: NDArray[np.uint64], T: int) -> Ints:
    """(S + 1,) cuts where a window's hash is less than those before, at most those after it."""
    if T <= 2 * APART:
        return np.array([0, T] if T else [0], dtype=np.int64)
    window = np.zeros(T, dtype=np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    for i in range(WINDOW):
        window[: T - i] = window[: T - i] * factor + hashes[i:]
    least = _least(window, APART)  # of i, ..., i + APART - 1
    cut = np.zeros(T, dtype=bool)
    inside = np.arange(APART, T - APART)
    cut[inside] = (window[inside] < least[inside - APART]) & (window[inside] <= least[inside + 1])
    cut[0] = True
    start = np.append(np.flatnonzero(cut), T)
    length = np.diff(start)
    parts = -(-length // RUN)
    within = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(np.repeat(start[:-1], parts) + within * RUN, T)


def _least(x: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """(T,) the least of x[i : i + width] for each i (van Herk 1992)."""
    T = len(x)
    padded = np.full(-(-(T + width) // width) * width, np.iinfo(np.uint64).max, dtype=np.uint64)
    padded[:T] = x
    rows = padded.reshape(-1, width)
    before = np.minimum.accumulate(rows, axis=1).ravel()
    after = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    return np.minimum(after[:T], before[width - 1 : width - 1 + T])


def _joined(segments: Segments, longest: int) -> Segments:
    """Join segments of kinds that nearly always occur next to each other, many kinds at a time."""
    start, kind = segments.start, segments.kind
    while len(kind) > 1:
        kinds = int(kind.max()) + 1
        count = np.bincount(kind, minlength=kinds)
        length = np.zeros(kinds, dtype=np.int64)
        length[kind] = np.diff(start)
        pair = kind[:-1] * kinds + kind[1:]
        pairs, met = np.unique(pair, return_counts=True)
        one, two = pairs // kinds, pairs % kinds
        good = (one != two) & (length[one] + length[two] <= longest)
        good &= met >= TOGETHER * np.maximum(count[one], count[two])
        order = np.flatnonzero(good)[np.argsort(-met[good], kind="stable")]
        chosen, used = [], np.zeros(kinds, dtype=bool)
        for i in order.tolist():  # each kind in one pair, so that no two pairs overlap
            if not (used[one[i]] or used[two[i]]):
                used[one[i]] = used[two[i]] = True
                chosen.append(i)
        if not chosen:
            break
        new = np.full(len(pairs), -1)
        new[chosen] = kinds + np.arange(len(chosen))
        joined = new[np.searchsorted(pairs, pair)]
        first = np.append(joined >= 0, False)
        second = np.append(False, joined >= 0)
        kind = np.where(first, np.append(joined, 0), kind)[~second]
        start = np.append(start[:-1][~second], start[-1])
        kind = np.unique(kind, return_inverse=True)[1].reshape(-1)
    return Segments(start, kind)
