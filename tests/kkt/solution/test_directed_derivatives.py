"""Products with the derivatives of qdd, of which no matrix is formed, against the matrices."""

from fractions import Fraction

import numpy as np
import pytest
from test_derivatives import ABM, CASES, FIELDS, STEP, Differences, digits, rich

from pivotree import kkt, orderings


def motions(N, m, seed):
    rng = np.random.default_rng(seed)
    return {field: rng.integers(-3, 4, size=(N, m)).astype(float) for field in FIELDS}


def fractions(x):
    return np.vectorize(Fraction, otypes=[object])(x)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["universal", "mixture", "general"])
def test_they_are_products_with_the_matrices(name):
    """To 40 digits of 50, with every kind of joint and term, zeros and signs among the motions."""
    system = kkt.build(CASES[name])
    found = kkt.derivatives(system, ABM, "mp:50")
    steps = motions(len(found.qdd), 2, 7)
    along = kkt.directional_derivatives(system, ABM, **steps, format="mp:50")
    exact = sum(getattr(found, field) @ digits(x) for field, x in steps.items())
    assert np.abs(along - exact).max() <= 1e-40 * np.abs(exact).max()
    weights = steps["dq"].T
    against = kkt.adjoint_derivatives(system, ABM, weights, "mp:50")
    for field in FIELDS:
        exact = digits(weights) @ getattr(found, field)
        scale = np.abs(getattr(found, field)).max()
        assert np.abs(getattr(against, field) - exact).max() <= 1e-40 * scale
    assert np.array_equal(against.qdd, found.qdd)


def test_in_fractions_they_are_equal():
    """By another order than the matrices: no digit may differ."""
    system = kkt.build(rich(3, 2, "revolute+universal+fixed"))
    found = kkt.derivatives(system, orderings.get("crbm"), "exact")
    steps = motions(len(found.qdd), 1, 3)
    along = kkt.directional_derivatives(system, ABM, **steps, format="exact")
    exact = sum(getattr(found, field) @ fractions(x) for field, x in steps.items())
    assert (along == exact).all() and along.any()
    against = kkt.adjoint_derivatives(system, ABM, steps["dqd"][:, 0], "exact")
    for field in FIELDS:
        exact = fractions(steps["dqd"][:, 0]) @ getattr(found, field)
        assert (getattr(against, field) == exact).all()


@pytest.mark.thorough
def test_a_direction_is_the_limit_of_differences():
    """One central difference in 60 digits, along rates and efforts together."""
    system = kkt.build(CASES["mixture"])
    steps = motions(int(system.tree.offset[-1]), 1, 5)
    along = kkt.directional_derivatives(
        system, ABM, dqd=steps["dqd"][:, 0], dtau=steps["dtau"][:, 0], format="mp:50"
    )
    limits, none = Differences(system), digits(np.zeros(len(along)))
    dqd, dtau = (digits(steps[field][:, 0]) * STEP for field in ("dqd", "dtau"))
    ends = limits.qdd(none, dqd, dtau), limits.qdd(none, -dqd, -dtau)
    exact = (ends[0] - ends[1]) / (2 * STEP)
    assert np.abs(along - exact).max() <= 1e-30 * np.abs(exact).max()


@pytest.mark.thorough
def test_they_take_far_fewer_operations():
    """A gradient of 12 freedoms costs less than a quarter of its three matrices."""
    system = kkt.build(kkt.chain(12))
    whole = kkt.derivatives(system, ABM)
    gradient = kkt.adjoint_derivatives(system, ABM, np.ones(12))
    assert 4 * gradient.operations < whole.operations
    for field in FIELDS:
        exact = np.ones(12) @ getattr(whole, field)
        scale = np.abs(getattr(whole, field)).max()
        assert getattr(gradient, field) == pytest.approx(exact, abs=1e-12 * scale)


def test_shapes_and_what_is_refused():
    system = kkt.build(kkt.chain(3))
    assert kkt.directional_derivatives(system, ABM).shape == (3,)
    assert kkt.directional_derivatives(system, ABM, dtau=np.eye(3)).shape == (3, 3)
    assert kkt.adjoint_derivatives(system, ABM, np.eye(3)[:2]).dq.shape == (2, 3)
    with pytest.raises(kkt.ModelError, match=r"dqd has shape \(2,\); give finite numbers of shape"):
        kkt.directional_derivatives(system, ABM, dq=[1.0, 2, 3], dqd=[1.0, 2])
    for wrong in ([1.0, 2], [[np.nan, 0, 0]], "one", 1.0, None, [10**400, 0, 0], [1j, 0, 0]):
        with pytest.raises(kkt.ModelError, match=r"chain_3: weights h.*; give finite numbers of"):
            kkt.adjoint_derivatives(system, ABM, wrong)
    stone = kkt.new_tree("stone")
    kkt.add_body(stone, "stone", mass=1.0, inertia=np.eye(3), joint="fixed")
    resting = kkt.build(stone)
    assert kkt.adjoint_derivatives(resting, ABM, np.zeros((2, 0))).dq.shape == (2, 0)
    assert kkt.directional_derivatives(resting, ABM, dq=np.zeros((0, 2))).shape == (0, 2)
