"""Table 1: evaluations for ten seconds of motion, ABM and CRBM in single precision.

Two links with l = m, l_1 + l_2 = m_1 + m_2 = 1, width 0.1, from rest; accuracy 1e-4 of the
Cash-Karp steps of Numerical Recipes, first step 0.01, given up after 10000 steps.  The count of
one run is chaotic: an ulp at the start changes it by several percent.  Compared are means over
ensembles of starts an ulp apart.  The integrator works in single precision too, and CRBM's system
is solved by Cholesky's method, as in the paper; its square root makes the accelerations rougher
than LU does (``--set solver=lu``), by which CRBM looks worse than it must.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import kkt
import orderings
from analysis.simulation import Simulation, simulate

from ..paper import Progress, printed
from ..row import Row, within

LIKELY = 0.5  # of runs that fail, from which a row counts as failed


@dataclass(frozen=True)
class Ratio:
    """One line of the table."""

    r: float  # l_2 / (l_1 + l_2), base link
    single: dict[str, Simulation]  # order -> ensemble in float32
    double: dict[str, Simulation]  # in float64
    kappa: float  # largest condition number of the joint-space inertia on the way


def measure(
    progress: Progress, *, ratios: tuple[float, ...] = (), runs: int = 40, seed: int = 0,
    seconds: float = 10.0, eps: float = 1e-4, format: str = "float32", solver: str = "cholesky",
) -> list[Ratio]:  # fmt: skip
    """Ensembles for the printed ratios, or others; ``format`` in place of single precision."""
    found = []
    for r in ratios or tuple(printed("ascher1996")["table1"]["r"]):
        tree = kkt.two_link(r)
        chosen: dict[str, dict[str, Simulation]] = {}
        for name, state in ((format, "float32"), ("float64", "float64")):
            chosen[name] = {}
            for order, dense in (("abm", None), ("crbm", solver)):
                progress(f"r = {r:g}, {order} in {name}")
                chosen[name][order] = simulate(
                    tree, order, name, seconds=seconds, eps=eps, runs=runs, seed=seed,
                    state=state, solver=dense,
                )  # fmt: skip
        kappa = condition(tree, chosen["float64"])
        found.append(Ratio(r, chosen[format], chosen["float64"], kappa))
    return found


def condition(tree: Any, runs: dict[str, Simulation]) -> float:
    """Largest 2-norm condition number of the joint-space inertia in the run by ABM."""
    inertia = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    states = runs["abm"].records[0].y
    M = inertia(states[:, :2], np.zeros((len(states), 2)), None)
    return float(np.linalg.cond(M).max())


def rows(found: list[Ratio]) -> list[Row]:
    said = printed("ascher1996")["table1"]
    result = []
    for line in found:
        if line.r in said["r"]:
            at = said["r"].index(line.r)
            result += _held(line, said["abm"][at], said["crbm"][at], said["kappa"][at])
        else:
            abm, crbm = (line.single[order].mean for order in ("abm", "crbm"))
            ours = [round(abm), round(crbm), line.kappa]
            name = f"r = {line.r:g}: ABM, CRBM, kappa"
            result.append(Row(name, None, ours, "none: not in the paper", None))
    return result


def _held(line: Ratio, abm: int, crbm: int | str, kappa: float) -> list[Row]:
    name, single = f"r = {line.r:g}", line.single
    ours, other = single["abm"].mean, single["crbm"].mean
    failed = single["crbm"].failed / len(single["crbm"].records)
    ratio, control = other / ours, line.double["crbm"].mean / line.double["abm"].mean
    shown = "fail" if failed >= LIKELY else round(other)
    asked, met = _ratio(line.r, ratio, failed >= LIKELY)
    return [
        Row(f"{name}, ABM", abm, round(ours), "mean within 10 %", within(abm, ours, 0.10)),
        Row(f"{name}, CRBM and its ratio to ABM",
            [crbm, "–" if isinstance(crbm, str) else round(crbm / abm, 2)],
            [shown, round(ratio, 2)], asked, met),
        Row(f"{name}, float64: CRBM / ABM", None, round(control, 3), "1 ± 0.05",
            abs(control - 1.0) <= 0.05),
        Row(f"{name}, order of kappa", kappa, line.kappa, "the same power of ten",
            np.floor(np.log10(line.kappa)) == np.log10(kappa)),
    ]  # fmt: skip


def _ratio(r: float, ratio: float, failed: bool) -> tuple[str, bool | None]:
    """What the ratio CRBM / ABM must be at r, and whether it is."""
    if r >= 0.005:
        return "ratio at most 1.15", ratio <= 1.15 and not failed
    for limit, least in ((0.0015, 4.0), (0.002, 2.0), (0.003, 1.3)):
        if r <= limit:
            return f"ratio at least {least:g}, or failing", ratio >= least or failed
    return "none: where it begins", None


def figures(found: list[Ratio], style: str) -> dict[str, Any]:
    from analysis.simulation.picture import picture

    from .table1_picture import growth

    worst = min(found, key=lambda line: line.r)
    runs = [worst.single["abm"], worst.single["crbm"]]
    return {"table1": growth(found, style), "table1_steps": picture(runs, style=style)}
