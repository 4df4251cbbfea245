"""Figure 5.3: condition number and relative difference of ABM and CRBM over the configuration.

Two links, l_1 = m_1 = 1, l_2 = m_2 = 1e2 (link 2 is the tip; the thesis numbers from the base),
unit widths, at rest, theta_1 = 0, gravity 9.8, Cholesky, double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row
from .sweep import Sweep, pair, sweep


def measure(
    progress: Progress,
    *,
    second: float = 1e2,
    angles: int = 1001,
    width: float = 1.0,
    solver: str = "cholesky",
) -> Sweep:
    """The test program on one arm; ``second`` is l_2 = m_2."""
    progress(f"l_2 = m_2 = {second:g}")
    return sweep(second, pair(solver), angles, width)


def rows(found: Sweep) -> list[Row]:
    said, papers = printed("cloutier1995")["figure53"], found.second == 1e2
    kappa, at = float(found.kappa.max()), float(found.angles[found.kappa.argmax()])
    folded = float(np.abs(np.sin(at)))
    least = float(found.kappa.min())
    one, two = (float(found.difference(joint).max()) for joint in (1, 2))
    return [
        *(
            Row(
                f"{which} condition number",
                said["kappa"] if papers else None,
                ours,
                "the same power of ten" if papers else "none: not the thesis's arm",
                float(np.floor(np.log10(ours))) == np.log10(said["kappa"]) if papers else None,
            )
            for which, ours in (("largest", kappa), ("least", least))
        ),
        Row(
            "sin of the angle of the largest", "at the singularities", folded, "at most 0.01", folded <= 0.01
        ),
        Row(
            "largest relative difference, joint 1",
            said["difference"] if papers else None,
            one,
            "within a factor of 10" if papers else "none: not the thesis's arm",
            1e-13 <= one <= 1e-11 if papers else None,
        ),
        Row(
            "largest relative difference, joint 2",
            "similar",
            two,
            "joint 1's within a factor of 10",
            0.1 <= two / one <= 10.0,
        ),
        Row(
            "rms difference where kappa is above its median, over that below",
            "follows the condition number",
            _follows(found),
            "above 1",
            _follows(found) > 1.0,
        ),
    ]


def _follows(found: Sweep) -> float:
    high = found.kappa > np.median(found.kappa)
    squares = found.difference() ** 2
    return float(np.sqrt(squares[high].mean() / squares[~high].mean()))


def figures(found: Sweep, style: str) -> dict[str, Any]:
    from .pictures import configuration

    return {"figure53": configuration(found, style)}
