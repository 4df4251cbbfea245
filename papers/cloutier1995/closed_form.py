"""The two-link arm at rest in closed form, worked out apart from the engine in 50 digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .robot import GRAVITY

DIGITS = 50


def at_rest(
    lengths: Sequence[float], masses: Sequence[float], width: float, angles: NDArray, gravity: float = GRAVITY
) -> NDArray[np.float64]:
    """(m, 2) accelerations [rad/s^2] at theta_1 = 0, theta_2 = angles (m,), rounded once."""
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
            rows.append(
                (float((b2 * H12 - b1 * H22) / determinant), float((b1 * H12 - b2 * H11) / determinant))
            )
    return np.array(rows)
