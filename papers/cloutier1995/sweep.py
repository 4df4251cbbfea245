"""The forward-dynamics test program (section 5.1.2): two links, theta_2 turned once around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..measures import condition, variation
from ..settings import between
from .closed_form import at_rest
from .robot import two_links
from .simulator import BIAS, kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sweep:
    """Accelerations at rest over m angles of joint 2, theta_1 = 0, gravity 9.8, no torques."""

    second: float  # l_2 = m_2; l_1 = m_1 = 1
    angles: Floats  # (m,) [rad]
    exact: Floats  # (m, 2) [rad/s^2], closed form
    kappa: Floats  # (m,)
    found: dict[str, Floats]  # method -> (m, 2)

    def difference(self, joint: int = 1) -> Floats:
        """(m,) |ABM - CRBM| / |ABM| of a joint, 1 or 2: the thesis's Delta_r."""
        abm, crbm = (self.found[method][:, joint - 1] for method in ("ABM", "CRBM"))
        return np.abs((abm - crbm) / abm)

    def error(self, method: str, joint: int = 1) -> Floats:
        """(m,) relative to the closed form."""
        return np.abs(self.found[method][:, joint - 1] / self.exact[:, joint - 1] - 1.0)

    def rms(self, method: str) -> float:
        return float(np.sqrt(np.mean(self.error(method) ** 2)))

    def roughness(self, method: str) -> float:
        """Total variation of joint 1's curve over that of the exact one."""
        return variation(self.found[method][:, 0]) / variation(self.exact[:, 0])


def sweep(second: float, methods: dict[str, tuple[str, str, str]], angles: int, width: float = 1.0) -> Sweep:
    """Methods are name -> (method, solver, bias), see :func:`.simulator.kernel`."""
    between("angles", angles, 5)
    tree, turns = two_links(second, width), np.linspace(0.0, 2.0 * np.pi, angles)
    q = np.stack([np.zeros(angles), turns], axis=1)
    found = {name: np.asarray(kernel(tree, *how)(q, np.zeros_like(q), None)) for name, how in methods.items()}
    exact = at_rest((1.0, second), (1.0, second), width, turns)
    return Sweep(second, turns, exact, condition(tree, q), found)


def pair(solver: str = "cholesky") -> dict[str, tuple[str, str, str]]:
    """ABM and CRBM as the thesis has them."""
    return {method: (method, solver, BIAS) for method in ("ABM", "CRBM")}
