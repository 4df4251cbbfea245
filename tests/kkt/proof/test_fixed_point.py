"""docs/fixed_point.md: no operation leaves its word, and nothing is off by more than is proved."""

import json
import sys

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.guarantee import fixed
from pivotree.kkt.base.errors import FormatError
from pivotree.kkt.proof import fixed_point as bounds
from pivotree.kkt.proof import points

sys.path.insert(0, str(ROOT / "benchmarks"))
from guarantee import drawn, on_words

PROMISED = (9, 17, 36, 59, 160)  # hostile trees with a promise, some of them nearly reached


def worst(seeds, bits=32, states=9):
    return {
        seed: max(on_words(drawn(seed, 4), "abm", f"fixed{bits}", states, seed), default=0.0)
        for seed in seeds
    }


def test_no_word_is_left_and_no_bound_is_broken():
    found = worst(PROMISED)
    assert all(0.0 < ratio <= 1.0 for ratio in found.values())
    assert found[160] > 0.6  # so that a factor of two would be seen


def test_half_of_the_rounding_is_refuted(monkeypatch):
    """Results taken to be off by a quarter of their last place, a pivot is off by more."""
    real = points.Walk.result

    def less(self, *args):
        before = len(self.error)
        real(self, *args)
        self.error[before:] = [0.5 * x for x in self.error[before:]]

    monkeypatch.setattr(points.Walk, "result", less)
    assert worst([160])[160] > 1.0


@pytest.mark.parametrize("part", [0.5, 0.25])
def test_a_binary_point_that_is_one_too_fine_overflows(part, monkeypatch):
    """Sizes of half of what they may be: one bit less before the point."""
    monkeypatch.setattr(bounds, "GROWN", bounds.GROWN * part)
    assert np.inf in worst(PROMISED).values()


@pytest.mark.product
def test_words_of_32_bits_are_promised_more_than_float32():
    for name in ("chain:3", "chain:5"):
        tree, abm = kkt.load(name), orderings.get("abm")
        in_words, in_floats = kkt.fixed_point(tree, abm), kkt.guarantee(tree, abm, "float32")
        assert in_words.digits > in_floats.digits + 2.0
        qdd = kkt.guarantee_qdd(tree, abm, "float32")
        assert (in_words.qdd.joint < 0.01 * qdd.joint).all()


def test_shorter_words_are_promised_a_digit_less_every_three_bits():
    tree, abm = kkt.chain(3), orderings.get("abm")
    digits = [kkt.fixed_point(tree, abm, bits).digits for bits in (32, 26, 20)]
    assert np.allclose(np.diff(digits), -6 * np.log10(2), atol=0.2)


def test_binary_points_by_quantity_and_body():
    found = kkt.fixed_point(kkt.chain(3), orderings.get("abm"))
    listed = found.points()
    assert {"M^", "D", "Mbar", "b^", "alpha", "h", "a'", "qdd"} <= set(listed)
    assert list(listed["Mbar"]) == ["j3", "j2"]  # from tip to base, and the base has none
    for own in listed.values():
        assert all(least <= most for least, most in own.values())


@pytest.mark.parametrize(
    "tree, order, says",
    [
        (kkt.chain(3), "crbm", "binary points are proved for abm alone, not for crbm"),
        (kkt.chain(3), "gain_abm", "binary points are proved for abm alone, not for gain_abm"),
        (kkt.quadruped(), "abm", "floating, and only joints of one freedom are proved"),
        (kkt.example3(m1=1e12), "abm", "what its children hand to it, rounded, may be"),
    ],
)
def test_what_is_not_promised_says_why(tree, order, says):
    found = kkt.fixed_point(tree, orderings.get(order))
    assert says in found.why
    assert found.digits == 0.0 and found.words is None and found.points() == {}


@pytest.mark.parametrize("bits", [7, 33, 0])
def test_lengths_that_are_none(bits):
    with pytest.raises(FormatError, match=f"format fixed{bits}: .*use 8 to 32, as in fixed32"):
        kkt.fixed_point(kkt.chain(2), orderings.get("abm"), bits)


@pytest.mark.product
def test_the_command_prints_points_and_json(capsys):
    asked = ["guarantee", "chain:3", "--orders", "abm", "--formats", "float32,fixed32"]
    assert main([*asked, "--states", "5"]) == 0
    assert "leaves its word in any state; in 5 states 0 did" in " ".join(capsys.readouterr().out.split())
    assert main([*asked, "--states", "5", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["format"] for row in rows] == ["float32", "fixed32"]
    assert rows[1]["overflows"] == 0
    assert rows[1]["points"]["qdd"]["j1"][0] < 32
    assert rows[0]["proved_digits"] + 2 < rows[1]["proved_digits"] < rows[1]["seen_digits"]


def test_rows_hold_what_was_seen():
    row = fixed(kkt.chain(4), "abm", 24, states=20)
    assert row.overflows == 0 and 0.9 < row.share <= 1.0
    assert row.bound.digits < row.seen and row.qdd.bound.digits < row.qdd.seen
    assert (row.qdd.joint < row.qdd.bound.joint).all()
