"""Motions with closed loops and contacts stay on the manifold; peers/test_trajectories.py: where they go."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import Integration, Motion, simulate
from pivotree.analysis.simulation.run import left
from pivotree.analysis.states.manifold import Manifold, begun

FINE = {"eps": 1e-10, "floor": 0.1}


def passive(tree):
    tree.graph.pop("tau", None)
    return tree


@pytest.mark.product
def test_a_foot_that_sticks_stays_where_it_is():
    tree = kkt.chain(4, axes="y", length=0.5)
    tree.graph["loops"] = [kkt.contact("j4", (0.5, 0, 0), tangents=[(1, 0, 0)], name="foot")]
    start, _ = begun(tree, [0.4, 0.3, 0.2, 0.5], np.ones(4), project=True)
    found = simulate(start, "abm", integration=Integration(0.2, **FINE))
    y = found.records[0].y
    manifold = Manifold.of(start)
    places = [manifold.state(row[:4]).loops[0].p[0] for row in y]
    assert len(y) > 10 and np.ptp(y[:, 0]) > 0.01
    assert np.abs(np.array(places) - places[0])[:, [0, 2]].max() < 1e-12
    assert found.drift < 1e-8


@pytest.mark.product
def test_coupled_joints_keep_what_they_were_given():
    """q_3 - 0.5 q_2 stays what it is, and the robot moves as one of two joints does."""
    tree = kkt.chain(3, axes="y", length=0.5)
    tree.graph.update(q=[0.2, 0.6, -0.4], qd=[0.3, 1.0, 0.5])
    tree.graph["loops"] = [kkt.coupled_joints(tree, "j3", "j2", 0.5)]
    found = simulate(tree, "abm", integration=Integration(1.0, **FINE))
    y = found.records[0].y
    kept = y[:, 2] - 0.5 * y[:, 1]
    assert np.ptp(y[:, 1]) > 0.5 and np.abs(kept + 0.7).max() < 1e-13
    assert found.drift < 1e-7 and max(found.left) < 1e-12
    off = Manifold.of(tree).left(np.array([[0.2, 0.6, -0.3, 0, 0, 0]]))
    assert abs(off[0, 0] - 0.1) < 1e-12
    states = replace(found.records[0], y=np.array([[0, 0, -0.7, 0, 0, 0], [0.2, 0.6, -0.3, 0, 0.4, 0.5]]))
    assert left(Motion.of(tree, "abm"), replace(states, t=np.arange(2.0))) == pytest.approx((0.1, 0.3))


@pytest.mark.product
def test_without_projection_the_loop_opens():
    """What the projection is for: the accelerations alone let the gap grow."""
    tree = passive(kkt.four_bar())
    rough = Integration(5.0, 1e-5, floor=0.1)
    found = simulate(tree, "abm", integration=rough)
    motion = Motion.of(tree, orderings.get("abm"))
    (record,) = rough.method(motion)(motion.rates, motion.start()[None], 5.0)
    assert motion.manifold.left(record.y[-1:])[0, 0] > 1e-7
    assert max(found.left) < 1e-12


def test_a_corrected_state_has_a_slope_of_its_own_which_counts():
    motion, calls = Motion.of(passive(kkt.four_bar()), "abm"), []

    def rates(y):
        calls.append(y[0])
        return motion.rates(y)

    method = Integration(0.2, 1e-5, "RK45").method(motion)
    (record,) = method(rates, motion.start()[None], 0.2, motion.settle)
    assert record.evaluations == len(calls) > 6 * record.accepted
    assert all(any(np.array_equal(y, at) for at in calls) for y in record.y[:-1])


def test_the_nearest_state_is_stationary_in_the_metric_of_kinetic_energy():
    tree = kkt.stewart()
    manifold = Manifold.of(tree)
    draw = np.random.default_rng(3)
    y = np.concatenate([manifold.places.from_coordinates(None), draw.normal(size=24)])
    near = manifold.nearest(y[None])[0]
    _, J = manifold.rows(near[:25])
    change = near[25:] - y[25:]
    M = manifold.inertia(near[:25], np.zeros(24), np.zeros(24))
    free = np.linalg.svd(J)[2][len(J) :]  # rates that keep the loops
    assert np.abs(free @ M @ change).max() < 1e-9 and np.abs(change).max() > 0.1
    assert np.abs(J @ near[25:]).max() < 1e-12
    energy = [v @ M @ v for v in (y[25:], near[25:])]
    assert energy[1] < energy[0]


def test_gaps_change_as_their_rows_say():
    """J is the derivative of g where the loops are closed."""
    for tree in (kkt.four_bar(), kkt.stewart(), kkt.delta(), kkt.gripper()):
        manifold = Manifold.of(tree)
        x = manifold.places.from_coordinates(None)
        d = np.random.default_rng(0).normal(size=manifold.tree.N)
        _, J = manifold.rows(x)
        for h in (1e-4, 1e-5):
            ahead, behind = (
                manifold.rows(manifold.places.unit(x + manifold.places.rate(x, s * d)))[0] for s in (h, -h)
            )
            assert np.abs((ahead - behind) / (2 * h) - J @ d).max() < 30 * h * h + 1e-9


def test_soft_rows_yield_and_hard_ones_do_not():
    """A compliant foot starts as it is given and slides by its own law, a'' = - c lambda."""
    tree = kkt.chain(3, axes="y", length=0.5)
    tree.graph["loops"] = [kkt.contact("j3", (0.5, 0, 0), compliance=0.5, name="foot")]
    found = simulate(tree, "abm", integration=Integration(0.1, **FINE), q=[0.4, 0.3, 0.2], qd=np.ones(3))
    assert found.records[0].y[0].tolist() == [0.4, 0.3, 0.2, 1.0, 1.0, 1.0]
    assert Manifold.of(tree).loops == () and found.left is None and found.drift is None
    assert np.ptp(found.records[0].y[:, 2]) > 1e-3


def test_rows_that_are_no_gap_s_rate_are_refused():
    """Of a body on a ball joint that may not turn about z, about x and y it turns: no gap says where it is.

    Brought back to a gap it moved otherwise by each integrator, and its energy changed.
    """
    cases = (("fixed", (2,), True), ("fixed", (3, 4, 5), False), ("revolute", (0,), True))
    for joint, rows, refused in cases:
        tree = kkt.new_tree("held in part")
        body = {"mass": 2.0, "com": (0.1, 0.2, -0.3), "inertia": np.diag([0.2, 0.3, 0.4])}
        kkt.add_body(tree, "body", joint="spherical" if refused else "floating", **body)
        start = {"q": np.zeros(3 if refused else 6), "qd": np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.0])}
        start["qd"] = start["qd"][: len(start["q"])]
        chosen = Integration(0.1, 1e-9, integrator="DOP853")
        tree.graph["loops"] = [kkt.cut_joint(None, "body", joint, rows=rows, name="hold")]
        if not refused:
            assert simulate(tree, "abm", integration=chosen, **start).drift < 1e-8
            continue
        with pytest.raises(kkt.ModelError, match="loop 'hold': its rows allow motions that open it"):
            simulate(tree, "abm", integration=chosen, project=True, **start)
        tree.graph["loops"] = [kkt.cut_joint(None, "body", joint, rows=rows, compliance=1e-3, name="hold")]
        assert simulate(tree, "abm", integration=chosen, **start).failed == 0


# -- the command ----------------------------------------------------------------------------------


def run(capsys, *arguments):
    code = main(["simulate", *arguments])
    return (code, *capsys.readouterr())


def test_a_start_is_projected_where_it_is_asked_for(capsys):
    asked = ["four_bar", "--q", "1.0,-0.3,1.3", "--seconds", "0.05", "--order", "abm"]
    code, out, err = run(capsys, *asked, "--project")
    assert code == 0 and err == "" and "abm" in out


def test_a_start_beside_its_loops_is_warned_about_and_goes_on(capsys):
    asked = ["four_bar", "--state=qd:1,0,0", "--seconds=0.05", "--order", "abm,crbm", "--format", "float64"]
    code, out, err = run(capsys, *asked, "--json")
    assert code == 0 and err.count("\n") == 1
    assert err.startswith("pivotree: warning: loop 'pin': the rates qd break it by 3.9 (rad/s or m/s)")
    assert "nothing brings it back" in err and "--project" in err
    for row in json.loads(out)["rows"]:
        assert row["kept"] is False and row["energy_drift"] is None
        assert max(row["loop_gap"], row["loop_rate"]) > 0.1


def test_rates_that_break_a_loop_stay_what_they_were():
    """(4) holds J qd: it is what it was at the start, and no step takes it away."""
    tree = passive(kkt.four_bar())
    with pytest.warns(kkt.LoopWarning, match="the rates qd break it"):
        found = simulate(tree, "abm", integration=Integration(0.2, 1e-10, "DOP853"), qd=[1.0, 0.2, 0.3])
    manifold, y = Manifold.of(tree), found.records[0].y
    rates = np.array([manifold.rows(row[:3])[1] @ row[3:] for row in y])
    assert np.abs(rates[0]).max() > 0.1 and np.abs(rates - rates[0]).max() < 1e-8


@pytest.mark.product
def test_radau_takes_loops_and_stiff_integrators_take_soft_ones():
    tree = passive(kkt.four_bar())
    one, other = (
        simulate(tree, "abm", integration=Integration(0.3, 1e-9, name)) for name in ("Radau", "DOP853")
    )
    ends = [x.records[0].y[-1] for x in (one, other)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-6 and max(one.left) < 1e-12
    tree = kkt.chain(3, axes="y", length=0.5)
    tree.graph["loops"] = [kkt.contact("j3", (0.5, 0, 0), compliance=0.5, name="foot")]
    ends = [
        simulate(tree, "abm", integration=Integration(0.1, 1e-9, name)).records[0].y[-1]
        for name in ("BDF", "LSODA", "DOP853")
    ]
    assert np.ptp(ends, axis=0).max() < 1e-5
