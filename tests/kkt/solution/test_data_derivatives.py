"""Derivatives of qdd by inertial parameters, gravity and wrenches: differences, and fractions."""

from fractions import Fraction

import numpy as np
import pytest
from test_derivatives import ABM, CASES, STEP, Differences, apart, digits, rich

from pivotree import kkt, orderings

ALSO = ("parameters", "gravity", "wrench")
NAMES = ("dparameters", "dgravity", "dwrench")
NONE = [[0] * 3] * 3  # no motion of q, qd and tau


def flat(found, name):
    """(N, numbers) of the derivatives by one kind of number."""
    x = getattr(found, name)
    return x.reshape(len(x), -1)


def shape(system, name):
    n = system.tree.n
    return {"dparameters": (n, 10), "dgravity": (3,), "dwrench": (n, 6)}[name]


def skew(tree):
    """The tree with bodies whose inertias have no zeros, which a tape would not read."""
    tree, rng = tree.copy(), np.random.default_rng(5)
    for _, data in tree.nodes(data=True):
        half = rng.normal(size=(3, 3))
        spread = half @ half.T
        data.update(com=rng.normal(size=3), inertia=np.trace(spread) * np.eye(3) - spread)
    return tree


def fractions(x):
    return np.vectorize(Fraction, otypes=[object])(x)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_they_are_the_limits_of_differences(name):
    """Central differences in 60 digits, by mass, centre and inertia, agree to 30, in a direction
    that moves all of these numbers of all bodies."""
    system = kkt.build(skew(CASES[name]))
    found, limits = kkt.derivatives(system, ABM, "mp:50", also=ALSO), Differences(system)
    none, rng = digits(np.zeros(len(found.qdd))), np.random.default_rng(len(name))
    for field in NAMES:
        move = digits(rng.normal(size=shape(system, field)))
        ends = [limits.qdd(none, none, none, **{field: x * STEP}) for x in (move, -move)]
        exact = (ends[0] - ends[1]) / (2 * STEP)
        assert any(exact), field
        assert apart(flat(found, field) @ move.ravel(), exact) <= 1e-30, field


@pytest.mark.thorough
def test_in_fractions_twice_the_masses_under_twice_the_forces_move_alike():
    """By Euler's theorem on homogeneous functions; qdd is affine in gravity and wrenches."""
    tree = rich(3, 2, "revolute+universal+fixed", terms=False)
    system = kkt.build(tree)
    found = kkt.derivatives(system, orderings.get("crbm"), "exact", also=ALSO)
    state = system.state
    m, c, J = (fractions(x) for x in (state.mass, state.com, state.inertia))
    row, column = np.tril_indices(3)
    squares = (c * c).sum(axis=1)[:, None, None] * np.eye(3, dtype=int)
    about = J + m[:, None, None] * (squares - c[:, :, None] * c[:, None, :])
    theta = np.concatenate([m[:, None], m[:, None] * c, about[:, row, column]], axis=1)
    change = flat(found, "dparameters") @ theta.ravel() + found.dtau @ fractions(state.tau)
    assert flat(found, "dparameters").any()
    assert not (change + flat(found, "dwrench") @ fractions(state.wrench).ravel()).any()
    assert kkt.inertial_parameters(system) == pytest.approx(theta.astype(float), rel=1e-12)
    moves = {"dgravity": np.array([1.0, -2.0, 0.5]), "dwrench": np.ones((3, 6))}
    heavier = tree.copy()
    heavier.graph["gravity"] = tuple(np.asarray(tree.graph["gravity"]) * 2.0)
    pushed = kkt.build(heavier, f_ext=2.0 * state.wrench)
    difference = kkt.eliminate(pushed, ABM, "exact").qdd - found.qdd
    expected = found.dgravity @ fractions(state.gravity)
    expected = expected + flat(found, "dwrench") @ fractions(state.wrench).ravel()
    assert (difference == expected).all()
    along = kkt.directional_derivatives(system, ABM, format="exact", **moves)
    assert (along == sum(flat(found, x) @ fractions(y).ravel() for x, y in moves.items())).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixture", "general"])
def test_products_are_those_with_the_matrices(name):
    system = kkt.build(CASES[name])
    found = kkt.derivatives(system, ABM, "mp:50", also=ALSO)
    rng = np.random.default_rng(4)
    weights = rng.integers(-3, 4, size=(2, len(found.qdd))).astype(float)
    against = kkt.adjoint_derivatives(system, ABM, weights, "mp:50", also=ALSO)
    moves = {x: rng.integers(-3, 4, size=(*shape(system, x), 2)).astype(float) for x in NAMES}
    along = kkt.directional_derivatives(system, ABM, format="mp:50", **moves)
    exact = sum(flat(found, x) @ digits(moves[x]).reshape(-1, 2) for x in NAMES)
    assert np.abs(along - exact).max() <= 1e-40 * np.abs(exact).max()
    for field in NAMES:
        assert getattr(against, field).shape == (2, *shape(system, field))
        exact = digits(weights) @ flat(found, field)
        off = getattr(against, field).reshape(2, -1) - exact
        assert np.abs(off).max() <= 1e-40 * np.abs(exact).max()


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["crbm", "modified_abm_stretched", "lcaba", "base_to_tip"])
def test_every_order_and_number_type_gives_them(order):
    system = kkt.build(kkt.random_tree(4, seed=6))
    exact = kkt.derivatives(system, ABM, "ball:30", also=ALSO)
    found = kkt.derivatives(system, orderings.get(order), also=ALSO)
    light = kkt.adjoint_derivatives(system, orderings.get(order), np.eye(len(found.qdd)), also=ALSO)
    single = kkt.derivatives(system, ABM, "float32", also=ALSO)
    for field in NAMES:
        proved = np.array([float(x.mid()) for x in getattr(exact, field).flat])
        scale = np.abs(proved).max()
        for x, close in ((found, 1e-10), (light, 1e-10), (single, 1e-3)):
            assert np.abs(getattr(x, field).ravel() - proved).max() <= close * scale, field


def test_a_massless_body_has_them_too():
    """No entry of its M is nonzero, yet qdd changes with them."""
    tree = kkt.chain(2)
    tree.nodes["j1"].update(mass=0.0, inertia=np.zeros((3, 3)))
    system = kkt.build(tree, q=[0.3, 0.4], qd=[1.0, 2.0])
    found = kkt.derivatives(system, ABM, also=["parameters"])
    assert found.dgravity is None and found.dwrench is None
    tree.nodes["j1"]["mass"] = 1e-7
    tree.nodes["j1"]["com"] = (0.0, 0.0, 0.0)
    moved = kkt.eliminate(kkt.build(tree, q=[0.3, 0.4], qd=[1.0, 2.0]), ABM).qdd
    limit = (moved - found.qdd) / 1e-7
    assert found.dparameters[:, 0, 0] == pytest.approx(limit, abs=1e-4 * np.abs(found.qdd).max())


def test_what_is_refused():
    system = kkt.build(kkt.chain(2))
    with pytest.raises(kkt.ModelError, match="also names 'mass'; use 'parameters', 'gravity'"):
        kkt.derivatives(system, ABM, also=["mass"])
    with pytest.raises(kkt.ModelError, match=r"dwrench has shape \(6,\); give finite numbers of"):
        kkt.directional_derivatives(system, ABM, dwrench=np.zeros(6))
    with pytest.raises(kkt.ModelError, match=r"dgravity has shape \(3, 2, 2\)"):
        kkt.directional_derivatives(system, ABM, dgravity=np.zeros((3, 2, 2)))
    with pytest.raises(kkt.SizeError, match=r"1000 numbers \(parameters\) on 100 bodies are too"):
        kkt.derivatives(kkt.build(kkt.chain(100)), ABM, also="parameters")
