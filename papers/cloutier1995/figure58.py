"""Figure 5.8: total energy of a four-link chain over 20 seconds, by ABM and by CRBM.

The thesis does not print the robot, only an axis.  A robot whose energy is on it has l = m = 1, 2,
4, 8 from the base on, width 0.1, and theta_1 = 1.5 at the start, as in Figure 5.2.  Accuracy 1e-5.
The motion is chaotic: how far the energy wanders depends on an ulp at the start, so that starts an
ulp apart are beside the one that is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row
from .robot import planar_robot
from .simulator import Run, run


def measure(
    progress: Progress,
    *,
    lengths: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0),
    masses: tuple[float, ...] = (),
    width: float = 0.1,
    q1: float = 1.5,
    seconds: float = 20.0,
    eps: float = 1e-5,
    runs: int = 12,
    seed: int = 0,
) -> dict[str, Run]:
    """Both methods; masses are the lengths where none are given."""
    start = [q1] + [0.0] * (len(lengths) - 1)
    tree = planar_robot(lengths, masses or lengths, width, q=start, name="four_links")
    found = {}
    for method in ("ABM", "CRBM"):
        progress(method)
        found[method] = run(tree, method, seconds=seconds, eps=eps, runs=runs, seed=seed)
    return found


def rows(found: dict[str, Run]) -> list[Row]:
    low, high = printed("cloutier1995")["figure58"]["energy"]
    first = float(next(iter(found.values())).energy[0])
    result = [
        Row(
            "energy at the start [J]",
            [low, high],
            round(first, 3),
            "none: the thesis does not print the robot",
            None,
            "printed is the axis",
        )
    ]
    margin = (high - low) / low
    for method, one in found.items():
        energies = [one.energies(record) for record in one.simulation.records]
        drifts = [float(np.abs(energy / energy[0] - 1.0).max()) for energy in energies]
        inside = [bool(low <= energy.min() and energy.max() <= high) for energy in energies]
        ours = [round(float(f(energies[0])), 3) for f in (np.min, np.max)]
        result += [
            Row(
                f"{method}: largest relative change, median of the starts",
                "5 decimals",
                float(np.median(drifts)),
                f"at most {margin:.1e}, the height of the printed axis",
                bool(np.median(drifts) <= margin),
                f"{len(drifts)} starts, {min(drifts):.1e} to {max(drifts):.1e}",
            ),
            Row(
                f"{method}: range of the first start [J]",
                [low, high],
                ours,
                "none: the thesis does not print the robot",
                None,
                f"printed is the axis; {sum(inside)} of {len(inside)} starts stay on it",
            ),
        ]
    return result


def figures(found: dict[str, Run], style: str) -> dict[str, Any]:
    from .motion_pictures import energies

    return {"figure58": energies(found, style)}
