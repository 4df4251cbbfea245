"""qdd without rounding, in balls: what the errors of benchmarks/peers.py are measured against.

All runs in Arb's interval arithmetic from joint positions on, so that nobody's sines, poses or
constants are taken for exact but those of the model in question.  A peer stores other last digits
of a model than we do (placements from roll, pitch and yaw, inertias by principal axes); each is
measured against the model that it stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt, orderings
from pivotree.kkt import Block
from pivotree.kkt.machine.forward_dynamics import tape_of
from pivotree.kkt.machine.kinematics import entries
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.model import from_quaternion
from pivotree.kkt.tape import run

BITS = 192
CONSTANTS = ("R", "p", "axis", "mass", "com", "inertia", "gravity")


class Exact:
    """Forward dynamics; ``constants`` replace arrays of :class:`kkt.BodyTree`."""

    def __init__(self, system: kkt.System, constants: Mapping[str, Any] | None = None) -> None:
        own = {name: getattr(system.tree, name) for name in CONSTANTS} | dict(constants or {})
        self.tree = replace(system.tree, **{name: balls(value) for name, value in own.items()})
        self.places = Configuration(self.tree, system.graph)
        self.tape = tape_of(system, orderings.get("abm"))
        self.loops = system.loops

    def run(self, x: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> tuple[Any, Any]:
        """Solution and pivots, balls, at a kernel's configuration numbers x, rates and efforts."""
        none = np.zeros((self.tree.n, 6))
        with flint.ctx.workprec(BITS):
            given = (balls(v) for v in (x, qd, tau, none))
            found = entries(self.places, *given, loops=self.loops)
            found = type(found)(*map(balls, found))
            solution, pivots, _ = run(self.tape, found, flint.arb)
        return solution, pivots

    def qdd(self, x: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> NDArray[Any]:
        """(N,) balls of the accelerations."""
        solution = self.run(x, qd, tau)[0]
        moving = (b for b, dof in zip(self.tree.names, self.tree.dof, strict=True) if dof)
        return np.concatenate([solution[Block("qdd", name)] for name in moving])


def balls(values: ArrayLike) -> NDArray[Any]:
    """The same numbers, doubles exactly."""
    given = np.asarray(values)
    out = np.empty(given.size, dtype=object)
    out[:] = [v if isinstance(v, flint.arb) else flint.arb(float(v)) for v in given.ravel()]
    return out.reshape(given.shape)


def error(found: ArrayLike, exact: NDArray[Any]) -> float:
    """Largest difference over the largest entry of what is exact."""
    with flint.ctx.workprec(BITS):
        wrong = max((abs(a - b) for a, b in zip(balls(found), exact, strict=True)), key=float)
        return float(wrong) / max(abs(float(e)) for e in exact)


def of_pinocchio(peer: Any) -> dict[str, Any]:
    """The constants that a Pinocchio model stores."""
    held = _copies(peer.tree)
    for k, number in peer.joint.items():
        place, body = peer.model.jointPlacements[number], peer.model.inertias[number]
        held["R"][k], held["p"][k] = balls(place.rotation), balls(place.translation)
        held["mass"][k], held["com"][k] = flint.arb(body.mass), balls(body.lever)
        held["inertia"][k] = balls(body.inertia)
    return held


def of_mujoco(peer: Any) -> dict[str, Any]:
    """The constants that a MuJoCo model stores; turns are quaternions, inertias diagonal."""
    held, model = _copies(peer.tree), peer.model
    with flint.ctx.workprec(BITS):
        for k, joint in peer.joint.items():
            body = int(model.jnt_bodyid[joint])
            turn = _turn(model.body_iquat[body])
            held["R"][k], held["p"][k] = _turn(model.body_quat[body]), balls(model.body_pos[body])
            held["mass"][k] = flint.arb(float(model.body_mass[body]))
            held["com"][k] = balls(model.body_ipos[body])
            held["inertia"][k] = (turn * balls(model.body_inertia[body])).dot(turn.T)
            held["axis"][k, 0] = balls(model.jnt_axis[joint])
    return held


def _copies(tree: Any) -> dict[str, Any]:
    return {name: balls(getattr(tree, name)) for name in CONSTANTS}


def _turn(quaternion: ArrayLike) -> NDArray[Any]:
    """A rotation from w, x, y, z."""
    return from_quaternion(balls(quaternion)[None, [1, 2, 3, 0]])[0]
