"""docs/theory/guarantee_qdd.md: sizes and errors of qdd stay below the bounds, and wrong bounds do not."""

import json
from dataclasses import replace

import numpy as np
import pytest
from guarantee import drawn
from helpers import tilted
from made import recursion
from numpy.testing import assert_array_less
from qdd_cases import Case, Paths, of_sides, of_state

import pivotree as pt
from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.guarantee.rows import energy
from pivotree.analysis.states.sample import system_at
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.tape.trace import trace
from pivotree.kkt.theorem import accelerations
from pivotree.kkt.theorem.motion import Sizes, within

PROMISED = (36, 44, 118, 138, 143, 145, 246, 354)  # hostile trees that the theorem speaks of
ABM = orderings.get("abm")


@pytest.mark.product
@pytest.mark.parametrize("seed", PROMISED)
@pytest.mark.parametrize("format", ["float64", "float32"])
def test_no_error_is_above_the_bound(seed, format):
    case = Case(drawn(seed, 6), format)
    if case.found is None:
        assert format == "float32"
        return
    found = case.ratios(3, seed)
    assert found or format == "float32"
    assert max(found, default=0.0) <= 1.0


@pytest.mark.parametrize("seed", PROMISED)
def test_sizes_bound_what_is_computed(seed):
    case = Case(drawn(seed, 6))
    for number in range(6):
        _, _, given = case.state(seed, number)
        sizes = Sizes(case.system, case.ranges, case.found, of_state(given, case.found.M))
        _, norms, w, qdd = recursion(case.system, given)
        near = 1.0 + 1e-6
        moving = ~sizes.still
        assert_array_less(norms[moving], sizes.bias[moving] * near + 1e-9)
        lengths = np.linalg.norm(w.reshape(-1, 2, 3), axis=2)
        assert_array_less(lengths, sizes.reached * near + 1e-9)
        assert energy(case.system, given, qdd) <= sizes.scale * near
        assert_array_less(np.abs(qdd), sizes.unit * sizes.scale * near + 1e-9)


@pytest.mark.parametrize("seed", PROMISED[:5])
def test_ranges_bound_right_hand_sides(seed):
    case = Case(drawn(seed, 6))
    tree = case.system.tree
    most = np.full(len(case.ranges.rate), 1e9)
    bound = within(case.system, case.ranges, case.ranges.rate, most, case.found.M, case.found.unit)
    for number in range(6):
        here = system_at(case.system, case.ranges, seed, number)
        e = here.entries
        assert_array_less(np.linalg.norm(e.a[:, :3], axis=1), bound.turning + 1e-12)
        assert_array_less(np.linalg.norm(e.a[:, 3:], axis=1), bound.sliding * (1 + 1e-12) + 1e-12)
        for k in range(tree.n):
            exact = np.linalg.lstsq(e.M[k], e.b[k], rcond=None)[0] @ e.b[k]
            assert np.sqrt(abs(exact)) <= bound.force[k] * (1 + 1e-9) + 1e-9


def test_without_the_child_against_the_parent_the_bound_is_refuted():
    """Constants times u alone, as one might think who sees no inverse."""
    case = Case(kkt.example3(m1=1e6, case=2, angle=0.7))
    off, promise = of_sides(case, tau=lambda tau: np.eye(len(tau))[0])
    assert 30.0 * get_format("float64").unit * promise.scale < off <= promise.energy


def test_without_the_sweep_from_the_base_the_bound_is_refuted(monkeypatch):
    """A single link: nothing is handed on, and what is rounded is its quotient alone."""
    case = Case(pt.chain(1), "float32")
    assert case.promise(of_state(case.state(0, 0)[2], case.found.M)).energy > 0.0
    assert max(case.ratio(0, 3 * i) for i in range(5)) <= 1.0
    monkeypatch.setattr(accelerations, "inertias", lambda sizes: (0.0, 0.0))
    monkeypatch.setattr(accelerations, "innovations", lambda *_: (1e-30, True))
    assert max(case.ratio(0, 3 * i) for i in range(5)) > 1.0


def test_with_too_much_inertia_the_sizes_are_refuted():
    """Accelerations are bounded by the least inertia; one that is larger bounds them no more."""
    case = Case(drawn(118, 6))
    _, _, given = case.state(118, 1)
    heavier = replace(case.found, least=1e6 * case.found.least)
    sizes = Sizes(case.system, case.ranges, heavier, of_state(given, case.found.M))
    lengths = np.linalg.norm(recursion(case.system, given)[2].reshape(-1, 2, 3), axis=2)
    assert (lengths > sizes.reached).any()


def test_what_is_asked_is_checked_and_what_is_refused_is_said():
    tree = pt.chain(3)
    with pytest.raises(kkt.ModelError, match="-1 is no largest size"):
        kkt.guarantee_qdd(tree, ABM, efforts=-1.0)
    assert "no bound is proved" in kkt.guarantee_qdd(tree, orderings.get("crbm")).why
    tree.nodes["j2"]["damping"] = 0.5
    found = kkt.guarantee_qdd(tree, ABM)
    assert "damping" in found.why and found.digits == 0.0 and np.isinf(found.joint).all()


def test_slower_robots_and_smaller_efforts_are_promised_smaller_errors():
    fast, slow = (kkt.guarantee_qdd(pt.chain(4), ABM, rates=x, efforts=x) for x in (2.0, 1.0))
    assert slow.energy < fast.energy and (slow.joint < fast.joint).all()


@pytest.mark.parametrize("order", ["abm", "gain_abm"])
def test_the_engine_rounds_no_more_often_than_the_proof_counts(order):
    """Revolute joints about axes of no frame: H has three entries, all else is full."""
    system = tilted(kkt.build(pt.chain(4)))
    paths = Paths(trace(system, orderings.get(order)))
    most = {
        ("s", False, 2): accelerations.BIAS,
        ("residual", False, 1): accelerations.PUSH,
        ("z", False, 2): 2,
        ("update", False, 3): accelerations.FRAME,
        ("right", True, 1): accelerations.FRAME + 1,
        ("u", True, 1): accelerations.AGAIN,
        ("x", True, 1): 1,
        ("s", False, 1): 1,
        ("now", True, 2): 2,
    }
    assert all(0 < paths.longest[key] <= count for key, count in most.items())
    assert paths.longest["s", False, 2] == 7 and paths.longest["right", True, 1] == 7


@pytest.mark.product
def test_the_command_tells_of_qdd(capsys):
    asked = ["guarantee", "chain:3", "--formats", "float32", "--states", "2", "--json"]
    assert main([*asked, "--orders", "abm,crbm", "--qd", "j2=0.5", "--tau", "3"]) == 0
    of_abm, of_crbm = (row["qdd"] for row in json.loads(capsys.readouterr().out)["rows"])
    proved, seen = of_abm["proved_error"], of_abm["seen_error"]
    assert of_abm["proved_digits"] > 3.0 and all(0.0 < seen[j] <= proved[j] for j in proved)
    assert of_crbm == {"proved_digits": 0.0, "why": of_crbm["why"]} and "abm" in of_crbm["why"]
