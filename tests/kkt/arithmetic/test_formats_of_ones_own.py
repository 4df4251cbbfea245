"""Formats of one's own, the data that they meet, and the page about them."""

import json
import re
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from arithmetic import record, same
from designs import listed
from helpers import ROOT, system_of, tape_of
from numba import njit

from pivotree import analysis, kkt, orderings
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SQRT, SUB, Binary, Custom, Mixed, get_format, objects
from pivotree.kkt.arithmetic.formats import Chunk

# -- formats of one's own -------------------------------------------------------------------------


def truncated(op, x, y):
    """float32 by numpy's own rounding."""
    if op == ADD:
        r = x + y
    elif op == SUB:
        r = x - y
    elif op == MUL:
        r = x * y
    elif op == DIV:
        r = x / y
    else:
        r = np.sqrt(x)
    return float(np.float32(r))


@pytest.mark.product
@pytest.mark.parametrize("operate", [truncated, njit(truncated)], ids=["python", "numba"])
def test_a_function_of_ones_own(operate):
    assert SQRT == 4
    system, tape = system_of("ur5"), tape_of("ur5", "abm")
    mine = Custom("mine", 2.0**-24, operate)
    ours = kkt.eliminate(system, tape, mine, records=False)
    native = kkt.eliminate(system, tape, "float32", records=False)
    assert ours.format == "mine" and same(ours.qdd, native.qdd).all()
    a, b = (record(tape, system.entries, get_format(f)) for f in (mine, "p24e8"))
    assert same(a.x, b.x).all() and same(a.r, b.r).all()


def test_a_class_of_numbers_of_ones_own():
    """Decimal's 28 digits, and fractions, which give the exact answer for the doubles of (4)."""
    system, tape = system_of("ur5"), tape_of("ur5", "abm")
    exact = kkt.certify(system, 45, rounded_to="float64")
    ours = kkt.eliminate(system, tape, Custom("decimal", 1e-28, Decimal))
    assert isinstance(ours.qdd[0], Decimal) and 0 < exact.error(ours.qdd) < 1e-24
    ours = kkt.eliminate(system, tape, Custom("fractions", 1e-60, Fraction))
    assert exact.error(ours.qdd) == 0.0


@pytest.mark.product
def test_ones_own_formats_beside_named_ones():
    mine = [
        Custom("mine", 2.0**-24, njit(truncated)),
        Custom("decimal", 1e-28, Decimal),
        Binary("p12 to zero", 12, emin=-30, emax=31, rounding="zero"),
        Mixed("coarse sums", get_format("float32"), add=Binary("p12", 12)),
    ]
    found = analysis.compare(system_of("chain_10"), ["abm", "crbm"], ["float32", "dd", *mine])
    rows = {(row.order, row.format): row for row in found.rows}
    assert rows["abm", "mine"].error == rows["abm", "float32"].error
    assert 6 < rows["abm", "float32"].digits <= 7.22 and rows["abm", "dd"].digits > 29
    assert 24 < rows["abm", "decimal"].digits <= 28
    assert 0.5 < rows["abm", "p12 to zero"].digits <= 3.32
    assert 1.5 < rows["abm", "coarse sums"].digits <= 3.61
    assert all(f"In {f.name} " in found.verdict for f in mine)


def test_a_class_without_a_root_is_named():
    one = np.zeros(1, dtype=np.int32)
    root = Chunk(np.array([SQRT], dtype=np.int8), one, one, one, one)
    values = [Decimal(2)]
    objects.InObjects().run(root, values)
    assert values == [Decimal(2).sqrt()]
    with pytest.raises(kkt.FormatError, match="format 'exact': fractions have no square root"):
        objects.InObjects().run(root, [Fraction(2)])
    with pytest.raises(kkt.FormatError, match="class 'complex': its numbers have no square root"):
        objects.InObjects().run(root, [2j])


# -- data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", listed(["float16", "q4.28", "e5m2:zero", "float16+add=float64"]))
def test_data_that_overflow_are_refused_everywhere(format):
    system = system_of("example3:m1=1e9,case=2")
    message = r"body 1: field 'M' of equation \(4\) overflows"
    with pytest.raises(kkt.FormatError, match=message):
        kkt.eliminate(system, orderings.get("abm"), format)
    with pytest.raises(kkt.CertificationError, match=message):
        kkt.certify(system, 20, rounded_to=format)
    with pytest.raises(kkt.FormatError, match=message):
        kkt.inverse_dynamics(system, np.ones(2), orderings.get("inverse_dynamics"), format)
    rows = analysis.compare(system, ["abm"], [format, "float64"]).rows
    assert [row.failed_at is None for row in rows] == [False, True]
    assert "overflows" in rows[0].failed_at


@pytest.mark.parametrize("name", ["float16", "bfloat16:up", "float32+mul=bfloat16", "p5e4"])
def test_the_certified_answer_is_for_the_rounded_data(name):
    """Rounded once, to nearest; held against fractions of the same rounded entries."""
    system = system_of("rr_arm")
    format = get_format(name)
    rounded = Custom("rounded", 1e-60, Fraction, datum=lambda x: Fraction(float(format.cast([x])[0])))
    exact = kkt.eliminate(system, orderings.get("abm"), rounded)
    assert kkt.certify(system, 30, rounded_to=name).error(exact.qdd) == 0.0
    assert kkt.certify(system, 30).error(exact.qdd) > 1e-8


# -- the page -------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


def test_the_table_of_the_page():
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (-\d+) \| (\d+) \|(.*)\|$", PAGE, re.M)
    assert [row[0] for row in rows] == ["float64", "float32", "tf32", "bfloat16", "float16", "e5m2", "e4m3"]
    for name, p, emin, emax, rest in rows:
        if name in ("float64", "float32"):
            info = np.finfo(name)
            numbers = (info.nmant + 1, info.minexp, info.maxexp - 1)
            ends = (info.max, info.smallest_normal, info.smallest_subnormal)
        else:
            format = get_format(name)
            numbers = (format.precision, format.emin, format.emax)
            ends = (format.largest, 2.0**format.emin, format.smallest)
            if name != "tf32":
                info = ml_dtypes.finfo({"e5m2": "float8_e5m2", "e4m3": "float8_e4m3fn"}.get(name, name))
                theirs = (info.max, info.smallest_normal, info.smallest_subnormal)
                assert ends == tuple(map(float, theirs))
        assert numbers == (int(p), int(emin), int(emax))
        assert rest.split(" | ") == [
            f" {get_format(name).unit:.1e}",
            *(f"{float(x):.1e}" for x in ends[:2]),
            f"{float(ends[2]):.1e} ",
        ]


def test_every_named_format_of_the_page_exists():
    table = PAGE.split("## Names")[1].split("Unknown names")[0]
    names = re.findall(r"`([a-z0-9:]+)`", table.replace("`p12`, `p12e5`", "`p12` `p12e5`"))
    both = re.findall(r"^    (\S+\+\S+)  ", PAGE, re.M)
    assert len(names) > 10 and both
    assert all(get_format(name).name == name for name in names + both)


def test_json_of_formats():
    """Whatever a format's numbers are, JSON has them as numbers or strings."""
    formats = ["dd", "float16", "float32+D=float64", "mp:50", "exact", "ball:30"]
    rows = json.loads(json.dumps(analysis.compare(system_of("rr_arm"), ["abm"], formats).as_dict()))["rows"]
    assert rows[0]["digits"] > 29
    for row in rows:
        assert row["error"] is not None and row["cancelled_bits"] >= 0 and row["absorbed_bits"] >= 0.0
