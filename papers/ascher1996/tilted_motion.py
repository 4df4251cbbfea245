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
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.analysis.simulation import Integration, Simulation

from ..paper import Progress
from ..row import Row, claim
from .table1 import condition, ensemble

NAMES = {
    "abm": "ABM",
    "modified_abm": "eq (11)",
    "projected_abm": "eq (10) with E",
    "crbm": "CRBM",
    "crbm_com": "CRBM, composites by their centres",
}
LIMIT = 2.0  # times the evaluations of ABM in frames along the axes
ROUGHLY = 2.0  # in Table 1 CRBM goes from three times ABM's count to failing within this factor
SPARED = 0.1  # of evaluations, which an order may take more where it mends
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
        lines.append(Line(r, level, turned, condition(kkt.two_link(r), level["abm"])))
    return Found(tilt, sorted(lines, key=lambda line: line.kappa))


def rows(found: Found) -> list[Row]:
    result = []
    for order in found.lines[0].level:
        for line in found.lines:
            name = NAMES.get(order, order)
            ours = [_shown(line.level[order]), _shown(line.tilted[order])]
            times = [line.times(order, False), line.times(order)]
            result.append(
                Row(
                    f"r = {line.r:g}, {name}: evaluations along the axes, and at {found.tilt:g} degrees",
                    None,
                    ours,
                    "none: the paper prints none",
                    None,
                    f"in times of ABM along the axes {_times(times[0])} and {_times(times[1])}; "
                    f"largest kappa {line.kappa:.2g}",
                )
            )
    orders = found.lines[0].level
    if "crbm" in orders:
        result += [_same(found, tilted) for tilted in (True, False)]
    if "modified_abm" in orders:
        result.append(_mended(found))
    return result


def _same(found: Found, tilted: bool) -> Row:
    """Whether ABM in turned frames breaks down where CRBM does, in those frames or along axes."""
    frames = "the same frames" if tilted else "frames along the axes"
    item = f"kappa at which ABM at {found.tilt:g} degrees breaks down over that of CRBM in {frames}"
    said, asked = "roughly the same", f"from 1/{ROUGHLY:g} to {ROUGHLY:g}"
    elsewhere = "none: the paper says it of SD/FAST, which is not to be had"
    abm, crbm = found.breakdown("abm"), found.breakdown("crbm", tilted)
    low = abm[0] / crbm[1]
    high = abm[1] / crbm[0] if crbm[0] else math.inf
    last = found.lines[-1]
    why = (
        f"breaking down is taking {LIMIT:g} times the evaluations of ABM along the axes, or "
        f"failing: CRBM, by kappa, {_between(crbm)}, ABM {_between(abm)}; at r = {last.r:g}, kappa "
        f"{last.kappa:.2g}, CRBM {_does(last.times('crbm', tilted))}, ABM "
        f"{_does(last.times('abm'))}"
    )
    ours = float(f"{low:.3g}") if low == high else f"{low:.3g} to {high:.3g}"
    inside = low >= 1.0 / ROUGHLY and high <= ROUGHLY
    if not inside and low <= ROUGHLY and high >= 1.0 / ROUGHLY:
        why += "; these ratios do not decide it"
    return Row(item, said, ours, asked if inside else elsewhere, inside or None, why)


def _mended(found: Found) -> Row:
    """Whether eq (11) spares the integrator what turned frames cost ABM."""
    worst = max(found.lines, key=lambda line: line.times("abm"))
    plain, mended = (worst.times(order) for order in ("abm", "modified_abm"))
    item = f"eq (11) at {found.tilt:g} degrees, evaluations over those along the axes"
    why = f"at r = {worst.r:g}, where ABM takes {plain:.3g} times as many"
    if "projected_abm" in worst.tilted:
        why += f", and with the projection of eq (10) {worst.times('projected_abm'):.3g} times"
    asked, said = f"at most {1 + SPARED:g}", "addresses this problem"
    if plain < LIMIT:
        return Row(item, said, mended, asked, None, f"{why}: nothing is broken on these robots")
    return claim(item, said, float(f"{mended:.3g}"), asked, mended <= 1 + SPARED, why)


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
    from .table1_picture import turned

    return {"tilted_motion": turned(found, NAMES, style)}
