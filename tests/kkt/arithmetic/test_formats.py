"""Formats of p bits against MPFR, gfloat and ml_dtypes: single operations, to the bit."""

import zlib
from dataclasses import replace

import gfloat
import ml_dtypes
import numpy as np
import pytest
from arithmetic import OPERATIONS, mpfr, numbers, operate, pairs, same, special
from gfloat import RoundMode
from gfloat import formats as published
from helpers import one_sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FORMATS, operands

from pivotree import kkt
from pivotree.kkt.arithmetic import Binary, get_format

NAMED = ("float16", "bfloat16", "tf32", "e5m2", "p24e8")
ODD = ("p2e2", "p5e3", "p25e8", "p25e10", "p17e6", "p7e10")  # the ends of what is allowed
MODES = ("nearest", "zero", "up", "down")
COUNTS = [20_000, pytest.param(1_000_000, marks=pytest.mark.soak)]  # of pairs an operation over all formats


def agree(format, operation, x, y):
    """Our results are MPFR's, signed zeros and nans too."""
    ours, theirs = operate(format, operation, x, y), mpfr(format, operation, x, y)
    right = same(ours, theirs)
    if not right.all():
        i = int(np.flatnonzero(~right)[0])
        raise AssertionError(
            f"{format.name} {operation}({x[i].hex()}, {y[i].hex()}): {ours[i].hex()}, MPFR "
            f"{theirs[i].hex()}; {int((~right).sum())} of {len(x)} differ"
        )
    return ours


@pytest.mark.product
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("count", COUNTS)
def test_special_and_random_operands_against_mpfr(count, operation, mode):
    names = (*NAMED, *ODD)
    share = count // len(names)
    met = set()
    for name in names:
        format = replace(get_format(name), rounding=mode)
        rng = np.random.default_rng(zlib.crc32(f"{name} {operation} {count}".encode()))
        agree(format, operation, *special(format))
        r = np.abs(agree(format, operation, *pairs(format, operation, share, rng)))
        met |= {"subnormal"} if ((r > 0) & (r < 2.0**format.emin)).any() else set()
        met |= {"overflow"} if np.isinf(r).any() or (r == format.largest).any() else set()
        met |= {"zero"} if (r == 0).any() else set()
    # a root halves exponents: it neither over- nor underflows
    assert met == {"subnormal", "overflow", "zero"} or operation == "sqrt"


@pytest.mark.product
@given(data=st.data(), name=FORMATS, operation=st.sampled_from(OPERATIONS))
@settings(max_examples=50)
def test_any_operands_in_any_format_against_mpfr(data, name, operation):
    format = get_format(name)
    x, y = (data.draw(operands(format, 8)) for _ in range(2))
    agree(format, operation, np.abs(x) if operation == "sqrt" else x, y)


GFLOAT = {"e4m3": published.format_info_ocp_e4m3, "e5m2": published.format_info_ocp_e5m2}
ROUND = {
    "nearest": RoundMode.TiesToEven,
    "zero": RoundMode.TowardZero,
    "up": RoundMode.TowardPositive,
    "down": RoundMode.TowardNegative,
}


def in_float64(operation, x, y):
    with np.errstate(all="ignore"):
        return {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "sqrt": np.sqrt(x)}[operation]


def every(name):
    """All numbers of an 8-bit format."""
    values = [gfloat.decode_float(GFLOAT[name], i).fval for i in range(256)]
    return np.meshgrid(values, values)


@pytest.mark.product
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_pair_of_8_bit_numbers(name, mode):
    """65536 pairs an operation: gfloat in all modes, and ml_dtypes to nearest."""
    format = replace(get_format(name), rounding=mode)
    x, y = (z.ravel() for z in every(name))
    native = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[name]
    for operation in OPERATIONS:
        ours, exact = operate(format, operation, x, y), in_float64(operation, x, y)
        theirs = gfloat.round_ndarray(GFLOAT[name], exact, ROUND[mode])
        if mode == "down" and operation in ("add", "sub"):
            # IEEE 754 sec. 6.3, which numpy's own sum does not know: an exact zero sum is -0
            second = y if operation == "add" else -y
            theirs = np.where((exact == 0) & (np.signbit(x) | np.signbit(second)), -0.0, theirs)
        assert same(ours, theirs).all()
        if mode == "nearest":
            with np.errstate(all="ignore"):
                single = in_float64(operation, x.astype(native), y.astype(native))
            assert same(ours, single.astype(float)).all()


@pytest.mark.product
@pytest.mark.parametrize("name", [*NAMED, *ODD, "e4m3"])
def test_casts_of_doubles(name):
    """Data are rounded once, to nearest, in every mode; ties and overflow as MPFR has them."""
    format = get_format(name)
    rng = np.random.default_rng(3)
    x = numbers(format, 5_000, rng) * (1 + rng.choice([0.0, 1.0], 5_000) * rng.random(5_000))
    half = numbers(format, 5_000, rng) * (1 + np.ldexp(1.0, -format.precision))
    x = np.concatenate([x, half, half * (1 - 2**-52), half * (1 + 2**-52), [0.0, -0.0, np.inf]])
    ours = format.cast(x)
    if name in GFLOAT:
        assert same(ours, gfloat.round_ndarray(GFLOAT[name], x)).all()
    if format.infinite:
        assert same(ours, mpfr(format, "mul", x, np.ones_like(x))).all()
    assert same(ours, replace(format, rounding="up").cast(x)).all()


# -- stochastic rounding --------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", ["bfloat16", "p24e8"])
def test_stochastic_rounding_is_unbiased(name, operation):
    """The mean of 1e6 errors, each in units of its gap, is 0 within 4 standard errors."""
    format = replace(get_format(name), rounding="stochastic", seed=11)
    rng = np.random.default_rng(5)
    count = 1_000_000
    p = format.precision
    x, y = (np.ldexp(rng.integers(2 ** (p - 1), 2**p, count) * 1.0, -p) for _ in range(2))
    if operation in ("add", "sub"):
        y = format.cast(np.ldexp(y, rng.integers(-6, 1, count)))
    ours = operate(format, operation, x, y)
    low = operate(replace(format, rounding="down"), operation, x, y)
    high = operate(replace(format, rounding="up"), operation, x, y)
    assert ((ours == low) | (ours == high)).all()
    gap = high - low
    inexact = gap > 0
    assert inexact.sum() > count // 10
    exact = in_float64(operation, x, y)  # off by 2^-53, a part in 2^28 of a gap
    above = ((exact - low) / np.where(inexact, gap, 1.0))[inexact]
    went_up = (ours == high)[inexact]
    spread = np.sqrt((above * (1 - above)).sum())  # of a sum of independent draws
    assert abs(went_up.sum() - above.sum()) < 4 * spread
    assert ((exact == ours) | inexact).all()


def test_a_small_term_is_not_absorbed_on_average():
    """1 + 2^-12 in 11 bits is 1 to nearest for ever; stochastically it grows by 2^-12 a step."""
    format = get_format("tf32:stochastic:3")
    count = 1_000_000
    ours = operate(format, "add", np.ones(count), np.full(count, 2.0**-14))
    share = float((ours > 1.0).mean())
    assert set(np.unique(ours)) == {1.0, 1.0 + 2.0**-10}
    assert abs(share - 2.0**-4) < 4 * np.sqrt(2.0**-4 * (1 - 2.0**-4) / count)


def test_a_seed_repeats_and_another_does_not():
    x, y = pairs(get_format("bfloat16"), "mul", 10_000, np.random.default_rng(1))
    first, again, other, default = (
        operate(get_format(f"bfloat16:stochastic{seed}"), "mul", x, y) for seed in (":1", ":1", ":2", "")
    )
    assert same(first, again).all()
    assert not same(first, other).all() and not same(first, default).all()
    assert get_format("bfloat16:stochastic") == replace(
        get_format("bfloat16:stochastic:0"), name="bfloat16:stochastic"
    )


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize(
    "name,message",
    [
        ("p26", "26 bits; use 2 to 25 bits"),
        ("p53e11", "11 exponent bits; use 2 to 10"),
        ("p11e1", "1 exponent bits; use 2 to 10"),
        ("flaot16", "unknown; did you mean float16"),
        ("bf16", "is unknown"),
        ("float64:up", "rounds to nearest only; use at most 25 bits"),
        ("float16:upp", "'upp' is no rounding mode; use float16:zero"),
        ("tf32:stochastic:x", "'stochastic:x' is no rounding mode"),
        ("exact:up", "not rounded"),
        ("+mul=bfloat16", "has no base; use float32+mul=bfloat16"),
        ("mp:x", "'x' is no number of digits; use 1 to"),
        ("ball:0", "'0' is no number of digits; use 1 to"),
        ("fixed32", "unknown; use float64, float32, float16"),
        # by role
        ("float32+mul", "'mul' is no role and format; use float32+mul=bfloat16"),
        ("float32+sum=tf32", "one of the roles add, mul, div, sqrt, D, operands"),
        ("float32+mul=tf32+mul=tf32", "'mul=tf32' is given twice"),
        ("float32+mul=mp:50", "mp:50 cannot be mixed; use float64 and formats of at most 25 bits"),
        ("dd+mul=float32", "dd cannot be mixed"),
        ("float32+mul=q8.8", "q8.8 cannot be mixed"),
        ("float32+mul=p26", "format 'p26'"),
        # by body
        ("float32@", "'@' is no body and format; use float32@torso=float64"),
        ("@torso=float64", "has no format before @"),
        ("float32@a=p20@a=p21", "'@a=p21' is given twice"),
        ("float32@a=floa64", "format 'floa64' is unknown"),
        ("exact@a=float32", "exact cannot be mixed"),
        # fixed point
        ("q0.0", "0 bits before the point and 0 behind it; use at least 2"),
        ("q40.40", "at most 53 in all, as in q16.16"),
        ("q1.31", "for the sign and for the ones of (4)"),
        ("q16", "format 'q16' is unknown"),
    ],
)
def test_names_that_mean_nothing(name, message):
    with one_sentence(kkt.FormatError, told=message):
        get_format(name)


def test_names():
    mixed = get_format("float32+mul=bfloat16@j1=float64")
    assert mixed.mul == get_format("bfloat16") and dict(mixed.bodies) == {"j1": get_format("float64")}
    assert get_format("float32:nearest") == get_format("float32")
    assert get_format("float64:nearest") == get_format("float64")
    assert get_format("p24e8:nearest") == get_format("p24e8") == get_format(get_format("p24e8"))
    assert get_format("p13").emax == 127 and get_format("p13e5").emin == -14
    assert get_format("float32:up").unit == 2.0**-23 and get_format("float32").unit == 2.0**-24
    assert get_format("e4m3").largest == 448.0 and get_format("e4m3").unit == 2.0**-4
    assert [get_format(n).places for n in ("float32", "float32:up", "float64")] == [9, 9, 17]
    units = {"float32+mul=bfloat16": -8, "float32+D=float64": -24, "float64+add=tf32:up": -10}
    assert all(get_format(mixture).unit == 2.0**bits for mixture, bits in units.items())


@pytest.mark.product
@pytest.mark.parametrize(
    "numbers,message",
    [
        ({"precision": 26}, "26 bits"),
        ({"precision": 8, "emax": 512}, "exponents -126 to 512"),
        ({"precision": 8, "emin": 3, "emax": 2}, "exponents 3 to 2"),
        ({"precision": 8, "rounding": "away"}, "rounding 'away' is unknown; use nearest"),
    ],
)
def test_a_format_of_ones_own_within_reach(numbers, message):
    with pytest.raises(kkt.FormatError, match="format 'mine'") as error:
        Binary("mine", **numbers)
    assert message in str(error.value)
