"""Figure 5.8: total energy of a four-link chain over 20 seconds, by ABM and by CRBM.

The thesis does not print the robot.  One that fits its axis has l = m = 1, 2, 4, 8 from the base
on, width 0.1, and theta_1 = 1.5 at the start, as in Figure 5.2: its energy is 3304.738 J.
Accuracy 1e-5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row
from .robot import planar_robot
from .simulator import Run, run

CONSERVED = 1e-4  # of the energy at the start


def measure(
    progress: Progress, *, lengths: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0),
    masses: tuple[float, ...] = (), width: float = 0.1, q1: float = 1.5, seconds: float = 20.0,
    eps: float = 1e-5, seed: int = 0,
) -> dict[str, Run]:  # fmt: skip
    """Both methods; masses are the lengths where none are given."""
    start = [q1] + [0.0] * (len(lengths) - 1)
    tree = planar_robot(lengths, masses or lengths, width, q=start, name="four_links")
    found = {}
    for method in ("ABM", "CRBM"):
        progress(method)
        found[method] = run(tree, method, seconds=seconds, eps=eps, seed=seed)
    return found


def rows(found: dict[str, Run]) -> list[Row]:
    low, high = printed("cloutier1995")["figure58"]["energy"]
    first = float(next(iter(found.values())).energy[0])
    theirs = abs(first - 3304.738) < 1e-3
    result = [
        Row("energy at the start [J]", [low, high], round(first, 3), "on the printed axis",
            low <= first <= high if theirs else None,
            "the thesis does not print the robot; this one fits")
    ]  # fmt: skip
    for method, one in found.items():
        drift = float(np.abs(one.energy / one.energy[0] - 1.0).max())
        ours = [round(float(f(one.energy)), 3) for f in (np.min, np.max)]
        result += [
            Row(f"{method}: largest relative change", "5 decimals", drift, "at most 1e-4",
                drift <= CONSERVED),
            Row(f"{method}: range [J]", [low, high], ours, "on the printed axis",
                low <= ours[0] and ours[1] <= high if theirs else None),
        ]  # fmt: skip
    return result


def figures(found: dict[str, Run], style: str) -> dict[str, Any]:
    from .motion_pictures import energies

    return {"figure58": energies(found, style)}
