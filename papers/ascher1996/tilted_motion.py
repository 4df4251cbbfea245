"""Section 3, its end: frames turned by 45 degrees, and what an integrator makes of ABM then.

The paper says that with moments of inertia in coordinates turned by 45 degrees "the integrator
using the ABM option breaks down at roughly the same condition number as the CRBM".  It ran SD/FAST,
which is not to be had; here the robots and the integrator are those of Table 1, and breaking down
is a number of evaluations that is ``LIMIT`` times ABM's in frames along the axes, or giving up.
The condition number at which an order does so is interpolated between the ratios, in logarithms.
Beside ABM are eq (11), which the paper offers against turned frames, and the projection by eq (10).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.analysis.simulation import Integration, Simulation

from ..measures import condition
from ..paper import Progress
from ..row import Value, value
from .table1 import ensemble

NAMES = {
    "abm": "ABM",
    "modified_abm": "eq (11)",
    "projected_abm": "eq (10) with E",
    "crbm": "CRBM",
    "crbm_com": "CRBM, composites by their centres",
}
LIMIT = 2.0  # times the evaluations of ABM in frames along the axes
ROUGHLY = 2.0  # in Table 1 CRBM goes from three times ABM's count to failing within this factor
Count = float | str


@dataclass(frozen=True)
class Line:
    """One ratio of the links."""

    r: float
    level: dict[str, Simulation]  # order -> ensemble, frames along the axes
    tilted: dict[str, Simulation]
    kappa: float  # largest condition number of the joint-space inertia on the way

    def times(self, order: str, tilted: bool = True) -> float:
        """Evaluations over those of ABM in frames along the axes; inf where most runs fail."""
        run = (self.tilted if tilted else self.level)[order]
        if 2 * run.failed >= len(run.records):
            return math.inf
        return run.mean / self.level["abm"].mean


@dataclass(frozen=True)
class Found:
    tilt: float  # [degrees]
    lines: list[Line]  # by growing kappa

    def breakdown(self, order: str, tilted: bool = True) -> tuple[float, float]:
        """Condition numbers between which an order begins to take LIMIT times as many.

        Both are the interpolated one where ratios stand on both sides and runs do not fail; the
        first is 0 where the first ratio is beyond it, the second infinite where the last is not.
        """
        before = (0.0, 0.0)  # kappa, times
        for line in self.lines:
            times = line.times(order, tilted)
            if times >= LIMIT:
                if before[0] == 0.0 or math.isinf(times):
                    return before[0], line.kappa
                ends = np.log([before[1], times]), np.log([before[0], line.kappa])
                at = float(np.exp(np.interp(np.log(LIMIT), *ends)))
                return at, at
            before = (line.kappa, times)
        return before[0], math.inf


@dataclass(frozen=True)
class Runs:
    """How each motion is run."""

    runs: int = 6
    seed: int = 0
    seconds: float = 10.0
    eps: float = 1e-4
    clock: str = "float32"


USUAL = Runs()


def measure(
    progress: Progress,
    *,
    tilt: float = 45.0,
    ratios: tuple[float, ...] = (0.004, 0.003, 0.002, 0.0015, 0.001, 0.0008),
    how: Runs = USUAL,
    format: str = "float32",
    solver: str = "cholesky",
    orders: tuple[str, ...] = ("abm", "modified_abm", "projected_abm", "crbm"),
) -> Found:
    """Ensembles in frames turned by degrees about x, and in frames along the axes."""
    orders = ("abm", *(order for order in orders if order != "abm"))
    integration = Integration(how.seconds, how.eps, state="float32", clock=how.clock)
    lines = []
    for r in sorted(ratios, reverse=True):
        level, turned = (
            {
                order: ensemble(
                    progress,
                    kkt.two_link(r, math.radians(angle)),
                    order,
                    format,
                    solver,
                    integration,
                    runs=how.runs,
                    seed=how.seed,
                )
                for order in orders
            }
            for angle in (0.0, tilt)
        )
        kappa = condition(kkt.two_link(r), level["abm"].records[0].y[:, :2]).max()
        lines.append(Line(r, level, turned, float(kappa)))
    return Found(tilt, sorted(lines, key=lambda line: line.kappa))


def values(found: Found) -> Iterator[Value]:
    orders, tilt = found.lines[0].level, f"{found.tilt:g}"
    for order in orders:
        for line in found.lines:
            level, turned = (_times(line.times(order, tilted)) for tilted in (False, True))
            words = {"r": f"{line.r:g}", "name": NAMES.get(order, order), "kappa": f"{line.kappa:.2g}"}
            ours = [_shown(line.level[order]), _shown(line.tilted[order])]
            yield value("count", ours, tilt=tilt, level=level, turned=turned, **words)
    if "crbm" in orders:
        yield from (_same(found, tilted) for tilted in (True, False))
    if "modified_abm" in orders:
        yield _mended(found)


def _same(found: Found, tilted: bool) -> Value:
    """Whether ABM in turned frames breaks down where CRBM does, in those frames or along axes."""
    frames = "the same frames" if tilted else "frames along the axes"
    abm, crbm = found.breakdown("abm"), found.breakdown("crbm", tilted)
    low, last = abm[0] / crbm[1], found.lines[-1]
    high = abm[1] / crbm[0] if crbm[0] else math.inf
    ours = float(f"{low:.3g}") if low == high else f"{low:.3g} to {high:.3g}"
    inside = low >= 1.0 / ROUGHLY and high <= ROUGHLY
    words = {
        "crbm": _between(crbm),
        "abm": _between(abm),
        "r": f"{last.r:g}",
        "kappa": f"{last.kappa:.2g}",
        "crbm_last": _does(last.times("crbm", tilted)),
        "abm_last": _does(last.times("abm")),
        "undecided": "; these ratios do not decide it" if low <= ROUGHLY and high >= 1.0 / ROUGHLY else "",
    }
    words |= {"undecided": ""} if inside else {}
    elsewhere = "" if inside else "the paper says it of SD/FAST, which is not to be had"
    return value("same", ours, inside, none=elsewhere, tilt=f"{found.tilt:g}", frames=frames, **words)


def _mended(found: Found) -> Value:
    """Whether eq (11) spares the integrator what turned frames cost ABM."""
    worst = max(found.lines, key=lambda line: line.times("abm"))
    plain, mended = (worst.times(order) for order in ("abm", "modified_abm"))
    beside = ""
    if "projected_abm" in worst.tilted:
        beside = f", and with the projection of eq (10) {worst.times('projected_abm'):.3g} times"
    none = "nothing is broken on these robots" if plain < LIMIT else ""
    words = {"tilt": f"{found.tilt:g}", "r": f"{worst.r:g}", "plain": f"{plain:.3g}", "beside": beside}
    return value("mended", mended, none=none, **words)


def _between(kappa: tuple[float, float]) -> str:
    low, high = kappa
    if low == high:
        return f"at {low:.2g}"
    if math.isinf(high):
        return f"nowhere to {low:.2g}"
    return f"between {low:.2g} and {high:.2g}"


def _times(times: float) -> str:
    return "fails" if math.isinf(times) else f"{times:.2f}"


def _does(times: float) -> str:
    return "fails" if math.isinf(times) else f"takes {times:.3g} times as many"


def _shown(run: Simulation) -> Count:
    return "fail" if 2 * run.failed >= len(run.records) else round(run.mean)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import turned

    return {"tilted_motion": turned(found, NAMES, style)}
