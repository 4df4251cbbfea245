"""Programs on words against Python's whole numbers: shifts, rounding, and what leaves a word."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from pivotree.kkt.arithmetic.chunk import ADD, DIV, MUL, SUB
from pivotree.kkt.arithmetic.words import SCALED, Words, aligned

HALF = Fraction(1, 2)


def one(bits, op, points, own):
    """A program of one operation on three inputs with these binary points."""
    point = np.array([bits - 2, bits - 2, *points, own])
    columns = (np.array([x]) for x in (2, 3, 4))
    return Words(bits, np.array([op], dtype=np.int8), *columns, point, 3)


def exactly(op, words, points, own):
    """The result in fractions, rounded to nearest with ties up; None where there is none."""
    x, y, z = (Fraction(w) / Fraction(2) ** p for w, p in zip(words, points, strict=True))
    if op in (ADD, SUB):
        common = int(aligned(np.int64(points[0]), np.int64(points[1])))
        if max(points[:2]) > common:  # the finer one is rounded off first
            x, y = (Fraction(floor(v * 2**common + HALF)) / 2**common for v in (x, y))
        exact = x + y if op == ADD else x - y
    elif op == MUL:
        exact = x * y
    else:
        by = y if op == DIV else z
        if by == 0:
            return None
        exact = (x if op == DIV else x * y) / by
        if by < 0:  # the sign goes to the dividend first, and ties up with it
            return floor(exact * Fraction(2) ** own + HALF)
    return floor(exact * Fraction(2) ** own + HALF)


@pytest.mark.product
@pytest.mark.parametrize("op", [ADD, SUB, MUL, DIV, SCALED])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_operations_are_exact_and_rounded_once(op, bits):
    draw, met = np.random.default_rng([op, bits]), set()
    top = (1 << (bits - 1)) - 1
    for _ in range(150):
        points = draw.integers(0, 20, size=3) + draw.integers(0, 2) * 30 * np.array([1, 0, 0])
        if op in (ADD, SUB):
            finest = int(aligned(points[0], points[1]))
        else:
            finest = int(
                {MUL: points[:2].sum(), DIV: points[0] - points[1] + bits}.get(
                    op, points[0] + points[1] - points[2] + bits - 1
                )
            )
        own = finest - int(draw.integers(0, bits))
        words = np.rint(draw.uniform(-top, top, size=(20, 3)) * 2.0 ** -draw.integers(0, bits, 3))
        words = np.clip(words, -top, top).astype(np.int64)
        program = one(bits, op, points.tolist(), own)
        found, beyond = program.play(words)
        for given, r, where in zip(words.tolist(), found[:, -1].tolist(), beyond, strict=True):
            right = exactly(op, given, points.tolist(), own)
            over = right is None or abs(right) > top
            met.add(over)
            assert (where == 0) == over
            assert over or r == right, (op, given, points, own)
    assert met == {True, False}


def test_inputs_are_rounded_and_seen_to_be_too_large():
    program = one(8, ADD, [4, 4, 4], 3)
    words = program.words(np.array([[1.03125, -1.03125, 0.0], [8.0, 0.0, 0.0]]))
    assert words.tolist() == [[17, -16, 0], [128, 0, 0]]  # ties up
    assert program.play(words)[1].tolist() == [1, -2]
    assert program.numbers(words[0], np.arange(2, 5)).tolist() == [1.0625, -1.0, 0.0]
