"""Integrators of Cloutier (1995): Rosenbrock, the semi-implicit midpoint rule, Stifbs."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pivotree import kkt
from pivotree.papers.cloutier1995 import integrators
from pivotree.papers.cloutier1995.robot import planar_robot
from pivotree.papers.cloutier1995.rosenbrock import Rosenbrock, step
from pivotree.papers.cloutier1995.simulator import kernel, saved
from pivotree.papers.cloutier1995.stepping import Start, Tried, integrate, jacobian
from pivotree.papers.cloutier1995.stifbs import Stifbs, midpoint


def test_saved_steps_are_more_than_the_interval_apart():
    t = np.array([0.0, 0.004, 0.009, 0.015, 0.03, 0.031, 0.05])
    assert saved(t, 0.01) == [0, 3, 4, 6]


@pytest.mark.thorough
def test_methods_and_solvers_agree():
    rng = np.random.default_rng(3)
    q, qd = rng.normal(size=(2, 5, 4))
    tree = planar_robot((1, 2, 1, 3), (2, 1, 1, 1), 0.2)
    found = [
        kernel(tree, method, solver)(q, qd, rng.normal(size=4) * 0)
        for method, solver in (("ABM", "cholesky"), ("CRBM", "cholesky"), ("CRBM", "lu"))
    ]
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-9)


def pendulum(y):
    return np.stack([y[:, 1], -np.sin(y[:, 0])], axis=1)


@pytest.mark.thorough
def test_rosenbrock_is_of_order_four():
    errors = []
    for count in (40, 80):
        y = np.array([1.0, 0.0])
        for _ in range(count):
            y, _error = step(pendulum, y, *jacobian(pendulum, y), 2.0 / count)
        errors.append(
            np.abs(y - Rosenbrock(1e-12, most=100_000)(pendulum, np.array([1.0, 0.0]), 2.0).y[-1]).max()
        )
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_rosenbrock_does_not_mind_stiffness():
    """y' = -1e6 (y - cos t), t' = 1: an explicit method would need some 1e6 evaluations."""
    found = Rosenbrock(1e-5)(
        lambda y: np.stack([-1e6 * (y[:, 0] - np.cos(y[:, 1])), np.ones(len(y))], axis=1),
        np.array([0.0, 0.0]),
        1.0,
    )
    assert found.failed is None and found.evaluations < 2000
    assert found.y[-1, 0] == pytest.approx(np.cos(1.0), abs=5e-3)


@pytest.mark.parametrize("method", [Rosenbrock(1e-4, first=1.5), Stifbs(1e-11, first=1.5)])
def test_steps_are_kept_one_after_another(method):
    """Both by the same loop: each step starts where the one before ends, tries are all told."""
    found = method(pendulum, np.array([1.0, 0.0]), 8.0)
    assert found.t[0] == 0.0 and found.t[-1] == 8.0
    assert np.array_equal(found.step_t, found.t[:-1]) and len(found.step) == found.accepted
    assert found.step_t + found.step == pytest.approx(found.t[1:], rel=1e-15)
    assert found.tries.sum() == found.accepted + found.rejected and found.rejected > 0


def test_a_step_that_becomes_too_small_is_told_in_a_sentence():
    never = lambda start, h, tries: (None, h / 2, 1)  # noqa: E731
    with pytest.raises(kkt.PivotreeError, match="never: the step becomes too small at t = 0 s"):
        integrate("never", lambda *a: Tried(*never(*a)), pendulum, np.ones(2), 1.0, 0.1, 9)


def test_rosenbrock_gives_up_in_words():
    found = Rosenbrock(1e-10, most=5)(pendulum, np.array([1.0, 0.0]), 10.0)
    assert "more than 5 steps" in found.failed


@pytest.mark.slow
def test_stiff_integrators_are_less_efficient_on_arms():
    found = integrators.measure(lambda text: None, accuracies=(1e-4, 1e-7), seconds=2.0)
    assert not [row for row in integrators.rows(found) if row.met is False]
    for stiff in ("rosenbrock", "stifbs"):
        assert found.cost(stiff, 1e-5) > 1.5 * found.cost("cash_karp", 1e-5)


def test_the_semi_implicit_midpoint_rule_is_of_order_two_and_extrapolates():
    """Bader & Deuflhard 1983: the error goes with even powers of the substep."""
    y = np.array([1.0, 0.0])
    exact = Stifbs(1e-13)(pendulum, y, 0.5).y[-1]
    start = Start(pendulum, y, *jacobian(pendulum, y), np.ones(2), False)
    both = [midpoint(start, 0.5, n) for n in (20, 40)]
    errors = [np.abs(after - exact).max() for after in both]
    assert 3.7 < errors[0] / errors[1] < 4.3
    assert np.abs((4.0 * both[1] - both[0]) / 3.0 - exact).max() < errors[1] / 50.0


@pytest.mark.thorough
@pytest.mark.parametrize("eps", [1e-4, 1e-6, 1e-8])
def test_stifbs_solves_the_stiff_example_of_numerical_recipes(eps):
    """Three species, rates of 1e3: some ten steps, where an explicit method takes 1e5."""

    def rates(y):
        one, two, three = y.T
        first, second = -0.013 * one - 1000.0 * one * three, -2500.0 * two * three
        return np.stack([first, second, first + second], axis=1)

    start = np.array([1.0, 1.0, 0.0])
    exact = solve_ivp(lambda t, y: rates(y[None])[0], (0.0, 50.0), start, "Radau", rtol=1e-12, atol=1e-14).y[
        :, -1
    ]
    found = Stifbs(eps, first=2.9e-4)(rates, start, 50.0)
    assert found.failed is None and found.accepted < 20 and found.evaluations < 1000
    assert np.abs(found.y[-1] - exact).max() < max(eps, 1e-7)


def test_stifbs_does_not_mind_stiffness_and_gives_up_in_words():
    found = Stifbs(1e-5)(
        lambda y: np.stack([-1e6 * (y[:, 0] - np.cos(y[:, 1])), np.ones(len(y))], axis=1),
        np.array([0.0, 0.0]),
        1.0,
    )
    assert found.failed is None and found.evaluations < 3000
    assert found.y[-1, 0] == pytest.approx(np.cos(1.0), abs=5e-3)
    assert "more than 2 steps" in Stifbs(1e-10, most=2)(pendulum, np.array([1.0, 0.0]), 10.0).failed
