"""Figure 5.6: evaluations for ten seconds of motion, two links of growing condition number.

Total length and mass 1, l_1 = m_1 = the ratio (link 1 is the base, the short one), width 0.1,
gravity 9.8, from rest along x, accuracy 1e-6, double precision.  CRBM's joint-space system is
solved by Cholesky; LU without pivoting is beside it, which the thesis says to be similar.  CRBM is
read in two ways: composites as 6 x 6 blocks, and by their centres of mass, as section 3.1.1 forms
them.  Counts are means over starts an ulp apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.kkt import OrderError

from ..item import Progress, Results, Value, picture, printed, value, within
from ..measures import fails, spread
from .robot import shared
from .simulator import Run, run

NEAR, ALIKE = 0.02, 0.25  # shares of printed counts: of smooth accelerations, and of rough ones
METHODS = {
    "ABM": ("ABM", "cholesky"),
    "CRBM": ("CRBM", "cholesky"),
    "CRBM, centres": ("CRBM, centres", "cholesky"),
    "CRBM, LU": ("CRBM", "lu"),
}
ROUGH_FROM = 1e-8  # at ratios down from this one CRBM is rough, and LU is run too


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    ratio: float  # l_1 / (l_1 + l_2)
    runs: dict[str, Run]  # method -> ensemble
    as_printed: bool  # the settings are the thesis's

    def over_abm(self, method: str = "CRBM") -> float:
        return self.runs[method].mean / self.runs["ABM"].mean

    def failed(self, method: str = "CRBM") -> bool:
        return fails(self.runs[method].simulation)


def measure(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (),
    runs: int = 4,
    seed: int = 0,
    seconds: float = 10.0,
    eps: float = 1e-6,
    width: float = 0.1,
    most: int = 10_000,
    methods: tuple[str, ...] = tuple(METHODS),
) -> Results:
    """Ensembles of ``runs`` starts for the printed ratios, or for others; ABM is always run."""
    for name in methods:
        if name not in METHODS:
            raise OrderError(f"setting methods: {name!r} is unknown; use {'; '.join(METHODS)}")
    as_printed = (seconds, eps, width, most) == (10.0, 1e-6, 0.1, 10_000)
    said, found = printed("cloutier1995")["figure56"], []
    for ratio in ratios or tuple(said["ratio"]):
        chosen: dict[str, Run] = {}
        for name, (method, solver) in METHODS.items():
            if name != "ABM" and name not in methods:
                continue
            if solver == "lu" and ratio > ROUGH_FROM:
                continue
            progress(f"ratio {ratio:g}, {name}")
            size: dict[str, Any] = {"runs": runs, "seed": seed, "seconds": seconds, "steps": most}
            chosen[name] = run(shared(ratio, width), method, solver, eps=eps, **size)
        line = Line(ratio, chosen, as_printed)
        found.append(line)
        yield from rows(line)
    yield picture("figure56", "stiffness", found)


def rows(line: Line) -> Iterator[Value]:
    """Evaluations by every method, and what the thesis prints of the condition and the difference."""
    said, ratio = printed("cloutier1995")["figure56"], f"{line.ratio:g}"
    at = said["ratio"].index(line.ratio) if line.ratio in said["ratio"] else None
    yield from (_count(line, method, at) for method in line.runs)
    if at is None or not line.as_printed:
        return
    kappa, difference = said["kappa"][at], said["difference"][at]
    largest = float(line.runs["ABM"].condition.max())  # on the way
    yield value("kappa", largest, _near(kappa, largest), ratio=ratio, printed=kappa)
    if "CRBM" in line.runs:
        away = line.runs["CRBM"].difference[:, 0]
        most = float(np.quantile(away, 0.99))
        words = {"ratio": ratio, "largest": f"{away.max():.1e}", "printed": difference}
        yield value("difference", most, _near(difference, most), **words)


def _count(line: Line, method: str, at: int | None) -> Value:
    """Evaluations by one method beside the printed count, where the table has one."""
    said = printed("cloutier1995")["figure56"]
    run, failed = line.runs[method], line.failed(method)
    abm = None if method == "ABM" else line.runs["ABM"].simulation
    ours, why = "fail" if failed else round(run.mean), spread(run.simulation, abm, 3)
    words = {"ratio": f"{line.ratio:g}", "method": method, "why": why}
    if at is None:
        return value("count", ours, none="not in the thesis", **words)
    words["printed"] = theirs = said["abm" if method == "ABM" else "crbm"][at]
    if method == "CRBM, LU":
        same = "CRBM" not in line.runs or failed or (line.over_abm(method) >= (1 - ALIKE) * line.over_abm())
        words |= {"printed": "similar", "why": why if same else f"{why}; {said['lu']}"}
        return value("count", ours, none="the table is Cholesky's", **words)
    if not line.as_printed:
        return value("count", ours, none="settings other than the thesis's", **words)
    if isinstance(theirs, str):
        return value("count_fails", ours, failed, **words)
    rough = method != "ABM" and line.ratio <= ROUGH_FROM
    share = ALIKE if rough else NEAR
    near = within(theirs, run.mean, share) and not failed
    if rough and not near:
        words["why"] = f"{why}; {said['unknown']}"
    return value("count", ours, near, share=f"{share:.0%}", **words)


def _near(theirs: float, ours: float) -> bool:
    """Of one order of magnitude, which the thesis may have rounded either way."""
    return bool(abs(np.log10(ours / theirs)) <= 1.0)
