"""Figure 5.9: a minute of regular chains of 2 to 14 links, evaluations and energy.

l = m = 10, width 1, from rest along x under 9.8, accuracy 1e-4; with the lowest point that the
tip can reach as zero height the energy at the start is 980 n^2.  A chain of so many links is
chaotic: counts are means over starts an ulp apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..paper import Progress, printed
from ..row import Row, within
from .robot import regular
from .simulator import Run, run

METHODS = ("ABM", "CRBM")
NEAR, SIZE = 0.12, 3.0  # of single runs: the share of counts, and the factor of energies' errors
NOT = "none: not in the thesis"


@dataclass(frozen=True)
class Chain:
    n: int  # links
    length: float  # [m]
    mass: float  # [kg]
    runs: dict[str, Run]  # method -> ensemble
    as_printed: bool  # the settings are the thesis's

    @property
    def energy(self) -> float:
        """At the start [J]."""
        return float(self.runs["ABM"].energy[0])


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
) -> list[Chain]:
    """Ensembles of both methods for each number of links."""
    as_printed = (seconds, eps, length, mass, width) == (60.0, 1e-4, 10.0, 10.0, 1.0)
    found = []
    for links in n:
        tree, chosen = regular(links, length, mass, width), {}
        for method in METHODS:
            progress(f"n = {links}, {method}")
            chosen[method] = run(tree, method, seconds=seconds, eps=eps, runs=runs, seed=seed)
        found.append(Chain(links, length, mass, chosen, as_printed))
    return found


def rows(found: list[Chain]) -> list[Row]:
    said = printed("cloutier1995")["figure59"]
    result = []
    for chain in found:
        known = chain.n in said["n"] and chain.as_printed
        at = said["n"].index(chain.n) if known else 0
        exact = chain.n**2 * chain.length * chain.mass * 9.8
        result.append(
            Row(
                f"n = {chain.n}: energy at the start [J]",
                said["energy"][at] if known else None,
                chain.energy,
                "n^2 l m g, to 1e-12",
                within(exact, chain.energy, 1e-12),
            )
        )
        for method in METHODS:
            one, theirs = chain.runs[method], said[method.lower()]
            counts, away = one.simulation.evaluations, np.abs(one.deviations)
            count, deviation = float(one.mean), float(away.mean())
            result += [
                Row(
                    f"n = {chain.n}: evaluations, {method}",
                    theirs["evaluations"][at] if known else None,
                    round(count),
                    f"mean within {NEAR:.0%}" if known else NOT,
                    within(theirs["evaluations"][at], count, NEAR) if known else None,
                    f"{len(counts)} starts, {counts.min():.0f} to {counts.max():.0f}",
                ),
                Row(
                    f"n = {chain.n}: deviation of the average energy, {method} [%]",
                    theirs["deviation"][at] if known else None,
                    float(f"{deviation:.2g}"),
                    f"mean within a factor of {SIZE:g}, either way" if known else NOT,
                    bool(1 / SIZE <= deviation / theirs["deviation"][at] <= SIZE) if known else None,
                    f"{len(away)} starts, {away.min():.4f} to {away.max():.4f}",
                ),
            ]
    return result
