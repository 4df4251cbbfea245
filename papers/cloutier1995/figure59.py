"""Figure 5.9: a minute of regular chains of 2 to 14 links, evaluations and energy.

l = m = 10, width 1, from rest along x under 9.8, accuracy 1e-4; with the lowest point that the
tip can reach as zero height the energy at the start is 980 n^2.  A chain of so many links is
chaotic: counts are means over starts an ulp apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..item import Progress, Results, printed, value, within
from .robot import GRAVITY, regular
from .simulator import Run, run

METHODS = ("ABM", "CRBM")
NEAR, SIZE = 0.12, 3.0  # of single runs: the share of counts, and the factor of energies' errors


@dataclass(frozen=True)
class Chain:
    """An ensemble of each method on n equal links."""

    n: int
    runs: dict[str, Run]
    as_printed: bool  # the settings are the thesis's


def chains(
    progress: Progress,
    n: tuple[int, ...],
    runs: int,
    seed: int,
    seconds: float,
    eps: float,
    length: float = 10.0,
    mass: float = 10.0,
    width: float = 1.0,
) -> list[Chain]:
    """Ensembles of both methods for each number of links."""
    as_printed, found = (seconds, eps, length, mass, width) == (60.0, 1e-4, 10.0, 10.0, 1.0), []
    for links in n:
        tree, chosen = regular(links, length, mass, width), {}
        for method in METHODS:
            progress(f"n = {links}, {method}")
            chosen[method] = run(tree, method, seconds=seconds, eps=eps, runs=runs, seed=seed)
        found.append(Chain(links, chosen, as_printed))
    return found


def measure(
    progress: Progress,
    *,
    n: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14),
    runs: int = 24,
    seed: int = 0,
    seconds: float = 60.0,
    eps: float = 1e-4,
    length: float = 10.0,
    mass: float = 10.0,
    width: float = 1.0,
) -> Results:
    """Evaluations, and what becomes of the energy, by both methods."""
    said = printed("cloutier1995")["figure59"]
    for chain in chains(progress, n, runs, seed, seconds, eps, length, mass, width):
        known = chain.n in said["n"] and chain.as_printed
        at, none = said["n"].index(chain.n) if known else 0, "" if known else "not in the thesis"

        def cell(column: list[Any]) -> Any:
            return column[at] if known else None  # noqa: B023

        energy = float(chain.runs["ABM"].energy[0])
        start = within(chain.n**2 * length * mass * GRAVITY, energy, 1e-12)
        yield value("energy", energy, start, n=chain.n, printed=cell(said["energy"]))
        for method in METHODS:
            one, theirs = chain.runs[method], said[method.lower()]
            counts, away = one.simulation.evaluations, np.abs(one.deviations)
            count, deviation = float(one.mean), float(away.mean())
            words = {"n": chain.n, "method": method, "starts": len(counts), "none": none}
            near = known and within(theirs["evaluations"][at], count, NEAR)
            words |= {"least": f"{counts.min():.0f}", "most": f"{counts.max():.0f}"}
            yield value("evaluations", round(count), near, printed=cell(theirs["evaluations"]), **words)
            near = known and 1 / SIZE <= deviation / theirs["deviation"][at] <= SIZE
            words |= {"least": f"{away.min():.4f}", "most": f"{away.max():.4f}"}
            yield value("deviation", deviation, near, printed=cell(theirs["deviation"]), **words)
