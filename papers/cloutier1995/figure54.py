"""Figure 5.4 and equation (5.1): error against condition number, as the second link grows.

l_2 = m_2 from 1 to 1e6, unit widths, largest values over theta_2.  CRBM's error is proportional to
the condition number, about kappa times the roundoff.  ABM's stays at the roundoff where the bias is
propagated with the inertias, and grows with the root of kappa where it comes from inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress
from ..row import Value, value
from ..settings import between
from .sweep import Floats, Sweep, sweep

UNIT = 2.0**-53
METHODS = {
    "ABM": ("ABM", "cholesky", "propagated"),
    "ABM, bias apart": ("ABM", "cholesky", "inverse_dynamics"),
    "CRBM": ("CRBM", "cholesky", "inverse_dynamics"),
    "CRBM, LU": ("CRBM", "lu", "inverse_dynamics"),
}
SLOPES = {"ABM": (0.0, 0.1), "ABM, bias apart": (0.5, 0.05), "CRBM": (1.0, 0.05)}


@dataclass(frozen=True)
class Growth:
    """Sweeps over lengths."""

    grid: list[Sweep]

    @property
    def kappa(self) -> Floats:
        return np.array([one.kappa.max() for one in self.grid])

    def worst(self, method: str) -> Floats:
        """Largest relative error of joint 1 over the angles, sweep by sweep."""
        return np.array([one.error(method).max() for one in self.grid])

    def slope(self, method: str) -> float:
        """Of log error against log kappa, least squares."""
        return float(np.polyfit(np.log(self.kappa), np.log(self.worst(method)), 1)[0])


def measure(
    progress: Progress, *, most: float = 1e6, decades: int = 1, angles: int = 401, width: float = 1.0
) -> Growth:
    """``decades`` is lengths a decade from 1 to ``most``."""
    between("most", most, 10.0, 1e100)
    between("decades", decades, 1)
    count = max(round(np.log10(most) * decades), 1) + 1
    lengths = np.geomspace(1.0, most, count)
    grid = []
    for second in lengths.tolist():
        progress(f"l_2 = m_2 = {second:.3g}")
        grid.append(sweep(second, METHODS, angles, width))
    return Growth(grid)


def values(found: Growth) -> Iterator[Value]:
    for method, (asked, most) in SLOPES.items():
        said = 1 if method == "CRBM" else None
        words = {"method": method, "asked": f"{asked:g}", "most": f"{most:g}", "printed": said}
        yield value("slope", found.slope(method), **words)
    share = np.array([one.difference().max() for one in found.grid]) / (found.kappa * UNIT)
    ratio = found.worst("CRBM, LU") / found.worst("CRBM")
    yield value("difference", [share.min(), share.max()])
    yield value("solvers", [ratio.min(), ratio.max()])


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .pictures import lengths

    return {"figure54": lengths(found, style)}
