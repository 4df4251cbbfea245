"""Certified derivatives, which digits are counted against, are limits of differences."""

import numpy as np
import pytest
from test_derivatives import ABM, CASES, FIELDS, MP, Differences, apart

from pivotree import kkt
from pivotree.analysis.states.traced import Order


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mixture", "spherical", "screw"])
def test_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits agree to the 30 that are held, in terms of every kind."""
    system = kkt.build(CASES[name])
    order = Order(kkt.trace(system, ABM), system, "derivatives")
    found = order.certified(system, 40)
    for k, field in enumerate(FIELDS, start=1):
        exact = Differences(system).derivative(field)
        pairs = zip(found.high[k].tolist(), found.low[k].tolist(), strict=True)
        own = np.array([MP.mpf(high) + MP.mpf(low) for high, low in pairs], dtype=object)
        assert any(exact.flat) and apart(own.reshape(exact.shape), exact) <= 1e-30
