"""Figure 5.4 and equation (5.1): error against condition number, as the second link grows.

l_2 = m_2 from 1 to 1e6, unit widths, largest values over theta_2.  CRBM's error is proportional to
the condition number, about kappa times the roundoff.  ABM's stays at the roundoff where the bias is
propagated with the inertias, and grows with the root of kappa where it comes from inverse dynamics.
"""

from __future__ import annotations

import numpy as np

from ..item import Progress, Results, between, picture, value
from .sweep import sweep

UNIT = 2.0**-53
METHODS = {
    "ABM": ("ABM", "cholesky", "propagated"),
    "ABM, bias apart": ("ABM", "cholesky", "inverse_dynamics"),
    "CRBM": ("CRBM", "cholesky", "inverse_dynamics"),
    "CRBM, LU": ("CRBM", "lu", "inverse_dynamics"),
}
SLOPES = {"ABM": (0.0, 0.1), "ABM, bias apart": (0.5, 0.05), "CRBM": (1.0, 0.05)}


def measure(
    progress: Progress, *, most: float = 1e6, decades: int = 1, angles: int = 401, width: float = 1.0
) -> Results:
    """``decades`` is lengths a decade from 1 to ``most``."""
    between("most", most, 10.0, 1e100)
    between("decades", decades, 1)
    lengths = np.geomspace(1.0, most, max(round(np.log10(most) * decades), 1) + 1)
    grid = []
    for second in lengths.tolist():
        progress(f"l_2 = m_2 = {second:.3g}")
        grid.append(sweep(second, METHODS, angles, width))
    kappa = np.array([one.kappa.max() for one in grid])
    difference = np.array([one.difference().max() for one in grid])
    worst = {method: np.array([one.worst(method) for one in grid]) for method in METHODS}
    slopes = {}  # of log error against log kappa, least squares
    for method, (asked, off) in SLOPES.items():
        slopes[method] = float(np.polyfit(np.log(kappa), np.log(worst[method]), 1)[0])
        words = {"asked": f"{asked:g}", "most": f"{off:g}", "printed": 1 if method == "CRBM" else None}
        yield value("slope", slopes[method], method=method, **words)
    share, ratio = difference / (kappa * UNIT), worst["CRBM, LU"] / worst["CRBM"]
    yield value("difference", [share.min(), share.max()])
    yield value("solvers", [ratio.min(), ratio.max()])
    yield picture("figure54", "lengths", lengths, kappa, difference, worst, slopes)
