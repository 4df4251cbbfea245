"""The forward-dynamics test program (section 5.1.2): two links, theta_2 turned once around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..item import between
from ..measures import Curves, Floats, condition
from .robot import GRAVITY, two_links
from .simulator import BIAS, kernel

DIGITS = 50  # of the closed form


@dataclass(frozen=True)
class Sweep(Curves):
    """Joint 1's accelerations at rest over m angles of joint 2, theta_1 = 0, gravity 9.8, no torques."""

    second: float  # l_2 = m_2; l_1 = m_1 = 1
    joint2: dict[str, Floats]  # method -> (m,) its accelerations

    def difference(self, joint: int = 1) -> Floats:
        """(m,) |ABM - CRBM| / |ABM| of a joint, 1 or 2: the thesis's Delta_r."""
        curves = self.found if joint == 1 else self.joint2
        return np.abs((curves["ABM"] - curves["CRBM"]) / curves["ABM"])


def sweep(second: float, methods: dict[str, tuple[str, str, str]], angles: int, width: float = 1.0) -> Sweep:
    """Methods are name -> (method, solver, bias), see :func:`.simulator.kernel`."""
    between("angles", angles, 5)
    tree, turns = two_links(second, width), np.linspace(0.0, 2.0 * np.pi, angles)
    q = np.stack([np.zeros(angles), turns], axis=1)
    qdd = {name: np.asarray(kernel(tree, *how)(q, np.zeros_like(q), None)) for name, how in methods.items()}
    exact = at_rest((1.0, second), (1.0, second), width, turns)
    one, two = ({name: both[:, joint] for name, both in qdd.items()} for joint in (0, 1))
    return Sweep(turns, exact[:, 0], condition(tree, q), one, second, two)


def pair(solver: str = "cholesky") -> dict[str, tuple[str, str, str]]:
    """ABM and CRBM as the thesis has them."""
    return {method: (method, solver, BIAS) for method in ("ABM", "CRBM")}


def at_rest(
    lengths: Sequence[float], masses: Sequence[float], width: float, angles: Floats, gravity: float = GRAVITY
) -> Floats:
    """(m, 2) accelerations [rad/s^2] at theta_1 = 0, theta_2 = angles (m,), rounded once.

    The arm at rest in closed form, worked out apart from the engine.
    """
    import mpmath

    with mpmath.workdps(DIGITS):
        (l1, l2), (m1, m2) = ([mpmath.mpf(x) for x in pair] for pair in (lengths, masses))
        w, g = mpmath.mpf(width), mpmath.mpf(gravity)
        I1, I2 = m1 * (l1**2 + w**2) / 12, m2 * (l2**2 + w**2) / 12
        H22 = I2 + m2 * l2**2 / 4
        rows = []
        for angle in angles:
            c = mpmath.cos(mpmath.mpf(float(angle)))
            H12 = H22 + m2 * l1 * l2 / 2 * c
            H11 = I1 + m1 * l1**2 / 4 + m2 * l1**2 + 2 * H12 - H22
            b2 = m2 * g * l2 / 2 * c
            b1 = m1 * g * l1 / 2 + m2 * g * l1 + b2
            determinant = H11 * H22 - H12**2
            both = (b2 * H12 - b1 * H22, b1 * H12 - b2 * H11)
            rows.append([float(x / determinant) for x in both])
    return np.array(rows)
