"""Figure 5.10: how evaluations and work grow with the links of a regular chain.

The chains of Figure 5.9.  The thesis sees evaluations grow "in a logarithmic fashion" and time grow
slower for ABM than for CRBM, even for small n.  Time is shown as operations of all evaluations,
which no machine changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.kkt import PivotreeError

from ..paper import Progress, printed
from ..row import Value, value, within
from .figure59 import Chain
from .figure59 import measure as chains
from .sweep import Floats


@dataclass(frozen=True)
class Growth:
    short: list[Chain]

    @property
    def n(self) -> Floats:
        return np.array([chain.n for chain in self.short], dtype=float)

    def evaluations(self, method: str) -> Floats:
        return np.array([chain.runs[method].mean for chain in self.short])

    def operations(self, method: str) -> Floats:
        """Of one evaluation."""
        return np.array([chain.runs[method].simulation.operations for chain in self.short])

    def work(self, method: str) -> Floats:
        """Operations of the whole motion."""
        return self.evaluations(method) * self.operations(method)


def measure(
    progress: Progress,
    *,
    n: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14),
    runs: int = 6,
    seed: int = 1,
    seconds: float = 60.0,
    eps: float = 1e-4,
) -> Growth:
    """Ensembles for n links by both methods."""
    if len(set(n)) < 2:
        raise PivotreeError(f"setting n: is {n}; give two numbers of links or more")
    return Growth(chains(progress, n=n, runs=runs, seed=seed, seconds=seconds, eps=eps))


def laws(n: Floats, count: Floats) -> dict[str, tuple[float, float, float]]:
    """a + b log n and a n^b by least squares: a, b, and the rms relative residual."""
    b, a = np.polyfit(np.log(n), count, 1)
    power, scale = np.polyfit(np.log(n), np.log(count), 1)
    away = {
        "a + b log n": (a, b, (a + b * np.log(n)) / count - 1.0),
        "a n^b": (np.exp(scale), power, np.exp(scale) * n**power / count - 1.0),
    }
    return {k: (float(a), float(b), float(np.sqrt(np.mean(r**2)))) for k, (a, b, r) in away.items()}


def values(found: Growth) -> Iterator[Value]:
    said = printed("cloutier1995")["figure59"]
    theirs = laws(np.array(said["n"], dtype=float), np.array(said["abm"]["evaluations"]))
    ours = laws(found.n, found.evaluations("ABM"))
    (_, _, log_off), (_, power, power_off) = ours.values()
    here, there = (" and ".join(f"{100 * off:.1f} %" for *_, off in one.values()) for one in (ours, theirs))
    as_printed = "" if all(chain.as_printed for chain in found.short) else "settings other than the thesis's"
    yield value("logarithmic", log_off / max(power_off, 1e-300), here=here, there=there)
    known = theirs["a n^b"][1]
    near = abs(power - known) <= 0.1
    yield value("exponent", power, near, none=as_printed, printed=round(known, 2))
    yield from _work(found, said)


def _work(found: Growth, said: dict[str, Any]) -> Iterator[Value]:
    abm, crbm = found.work("ABM"), found.work("CRBM")
    seconds = [said[method]["seconds"] for method in ("abm", "crbm")]
    theirs = [n for n, a, c in zip(said["n"], *seconds, strict=True) if a < c]
    ours = [int(n) for n, a, c in zip(found.n, abm, crbm, strict=True) if a < c]
    yield value("cheaper", ours, printed=theirs)
    last, ratio = found.short[-1], seconds[1][-1] / seconds[0][-1]
    none = "" if last.as_printed and last.n == said["n"][-1] else "settings other than the thesis's"
    near = within(ratio, float(crbm[-1] / abm[-1]), 0.25)
    yield value("work", crbm[-1] / abm[-1], near, none=none, n=f"{found.n[-1]:g}", printed=round(ratio, 2))
    each, late = found.operations("CRBM") / found.operations("ABM"), found.n >= 6
    growing = bool((each[late] > 1.0).all() and (np.diff(each[late]) > 0).all())
    yield value("operations", each, growing, links=", ".join(map(str, found.n.astype(int).tolist())))


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .pictures import chains as picture

    return {"figure510": picture(found, style)}
