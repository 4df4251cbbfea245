"""Fixed point: the compiled loop against whole numbers of any length, and what leaves the range."""

import re
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from arithmetic import operate

from pivotree import analysis, kkt, orderings
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SQRT, SUB, Fixed, get_format

NAMES = ("q2.2", "q4.4", "q16.16", "q8.24", "q2.51", "q20.33", "q53.0")
OPERATIONS = {"add": ADD, "sub": SUB, "mul": MUL, "div": DIV, "sqrt": SQRT}


def exactly(fixed, op, x, y):
    """The same in fractions, rounded once by Python's own rule; None where no word holds it."""
    x, y = Fraction(x), Fraction(y)
    if (op == DIV and y == 0) or (op == SQRT and x < 0):
        return None
    scale = 1 << fixed.fraction
    if op == SQRT:
        number = x.numerator * scale * scale // x.denominator  # x scale^2 is whole
        below = isqrt(number)
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
    found, met = operate(fixed, operation, x, y), set()
    for a, b, r in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
        right = exactly(fixed, op, a, b)
        met.add(right is None)
        assert np.isnan(r) if right is None else r == right, (operation, a, b, r, right)
    overflows = (ADD, SUB) if fixed.fraction == 0 else (ADD, SUB, MUL, DIV)
    assert False in met and (True in met or op not in overflows)


@pytest.mark.parametrize("words", [(1175378288647883, 1553512268362), (1232923358465966, 605267477955)])
def test_a_tie_of_the_float64_is_none_of_the_exact_product(words):
    """The float64 product is k + 1/2 exactly; what its rounding took away decides, both ways."""
    scale, exact = 2.0**51, Fraction(words[0] * words[1], 2**51)
    rounded = (words[0] / scale) * (words[1] / scale) * scale
    assert rounded % 1.0 == 0.5 and round(rounded) != round(exact)
    (found,) = operate(get_format("q2.51"), "mul", *(np.array([word / scale]) for word in words))
    assert found * scale == round(exact)


@pytest.mark.parametrize("name", ["q6.26", "q6.20"])
def test_overflow_is_named_and_never_wraps(name):
    system, abm = kkt.build(kkt.chain(3)), orderings.get("abm")
    quotient = rf"body 'j2', step 2: 2.03.* / 0.0261.* is 77.97.*, beyond {name}, which ends at 32"
    says = rf"{quotient}; use at least 8 bits before the point, as in q8\."
    found = kkt.eliminate(system, abm, name)
    assert np.isnan(found.qdd).any()
    assert re.search(says, found.failed_at)
    assert kkt.eliminate(system, abm, "q8.24").failed_at is None
    few, more = (kkt.eliminate(kkt.build(kkt.chain(10)), abm, name).marked for name in ("q20.12", "q20.28"))
    assert few.endswith("or behind it for more digits") and more is None
    (culprit,) = analysis.blame(system, abm, name).top
    assert (culprit.body, culprit.share) == ("j2", 1.0)


def test_the_ends_of_a_word():
    fixed = Fixed("mine", 4, 4)
    assert (fixed.bits, fixed.top, fixed.largest, fixed.unit) == (8, 127, 7.9375, 2.0**-5)
    assert fixed.cast(np.array([-8.0, 7.968, 7.97, 0.03125])).tolist()[1:2] == [7.9375]
    assert np.isnan(fixed.cast(np.array([-8.0, 7.97]))).all()
    assert fixed.cast(np.array([0.03125, 0.09375])).tolist() == [0.0, 0.125]  # ties to even
