"""``kkt.to_jax`` on the processor beside machine code, MJX and adam: time, and error of qdd.

    pip install -e ".[jax,mujoco,robots]" mujoco-mjx adam-robotics
    python benchmarks/jax_peers.py --states 4096

One row a robot, a program and a precision, all in one run.  Compilation is processor time of the
first call less one call; a state's time is the least of five batches, the programs in turns.
Errors are those of 10 states against 50 certified digits, largest over the largest acceleration.
MJX steps through its own forward dynamics with contacts and actuators off.  XLA is told not to fuse
MJX's operations: on a processor it repeats a body's pose in every body that hangs on it, and a
state of panda takes some 100 times as long; "mjx_fused" leaves that to XLA.  adam gives M and the
bias, and jax.numpy.linalg solves, in float64 alone, since its constants are.  Panda's fingers are
held: prismatic joints raise an error in adam 0.5.0, whose axes and zeros differ in shape there.
Floating bases are those of the peers: rates and efforts are carried over within their programs.
JaxSim (0.9.0) reads models by Gazebo's executable, which has no wheel.  What is not installed is
left out.  Prints the versions, and one JSON line a row.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import mujoco
import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt.model import robot_files

ROBOTS = ("chain:3", "ur5", "panda", "humanoid")
ROUNDS = 5
UNFUSED = {"xla_disable_hlo_passes": "fusion"}
PACKAGES = {"kernel": "pivotree", "to_jax": "jax", "mjx": "mujoco-mjx", "adam": "adam-robotics"}


def model_of(name: str) -> nx.DiGraph:
    """A robot of example-robot-data with slides held still, or a tree of the gallery."""
    if name not in robot_files():
        return kkt.from_spec(name)
    text = Path(robot_files()[name][0]).read_text(encoding="utf-8")
    return as_file(text.replace('type="prismatic"', 'type="fixed"'), kkt.read_urdf)


def as_file(text: str, read: Callable[[str], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(str(path))


def measured(name: str, precision: str, states: int, programs: dict[str, Callable]) -> None:
    tree = model_of(name)
    order = orderings.get("abm")
    kernel = kkt.compile(tree, order, precision)
    batch = [x.astype(precision) for x in random_states(kernel, states)]
    right = exact(tree, kernel, batch)
    runs, rows, times = {}, {}, {}
    for label, make in programs.items():
        row = {"robot": name, "program": label, "precision": precision, "states": states}
        try:
            run = make(tree, kernel, order, precision)
            ends = [time.process_time()]
            for _ in range(2):
                found = np.asarray(run(*batch), dtype=float)
                ends.append(time.process_time())
        except (ImportError, ValueError, TypeError, NotImplementedError) as error:
            print(json.dumps({**row, "refused": str(error).splitlines()[0]}), flush=True)
            continue
        row["compile_s"] = round(2 * ends[1] - ends[0] - ends[2], 2)
        error = np.abs(found[: len(right)] - right).max(axis=1) / np.abs(right).max(axis=1)
        row["median_error"], row["largest_error"] = float(np.median(error)), float(error.max())
        runs[label], rows[label], times[label] = run, row, []
    for _ in range(ROUNDS):
        for label, run in runs.items():
            start = time.perf_counter()
            np.asarray(run(*batch))
            times[label].append(time.perf_counter() - start)
    for label, row in rows.items():
        row["us_a_state"] = min(times[label]) / states * 1e6
        print(json.dumps(row), flush=True)


def random_states(kernel: kkt.Kernel, count: int) -> list[np.ndarray]:
    """x (count, nx) with a unit quaternion of a floating base, qd and tau (count, N)."""
    random = np.random.default_rng(0)
    batch = [random.standard_normal((count, size)) for size in (kernel.nx, kernel.N, kernel.N)]
    if kernel.nx > kernel.N:
        batch[0][:, 3:7] /= np.linalg.norm(batch[0][:, 3:7], axis=1, keepdims=True)
    return batch


def exact(tree: Any, kernel: kkt.Kernel, batch: list[np.ndarray], count: int = 10) -> np.ndarray:
    """(count, N) certified accelerations of the first states."""
    found = []
    for q, qd, tau in zip(*(x[:count].astype(float) for x in batch), strict=True):
        system = kkt.build(tree, q=kernel.places.to_coordinates(q), qd=qd, tau=tau)
        found.append([float(x) for x in kkt.certify(system, digits=50).qdd])
    return np.array(found)


def by_machine_code(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    return kernel


def by_jax(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    return jax.jit(jax.vmap(kkt.to_jax(tree, order)))


def turned(quaternion: Any) -> Any:
    """(3, 3) of a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion
    return jax.numpy.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def by_mjx(
    tree: Any, kernel: kkt.Kernel, order: Any, precision: str, options: dict | None = UNFUSED
) -> Callable:
    """MJX's forward dynamics; a floating base's linear half is in the axes of the world there."""
    from mujoco import mjx
    from simulators import mujoco_model

    model = mujoco_model(tree)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    numbers = jax.tree.map(
        lambda x: x.astype(precision) if getattr(x, "dtype", None) == np.float64 else x, mjx.put_model(model)
    )
    fresh = mjx.make_data(numbers)

    arrays = kkt.compile_tree(tree)
    first = [model.body(str(name)).dofadr for name in arrays.names]  # MuJoCo goes depth first
    place = np.concatenate([at + np.arange(n) for at, n in zip(first, arrays.dof, strict=True)])
    own = np.argsort(place)

    free = kernel.nx > kernel.N

    def one(q: Any, qd: Any, tau: Any) -> Any:
        join = jax.numpy.concatenate
        if free:
            R, (w, v) = turned(q[3:7]), (qd[:3], qd[3:6])
            q = join([q[:3], q[6:7], q[3:6], q[1 + own[6:]]])
            qd, tau = (join([R @ x[3:6], x[:3], x[6:]])[own] for x in (qd, tau))
        else:
            q, qd, tau = q[own], qd[own], tau[own]
        qdd = mjx.forward(numbers, fresh.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc[place]
        if free:
            linear = R.T @ qdd[:3] - jax.numpy.cross(w, v)
            qdd = join([qdd[3:6], linear, qdd[6:]])
        return qdd

    return jax.jit(jax.vmap(one), compiler_options=options)


def by_mjx_fused(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    return by_mjx(tree, kernel, order, precision, None)


def by_adam(tree: Any, kernel: kkt.Kernel, order: Any, precision: str) -> Callable:
    """M and the bias of adam; its joints are named, so that their order is the tree's."""
    if precision != "float64":
        raise ValueError("adam's constants are float64, and so is what it computes with them")
    from adam import Representations
    from adam.jax import KinDynComputations

    arrays = kkt.compile_tree(tree)
    free = arrays.joint[0] == "floating"
    if set(arrays.joint[int(free) :]) - {"revolute", "fixed"}:
        raise ValueError("only trees of revolute and fixed joints are written for adam")
    joints = [f"joint{k}" for k in range(int(free), arrays.n) if arrays.dof[k]]
    gravity = np.concatenate([arrays.gravity, np.zeros(3)])
    robot = as_file(urdf_of(arrays), lambda path: KinDynComputations(path, joints, gravity=gravity))

    robot.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)

    def floating(q: Any, qd: Any, tau: Any) -> Any:  # linear halves come first there
        turns = jax.vmap(turned)(q[:, 3:7])
        poses = jax.numpy.zeros((len(q), 4, 4)).at[:, :3, :3].set(turns).at[:, 3, 3].set(1.0)
        base, first = poses.at[:, :3, 3].set(q[:, :3]), np.array([3, 4, 5, 0, 1, 2])
        M = robot.mass_matrix(base, q[:, 7:])
        bias = robot.bias_force(base, q[:, 7:], qd[:, first], qd[:, 6:])
        efforts = tau.at[:, :6].set(tau[:, first]) - bias
        qdd = jax.numpy.linalg.solve(M, efforts[..., None])[..., 0]
        return qdd.at[:, :6].set(qdd[:, first])

    def many(q: Any, qd: Any, tau: Any) -> Any:
        still = jax.numpy.broadcast_to(jax.numpy.eye(4), (len(q), 4, 4))
        M = robot.mass_matrix(still, q)[:, 6:, 6:]
        bias = robot.bias_force(still, q, jax.numpy.zeros((len(q), 6)), qd)[:, 6:]
        return jax.numpy.linalg.solve(M, (tau - bias)[..., None])[..., 0]

    return jax.jit(floating if free else many)


def urdf_of(tree: Any) -> str:
    """A compiled tree of revolute and fixed joints on a base that stands still, or floats."""
    from scipy.spatial.transform import Rotation

    def words(values: Any) -> str:
        return " ".join(repr(float(x)) for x in values)

    free = tree.joint[0] == "floating"
    lines = ['<robot name="tree">', *([] if free else ['<link name="base"/>'])]
    for k in range(tree.n):
        J = tree.inertia[k]
        ixx, ixy, ixz, iyy, iyz, izz = (float(J[i, j]) for i in range(3) for j in range(i, 3))
        parent = f"link{tree.parent[k]}" if tree.parent[k] >= 0 else "base"
        turn = Rotation.from_matrix(tree.R[k]).as_euler("xyz")
        kind = "continuous" if tree.dof[k] else "fixed"
        axis = f'<axis xyz="{words(tree.axis[k, 0])}"/>' if tree.dof[k] else ""
        lines.append(
            f'<link name="link{k}"><inertial><origin xyz="{words(tree.com[k])}" rpy="0 0 0"/>'
            f'<mass value="{float(tree.mass[k])!r}"/><inertia ixx="{ixx!r}" ixy="{ixy!r}" '
            f'ixz="{ixz!r}" iyy="{iyy!r}" iyz="{iyz!r}" izz="{izz!r}"/></inertial></link>'
        )
        if free and k == 0:
            continue
        lines.append(
            f'<joint name="joint{k}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="link{k}"/><origin xyz="{words(tree.p[k])}" rpy="{words(turn)}"/>'
            f"{axis}</joint>"
        )
    return "\n".join([*lines, "</robot>"])


PROGRAMS = {
    "kernel": by_machine_code,
    "to_jax": by_jax,
    "mjx": by_mjx,
    "adam": by_adam,
    "mjx_fused": by_mjx_fused,
}


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES.values():
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="to_jax, machine code, MJX and adam")
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--states", type=int, default=4096)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS)[:4])
    parser.add_argument("--precisions", nargs="+", default=["float32", "float64"])
    asked = parser.parse_args()
    print(json.dumps(versions()), flush=True)
    for name in asked.robots:
        for precision in asked.precisions:
            with jax.enable_x64(precision == "float64"):  # on, MJX mixes it into float32
                measured(name, precision, asked.states, {x: PROGRAMS[x] for x in asked.programs})


if __name__ == "__main__":
    main()
