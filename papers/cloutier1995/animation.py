"""Section 5.1.4: the animation program: a film of a run, and a page of ABM beside CRBM in float32.

The film draws links as rectangles, the tip's trail and the energies.  The page plays one motion by
two methods in single precision, at the same time or at the same work, so that one sees the steps
collapse which section 5.2.2 tells of.  It needs no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from pivotree import orderings
from pivotree.analysis.simulation import Integration, Motion, Record, Simulation, simulate

from ..paper import Progress
from ..row import Value, value
from ..settings import between
from .falling import Floats
from .robot import height_energy, planar_robot, shared

METHODS = {"abm": "ABM", "crbm": "CRBM"}


@dataclass(frozen=True)
class Film:
    """A run to be drawn, and two to be compared."""

    tree: nx.DiGraph
    record: Record
    energies: Floats  # (k, 2) kinetic and potential [J], above the tip's lowest point
    seconds: float
    frames: int  # per second
    pair: nx.DiGraph
    runs: dict[str, Simulation]  # order -> run in single precision

    def at(self, t: Floats) -> Floats:
        """(m, n) joint angles at times t [s]."""
        return self.positions(self.record, t)

    @staticmethod
    def positions(record: Record, t: Floats) -> Floats:
        """(m, n) joint angles at times t, by cubics through the states of a run."""
        from scipy.interpolate import CubicHermiteSpline

        N = record.y.shape[1] // 2
        last = np.minimum(t, record.reached)
        return np.asarray(CubicHermiteSpline(record.t, record.y[:, :N], record.y[:, N:])(last))


def measure(
    progress: Progress,
    *,
    links: int = 3,
    start: float = 1.5,
    seconds: float = 8.0,
    frames: int = 15,
    ratio: float = 0.0015,
    eps: float = 1e-4,
    format: str = "float32",
) -> Film:
    """``links`` unit links from the base angle ``start``; two links of ``ratio`` for the page."""
    between("links", links, 1)
    between("frames", frames, 1, 60)
    between("seconds", seconds, 1.0 / frames)
    between("ratio", ratio, 1e-9, 1.0 - 1e-9)
    progress(f"a run of {links} links")
    q = np.zeros(links)
    q[0] = start
    tree = planar_robot([1.0] * links, [1.0] * links, 0.15, q=list(q))
    record = simulate(tree, "abm", integration=Integration(seconds=seconds, eps=1e-7)).records[0]
    motion = Motion.of(tree, orderings.get("abm"))
    energies = motion.energies(record.y) + np.array([0.0, height_energy(tree)])
    pair, runs = shared(ratio), {}
    for order, name in METHODS.items():
        progress(f"{name} in {format}, l_1 = {ratio:g}")
        runs[order] = simulate(pair, order, format, Integration(seconds=seconds, eps=eps))
    return Film(tree, record, energies, seconds, frames, pair, runs)


def values(found: Film) -> Iterator[Value]:
    total = found.energies.sum(1)
    drift = float(np.abs(total - total[0]).max() / np.abs(found.energies[:, 0]).max())
    abm, crbm = (found.runs[order] for order in METHODS)
    steps = [float(np.median(run.records[0].step)) for run in (abm, crbm)]
    stiff = crbm.mean / abm.mean >= 1.5 or crbm.failed > 0
    yield value("energy", drift)
    counts = [round(abm.mean), round(crbm.mean)]
    yield value("evaluations", counts, stiff, format=abm.format, why=crbm.why or "")
    yield value("steps", steps, steps[1] < steps[0])


def figures(found: Film, style: str) -> dict[str, Any]:
    from pivotree.analysis.simulation.picture import picture

    from .drawing import strip

    return {
        "animation": strip(found, style),
        "animation_steps": picture(list(found.runs.values()), style=style),
    }


def films(found: Film) -> dict[str, Callable[[Path], Any]]:
    """A .gif in light and dark, an .mp4 where this machine has ffmpeg, and the page."""
    from matplotlib.animation import FFMpegWriter

    from .drawing import film
    from .page import write

    made: dict[str, Callable[[Path], Any]] = {
        "animation.gif": partial(film, found, style="light"),
        "animation_dark.gif": partial(film, found, style="dark"),
        "animation.html": partial(write, found),
    }
    if FFMpegWriter.isAvailable():
        made["animation.mp4"] = partial(film, found, style="light")
    return made
