"""Fixed point: the compiled loop against whole numbers of any length, and what leaves the range."""

import re
from fractions import Fraction

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SQRT, SUB, Fixed, get_format
from pivotree.kkt.arithmetic.chunk import Chunk
from pivotree.kkt.arithmetic.fixed import OutOfRange
from pivotree.kkt.base.errors import FormatError
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.tape.run import run_objects

NAMES = ("q2.2", "q4.4", "q16.16", "q8.24", "q2.51", "q20.33", "q53.0")
OPERATIONS = {"add": ADD, "sub": SUB, "mul": MUL, "div": DIV, "sqrt": SQRT}


def loop(fixed, op, x, y):
    """One operation on arrays of numbers of a format, by the compiled loop."""
    m = len(x)
    v = np.concatenate([x, y, np.zeros(m)])
    at = np.arange(m, dtype=np.int32)
    chunk = Chunk(np.full(m, op, dtype=np.int8), at + 2 * m, at, at + m, np.zeros_like(at))
    fixed.runner(None).run(chunk, v)
    return v[2 * m :]


def exactly(fixed, op, x, y):
    """The same in fractions, rounded once by Python's own rule; None where no word holds it."""
    x, y = Fraction(x), Fraction(y)
    if (op == DIV and y == 0) or (op == SQRT and x < 0):
        return None
    scale = 1 << fixed.fraction
    if op == SQRT:
        number = x.numerator * scale * scale // x.denominator  # x scale^2 is whole
        below = max(0, round(float(number) ** 0.5) - 2**27)
        top = below + 2**28
        while top - below > 1:
            middle = (below + top) // 2
            below, top = (middle, top) if middle * middle <= number else (below, middle)
        k = below + (4 * number > (2 * below + 1) ** 2)
    else:
        value = (x + y, x - y, x * y, x / y if op == DIV else None)[op]
        k = round(value * scale)
    return k / scale if abs(k) < 1 << (fixed.bits - 1) else None


def operands(fixed, count, seed):
    rng = np.random.default_rng(seed)
    bits = rng.integers(1, fixed.bits, size=count)
    k = np.rint(rng.uniform(-1.0, 1.0, size=count) * 2.0**bits)
    edge = [0, 1, -1, 3, fixed.top, -fixed.top, fixed.top - 1, 1 << (fixed.bits // 2)]
    k[: len(edge)] = edge
    return np.clip(k, -fixed.top, fixed.top) * 2.0**-fixed.fraction


@pytest.mark.product
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_the_exact_ones_rounded_once(name, operation):
    fixed, op = get_format(name), OPERATIONS[operation]
    x, y = operands(fixed, 300, 1), -operands(fixed, 300, 2)
    y[8:16] = x[:8]
    x = np.abs(x) if op == SQRT else x
    found, met = loop(fixed, op, x, y), set()
    for a, b, r in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
        right = exactly(fixed, op, a, b)
        met.add(right is None)
        assert np.isnan(r) if right is None else r == right, (operation, a, b, r, right)
    overflows = (ADD, SUB) if fixed.fraction == 0 else (ADD, SUB, MUL, DIV)
    assert False in met and (True in met or op not in overflows)


@pytest.mark.product
def test_a_tie_of_the_float64_is_none_of_the_exact_product():
    """The float64 product is k + 1/2 exactly; what its rounding took away decides, both ways."""
    fixed, scale = get_format("q2.51"), 2.0**51
    rng, found = np.random.default_rng(0), set()
    for a in rng.integers(2**50, 2**51, size=40_000).tolist():
        b = (2**51 * (2 * int(rng.integers(2**10, 2**40)) + 1)) // (2 * a)
        for c in (b, b + 1):
            product = Fraction(a * c, 2**51)
            rounded = float(Fraction(a, 2**51)) * float(Fraction(c, 2**51)) * scale
            rest = product - Fraction(rounded)
            if rounded % 1.0 == 0.5 and rest and (rest > 0) != (round(rounded) > rounded):
                found.add(rest > 0)
                (r,) = loop(fixed, MUL, np.array([a / scale]), np.array([c / scale]))
                assert r * scale == round(product) != round(rounded)
    assert found == {True, False}


def test_long_words_are_whole_numbers_and_carried_ones_agree_with_them():
    """Both roads through one elimination: the same numbers where both hold."""
    system, abm = kkt.build(kkt.chain(3)), orderings.get("gain_abm")
    fixed = get_format("q9.40")
    carried = kkt.eliminate(system, abm, fixed)
    words = Entries(
        *(
            np.array([*map(fixed.word, x.ravel().tolist()), None], dtype=object)[:-1].reshape(x.shape)
            for x in (getattr(system.entries, letter) for letter in LETTERS)
        )
    )
    tape = kkt.trace(system, abm)
    solution, _, _ = run_objects(tape, words, fixed.word)
    qdd = np.concatenate([solution[kkt.Block("qdd", body)] for body in system.tree.names])
    assert [float(x) for x in qdd] == carried.qdd.tolist()
    longer = kkt.eliminate(system, abm, "q9.55")
    exact = kkt.eliminate(system, abm, "mp:30")
    off = [abs(float(x) - float(y)) for x, y in zip(longer.qdd, exact.qdd, strict=True)]
    assert max(off) < 1e-12 < max(abs(carried.qdd - exact.qdd.astype(float)))


@pytest.mark.parametrize("name", ["q6.26", "q6.58"])
def test_overflow_is_named_and_never_wraps(name):
    system, abm = kkt.build(kkt.chain(3)), orderings.get("abm")
    says = (
        rf"body 'j2', step 2: 2.03.* / 0.0261.* is 77.97.*, beyond {name}, which ends at 32; "
        r"use at least 8 bits before the point, as in q8\."
    )
    fixed = get_format(name)
    if fixed.kind == "object":
        with pytest.raises(FormatError, match=says):
            kkt.eliminate(system, abm, fixed)
    else:
        found = kkt.eliminate(system, abm, fixed)
        assert np.isnan(found.qdd).any()
        assert re.search(says, found.failed_at)
    assert kkt.eliminate(system, abm, f"q8.{fixed.bits - 8}").failed_at is None


def test_data_that_overflow_are_refused_with_body_and_field():
    with pytest.raises(FormatError, match=r"body 'j1': field 'a' of equation \(4\) overflows q4.28"):
        kkt.eliminate(kkt.build(kkt.chain(3)), orderings.get("abm"), "q4.28")


def test_the_ends_of_a_word():
    fixed = Fixed("mine", 4, 4)
    assert (fixed.bits, fixed.top, fixed.largest, fixed.unit) == (8, 127, 7.9375, 2.0**-5)
    assert fixed.cast(np.array([-8.0, 7.968, 7.97, 0.03125])).tolist()[1:2] == [7.9375]
    assert np.isnan(fixed.cast(np.array([-8.0, 7.97]))).all()
    assert fixed.cast(np.array([0.03125, 0.09375])).tolist() == [0.0, 0.125]  # ties to even
    with pytest.raises(OutOfRange, match=r"an entry is 7\.97, beyond its largest number, 7\.9375"):
        fixed.word(7.97)


@pytest.mark.parametrize(
    "name, says",
    [
        ("q0.0", "0 bits before the point and 0 behind it; use at least 2"),
        ("q40.40", "at most 64 in all, as in q16.16"),
        ("q1.31", "for the sign and for the ones of \\(4\\)"),
        ("q16", "format 'q16' is unknown; .*qINT.FRACTION"),
        ("q-1.3", "format 'q-1.3' is unknown"),
        ("float32+mul=q8.8", "q8.8 cannot be mixed"),
    ],
)
def test_names_that_mean_nothing(name, says):
    with pytest.raises(FormatError, match=says):
        get_format(name)


def test_no_guarantee_is_given_for_what_rounds_absolutely():
    with pytest.raises(FormatError, match="rounds absolutely"):
        kkt.guarantee(kkt.chain(3), orderings.get("abm"), "q16.16")
