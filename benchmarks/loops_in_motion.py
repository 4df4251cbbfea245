"""Mechanisms with closed loops in motion: what their loops and energy drift by, here and in MuJoCo.

``python benchmarks/loops_in_motion.py [SECONDS]`` prints the table of docs/simulate.md; it needs
mujoco.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import mujoco
import networkx as nx
import numpy as np
from simulators import mujoco_model

from pivotree import kkt
from pivotree.analysis.simulation import Integration, begun, simulate

MUJOCO = ((1e-3, False), (1e-3, True), (1e-4, True))  # step [s], and stiff loops or default
PUSH = (1.0, -0.6, 2.0, 0.5, 0.3, -1.0)  # of the platform: rad/s, then m/s


def mechanisms() -> Iterator[nx.DiGraph]:
    """The four-bar from rest, and the platform on springs from a push, both without efforts."""
    platform = kkt.stewart()
    length = platform.graph["q"][8]  # of every leg
    for leg in range(6):  # a spring in each, at rest
        platform.nodes[f"piston{leg + 1}"].update(stiffness=1000.0, rest=length)
    for tree, push in ((kkt.four_bar(), ()), (platform, PUSH)):
        N = kkt.compile_tree(tree).N
        qd, tree.graph["tau"] = np.zeros(N), np.zeros(N)
        qd[: len(push)] = push
        yield begun(tree, qd=qd, project=True)[0]


def start(graph: nx.DiGraph, model: mujoco.MjModel) -> mujoco.MjData:
    """The graph's own state; a floating root stands as it is at q = 0."""
    data, tree = mujoco.MjData(model), kkt.compile_tree(graph)
    q, qd = np.array(graph.graph["q"]), np.array(graph.graph["qd"])
    if "floating" in tree.joint:
        place = tree.p[tree.joint.index("floating")]
        q = np.concatenate([place, [1, 0, 0, 0], q[6:]])
        qd = np.concatenate([qd[3:6], qd[:3], qd[6:]])
    data.qpos[:], data.qvel[:] = q, qd
    return data


def by_mujoco(graph: nx.DiGraph, step: float, stiff: bool, seconds: float) -> list[str]:
    """Largest gap, rate and energy drift of Runge-Kutta steps of one length."""
    model = mujoco_model(graph)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep, model.opt.tolerance, model.opt.iterations = step, 1e-14, 200
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    if stiff:  # as stiff as MuJoCo allows at this step
        model.eq_solref[:], model.eq_solimp[:, :2] = (2 * step, 1.0), 0.9999
    data, worst, begin = start(graph, model), np.zeros(2), time.perf_counter()
    energies = []
    for number in range(round(seconds / step)):
        if number % max(1, round(0.01 / step)) == 0:
            mujoco.mj_forward(model, data)
            energies.append(data.energy.copy())
            rows = data.efc_J.reshape(-1, model.nv) if data.nefc else np.zeros((0, model.nv))
            worst = np.maximum(worst, [np.abs(data.efc_pos).max(), np.abs(rows @ data.qvel).max()])
        mujoco.mj_step(model, data)
    found = np.array(energies)
    drift = np.abs(np.ptp(found.sum(1))) / found[:, 1].max()
    wall = time.perf_counter() - begin
    return [f"{x:.0e}" for x in (*worst, drift)] + [f"{wall:.1f}"]


def main(seconds: float) -> None:
    print("| mechanism | how | gap [m] | its rate [m/s] | energy drift | wall [s] |")
    print("|---|---|---:|---:|---:|---:|")
    for graph in mechanisms():
        name = graph.graph["name"]
        for integrator, eps in (("DOP853", 1e-10), ("cash_karp", 1e-10)):
            asked = Integration(seconds, eps, integrator, steps=10**6, floor=0.1)
            s = simulate(graph, "abm", integration=asked)
            assert s.left is not None and s.drift is not None
            cells = [f"{x:.0e}" for x in (*s.left, s.drift)] + [f"{s.wall:.1f}"]
            print(f"| {name} | `abm`, {integrator} at {eps:g} | {' | '.join(cells)} |", flush=True)
        for step, stiff in MUJOCO:
            cells = by_mujoco(graph, step, stiff, seconds)
            how = f"RK4 at {step:g} s, {'its stiffest' if stiff else 'default'} loops"
            print(f"| {name} | MuJoCo, {how} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
