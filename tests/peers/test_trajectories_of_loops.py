"""Motions with closed loops beside MuJoCo's, its loops as stiff as its steps allow."""

from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

from pivotree.analysis.simulation import Integration, simulate  # noqa: E402

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SECONDS = 0.5


@pytest.fixture(autouse=True)
def _modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def theirs(graph, step):
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


def test_mechanisms_move_as_in_mujoco():
    """The closer, the shorter MuJoCo's steps and the stiffer its loops: to 1e-6 and less."""
    from loops_in_motion import mechanisms

    for graph in mechanisms():
        found = simulate(graph, "abm", integration=Integration(SECONDS, 1e-10, "DOP853", floor=0.1))
        y, N = found.records[0].y[-1], len(graph.graph["qd"])
        x = y[:-N]
        if len(x) > N:  # the platform: position above its joint, quaternion wxyz
            x = np.concatenate([x[:3] + np.array([0, 0, 0.8]), x[[6, 3, 4, 5]], x[7:]])
        off = [np.abs(theirs(graph, step) - x).max() for step in (1e-3, 1e-4)]
        assert off[1] < 1e-6 and off[1] < off[0] / 5, (graph.graph["name"], off)
        assert max(found.left) < 1e-9 and found.drift < 1e-8


def test_energy_drifts_less_than_in_mujoco():
    """With loops as they are by default, and as stiff as a step of 1 ms allows."""
    from loops_in_motion import by_mujoco, mechanisms

    for graph in mechanisms():
        own = simulate(graph, "abm", integration=Integration(SECONDS, 1e-10, "DOP853", floor=0.1))
        soft, stiff = (by_mujoco(graph, 1e-3, how, SECONDS) for how in (False, True))
        gaps, drifts = ([float(cells[k]) for cells in (soft, stiff)] for k in (0, 2))
        assert own.left[0] < 1e-9 < min(gaps) and own.drift < min(drifts)
