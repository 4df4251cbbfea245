"""square_root_abm's bound: sound on trees and robots, and refuted where a factor is left out."""

import numpy as np
import pytest
from guarantee import ratio
from helpers import ROOT
from made import geared, skew

from pivotree import kkt, orderings
from pivotree.analysis.guarantee.rows import guarantee
from pivotree.kkt.theorem import rotations
from pivotree.kkt.theorem.rotations import row_roundings

ORDER = "square_root_abm"
UNIT = 2.0**-24
FOUND = ROOT / "docs" / "study" / "found" / "square_root_abm.json"


def light_base(factor):
    """The robot that refuted a claim of ours, its base being heavier than it is there."""
    tree = kkt.load(str(FOUND))
    base = tree.nodes["0"]
    base["mass"], base["inertia"] = factor * base["mass"], factor * np.asarray(base["inertia"])
    return tree


def test_what_a_light_base_loses_is_predicted_by_name():
    promised = kkt.guarantee(light_base(1.0), orderings.get(ORDER))
    assert promised.digits == 0.0 and "body 0: what its children hand to it" in promised.why
    assert kkt.guarantee(light_base(3.0), orderings.get(ORDER)).worst == "0"


def moved(d, w, x, P, h):
    """Of G = P P*/d + w h h*, units of sizes by which a rotation in float32 moves G_11 and G_12."""
    wx = w * x
    new = d + wx * x, P + wx * h, w * (d / (d + wx * x)), h - (x / d) * P
    before, after = ([a.astype(float) for a in each] for each in ((d, P, w, h), new))

    def entry(i, j, d, P, w, h):
        return P[i] * P[j] / d + w * h[i] * h[j]

    size = np.sqrt([entry(i, i, *before) for i in (0, 1)])
    off = [np.abs(entry(0, j, *after) - entry(0, j, *before)) / (size[0] * size[j]) for j in (0, 1)]
    return np.max(off) / UNIT


@pytest.mark.product
def test_a_rotation_moves_no_entry_by_more_than_its_units():
    """Neither the weights' five units nor the two rows' would do alone."""
    draw, m = np.random.default_rng(0), 400_000

    def numbers(*shape):
        spread = draw.choice([-1.0, 1.0], shape) * 2.0 ** draw.integers(-3, 4, shape)
        return (draw.uniform(1, 2, shape) * spread).astype(np.float32)

    d, w, x = np.abs(numbers(3, m))
    found = max(moved(d, w, x, *numbers(2, 2, m)) for _ in range(3))
    assert 5.0 < found <= rotations.TURN


def test_a_factor_of_an_inertia_is_that_of_one_six_units_away():
    draw = np.random.default_rng(0)
    root = draw.normal(size=(20_000, 6, 6)) * 10.0 ** draw.uniform(-2, 0, (20_000, 1, 6))
    A = np.asarray(root @ np.swapaxes(root, 1, 2), dtype=np.float32)
    K, G = A.astype(float), np.zeros(A.shape)
    for j in range(6):
        row = A[:, j].astype(float) * (np.arange(6) >= j)
        G += row[:, :, None] * row[:, None, :] / row[:, j, None, None]
        ratio = A[:, j] / A[:, j, j, None]
        A = A - ratio[:, :, None] * A[:, None, j]
        A[:, :, : j + 1] = A[:, : j + 1, :] = 0.0
    size = np.sqrt(np.einsum("kii->ki", K))
    G = np.triu(G)
    off = np.abs(G - np.triu(K)) / size[:, :, None] / size[:, None, :] / UNIT
    assert 1.0 < off.max() <= rotations.WEIGHED


def lost(children=24):
    """A slide with children that its float32 mass does not feel, one by one."""
    tree = kkt.new_tree("star")
    one = {"com": (0, 0, 0), "inertia": np.eye(3)}
    kkt.add_body(tree, "base", joint="prismatic", axis=(1, 0, 0), mass=1.0, **one)
    light = 0.97 * UNIT
    one["inertia"] = light * np.eye(3)
    for i in range(children):
        kkt.add_body(tree, f"c{i}", "base", joint="fixed", mass=light, **one)
    return tree


@pytest.mark.product
def test_every_row_that_is_merged_counts(monkeypatch):
    """Without what rounds nothing here: factors of diagonal inertias."""
    monkeypatch.setattr(rotations, "WEIGHED", 0.0)
    assert ratio(lost(), ORDER, "float32", 1, 0) <= 1.0
    monkeypatch.setattr(rotations, "stages", lambda rows: min(rows, 1))
    assert ratio(lost(), ORDER, "float32", 1, 0) > 1.0


def test_counts_are_those_of_the_tape():
    counts = row_roundings(kkt.trace(kkt.build(kkt.chain(3)), orderings.get(ORDER)))
    assert counts.handed.tolist() == [0, 5, 5]
    assert not counts.weighed.any() and not counts.spread.any()
    assert 0 < counts.carried.max() <= 6
    turned = row_roundings(kkt.trace(kkt.build(skew(kkt.chain(3))), orderings.get(ORDER)))
    assert turned.weighed.max() == 4


def test_what_is_not_proved_has_a_sentence():
    tree = geared(kkt.star(2, joint="spherical"), (0.1, 0.1, 0.1))
    (row,) = guarantee(tree, [ORDER], ["float64"], states=0)
    assert "armature on several freedoms" in row.bound.why
    (row,) = guarantee(kkt.chain(2), [ORDER], ["float64"], states=0)
    assert row.bound.digits > 8 and row.qdd.bound.digits > 8
