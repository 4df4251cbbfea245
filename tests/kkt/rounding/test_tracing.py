"""Tracing: cancelled bits, absorbed fractions and true errors, against exact fractions."""

import math
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from designs import listed
from helpers import system_of, tape_of

from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.rounding import observe
from pivotree.kkt.rounding.observe import Watch
from pivotree.kkt.tape.player import started

FLOAT32 = get_format("float32")


def exact_statistics(op, x, y, r):
    """Cancelled bits (-1: exactly zero) and absorbed fraction of one sum, in fractions."""
    a, b = Fraction(float(x)), Fraction(float(y) if op == 0 else -float(y))
    if a == 0 or b == 0:
        return 0, Fraction(0)
    lost = abs(Fraction(float(r)) - (a + b)) / min(abs(a), abs(b))
    if r == 0:
        return -1, lost
    exponent = lambda z: math.frexp(abs(float(z)))[1]  # noqa: E731
    return max(0, max(exponent(a), exponent(b)) - exponent(r)), lost  # 0: the sum carries


@pytest.mark.parametrize(
    ("name", "spec", "order"),
    listed(
        [
            ("float32", "chain:4", "crbm"),
            ("float64", "example1:q1=1", "abm"),
            ("p11", "chain:4", "crbm"),
            ("bfloat16:up", "example1:q1=1", "abm"),
            ("p9:stochastic:3", "chain:4", "crbm"),
        ]
    ),
)
def test_every_operation_against_fractions(spec, order, name):
    """A sum that carries cancels nothing, and is no zero."""
    system, tape, format = system_of(spec), tape_of(spec, order), get_format(name)
    seen, sums, zeros, carried = 0, 0, 0, 0
    for piece in Watch(tape, system.entries, format):
        assert piece.at == seen
        seen += len(piece.chunk.op)
        for i, op in enumerate(piece.chunk.op):
            cancelled, absorbed = (0, Fraction(0))
            if op < 2:
                sums += 1
                cancelled, absorbed = exact_statistics(op, piece.x[i], piece.y[i], piece.r[i])
                carried += abs(piece.r[i]) >= 2.0 ** math.frexp(max(abs(piece.x[i]), abs(piece.y[i])))[1]
            zeros += cancelled < 0
            assert piece.cancelled[i] == cancelled
            assert float(piece.absorbed[i]) == pytest.approx(float(absorbed), rel=1e-6)
            assert piece.size[i] == abs(piece.r[i])
    assert seen == tape.length and sums > 100 and carried > 0
    assert zeros > 0 or name == "float64"


def test_steps_gather_what_the_operations_say():
    """The same largest figures as from one array of all operations."""
    spec, order = "random_tree:n=6,seed=3", "crbm"
    system, tape = system_of(spec), tape_of(spec, order)
    gathered = observe(tape, system.entries, FLOAT32).steps
    columns = {
        key: np.concatenate([getattr(p, key).copy() for p in Watch(tape, system.entries, FLOAT32)])
        for key in ("cancelled", "absorbed", "size")
    }
    number = np.concatenate([chunk.step for chunk in tape.chunks()])
    assert (number >= 0).any()
    for g in np.unique(number[number >= 0]):
        here = number == g
        assert gathered.operations[g] == here.sum()
        assert gathered.zeros[g] == (columns["cancelled"][here] < 0).sum()
        assert gathered.cancelled[g] == max(0, columns["cancelled"][here].max())
        for key in ("absorbed", "size"):
            assert getattr(gathered, key)[g] == columns[key][here].max()


def test_pieces_do_not_matter(monkeypatch):
    system, tape = system_of("chain:10"), tape_of("chain:10", "crbm")
    whole = observe(tape, system.entries, FLOAT32)
    monkeypatch.setattr(sys.modules[observe.__module__], "PIECE", 37)
    pieces = observe(tape, system.entries, FLOAT32)
    for a, b in zip(whole.steps, pieces.steps, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(whole.pivot_errors, pieces.pivot_errors)


def test_the_shadow_sees_the_true_error():
    """Double-double and fractions give one error of float32."""
    spec = "chain:6"
    system, tape = system_of(spec), tape_of(spec, "crbm")
    run = observe(tape, system.entries, FLOAT32)
    v = [Fraction(float(x)) for x in started(tape, system.entries, FLOAT32)]
    for chunk in tape.chunks():
        for op, d, a, b in zip(*(c.tolist() for c in chunk[:4]), strict=True):
            x, y = v[a], v[b]
            v[d] = x + y if op == 0 else x - y if op == 1 else x * y if op == 2 else x / y
    for slot, found in zip(tape.found.tolist(), run.distances(tape.found)[0].tolist(), strict=True):
        own = Fraction(float(run.v[abs(slot)]))
        assert found == pytest.approx(abs(float(own - v[abs(slot)])), rel=1e-12, abs=1e-28)


@pytest.mark.soak
def test_memory_is_bounded():
    """Beyond the tape: some pieces and a few numbers a block, not arrays of all operations."""
    system, tape = system_of("chain:150"), tape_of("chain:150", "crbm")
    assert tape.length > 2_000_000
    observe(tape, system.entries, FLOAT32)  # compiled before memory is looked at
    tracemalloc.start()
    observe(tape, system.entries, FLOAT32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    runs = len(tape.program.instructions)
    assert peak < 24e6 + 100 * runs + 20 * tape.slots < 40 * tape.length
