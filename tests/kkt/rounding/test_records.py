"""Records in every number type: one observation, with a reader for each way to carry numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from designs import listed
from helpers import system_of, tape_of

from pivotree import kkt, orderings
from pivotree.analysis.comparison import compare, reached_bits
from pivotree.kkt.arithmetic import SQRT, Custom, get_format, parts, shadows
from pivotree.kkt.arithmetic.formats import Chunk
from pivotree.kkt.base.errors import FormatError
from pivotree.kkt.rounding.observe import Watch, seen
from pivotree.kkt.tape.player import number_of

ORDERS = ("crbm", "abm", "virtual_work", "lagrange", "square_root_abm", "divide_and_conquer")
TREES = ["example3:m1=1e8,case=1", "chain:4", "random_tree:n=4,seed=1"]
MORE = ["chain:6", "random_tree:n=6,seed=3", "rr_arm", "example1:q1=1", "binary:2", "two_link"]
ROBOTS = ["robot:ur5", "robot:panda", "robot:kinova"]


def cancellation(system, tape, format):
    """Of every step: most bits cancelled, and sums that are exactly zero."""
    steps = kkt.eliminate(system, tape, format).steps
    return [(step.cancelled_bits, step.exact_zeros) for step in steps]


@pytest.mark.parametrize(
    "spec",
    [
        *listed(TREES, unmarked=1),
        *(pytest.param(x, marks=pytest.mark.soak) for x in MORE),
        *(pytest.param(x, marks=[pytest.mark.peers, pytest.mark.soak]) for x in ROBOTS),
    ],
)
def test_what_an_order_cancels_is_the_same_in_fractions_mpmath_and_balls(spec):
    """Step by step and bit by bit: fractions see zeros by themselves, others modulo a prime."""
    system, compared = kkt.build(kkt.load(spec)), 0
    for order in ORDERS:
        try:
            tape = kkt.trace(system, orderings.get(order))
        except kkt.SingularError:  # massless links
            continue
        exact = cancellation(system, tape, "exact")
        for format in ("mp:200", "ball:200", "mp:50", "ball:30"):
            assert cancellation(system, tape, format) == exact, (order, format)
        compared += 1
    assert compared >= 2


FORMATS = ["ball:30", "float32", "dd", "exact", "mp:5", "mp:400", "bfloat16:up", "float32+mul=bfloat16"]
OWN = [Custom("decimal", 1e-28, Decimal), Custom("fractions", 1e-60, Fraction)]


@pytest.mark.parametrize(
    "format", listed([*FORMATS, "float64", "mp:50", "p12:stochastic:3", *OWN], unmarked=1)
)
def test_steps_of_every_format(format):
    system, tape = system_of("chain:4"), tape_of("chain:4", "crbm")
    chosen = get_format(format)
    data = None if chosen.from_model else chosen
    reference = kkt.certify(system, 60, rounded_to=data)
    result = kkt.eliminate(system, tape, chosen, reference=reference)
    assert len(result.steps) == tape.program.groups and result.failed_at is None
    assert sum(step.fill_blocks for step in result.steps) == result.fill
    assert sum(step.flops for step in result.steps) >= result.flops
    for step in result.steps:
        assert step.error is not None and (step.growth > 0.0) == (step.flops > 0)
        assert step.cancelled_bits >= 0 and step.absorbed_bits >= 0.0 and step.exact_zeros >= 0
        assert step.pivot_error >= 0.0 and step.absorbed >= 0.0
    rounds = chosen.name not in ("exact", "fractions")
    assert (max(step.absorbed_bits for step in result.steps) > 0.0) == rounds
    assert (max(step.pivot_error for step in result.steps) > 0.0) == (
        rounds and chosen.name != "mp:400"  # 1e-420 is no double
    )


@pytest.mark.uncached
def test_without_records_nothing_is_seen():
    system, tape = system_of("chain:4"), tape_of("chain:4", "abm")
    for format in ("float32", "dd", "exact", "mp:50", "ball:30"):
        plain, recorded = (kkt.eliminate(system, tape, format, records=records) for records in (False, True))
        assert plain.steps == () and len(recorded.steps) == 4
        if format != "ball:30":
            assert (plain.qdd == recorded.qdd).all()
        else:  # the same midpoints and radii
            pairs = zip(plain.qdd, recorded.qdd, strict=True)
            assert all(a.mid() == b.mid() and a.rad() == b.rad() for a, b in pairs)


# -- one operation after another ------------------------------------------------------------------


def exponent(x):
    """Of the double nearest to a fraction, by another way than the engine's."""
    return math.frexp(float(abs(x)))[1]


@pytest.mark.parametrize("name", ["dd", "exact", "mp:30", "ball:40"])
def test_every_operation_against_fractions(name, monkeypatch):
    """Cancelled bits and what sums do not keep, of numbers that are pairs, objects and balls."""
    system, tape, format = system_of("chain:3"), tape_of("chain:3", "crbm"), get_format(name)
    pieces = []
    step = Watch.__iter__

    def kept(self):
        for piece in step(self):
            read = parts.of_ball if name.startswith("ball") else parts.of_any
            numbers = [[parts.fraction(read(x)) for x in column] for column in (piece.x, piece.y, piece.r)]
            pieces.append((piece.chunk.op.copy(), numbers, piece.cancelled.copy(), piece.absorbed.copy()))
            yield piece

    monkeypatch.setattr(Watch, "__iter__", kept)
    found = seen(system, tape, format)
    unit, sums, zeros = Fraction(2) ** int(max(found.log_unit, -9999)), 0, 0
    for op, (x, y, r), cancelled, absorbed in pieces:
        for i in np.flatnonzero(op < 2):
            a, b = x[i], y[i] if op[i] == 0 else -y[i]
            if cancelled[i] < 0:
                zeros += 1
                assert abs(r[i]) <= max(abs(a), abs(b)) * 2**30 * unit or r[i] == 0
                continue
            if a == 0 or b == 0 or (cancelled[i] == 0 == absorbed[i]):
                continue
            sums += 1
            assert cancelled[i] == max(0, max(exponent(a), exponent(b)) - exponent(r[i]))
            lost = abs(r[i] - a - b) / min(abs(a), abs(b))
            if name == "dd":
                assert absorbed[i] == pytest.approx(float(lost), rel=1e-9)
            elif lost:
                bits = max(0.0, math.log2(lost / unit))
                assert absorbed[i] == pytest.approx(bits, abs=1e-9)
    assert sum(len(op) for op, *_ in pieces) == tape.length and sums > 30
    assert zeros == found.steps.zeros.sum() > 0 or name == "dd"


def test_radii_bound_what_the_pivots_are_off():
    """A ball's radius is a bound of its midpoint's error."""
    system, tape = system_of("chain:12"), tape_of("chain:12", "abm")
    balls = kkt.eliminate(system, tape, "ball:30").steps
    longer = kkt.eliminate(system, tape, "ball:300").steps
    assert len(balls) == 12
    for ours, theirs in zip(balls, longer, strict=True):
        for x, y in zip(ours.pivots, theirs.pivots, strict=True):
            assert abs(float(x.mid() - y.mid())) <= abs(float(x.mid())) * ours.pivot_error


def test_absorption_in_any_number_of_digits():
    """1 and 1e-30 in mp:400: bits are told where a double could not hold the fraction."""
    op = np.zeros(2, dtype=np.int8)
    number = number_of(get_format("mp:400"))
    bits = number.context.prec
    small = number.context.ldexp(1, -bits - 3)
    x = np.array([number(1.0), number(1.0)], dtype=object)
    y = np.array([small, number.context.ldexp(3, 1 - bits)], dtype=object)
    columns = np.zeros(2, dtype=np.int64), np.zeros(2), np.zeros(2)
    parts.looked(parts.of_mpf, bits, op, x, y, x + y, *columns)
    assert columns[1][0] == bits and columns[1][1] < 2.0


def test_residues_modulo_a_prime_are_those_of_fractions():
    draw = np.random.default_rng(7)
    x = draw.normal(size=200) * 2.0 ** draw.integers(-900, 900, 200)
    for a, b in zip(x[:100].tolist(), x[100:].tolist(), strict=True):
        p, q = shadows.residue(a), shadows.residue(b)
        scale = 2**1074  # of which every double is a whole multiple
        assert (int(p) * scale - int(Fraction(a) * scale)) % shadows.PRIME == 0
        one, other = np.int64(int(p)), np.int64(int(q))
        assert shadows._product(one, other) == int(p * q)
        assert int(shadows._inverse(one)) * int(p) % shadows.PRIME == 1
    high = np.int64(shadows.PRIME - 1)
    assert shadows._product(high, high) == 1


def test_a_root_has_no_residue():
    """It would be taken for a division otherwise."""
    one = np.ones(1, dtype=np.int32)
    root = Chunk(np.array([SQRT], dtype=np.int8), one, one, one, one)
    with pytest.raises(FormatError, match="no square root"):
        shadows.InResidues().run(root, np.ones(2, dtype=np.int64))


# -- what reaches qdd ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float64", "q12.36", "dd", OWN[0], "p24+mul=p8"])
def test_what_the_rounding_of_one_pivot_leaves_in_qdd_is_the_whole_error(name):
    """Where all is one bracket; held against the certified answer for the same data."""
    system, format = kkt.build(kkt.load("chain:3")), get_format(name)
    names = system.tree.names
    one = [[*((kind, k) for k in reversed(names) for kind in ("pdd", "f")), *(("qdd", k) for k in names)]]
    found = kkt.eliminate(system, one, format, reach=True)
    (step,) = found.steps
    exact = kkt.certify(system, 60, rounded_to=format)
    unit = format.unit if format.relative else format.unit / exact.size
    assert step.reached * unit == pytest.approx(float(exact.error(found.qdd)), rel=0.02, abs=0.0)


def test_bits_that_arrive_are_alike_in_every_type_of_number():
    """Example 1: of 14 bits that crbm cancels, all arrive in qdd, and of 16 of abm at most half."""
    system = kkt.build(kkt.example1())
    crbm, abm = (kkt.trace(system, orderings.get(order)) for order in ("crbm", "abm"))
    for name in ("float32", "float64", "dd", "mp:30", "ball:20", "p20"):
        assert reached_bits(kkt.eliminate(system, crbm, name, reach=True)) > 11, name
        assert reached_bits(kkt.eliminate(system, abm, name, reach=True)) < 9, name
    lucky = kkt.build(kkt.load("example3:m1=1e5,angle=0.3"))  # where rounding takes 16 bits away again
    for order, bits in (("projected_abm", 2), ("crbm", 17)):
        assert round(reached_bits(kkt.eliminate(lucky, orderings.get(order), "float32", reach=True))) == bits
    assert reached_bits(kkt.eliminate(system, crbm, "exact", reach=True)) == 0.0
    assert compare(system, ["crbm"], ["float32"], reach=False).rows[0].reached_bits is None
