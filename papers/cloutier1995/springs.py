"""Penalty contact of any tree with a floor: springs where points are below it.

A point at depth d, of velocity (v_T, v_N), is pushed by

    f_N = k d - c v_N  while it goes down,    r k d - c v_N  while it comes up,    f_N >= 0,

r the share of the spring that relaxes (Moore & Wilhelms 1988), c = 2 zeta (k m)^(1/2) a damper, and
by Coulomb's friction, -mu f_N v_T / (v_T^2 + s^2)^(1/2), smooth below the slip speed s (Cloutier
1995, sections 6.4.1 and 6.5.1).  A bounce returns r of the spring's energy: Newton's e is r^(1/2).
States carry log k, so that several may be integrated side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pivotree.analysis.simulation import SCIPY, Record
from pivotree.analysis.simulation.integration import Scipy
from pivotree.kkt import ModelError

from .floor import Floats, Floor, Pose

SLIP = 1e-3  # [m/s]


@dataclass(frozen=True)
class Springs:
    """Springs under the points of a tree over a floor.

    >>> from pivotree.papers.cloutier1995.floor import Floor
    >>> from pivotree.papers.cloutier1995.springs import Springs
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
                raise ModelError(f"springs: field {name!r} is {value!r}; give 0{top}")

    def start(self, q: ArrayLike, qd: ArrayLike, stiffness: Sequence[float]) -> Floats:
        """(m, nx + N + 1) states, one for each stiffness [N/m]."""
        for k in stiffness:
            if not 0.0 < k < np.inf:
                raise ModelError(f"springs: stiffness is {k!r}; give a number above 0 [N/m]")
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
            raise ModelError(f"springs: method is {method!r}; use one of {', '.join(SCIPY)}")

        def settle(y: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([self.floor.motion.settle(y[:, :-1]), y[:, -1:]], 1)

        with np.errstate(all="ignore"):  # a try that overflows is rejected
            return Scipy(method, eps)(self.rates, y, seconds, settle, tick)
