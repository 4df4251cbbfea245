"""Figure 5.6: evaluations for ten seconds of motion, two links of growing condition number.

Total length and mass 1, l_1 = m_1 = the ratio (link 1 is the base, the short one), width 0.1,
gravity 9.8, from rest along x, accuracy 1e-6, double precision.  CRBM's joint-space system is
solved by Cholesky; LU without pivoting is beside it, which the thesis says to be similar.  Counts
are means over starts an ulp apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row, within
from .robot import shared
from .simulator import Run, run

LIKELY = 0.5  # of runs that fail, from which a ratio counts as failed
METHODS = {"ABM": ("ABM", "cholesky"), "CRBM": ("CRBM", "cholesky"), "CRBM, LU": ("CRBM", "lu")}
SOLVERS_FROM = 1e-8  # at ratios down from this one LU is run too; above, nobody is rough
ASKED = (  # at ratios down to this one, the least and the most of CRBM / ABM
    (1e-8, 0.0, 1.03), (4e-9, 1.02, 1.2), (2e-9, 1.1, 1.4), (1e-9, 1.5, 3.5)
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    ratio: float  # l_1 / (l_1 + l_2)
    runs: dict[str, Run]  # method -> ensemble

    def over_abm(self, method: str = "CRBM") -> float:
        return self.runs[method].mean / self.runs["ABM"].mean

    def failed(self, method: str = "CRBM") -> bool:
        simulation = self.runs[method].simulation
        return simulation.failed / len(simulation.records) >= LIKELY

    @property
    def kappa(self) -> float:
        """Largest on the way."""
        return float(self.runs["ABM"].condition.max())

    @property
    def difference(self) -> tuple[float, float]:
        """Joint 1's, at 99 % of the states of CRBM's run at most, and at all."""
        found = self.runs["CRBM"].difference[:, 0]
        return float(np.quantile(found, 0.99)), float(found.max())


def measure(
    progress: Progress, *, ratios: tuple[float, ...] = (), runs: int = 4, seed: int = 0,
    seconds: float = 10.0, eps: float = 1e-6, width: float = 0.1, most: int = 10_000,
) -> list[Line]:  # fmt: skip
    """Ensembles of ``runs`` starts for the printed ratios, or for others."""
    found = []
    for ratio in ratios or tuple(printed("cloutier1995")["figure56"]["ratio"]):
        line = {}
        for name, (method, solver) in METHODS.items():
            if solver == "lu" and ratio > SOLVERS_FROM:
                continue
            progress(f"ratio {ratio:g}, {name}")
            line[name] = run(
                shared(ratio, width), method, solver, seconds=seconds, eps=eps, runs=runs,
                seed=seed, most=most,
            )  # fmt: skip
        found.append(Line(ratio, line))
    return found


def rows(found: list[Line]) -> list[Row]:
    said = printed("cloutier1995")["figure56"]
    result = []
    for line in found:
        abm, ours = line.runs["ABM"].mean, line.over_abm()
        name = f"{line.ratio:g}"
        shown = "fail" if line.failed() else round(ours, 3)
        other = _shown(line) if "CRBM, LU" in line.runs else None
        if line.ratio not in said["ratio"]:
            ours_here = [round(abm), shown, other]
            result.append(Row(f"{name}: ABM, CRBM / ABM, LU / ABM", None, ours_here,
                              "none: not in the thesis", None))  # fmt: skip
            continue
        at = said["ratio"].index(line.ratio)
        theirs, both = said["abm"][at], said["crbm"][at]
        ratio = both if isinstance(both, str) else round(both / theirs, 2)
        asked, met = _asked(line.ratio, ours, line.failed())
        result += [
            Row(f"{name}: ABM", theirs, round(abm), "mean within 2 %", within(theirs, abm, 0.02)),
            Row(f"{name}: CRBM / ABM, Cholesky", ratio, shown, asked, met),
            Row(f"{name}: largest kappa", said["kappa"][at], line.kappa, "within a power of ten",
                _near(said["kappa"][at], line.kappa)),
            Row(f"{name}: difference at 99 % of the states, and the largest",
                said["difference"][at], list(line.difference), "the first within a power of ten",
                _near(said["difference"][at], line.difference[0]), _DIFFERENCE),
        ]  # fmt: skip
        if other is not None:
            told = not line.failed() and line.over_abm("CRBM, LU") < 0.9 * ours
            result.append(
                Row(f"{name}: CRBM / ABM, LU without pivoting", "similar", other,
                    "none: the table is Cholesky's", None, _LU if told else "")
            )  # fmt: skip
    return result


def _shown(line: Line) -> str | float:
    return "fail" if line.failed("CRBM, LU") else round(line.over_abm("CRBM, LU"), 3)


_LU = (
    "the same cancellation costs fewer steps with LU's quotients than with Cholesky's roots: not "
    "similar for whoever integrates"
)


_DIFFERENCE = (
    "the largest relative difference hangs on how near to zero the acceleration is found at a step"
)


def _asked(at: float, ratio: float, failed: bool) -> tuple[str, bool]:
    """What the ratio CRBM / ABM must be, and whether it is."""
    for least_at, low, high in ASKED:
        if at >= least_at:
            said = f"{low:g} to {high:g}" if low else f"at most {high:g}"
            return said, not failed and low <= ratio <= high
    return "fails: too many steps", failed


def _near(theirs: float, ours: float) -> bool:
    """Of one order of magnitude, which the thesis may have rounded either way."""
    return bool(abs(np.log10(ours / theirs)) <= 1.0)


def figures(found: list[Line], style: str) -> dict[str, Any]:
    from .motion_pictures import stiffness

    return {"figure56": stiffness(found, style)}
