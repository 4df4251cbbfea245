"""The random hostile trees themselves, and the oracle that says what is exactly true of them."""

import numpy as np
import pytest
from hostile_trees import Truth, hostile_system

import kkt


def test_the_trees_are_hostile_and_the_same_in_every_run():
    systems = [hostile_system(seed) for seed in range(40)]
    kinds = {kind for s in systems for kind in s.tree.joint}
    assert {"fixed", "revolute", "prismatic", "spherical", "floating", "planar"} < kinds
    assert any(s.loops for s in systems) and any((s.tree.mass == 0.0).any() for s in systems)
    truths = [Truth(s, "float64") for s in systems]
    assert 5 < sum(t.singular for t in truths) < 25
    again = hostile_system(7)
    assert np.array_equal(again.rhs, systems[7].rhs)


@pytest.mark.parametrize("seed", range(0, 40, 3))
@pytest.mark.parametrize("format", ["float32", "exact"])
def test_the_oracle_agrees_with_certified_answers(seed, format):
    system = hostile_system(seed)
    truth = Truth(system, format)
    try:
        proved = kkt.certify(system, 20, rounded_to=None if format == "exact" else format)
    except kkt.PivotreeError:
        return  # singular, or an order that this tree rules out
    assert not truth.singular and truth.error(proved.qdd) <= 1e-19
