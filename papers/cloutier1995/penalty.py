"""Penalty contact with a floor (sections 6.4.1 and 6.5.1): springs where points are below it.

A point at depth d, of velocity (v_T, v_N), is pushed by

    f_N = k d - c v_N  while it goes down,    r k d - c v_N  while it comes up,    f_N >= 0,

r the share of the spring that relaxes (Moore & Wilhelms 1988), c = 2 zeta sqrt(k m) a damper, and
by Coulomb's friction, -mu f_N v_T / (v_T^2 + s^2)^(1/2), smooth below the slip speed s.  Forces
enter equation (4) as external wrenches.  States carry log k, so that several may be integrated side
by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.simulation import Record
from analysis.simulation.scipy_methods import Scipy

from .falling import Falling, Floats

SLIP = 1e-3  # [m/s]


@dataclass(frozen=True)
class Penalty:
    """Springs under the points of one chain."""

    chain: Falling
    relax: float = 1.0  # r: 1 gives everything back
    damping: float = 0.0  # zeta, of a link's mass on the spring
    friction: float = 0.0  # mu

    def start(self, q: Floats, v: Floats, stiffness: tuple[float, ...]) -> Floats:
        """(m, 2 N + 1) states, one for each stiffness [N/m]."""
        return np.array([[*q, *v, np.log(k)] for k in stiffness])

    def rates(self, y: NDArray) -> NDArray:
        """dy/dt of states (m, 2 N + 1)."""
        N = self.chain.N
        sound = np.isfinite(y).all(1)
        q, v, k = y[:, :N], y[:, N : 2 * N], np.exp(y[:, -1])
        q, v = (np.where(sound[:, None], x, 0.0) for x in (q, v))
        u = self.chain.directions(q)
        forces = self.forces(k, self.chain.places(q, u), self.chain.speeds(u, v))
        qdd = self.chain.accelerations(q, v, forces, u)
        found = np.concatenate([v, qdd, np.zeros((len(y), 1))], 1)
        return np.where(sound[:, None], found, np.nan)

    def forces(self, k: Floats, r: Floats, speed: Floats) -> Floats:
        """(m, p, 2) [N] on points at r, of velocities ``speed``."""
        depth = np.maximum(-r[..., 1], 0.0)
        along, down = speed[..., 0], speed[..., 1]
        k = k[:, None]
        c = 2.0 * self.damping * np.sqrt(k * float(self.chain.masses[0]))
        push = np.maximum(np.where(down < 0.0, 1.0, self.relax) * k * depth - c * down, 0.0)
        push = np.where(depth > 0.0, push, 0.0)
        rub = -self.friction * push * along / np.sqrt(along**2 + SLIP**2)
        return np.stack([rub, push], -1)

    def energy(self, y: NDArray) -> Floats:
        """(m,) of the chain and of the springs [J]."""
        N = self.chain.N
        q, v, k = y[:, :N], y[:, N : 2 * N], np.exp(y[:, -1])
        depth = np.maximum(-self.chain.places(q)[..., 1], 0.0)
        return self.chain.energy(q, v) + (k[:, None] * depth**2).sum(1) / 2

    def run(
        self, y: Floats, seconds: float, eps: float = 1e-8, most: int = 200_000
    ) -> list[Record]:
        """Each row of y by Dormand & Prince's adaptive steps; eps is relative and absolute."""
        with np.errstate(all="ignore"):  # a try that overflows is rejected
            return Scipy("RK45", eps)(self.rates, y, seconds)
