"""A tree over a floor: where its points are, how they move, what forces on them do, and springs.

Weights and contact forces are external wrenches of equation (4), so that one kernel answers both:
with weights and rates, the accelerations; with unit forces alone, pdd, and minus that, carried to
the points, J M^-1 J^T: no J is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree import kkt
from pivotree.analysis.simulation import SCIPY, Motion, Record
from pivotree.analysis.simulation.integration import Scipy
from pivotree.analysis.simulation.motion import BodyMotions, turned
from pivotree.kkt import ModelError
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.model.fields import checked
from pivotree.kkt.model.spatial import cross

Floats = NDArray[np.float64]
SLIP = 1e-3  # [m/s]
HALVES = slice(3), slice(3, 6)  # of a spatial vector, angular first


class Pose(NamedTuple):
    """Bodies and points of m states in the world."""

    bodies: BodyMotions
    arm: Floats  # (m, p, 3) [m] from the origin of its body to a point
    r: Floats  # (m, p, 3) [m] the points
    speed: Floats  # (m, p, 3) [m/s]


@dataclass(frozen=True)
class Floor:
    """A tree and points of it that may touch the plane through the world's origin.

    States y = (x, qd) are those of :class:`analysis.simulation.Motion`.

    >>> from pivotree.papers.cloutier1995.floor import Floor
    >>> ball = pt.new_tree("ball")
    >>> pt.add_body(ball, "ball", mass=1.0, inertia=0.1 * np.eye(3), joint="floating")
    >>> floor = Floor.of(ball, [("ball", (0.0, 0.0, -0.1))])
    >>> floor.heights(floor.start([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])[None])  # q: rotation, place [m]
    array([[0.9]])
    """

    motion: Motion  # its kernel, without gravity, takes wrenches and gives qdd and pdd
    bodies: NDArray[np.int64]  # (p,) that carry the points
    points: Floats  # (p, 3) in the bodies' frames [m]
    normal: Floats  # (3,) the floor's, up

    @staticmethod
    def of(
        tree: Any,
        points: Sequence[tuple[Hashable, ArrayLike]],
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        order: Any = "abm",
        tau: ArrayLike | None = None,
    ) -> Floor:
        """``points`` are (body, place in its frame); ``normal`` is the floor's, up.

        Raises ModelError, one sentence, for an unknown body, a place or a normal that is none.
        """
        system = kkt.build(tree, tau=tau)
        known = {name: k for k, name in enumerate(system.tree.names)}
        names = [body for body, _ in points]
        if not names:
            raise ModelError("floor", "no points", "give (body, (x, y, z)) for each that may touch")
        for name in names:
            if name not in known:
                told = nearest(str(name), tuple(map(str, known)))
                raise ModelError("floor", f"body {name!r} is not of this tree", told)
        places = [checked(f"floor: body {b!r}", "point", x, (3,)) for b, x in points]
        up = checked("floor", "normal", normal, (3,))
        if not up.any():
            raise ModelError("floor", "field 'normal' is zero", "give a direction, such as 0 0 1")
        up = up / np.linalg.norm(up)
        weightless = tree.copy()
        weightless.graph["gravity"] = (0.0, 0.0, 0.0)
        kernel = kkt.compile(weightless, order, inputs=("wrench",), outputs=("qdd", "pdd"))
        motion = Motion(tree, kernel, system.state.tau, lambda: kernel)
        return Floor(motion, np.array([known[b] for b in names]), np.array(places), up)

    @property
    def nx(self) -> int:
        return self.motion.nx

    def start(self, q: Any = None, qd: ArrayLike | None = None) -> Floats:
        """(nx + N,) a state; what is None comes from the tree."""
        return self.motion.start(q, qd)

    @cached_property
    def tree(self) -> kkt.BodyTree:
        return kkt.compile_tree(self.motion.graph)

    @cached_property
    def _passive(self) -> Floats:
        return np.asarray(kkt.build(self.motion.graph).state.wrench)

    def pose(self, y: Floats) -> Pose:
        """Bodies and points of states (m, nx + N)."""
        bodies = self.motion.bodies(y)
        arm = turned(bodies.turn[:, self.bodies], self.points)
        speed = bodies.v[:, self.bodies] + cross(bodies.omega[:, self.bodies], arm)
        return Pose(bodies, arm, bodies.origin[:, self.bodies] + arm, speed)

    def heights(self, y: Floats) -> Floats:
        """(m, p) of the points above the floor [m]."""
        return np.asarray(self.pose(np.atleast_2d(y)).r @ self.normal)

    def energy(self, y: ArrayLike) -> Floats:
        """(m,) kinetic and potential [J]."""
        return self.motion.energy(y)

    # -- equation (4) ------------------------------------------------------------------------------

    def accelerations(self, y: Floats, forces: Floats, pose: Pose) -> Floats:
        """(m, N) qdd of m states under weights and forces (m, p, 3) [N] on the points."""
        wrench = self._weights(pose) + self._on_points(pose, forces)
        qdd, _ = self.motion.kernel(y[:, : self.nx], y[:, self.nx :], self.motion.tau, wrench)
        return np.asarray(qdd)

    def responses(self, y: Floats, point: int, directions: Floats) -> Floats:
        """(c, c) accelerations of a point along directions (c, 3) by unit forces along each: J M^-1 J^T."""
        c, k = len(directions), self.bodies[point]
        states = np.repeat(y, c, axis=0)
        states[:, self.nx :] = 0.0
        pose = self.pose(states)
        units = np.zeros((c, len(self.bodies), 3))
        units[:, point] = directions
        tau = np.repeat(self.motion.springs(y), c, axis=0)
        wrench = self._on_points(pose, units)
        _, pdd = self.motion.kernel(states[:, : self.nx], states[:, self.nx :], tau, wrench)
        spin, slide = (turned(pose.bodies.turn[:, k], -pdd[:, k, half]) for half in HALVES)
        return np.asarray((slide + cross(spin, pose.arm[:, point])) @ directions.T).T

    def _weights(self, pose: Pose) -> Floats:
        tree = self.tree
        pull = (tree.mass[:, None, None] * np.swapaxes(pose.bodies.turn, -1, -2)) @ tree.gravity
        return np.concatenate([cross(tree.com, pull), pull], -1) + self._passive

    def _on_points(self, pose: Pose, forces: Floats) -> Floats:
        """(m, n, 6) wrenches of world forces (m, p, 3) on the points."""
        wrench = np.zeros((len(forces), self.tree.n, 6))
        back = np.swapaxes(pose.bodies.turn[:, self.bodies], -1, -2)
        local = turned(back, forces)
        both = np.concatenate([cross(self.points, local), local], -1)
        for i, k in enumerate(self.bodies):
            wrench[:, k] += both[:, i]
        return wrench


@dataclass(frozen=True)
class Springs:
    """Springs under the points of a tree over a floor: penalty contact.

    A point at depth d, of velocity (v_T, v_N), is pushed by

        f_N = k d - c v_N  while it goes down,    r k d - c v_N  while it comes up,    f_N >= 0,

    r the share of the spring that relaxes (Moore & Wilhelms 1988), c = 2 zeta (k m)^(1/2) a damper, and
    by Coulomb's friction, -mu f_N v_T / (v_T^2 + s^2)^(1/2), smooth below the slip speed s (Cloutier
    1995, sections 6.4.1 and 6.5.1).  A bounce returns r of the spring's energy: Newton's e is r^(1/2).
    States carry log k, so that several may be integrated side by side.

    >>> from pivotree.papers.cloutier1995.floor import Floor, Springs
    >>> ball = pt.new_tree("ball")
    >>> pt.add_body(ball, "ball", mass=1.0, inertia=0.1 * np.eye(3), joint="floating")
    >>> springs = Springs(Floor.of(ball, [("ball", (0.0, 0.0, 0.0))]), damping=0.3)
    >>> (y,) = springs.start([0.0, 0.0, 0.0, 0.0, 0.0, 0.1], [0.0] * 6, [1e4])
    >>> springs.energy(y[None]).round(3)  # [J], 0.1 m above the floor
    array([0.981])
    """

    floor: Floor
    relax: float = 1.0  # r: 1 gives everything back
    damping: float = 0.0  # zeta, of ``mass`` on the spring
    friction: float = 0.0  # mu
    mass: float | None = None  # [kg] that damping is critical for; None: the largest of a body

    def __post_init__(self) -> None:
        for name in ("relax", "damping", "friction", "mass"):
            value = getattr(self, name)
            most = 1.0 if name == "relax" else np.inf
            if value is not None and not 0.0 <= value <= most:
                top = " to 1" if name == "relax" else " or more"
                raise ModelError("springs", f"field {name!r} is {value!r}", f"give 0{top}")

    def start(self, q: ArrayLike, qd: ArrayLike, stiffness: Sequence[float]) -> Floats:
        """(m, nx + N + 1) states, one for each stiffness [N/m]."""
        for k in stiffness:
            if not 0.0 < k < np.inf:
                raise ModelError("springs", f"stiffness is {k!r}", "give a number above 0 [N/m]")
        y = self.floor.start(q, qd)
        return np.array([[*y, np.log(k)] for k in stiffness])

    def rates(self, y: NDArray[Any]) -> NDArray[Any]:
        """dy/dt of states (m, nx + N + 1)."""
        sound = np.isfinite(y).all(1)
        y = np.where(sound[:, None], y, 1.0)
        own, nx = y[:, :-1], self.floor.nx
        pose = self.floor.pose(own)
        qdd = self.floor.accelerations(own, self.forces(np.exp(y[:, -1]), pose), pose)
        turning = self.floor.motion.kernel.rate(own[:, :nx], own[:, nx:])
        found = np.concatenate([turning, qdd, np.zeros((len(y), 1))], 1)
        return np.where(sound[:, None], found, np.nan)

    def forces(self, k: Floats, pose: Pose) -> Floats:
        """(m, p, 3) [N] on the points, for stiffness (m,)."""
        normal = self.floor.normal
        depth = np.maximum(-pose.r @ normal, 0.0)
        down = pose.speed @ normal
        along = pose.speed - down[..., None] * normal
        mass = float(self.floor.tree.mass.max()) if self.mass is None else self.mass
        k = k[:, None]
        c = 2.0 * self.damping * np.sqrt(k * mass)
        push = np.maximum(np.where(down < 0.0, 1.0, self.relax) * k * depth - c * down, 0.0)
        push = np.where(depth > 0.0, push, 0.0)
        slip = np.sqrt((along**2).sum(-1) + SLIP**2)
        return push[..., None] * normal - (self.friction * push / slip)[..., None] * along

    def energy(self, y: NDArray[Any]) -> Floats:
        """(m,) of the tree and of the springs [J]."""
        depth = np.maximum(-self.floor.heights(y[:, :-1]), 0.0)
        return self.floor.energy(y[:, :-1]) + (np.exp(y[:, -1:]) * depth**2).sum(1) / 2

    def run(
        self,
        y: Floats,
        seconds: float,
        eps: float = 1e-8,
        method: str = "RK45",
        tick: Callable[[float], None] = lambda t: None,
    ) -> list[Record]:
        """Each row of y by one of scipy's methods; eps is relative and absolute."""
        if method not in SCIPY:
            raise ModelError("springs", f"method is {method!r}", f"use one of {', '.join(SCIPY)}")

        def settle(y: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([self.floor.motion.settle(y[:, :-1]), y[:, -1:]], 1)

        with np.errstate(all="ignore"):  # a try that overflows is rejected
            return Scipy(method, eps)(self.rates, y, seconds, settle, tick)
