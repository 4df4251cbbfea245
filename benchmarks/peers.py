"""Machine code of kkt.compile beside Pinocchio and MuJoCo: rows of benchmarks/table.py.

Tasks of a row run in turn, round after round; times are medians of processor time on one thread, a
ratio is the median over rounds of ours over the peer's.  An error is the largest difference of qdd
from what benchmarks/exact.py finds, over its largest entry; told are the median and the largest
over 200 random states.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from exact import Exact, error, of_mujoco, of_pinocchio

from pivotree import kkt, orderings
from pivotree.kkt.matrix.configuration import Configuration

HERE = Path(__file__).parent
CHECKED = 200  # states whose error is found
LEAST = 2e-3  # seconds of one measurement
sys.path.insert(0, str(HERE.parent / "tests" / "peers"))


@dataclass(frozen=True)
class Row:
    """One piece of work, done by us and by a peer."""

    work: str
    robot: str
    dof: int
    ours: float  # [s] for all states
    error: float  # the largest over states
    median_error: float
    peer: str
    theirs: float  # [s]
    their_error: float
    their_median_error: float
    ratio: float
    spread: tuple[float, float]  # quartiles of the ratio
    target: float | None  # of the ratio


@dataclass(frozen=True)
class Errors:
    """Of one side, over states."""

    largest: float
    median: float


@dataclass(frozen=True)
class Robot:
    """A model as all sides read it, and random states of it."""

    name: str
    system: kkt.System
    pinocchio: Any
    mujoco: Any  # None where its model cannot be made from the tree
    states: list[Any]
    exact: dict[str, list[Any]]  # qdd of each state, of the model as each side stores it


def robot_of(name: str, count: int) -> Robot:
    import pinocchio_peer
    from random_states import random_state, robots

    mujoco_peer: Any = None
    if _version("mujoco"):
        import mujoco_peer
    files, mujoco = robots(), None
    if name in files:
        system, peer = pinocchio_peer.read_pair(files[name], False, True)
        if mujoco_peer:
            mujoco = mujoco_peer.read_pair(files[name], False, True)[1]
    else:
        tree = kkt.load(name, merge_fixed=False)
        system = kkt.build(tree)
        peer = pinocchio_peer.Peer(system, pinocchio_peer.model_of(tree))
        if mujoco_peer and "floating" not in system.tree.joint:
            mujoco = mujoco_peer.Peer(system, mujoco_peer.model_of(tree))
    states = [random_state(system, seed, forces=False) for seed in range(count)]
    models = {"ours": Exact(system), "Pinocchio": Exact(system, of_pinocchio(peer))}
    if mujoco is not None:
        models["MuJoCo"] = Exact(system, of_mujoco(mujoco))
    places = Configuration(system.tree, system.graph)
    inputs = [(places.from_coordinates(s.q), s.qd, s.tau) for s in states]
    exact = {side: [model.qdd(*given) for given in inputs] for side, model in models.items()}
    return Robot(name, system, peer, mujoco, states, exact)


def errors(robot: Robot, qdd: Callable[[Any], Any], side: str = "ours") -> Errors:
    pairs = zip(robot.states, robot.exact[side], strict=True)
    found = [error(qdd(state), exact) for state, exact in pairs]
    return Errors(max(found), float(np.median(found)))


def in_turn(tasks: list[Callable[[], object]], repeat: int) -> np.ndarray:
    """(repeat, tasks) seconds of processor time of one call."""
    counts = []
    for task in tasks:
        task()
        start = time.thread_time()
        task()
        counts.append(max(1, int(LEAST / max(time.thread_time() - start, 1e-7))))
    times = np.empty((repeat, len(tasks)))
    for row in times:
        for i, task in enumerate(tasks):
            start = time.thread_time()
            for _ in range(counts[i]):
                task()
            row[i] = (time.thread_time() - start) / counts[i]
    return times


def rows_of(
    work: str,
    robot: Robot,
    tasks: dict[str, tuple[Callable[[], object], Errors]],
    target: float | None,
    repeat: int,
) -> list[Row]:
    """A row for each peer; the first task is ours.  Tasks come with their errors."""
    names, (calls, wrong) = list(tasks), zip(*tasks.values(), strict=True)
    times = in_turn(list(calls), repeat)
    rows = []
    for i in range(1, len(names)):
        ratios = times[:, 0] / times[:, i]
        low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
        ours, theirs = np.median(times[:, [0, i]], axis=0).tolist()
        rows.append(
            Row(
                work,
                robot.name,
                robot.system.tree.N,
                ours,
                wrong[0].largest,
                wrong[0].median,
                names[i],
                theirs,
                wrong[i].largest,
                wrong[i].median,
                middle,
                (low, high),
                target,
            )
        )
    return rows


def one_state(robot: Robot, repeat: int) -> list[Row]:
    """qdd of one state, arrays in and an array out, called from Python."""
    import pinocchio as pin

    kernel = kkt.compile(robot.system.graph, orderings.get("abm"))
    state, peer = robot.states[0], robot.pinocchio
    x, qd, tau = kernel.configuration(state.q), state.qd, state.tau
    q, v, u = peer.q(state.q), peer.theirs(qd), peer.theirs(tau)
    model, data = peer.model, peer.data
    tasks = {
        "ours": (lambda: kernel(x, qd, tau), errors(robot, _by(kernel))),
        "Pinocchio": (lambda: pin.aba(model, data, q, v, u), errors(robot, peer.aba, "Pinocchio")),
    }
    if robot.mujoco is not None:
        import mujoco

        other = robot.mujoco
        accuracy = errors(robot, other.qdd, "MuJoCo")
        other.put(state)
        its, held = other.model, other.data
        at, rate, push = held.qpos.copy(), held.qvel.copy(), held.qfrc_applied.copy()

        def forward() -> np.ndarray:
            held.qpos[:], held.qvel[:], held.qfrc_applied[:] = at, rate, push
            mujoco.mj_forward(its, held)
            return held.qacc.copy()

        tasks["MuJoCo"] = forward, accuracy
    return rows_of("one state", robot, tasks, 0.5, repeat)


def batch(robot: Robot, count: int, target: float, repeat: int) -> list[Row]:
    """qdd of many states on one thread, and float32 beside float64."""
    import pinocchio as pin

    peer, abm = robot.pinocchio, orderings.get("abm")
    double, single = (kkt.compile(robot.system.graph, abm, f) for f in ("float64", "float32"))
    fused = kkt.compile(robot.system.graph, abm, relaxed=True)

    def many(values: list[Any]) -> np.ndarray:
        return np.array(values)[np.arange(count) % len(values)]

    x = many([double.configuration(s.q) for s in robot.states])
    qd, tau = (many([getattr(s, name) for s in robot.states]) for name in ("qd", "tau"))
    short = [a.astype(np.float32) for a in (x, qd, tau)]
    q = np.asfortranarray(many([peer.q(s.q) for s in robot.states]).T)
    v, u = (np.asfortranarray([peer.theirs(a) for a in values]).T for values in (qd, tau))
    v, u = np.asfortranarray(v), np.asfortranarray(u)
    pool = pin.ModelPool(peer.model, 1)
    ours = (lambda: double(x, qd, tau)), errors(robot, _by(double))
    theirs = (lambda: pin.abaInParallel(1, pool, q, v, u)), errors(robot, peer.aba, "Pinocchio")
    shorter = (lambda: single(*short)), errors(robot, _by(single))
    looser = (lambda: fused(x, qd, tau)), errors(robot, _by(fused))
    work = f"{count:,} states"
    return [
        *rows_of(work, robot, {"ours": ours, "Pinocchio": theirs}, target, repeat),
        *rows_of(f"{work}, float32", robot, {"ours": shorter, "our float64": ours}, 0.6, repeat),
        *rows_of(f"{work}, relaxed", robot, {"ours": looser, "our strict": ours}, None, repeat),
    ]


def _by(kernel: kkt.Kernel) -> Callable[[Any], Any]:
    return lambda s: kernel(kernel.configuration(s.q), s.qd, s.tau)


def on_feet(name: str, feet: tuple[str, ...], count: int) -> Robot:
    """A robot whose feet stick to the ground, at random poses and at rates that keep them there."""
    import pinocchio as pin
    import pinocchio_peer
    from random_states import random_state, robots

    bare, peer = pinocchio_peer.read_pair(robots()[name], True, True)
    held = [kkt.cut_joint(foot, None, "spherical", name=foot) for foot in feet]
    with warnings.catch_warnings():  # rows hold accelerations wherever a foot is
        warnings.simplefilter("ignore", kkt.LoopWarning)
        system, states = kkt.build(bare.graph, loops=held), []
    for seed in range(count):
        state = random_state(bare, seed, forces=False)
        q, frames = peer.q(state.q), [peer.model.getFrameId(foot) for foot in feet]
        J = np.concatenate([pin.computeFrameJacobian(peer.model, peer.data, q, f)[:3] for f in frames])
        J = J[:, peer.columns]
        still = state.qd - np.linalg.lstsq(J, J @ state.qd, rcond=None)[0]
        states.append(replace(state, qd=still))
    places, models = (
        Configuration(system.tree, system.graph),
        {"ours": Exact(system), "Pinocchio": Exact(system, of_pinocchio(peer))},
    )
    inputs = [(places.from_coordinates(s.q), s.qd, s.tau) for s in states]
    exact = {side: [model.qdd(*given) for given in inputs] for side, model in models.items()}
    return Robot(name, system, peer, None, states, exact)


def contacts(robot: Robot, count: int, targets: tuple[float, float], repeat: int) -> list[Row]:
    """qdd and the forces at the feet: one state, and many, beside two methods of Pinocchio."""
    import pinocchio as pin

    peer, model, data = robot.pinocchio, robot.pinocchio.model, robot.pinocchio.data
    kernel = kkt.compile(robot.system, orderings.get("abm"), outputs=("qdd", "lambda"))
    rows = pin.StdVec_RigidConstraintModel()
    for loop in robot.system.loops:
        frame = model.frames[model.getFrameId(loop.name)]
        at, place = frame.parentJoint, frame.placement
        rows.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, at, place, pin.LOCAL))
    held, own = (pin.StdVec_RigidConstraintData([row.createData() for row in rows]) for _ in range(2))
    pin.initConstraintDynamics(model, data, rows, held)
    once, some = pin.ProximalSettings(), pin.ProximalSettings(1e-14, 1e-6, 10)
    x, qd, tau = (
        np.array([kernel.configuration(s.q) for s in robot.states]),
        *(np.array([getattr(s, key) for s in robot.states]) for key in ("qd", "tau")),
    )
    q = [peer.q(s.q) for s in robot.states]
    v, u = ([peer.theirs(a) for a in values] for values in (qd, tau))
    other = model.createData()
    pin.computeJointMinimalOrdering(model, other, rows)

    def dense(i: int) -> np.ndarray:
        return pin.constraintDynamics(model, data, q[i], v[i], u[i], rows, held, once)

    def closed(i: int) -> np.ndarray:
        return pin.lcaba(model, other, q[i], v[i], u[i], rows, own, some)

    def wrong(of: Callable[[int], np.ndarray]) -> Errors:
        number = {id(s): i for i, s in enumerate(robot.states)}
        return errors(robot, lambda s: of(number[id(s)])[peer.columns], "Pinocchio")

    methods = {"Pinocchio, constraintDynamics": dense, "Pinocchio, lcaba": closed}
    upright = kkt.compile(  # the same rows along the world's axes, as --contact has them
        kkt.build(
            robot.system.graph,
            loops=[
                kkt.contact(loop.name, (0, 0, 0), tangents=np.eye(3)[:2], name=loop.name)
                for loop in robot.system.loops
            ],
        ),
        orderings.get("abm"),
        outputs=("qdd", "lambda"),
    )
    found = []
    repeated = np.arange(count) % len(x)
    many, each = [np.ascontiguousarray(a[repeated]) for a in (x, qd, tau)], repeated.tolist()
    one = [a[0] for a in (x, qd, tau)]
    calls: list[tuple[str, Callable[[], object], kkt.Kernel, list[int], float]] = [
        ("one state on four feet", lambda: kernel(*one), kernel, [0], targets[0]),
        ("one state, rows along the world", lambda: upright(*one), upright, [0], targets[0]),
        (f"{count:,} states on four feet", lambda: kernel(*many), kernel, each, targets[1]),
    ]
    for work, ours, program, states, target in calls:
        accuracy = errors(robot, lambda s, program=program: _by(program)(s)[0])
        tasks = {"ours": (ours, accuracy)} | {
            told: (partial(_all, method, states), wrong(method)) for told, method in methods.items()
        }
        found += rows_of(work, robot, tasks, target, repeat)
    return found


def _all(method: Callable[[int], object], states: list[int]) -> None:
    for i in states:
        method(i)


def compiling(robot: Robot) -> dict[str, Any]:
    """Seconds to a kernel for one state and for vectors of states: anew, and from the disk."""
    found: dict[str, Any] = {"robot": robot.name}
    before = os.environ.get("PIVOTREE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PIVOTREE_CACHE"] = folder
        try:
            for what in ("anew", "kept"):
                start = time.perf_counter()
                kernel = kkt.compile(robot.system.graph, orderings.get("abm"))
                kernel.native(1)
                one = time.perf_counter() - start
                kernel.native(kernel.lanes)
                found[what] = {"one state": one, "vectors too": time.perf_counter() - start}
        finally:
            if before is None:
                del os.environ["PIVOTREE_CACHE"]
            else:
                os.environ["PIVOTREE_CACHE"] = before
    return {**found, "operations": kernel.operations}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
