"""Motions integrated here, and by the peers: the same trajectories, the same energies.

MuJoCo's closed loops are as stiff as its steps allow.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

import mujoco  # noqa: E402
import mujoco_peer  # noqa: E402
import pinocchio_peer  # noqa: E402
from helpers import by_body  # noqa: E402
from random_states import RandomState, robots  # noqa: E402

from pivotree import orderings  # noqa: E402
from pivotree.analysis.simulation import Integration, Motion, simulate  # noqa: E402

FILES = robots()
FIXED = [name for name in ("ur5", "talos_arm", "double_pendulum") if name in FILES]
FLOATING = [name for name in ("a1", "solo12", "simple_humanoid") if name in FILES]
ORDERS = ("abm", "crbm+cholesky", "square_root_abm")
SECONDS = 0.5
RUN = Integration(seconds=SECONDS, eps=1e-10)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def start(system):
    """Gentle positions and rates, the same for everyone; efforts zero."""
    N = system.tree.N
    draw = np.random.default_rng(N)
    return draw.uniform(-0.5, 0.5, N), draw.uniform(-0.5, 0.5, N)


@pytest.mark.parametrize(("name", "order"), [*zip(FIXED, ORDERS, strict=False)])
def test_trajectories_are_those_of_pinocchio_and_scipy(name, order):
    system, peer = pinocchio_peer.read_pair(FILES[name], False, True)
    q, qd = start(system)
    N, none = len(q), {}

    def slope(t, y):
        state = RandomState(by_body(system, y[:N]), y[N:], np.zeros(N), none)
        return np.concatenate([y[N:], peer.aba(state)])

    theirs = solve_ivp(slope, (0, SECONDS), np.r_[q, qd], "DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    ours = simulate(system.graph, order, integration=RUN, q=q, qd=qd, tau=0 * q)
    assert ours.failed == 0 and ours.drift < 1e-7
    assert np.abs(ours.records[0].y[-1] - theirs).max() < 1e-6 * (1 + np.abs(theirs).max())


@pytest.mark.parametrize("name", FLOATING)
def test_a_floating_robot_falls_as_in_mujoco(name):
    system, peer = mujoco_peer.read_pair(FILES[name], True, True)
    q, qd = start(system)
    ours = simulate(system.graph, "abm", integration=RUN, q=q, qd=qd, tau=0 * q)
    motion = Motion.of(system.graph, orderings.get("abm"))
    x, model, data = motion.start(q, qd), peer.model, peer.data
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 2.5e-4
    coordinates = {body: x[motion.kernel.places.of(k)] for k, body in enumerate(system.tree.names)}
    peer.put(RandomState(coordinates, qd, 0 * qd, {}))
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert ours.drift < 1e-7
    theirs = peer.positions()
    for k, body in enumerate(system.tree.names):
        end = ours.records[0].y[-1][motion.kernel.places.of(k)]
        if end.size:
            apart = np.abs(end - theirs[body]).max()
            if end.size == 7:  # quaternions of either sign
                apart = min(apart, np.abs(np.r_[end[:3], -end[3:]] - theirs[body]).max())
            assert apart < 1e-5, body


# -- closed loops -----------------------------------------------------------------------------------


def by_mujoco(graph, step):
    """Positions of MuJoCo after Runge-Kutta steps; a quaternion in its order."""
    from loops_in_motion import start
    from simulators import mujoco_model

    model = mujoco_model(graph)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep, model.opt.tolerance, model.opt.iterations = step, 1e-14, 200
    model.eq_solref[:], model.eq_solimp[:, :2] = (2 * step, 1.0), 0.9999
    data = start(graph, model)
    for _ in range(round(SECONDS / step)):
        mujoco.mj_step(model, data)
    return data.qpos.copy()


def test_mechanisms_move_as_in_mujoco(monkeypatch):
    """The closer, the shorter MuJoCo's steps and the stiffer its loops: to 1e-6 and less.

    Their energy drifts less than with its loops as they are by default, or as stiff as a step of 1 ms
    allows.
    """
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import loops_in_motion

    for graph in loops_in_motion.mechanisms():
        found = simulate(graph, "abm", integration=Integration(SECONDS, 1e-10, "DOP853", floor=0.1))
        y, N = found.records[0].y[-1], len(graph.graph["qd"])
        x = y[:-N]
        if len(x) > N:  # the platform: position above its joint, quaternion wxyz
            x = np.concatenate([x[:3] + np.array([0, 0, 0.8]), x[[6, 3, 4, 5]], x[7:]])
        off = [np.abs(by_mujoco(graph, step) - x).max() for step in (1e-3, 1e-4)]
        assert off[1] < 1e-6 and off[1] < off[0] / 5, (graph.graph["name"], off)
        soft, stiff = (loops_in_motion.by_mujoco(graph, 1e-3, how, SECONDS) for how in (False, True))
        gaps, drifts = ([float(cells[k]) for cells in (soft, stiff)] for k in (0, 2))
        assert max(found.left) < 1e-9 < min(gaps) and found.drift < min(1e-8, *drifts)
