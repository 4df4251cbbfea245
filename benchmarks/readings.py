"""Digits of simulators that compute in float32, beside those that their readings predict.

    pip install -e ".[jax,mujoco,robots]" mujoco-mjx mujoco-warp newton brax jaxsim adam-robotics frax
    python benchmarks/readings.py --states 100 -o readings

One row a robot and a program: median and worst error of qdd over random states, as the program
computes it in float32 on the processor, and as its reading does (:mod:`pivotree.analysis.readings`),
both against certified answers for the same states.  States are float32 numbers in MuJoCo's
coordinates, so that no program rounds what another is given exactly.  A program that is not
installed, or that does not take a robot, says so in its row.  Prints versions and one JSON line a
row; with ``-o`` also a table.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from described import described, joint_of
from numpy.typing import NDArray
from simulators import mujoco_spec

import pivotree as pt
from pivotree import kkt
from pivotree.analysis import readings

ROBOTS = (
    *("chain:5", "chain:10", "chain:20", "binary:3", "comb:4", "star:5", "quadruped", "humanoid"),
    *(f"robot:{name}" for name in ("ur3", "ur5", "ur10", "panda", "kinova", "xarm7", "z1", "so101")),
    *(f"robot:{name}" for name in ("talos_arm", "solo12", "anymal", "hyq")),
)
Floats = NDArray[np.float64]
Batch = tuple[Floats, Floats, Floats]  # (m, nq), (m, nv) and (m, nv)
PACKAGES = {"mjx": "mujoco-mjx", "warp": "mujoco-warp", "newton": "newton", "brax": "brax"}
PACKAGES |= {"jaxsim": "jaxsim", "adam": "adam-robotics", "frax": "frax"}
os.environ.setdefault("JAX_ENABLE_X64", "0")  # which JaxSim would turn on


# -- one robot in MuJoCo's coordinates ---------------------------------------------------------


class Robot:
    """A tree, its model in MuJoCo, and random states of it in both coordinates."""

    def __init__(self, name: str, states: int) -> None:
        self.tree = pt.load(name)
        self.arrays = kkt.compile_tree(self.tree)
        self.spec = mujoco_spec(self.tree)
        self.model = self.spec.compile()
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        bodies = [self.model.body(str(name)) for name in self.arrays.names]
        moving = [(int(b.dofadr[0]), int(n)) for b, n in zip(bodies, self.arrays.dof, strict=True) if n]
        self.place = np.concatenate([at + np.arange(n) for at, n in moving])  # MuJoCo goes depth first
        self.free = self.arrays.joint[0] == "floating"
        random = np.random.default_rng(0)
        sizes = (self.model.nq, self.model.nv, self.model.nv)
        q, qd, tau = (random.standard_normal((states, size)) for size in sizes)
        if self.free:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        self.batch: Batch = tuple(x.astype(np.float32).astype(float) for x in (q, qd, tau))  # type: ignore

    def systems(self) -> list[kkt.System]:
        """The states as systems of equation (4)."""
        found = []
        for q, qd, tau in zip(*self.batch, strict=True):
            if not self.free:
                found.append(kkt.build(self.tree, q[self.place], qd[self.place], tau[self.place]))
                continue
            R = rotation(q[3:7])
            x = np.concatenate([q[:3], q[4:7], q[3:4], q[1 + self.place[6:]]])
            x[3:7] /= np.linalg.norm(x[3:7])
            qd, tau = (self._ours(v[self.place], R) for v in (qd, tau))
            found.append(kkt.build(self.tree, x, qd, tau))
        return found

    def _ours(self, x: Floats, R: Floats) -> Floats:
        """A floating base's two halves in its own axes, the angular one first."""
        return np.concatenate([x[3:6], R.T @ x[:3], x[6:]])

    def joints(self) -> list[str]:
        """The names of hinges and slides in the order of MuJoCo's freedoms."""
        names = np.array([joint_of(name) for name in self.arrays.names])[int(self.free) :]
        return [str(name) for name in names[np.argsort(self.place[6 * self.free :])]]

    def accelerations(self, qacc: Floats) -> Floats:
        """(m, N) of the tree from (m, nv) of MuJoCo, whose base has its linear half in the world's axes."""
        found = np.asarray(qacc, dtype=float)[:, self.place]
        if self.free:
            for row, q, qd in zip(found, self.batch[0], self.batch[1], strict=True):
                R = rotation(q[3:7])
                row[:] = self._ours(row, R)
                row[3:6] -= np.cross(qd[3:6], R.T @ qd[:3])
        return found


def rotation(quaternion: Floats) -> Floats:
    """(3, 3) of a quaternion w, x, y, z."""
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion / np.linalg.norm(quaternion))
    return R.reshape(3, 3)


# -- the programs: a robot -> the accelerations (m, nv) of its states, in float32 ---------------


def by_mjx(robot: Robot) -> Any:
    import jax
    from mujoco import mjx

    model = mjx.put_model(robot.model)
    fresh = mjx.make_data(model)

    def one(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(model, fresh.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc

    # fused, XLA repeats a body's pose in every body that hangs on it
    run = jax.jit(jax.vmap(one), compiler_options={"xla_disable_hlo_passes": "fusion"})
    return run(*(x.astype(np.float32) for x in robot.batch))


def by_warp(robot: Robot) -> Any:
    import mujoco_warp
    import warp

    warp.config.quiet = True
    model = mujoco_warp.put_model(robot.model)
    data = mujoco_warp.make_data(robot.model, nworld=len(robot.batch[0]))
    for name, x in zip(("qpos", "qvel", "qfrc_applied"), robot.batch, strict=True):
        setattr(data, name, warp.array(x.astype(np.float32), dtype=float))
    mujoco_warp.forward(model, data)
    return data.qacc.numpy()


def by_newton(robot: Robot) -> Any:
    """One step of its solver of reduced coordinates, for the accelerations that it leaves.

    Its reader of MJCF is not taken: MuJoCo writes numbers of six digits.
    """
    import newton
    import warp

    tree = robot.arrays
    if set(tree.joint) - {"revolute", "continuous", "prismatic"}:
        raise ValueError("hinges and slides alone are written for Newton")
    warp.config.quiet = True
    builder = newton.ModelBuilder(gravity=tuple(tree.gravity))
    none = {"armature": 0.0, "friction": 0.0, "damping": 0.0, "limit_ke": 0.0, "limit_kd": 0.0}
    joints = []
    for k in range(tree.n):
        place, turn = warp.vec3(*tree.p[k]), np.empty(4)
        mujoco.mju_mat2Quat(turn, tree.R[k].ravel())
        add = builder.add_joint_prismatic if tree.joint[k] == "prismatic" else builder.add_joint_revolute
        inertia = warp.mat33(tree.inertia[k])
        body = builder.add_link(mass=tree.mass[k], com=warp.vec3(*tree.com[k]), inertia=inertia)
        pose = warp.transform(place, warp.quat(*turn[1:], turn[0]))
        axis = warp.vec3(*tree.axis[k, 0])
        joints.append(add(int(tree.parent[k]), body, parent_xform=pose, axis=axis, **none))
    builder.add_articulation(joints)
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverFeatherstone(model)
    found = []
    given = (x[:, robot.place].astype(np.float32) for x in robot.batch)
    for q, qd, tau in zip(*given, strict=True):
        state, after, control = model.state(), model.state(), model.control()
        state.joint_q.assign(q)
        state.joint_qd.assign(qd)
        control.joint_f.assign(tau)
        newton.eval_fk(model, state.joint_q, state.joint_qd, state)
        solver.step(state, after, control, None, 1e-3)
        left = getattr(after, "joint_qdd", None)
        found.append((solver.joint_qdd if left is None else left).numpy().copy())
    return np.array(found)[:, np.argsort(robot.place)]


def by_brax(robot: Robot) -> Any:
    import jax
    from brax import kinematics
    from brax.generalized import dynamics, mass
    from brax.generalized.base import State
    from brax.io import mjcf

    if robot.free:
        raise ValueError("a floating base's rates mean something else there")
    if "prismatic" in robot.arrays.joint:
        raise ValueError("slides give other accelerations there, in float64 too")
    system = mjcf.load_model(robot.model)

    def one(q: Any, qd: Any, tau: Any) -> Any:
        state = State.init(q, qd, *kinematics.forward(system, q, qd))
        state = mass.matrix_inv(system, dynamics.transform_com(system, state), 0)
        return state.mass_mx_inv @ dynamics.forward(system, state, tau)

    run = jax.jit(jax.vmap(one), compiler_options={"xla_disable_hlo_passes": "fusion"})
    return run(*(x.astype(np.float32) for x in robot.batch))


def by_jaxsim(robot: Robot) -> Any:
    import jax
    import jax.numpy as jnp
    import jaxsim.api as js
    from jax.scipy.spatial.transform import Rotation
    from jaxsim import VelRepr

    down, n = float(-robot.arrays.gravity[2]), 6 * int(robot.free)
    model = js.model.JaxSimModel.build_from_model_description(described(robot.arrays, "sdf"), gravity=down)
    order = np.array([robot.joints().index(name) for name in model.joint_names()])
    back, links = np.argsort(order), list(model.link_names())

    def one(q: Any, qd: Any, tau: Any) -> Any:
        given = {"joint_positions": q[n + (n > 0) :][order], "joint_velocities": qd[n:][order]}
        given["velocity_representation"] = VelRepr.Mixed
        if not n:
            data = js.data.JaxSimModelData.build(model, **given)
            return js.model.forward_dynamics_aba(model, data, joint_forces=tau[order])[1][back]
        R = Rotation.from_quat(jnp.roll(q[3:7], -1)).as_matrix()
        given |= {"base_position": q[:3], "base_quaternion": q[3:7]}
        given |= {"base_linear_velocity": qd[:3], "base_angular_velocity": R @ qd[3:6]}
        data = js.data.JaxSimModelData.build(model, **given)
        wrench = jnp.concatenate([tau[:3], R @ tau[3:6]])
        forces = jnp.zeros((len(links), 6)).at[links.index(str(robot.arrays.names[0]))].set(wrench)
        base, joints = js.model.forward_dynamics_aba(
            model, data, joint_forces=tau[n:][order], link_forces=forces
        )
        return jnp.concatenate([base[:3], R.T @ base[3:6], joints[back]])

    return jax.jit(jax.vmap(one))(*(x.astype(np.float32) for x in robot.batch))


def by_adam(robot: Robot) -> Any:
    """Its numpy computations, state by state: with today's JAX its own cannot be compiled."""
    from adam import Representations
    from adam.numpy import KinDynComputations

    if not robot.free:
        raise ValueError("its aba has a base that floats")
    gravity = np.array([*robot.arrays.gravity, 0.0, 0.0, 0.0], dtype=np.float32)
    model = KinDynComputations(
        described(robot.arrays, "urdf"), robot.joints(), dtype=np.float32, gravity=gravity
    )
    model.set_frame_velocity_representation(Representations.MIXED_REPRESENTATION)
    root, found = str(robot.arrays.names[0]), []
    for q, qd, tau in zip(*(x.astype(np.float32) for x in robot.batch), strict=True):
        pose, R = np.eye(4, dtype=np.float32), rotation(q[3:7]).astype(np.float32)
        pose[:3, :3], pose[:3, 3] = R, q[:3]
        twist, wrench = (np.concatenate([x[:3], R @ x[3:6]]) for x in (qd, tau))
        qacc = model.aba(pose, q[7:], twist, qd[6:], tau[6:], {root: wrench})
        found.append(np.concatenate([qacc[:3], R.T @ qacc[3:6], qacc[6:]]))
    return np.array(found)


def by_frax(robot: Robot) -> Any:
    import jax
    from frax.core.robot import Robot as Model

    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(described(robot.arrays, "urdf"))
        file.flush()
        base = "quaternion" if robot.free else None
        model = Model(file.name, joint_ordering=robot.joints(), floating_base=base)

    def one(q: Any, qd: Any, tau: Any) -> Any:
        return model.forward_dynamics(q, qd, tau, None)

    return jax.jit(jax.vmap(one))(*(x.astype(np.float32) for x in robot.batch))


PROGRAMS: dict[str, Callable[[Robot], Any]] = {
    "mjx": by_mjx,
    "warp": by_warp,
    "newton": by_newton,
    "brax": by_brax,
    "jaxsim": by_jaxsim,
    "adam": by_adam,
    "frax": by_frax,
}


# -- measured beside predicted --------------------------------------------------------------------


def rows(name: str, states: int, programs: list[str]) -> list[dict[str, Any]]:
    robot = Robot(name, states)
    systems = robot.systems()
    exact = [kkt.certify(system, digits=30) for system in systems]
    found: list[dict[str, Any]] = []
    predicted: dict[tuple[str, str, str], list[float]] = {}  # programs may read alike
    for program in programs:
        row: dict[str, Any] = {"robot": name, "program": program, "states": states}
        reading = readings.get(program)
        kind = reading.order, reading.frames, reading.symmetry
        if kind not in predicted:
            pairs = zip(systems, exact, strict=True)
            predicted[kind] = [readings.error(reading, system, answer) for system, answer in pairs]
        row |= summary("predicted", predicted[kind])
        try:
            qdd = robot.accelerations(PROGRAMS[program](robot))
            row |= summary("measured", [a.error(x) for a, x in zip(exact, qdd, strict=True)])
        except (ImportError, ValueError, TypeError, NotImplementedError) as error:
            row["refused"] = str(error).splitlines()[0]
        print(json.dumps(row), flush=True)
        found.append(row)
    return found


def summary(what: str, errors: list[float]) -> dict[str, float]:
    """Digits, -log10 of the errors: their median, and the fewest."""
    digits = -np.log10(np.array(errors))
    return {
        f"{what}_median": round(float(np.median(digits)), 2),
        f"{what}_worst": round(float(digits.min()), 2),
    }


def write_table(every: list[dict[str, Any]], folder: Path) -> None:
    """A table of all rows."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = [row for row in every if "measured_median" in row]
    kinds = [(which, what) for which in ("median", "worst") for what in ("predicted", "measured")]
    lines = ["| robot | program | predicted | measured | worst predicted | worst measured |"]
    lines.append("|---|---|" + "---:|" * len(kinds))
    for row in seen:
        numbers = (f"{row[f'{what}_{which}']:.1f}" for which, what in kinds)
        lines.append(f"| {row['robot']} | {row['program']} | {' | '.join(numbers)} |")
    (folder / "readings.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    for program, package in PACKAGES.items():
        try:
            print(program, package, version(package))
        except PackageNotFoundError:
            print(program, "is not installed: pip install", package)
    every = []
    for name in options.robots.split(","):
        every += rows(name, options.states, options.programs.split(","))
    if options.output:
        write_table(every, options.output)


if __name__ == "__main__":
    main()
