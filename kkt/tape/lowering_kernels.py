"""Compiled loops that find templates of block operations, and copy them to their slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.compiled import leaf, loop, njit


class Regions(NamedTuple):
    """Runs of slots, each of which lives as long as a value has an entry in it.

    A region that no value uses waits in the list of its size, latest first, to be handed out again.
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    kind: NDArray[np.int64]  # number of its size
    users: NDArray[np.int64]  # values in it
    after: NDArray[np.int64]  # the next in its list
    free: NDArray[np.int64]  # (sizes,) the first of each list, or -1
    seen: NDArray[np.int64]  # the instruction that met it last
    counts: NDArray[np.int64]  # regions; slots


class Values(NamedTuple):
    """Signed slots of the entries of all values, one value after another."""

    first: NDArray[np.int64]  # entry of each value
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    held: NDArray[np.int64]  # of each value: its first entry in the list of regions
    holds: NDArray[np.int64]  # and how many
    entries: NDArray[np.int32]


class Steps(NamedTuple):
    """All instructions of a program, but for their operations."""

    out: NDArray[np.int64]
    step: NDArray[np.int64]
    arg: NDArray[np.int64]  # (instructions + 1,) first of each one's arguments
    args: NDArray[np.int64]  # four times the value, and how it is used
    end: NDArray[np.int64]  # (instructions + 1,) first of the values that each one uses last
    ends: NDArray[np.int64]


class Packed(NamedTuple):
    """Templates, one after another."""

    first: NDArray[np.int64]  # (templates + 1,) of operations
    op: NDArray[np.int8]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    kind: NDArray[np.int64]  # number of the size of its region
    outs: NDArray[np.int64]  # (templates + 1,) first entry of each result
    out: NDArray[np.int64]
    shape: NDArray[np.int64]  # (2, templates) of the results
    kept: NDArray[np.int64]  # (templates + 1,) first of the operands' slots that are passed on
    passed: NDArray[np.int64]
    renames: NDArray[np.bool_]


class Table(NamedTuple):
    """States and what follows them, as a hash table; see :class:`kkt.tape.lowering.Known`."""

    keys: NDArray[np.int64]  # (places, 2) state and pattern of an operand; -1 for none
    then: NDArray[np.int64]  # (places,) the state that follows
    # (states, 3) where one is the last: template, pattern of its result, operations; -1 for none
    found: NDArray[np.int64]


INPUT, LARGE = -1, -2  # instructions without a template


@leaf()
def entry(keys, state, pattern):  # pragma: no cover
    """Where a state and a pattern stand, or would."""
    last = len(keys) - 1
    at = (state * 40503 + pattern * 2654435761) & last
    while keys[at, 0] >= 0 and (keys[at, 0] != state or keys[at, 1] != pattern):
        at = (at + 1) & last
    return at


@njit(cache=True)
def follow(table, count, state, patterns):  # pragma: no cover
    """The state after these patterns; new ones are entered, numbered from ``count[0]`` on."""
    for pattern in patterns:
        at = entry(table.keys, state, pattern)
        if table.keys[at, 0] < 0:
            table.keys[at, 0], table.keys[at, 1], table.then[at] = state, pattern, count[0]
            count[0] += 1
        state = table.then[at]
    return state


@njit(cache=True)
def enter(old, table):  # pragma: no cover
    """All that is in a smaller table.

    Number by number: for a slice, numba compiles for a second how it would tell of another shape.
    """
    for k in range(len(old.then)):
        for column in range(old.found.shape[1]):
            table.found[k, column] = old.found[k, column]
        state, pattern = old.keys[k, 0], old.keys[k, 1]
        if state >= 0:
            at = entry(table.keys, state, pattern)
            table.keys[at, 0], table.keys[at, 1], table.then[at] = state, pattern, old.then[k]


@njit(cache=True)
def meet(places, done, most, steps, first, pattern, table, variants, numbers):  # pragma: no cover
    """Templates' numbers of the instructions ``places[done[0]:]``, whose results' patterns are kept.

    Stops and is True where ``done[1]`` reaches ``most`` operations.  Otherwise the instruction where
    it stops is a large factor, or its template is not known.
    """
    for n in range(done[0], len(places)):
        done[0], state = n, first[places[n]]
        for arg in steps.args[steps.arg[places[n]] : steps.arg[places[n] + 1]]:
            seen = variants[pattern[arg >> 2], arg & 3]
            if state >= 0 and seen >= 0:
                at = entry(table.keys, state, seen)
                state = table.then[at] if table.keys[at, 0] >= 0 else -1
            else:
                state = -1
        if state < 0 or table.found[state, 0] < 0:
            return False
        numbers[n], pattern[steps.out[places[n]]] = table.found[state, 0], table.found[state, 1]
        done[0], done[1] = n + 1, done[1] + table.found[state, 2]
        if done[1] >= most:
            return True
    return False


@leaf()
def allocated(regions, kind, size):  # pragma: no cover
    """A region: the latest of this size that was given back, or a new one."""
    region = regions.free[kind]
    if region >= 0:
        regions.free[kind] = regions.after[region]
        return region
    region = regions.counts[0]
    regions.counts[0] += 1
    regions.start[region], regions.kind[region] = regions.counts[1], kind
    regions.counts[1] += size
    regions.stop[region] = regions.counts[1]
    return region


@leaf()
def given_back(regions, region):  # pragma: no cover
    regions.after[region] = regions.free[regions.kind[region]]
    regions.free[regions.kind[region]] = region


@leaf()
def operands(values, args, lookup):  # pragma: no cover
    """The slots of an instruction's operands into ``lookup`` from 2 on; how far it is filled."""
    at = 2
    for arg in args:
        value, transposed = arg >> 2, arg & 1
        first, rows, columns = values.first[value], values.rows[value], values.columns[value]
        if transposed:
            for c in range(columns):
                for r in range(rows):
                    lookup[at] = abs(values.entries[first + r * columns + c])
                    at += 1
        else:
            for e in range(first, first + rows * columns):
                lookup[at] = abs(values.entries[e])
                at += 1
    return at


@leaf()
def holding(regions, values, listed, args, stamp, at):  # pragma: no cover
    """The regions of an instruction's operands, each once, into ``listed`` from ``at`` on."""
    for arg in args:
        first = values.held[arg >> 2]
        for k in range(first, first + values.holds[arg >> 2]):
            region = listed[k]
            if regions.seen[region] != stamp:
                regions.seen[region] = stamp
                listed[at] = region
                at += 1
    return at


@leaf()
def release(regions, values, listed, value):  # pragma: no cover
    """Give back the regions that no value but this one uses."""
    for k in range(values.held[value], values.held[value] + values.holds[value]):
        regions.users[listed[k]] -= 1
        if not regions.users[listed[k]]:
            given_back(regions, listed[k])


@leaf()
def write(packed, t, step, start, lookup, at, chunk, place):  # pragma: no cover
    """The operations of template ``t`` into the chunk; their results are ``start`` and following."""
    op, dst, a, b, steps = chunk
    first = packed.first[t]
    for k in range(packed.first[t + 1] - first):
        lookup[at + k] = start + k
        op[place + k], steps[place + k], dst[place + k] = packed.op[first + k], step, start + k
        a[place + k], b[place + k] = lookup[packed.a[first + k]], lookup[packed.b[first + k]]


@leaf()
def passed_on(packed, t, regions, values, listed, args, lookup, stamp, used):  # pragma: no cover
    """Regions of operands that the result has an entry in, into ``listed`` from ``used`` on."""
    kept = packed.passed[packed.kept[t] : packed.kept[t + 1]]
    if not packed.renames[t] and not len(kept):
        return used
    for k in range(used, holding(regions, values, listed, args, stamp, used)):
        region = listed[k]
        inside = packed.renames[t]  # of every operand; a square of all joints has many
        for slot in kept[:0] if inside else kept:
            inside = inside or regions.start[region] <= lookup[slot] < regions.stop[region]
        if inside:
            listed[used] = region
            used += 1
    return used


@loop(few=2_000, nogil=True)
def copy(places, numbers, steps, packed, regions, values, listed, lookup, chunk, done):  # pragma: no cover
    """Write the operations of the instructions at ``places``, by templates of these ``numbers``.

    ``done`` counts what is done: instructions and operations of this chunk, entries of ``listed``,
    which holds the regions of each value, and stamps.  Where ``listed`` is too short, stops.
    """
    for n in range(done[0], len(places)):
        t, out, used = numbers[n], steps.out[places[n]], done[2]
        args = steps.args[steps.arg[places[n]] : steps.arg[places[n] + 1]]
        most = 1
        for arg in args:
            most += values.holds[arg >> 2]
        if used + most > len(listed):
            return
        at = operands(values, args, lookup)
        # operations: results follow each other in a region of their own
        count = packed.first[t + 1] - packed.first[t]
        if count:
            region = allocated(regions, packed.kind[t], count)
            write(packed, t, steps.step[places[n]], regions.start[region], lookup, at, chunk, done[1])
            listed[used] = region
            used += 1
        # an entry that is passed on lives in its operand's region
        done[3] += 1
        used = passed_on(packed, t, regions, values, listed, args, lookup, done[3], used)
        values.held[out], values.holds[out] = done[2], used - done[2]
        for k in range(done[2], used):
            regions.users[listed[k]] += 1
        # the result
        first = packed.outs[t]
        for k in range(packed.outs[t + 1] - first):
            slot = packed.out[first + k]
            values.entries[values.first[out] + k] = lookup[slot] if slot >= 0 else -lookup[-slot]
        # values that are not needed any more
        for value in steps.ends[steps.end[places[n]] : steps.end[places[n] + 1]]:
            release(regions, values, listed, value)
        done[0], done[1], done[2] = n + 1, done[1] + count, used
