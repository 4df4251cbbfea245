"""Figure 5.8: total energy of a four-link chain over 20 seconds, by ABM and by CRBM.

The thesis does not print the robot, only an axis.  A robot whose energy is on it has l = m = 1, 2,
4, 8 from the base on, width 0.1, and theta_1 = 1.5 at the start, as in Figure 5.2.  Accuracy 1e-5.
The motion is chaotic: how far the energy wanders depends on an ulp at the start, so that starts an
ulp apart are beside the one that is drawn.
"""

from __future__ import annotations

import numpy as np

from ..item import Progress, Results, picture, printed, value
from .robot import planar_robot
from .simulator import run


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
) -> Results:
    """Both methods; masses are the lengths where none are given."""
    low, high = axis = printed("cloutier1995")["figure58"]["energy"]
    start = [q1] + [0.0] * (len(lengths) - 1)
    tree = planar_robot(lengths, masses or lengths, width, q=start, name="four_links")
    found = {}
    for method in ("ABM", "CRBM"):
        progress(method)
        one = found[method] = run(tree, method, seconds=seconds, eps=eps, runs=runs, seed=seed)
        energies = [one.energies(record) for record in one.simulation.records]
        drifts = [float(np.abs(energy / energy[0] - 1.0).max()) for energy in energies]
        inside = sum(bool(low <= energy.min() and energy.max() <= high) for energy in energies)
        if method == "ABM":
            yield value("start", float(one.energy[0]), printed=axis)
        margin, median = (high - low) / low, float(np.median(drifts))
        words = {"method": method, "margin": f"{margin:.1e}", "starts": len(drifts), "inside": inside}
        words |= {"least": f"{min(drifts):.1e}", "most": f"{max(drifts):.1e}"}
        yield value("change", median, median <= margin, **words)
        yield value("range", [float(one.energy.min()), float(one.energy.max())], printed=axis, **words)
    yield picture("figure58", "totals", found)
