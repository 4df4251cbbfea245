"""docs/theory/guarantee.md, *Kinematics*: pivots move no further than proved; a term less, and they do."""

import numpy as np
import pytest
from guarantee import drawn

from pivotree import kkt
from pivotree.analysis.guarantee import kinematics
from pivotree.kkt.theorem import kinematics as bounds

FORMATS = ["float32", "float64"]


def far_arm():
    """A second link that hangs 100 m away; all inertias are numbers of float32."""
    tree = kkt.rr_arm()
    for data in (tree.nodes["link1"], tree.nodes["link2"]):
        data.update(com=(0.25, 0.0, 0.0), inertia=np.eye(3) * 0.5)
    tree.nodes["link2"]["p"] = np.array([100.0, 30.0, 20.0])
    return tree


@pytest.mark.product
@pytest.mark.parametrize(
    "tree",
    [kkt.rr_arm(), far_arm(), kkt.chain(5), kkt.star(2, joint="planar")]
    + [drawn(seed, 6) for seed in (86, 111)],
)
def test_no_pivot_moves_further_than_proved(tree):
    rows = kinematics(tree, FORMATS, states=5)
    assert {row.bound.why for row in rows} == {""}
    assert all(row.error <= row.bound.pivot.max() for row in rows)


def test_without_rounded_rotations_and_positions_the_bound_is_refuted(monkeypatch):
    (row,) = kinematics(far_arm(), ["float32"], states=10)
    assert 0.0 < row.error <= row.bound.pivot.max()
    monkeypatch.setattr(bounds, "_moved", lambda turn, x: 1.0 * x)  # no lever, no sine
    (row,) = kinematics(far_arm(), ["float32"], states=10)
    assert row.error > row.bound.pivot.max()


def test_rounded_inertias_alone_nearly_reach_the_bound():
    tree = kkt.new_tree("one body", (0.0, 0.0, -9.81))
    inertia = np.diag([0.013, 0.017, 0.011])
    kkt.add_body(tree, "b", mass=1.1, com=(0.0, 0.0, 0.0), inertia=inertia, joint="floating")
    (row,) = kinematics(tree, ["float32"], states=1)
    assert 0.7 < row.error / row.bound.pivot.max() <= 1.0


def test_where_nothing_is_promised_the_row_says_why():
    (row,) = kinematics(kkt.chain(3, joint="universal"), ["float32"], states=0)
    assert row.bound.digits == 0.0 and "universal" in row.bound.why and row.seen is None
