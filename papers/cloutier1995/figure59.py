"""Figure 5.9: a minute of regular chains of 2 to 14 links, evaluations and energy.

l = m = 10, width 1, from rest along x under 9.8, accuracy 1e-4; with the lowest point that the
tip can reach as zero height the energy at the start is 980 n^2.  A chain of so many links is
chaotic: counts are means over starts an ulp apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..paper import Progress, printed
from ..row import Row, within
from .robot import regular
from .simulator import Run, run

METHODS = ("ABM", "CRBM")


@dataclass(frozen=True)
class Chain:
    n: int  # links
    length: float  # [m]
    mass: float  # [kg]
    runs: dict[str, Run]  # method -> ensemble

    @property
    def energy(self) -> float:
        """At the start [J]."""
        return float(self.runs["ABM"].energy[0])


def measure(
    progress: Progress, *, n: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14), runs: int = 24,
    seed: int = 0, seconds: float = 60.0, eps: float = 1e-4, length: float = 10.0,
    mass: float = 10.0, width: float = 1.0,
) -> list[Chain]:  # fmt: skip
    """Ensembles of both methods for each number of links."""
    found = []
    for links in n:
        tree, chosen = regular(links, length, mass, width), {}
        for method in METHODS:
            progress(f"n = {links}, {method}")
            chosen[method] = run(tree, method, seconds=seconds, eps=eps, runs=runs, seed=seed)
        found.append(Chain(links, length, mass, chosen))
    return found


def rows(found: list[Chain]) -> list[Row]:
    said = printed("cloutier1995")["figure59"]
    result = []
    for chain in found:
        known = chain.n in said["n"] and chain.length == chain.mass == 10.0
        at = said["n"].index(chain.n) if known else 0
        exact = chain.n**2 * chain.length * chain.mass * 9.8
        result.append(
            Row(f"n = {chain.n}: energy at the start [J]", said["energy"][at] if known else None,
                chain.energy, "n^2 l m g, to 1e-12", within(exact, chain.energy, 1e-12))
        )  # fmt: skip
        for method in METHODS:
            one, theirs = chain.runs[method], said[method.lower()]
            spread = round(one.simulation.spread)
            result.append(
                Row(f"n = {chain.n}: evaluations, {method}, and their spread",
                    theirs["evaluations"][at] if known else None, [round(one.mean), spread],
                    "mean within 12 %" if known else "none: not in the thesis",
                    within(theirs["evaluations"][at], one.mean, 0.12) if known else None)
            )  # fmt: skip
        result.append(
            Row(f"n = {chain.n}: deviation of the average energy, ABM and CRBM [%]",
                [said[m.lower()]["deviation"][at] for m in METHODS] if known else None,
                [round(chain.runs[m].deviation, 3) for m in METHODS], "at most 0.1 %",
                all(abs(chain.runs[m].deviation) <= 0.1 for m in METHODS))
        )  # fmt: skip
    return result
