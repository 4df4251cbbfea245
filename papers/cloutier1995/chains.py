"""Motions of chains: figures 5.6 and 5.8 to 5.10, evaluations and energy, by ABM and by CRBM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.kkt import OrderError, PivotreeError

from ..item import Progress, Results, Value, picture, printed, value, within
from ..measures import Floats, counted, fails, spread
from .robot import GRAVITY, planar_robot, regular, shared
from .simulator import Run, run

METHODS = ("ABM", "CRBM")
CLOSE, ALIKE = 0.02, 0.25  # shares of printed counts: of smooth accelerations, and of rough ones
READINGS = {  # of figure 5.6
    "ABM": ("ABM", "cholesky"),
    "CRBM": ("CRBM", "cholesky"),
    "CRBM, centres": ("CRBM, centres", "cholesky"),
    "CRBM, LU": ("CRBM", "lu"),
}
ROUGH_FROM = 1e-8  # at ratios down from this one CRBM is rough, and LU is run too
NEAR, SIZE = 0.12, 3.0  # of single runs: the share of counts, and the factor of energies' errors
LINKS = (2, 4, 6, 8, 10, 12, 14)
SECONDS = 60.0  # of figures 5.9 and 5.10
DOUBLING = (1.0, 2.0, 4.0, 8.0)  # l = m of figure 5.8


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


def figure56(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (),
    runs: int = 4,
    seed: int = 0,
    seconds: float = 10.0,
    most: int = 10_000,
    methods: tuple[str, ...] = tuple(READINGS),
) -> Results:
    """Figure 5.6: evaluations for ten seconds of motion, two links of growing condition number.

    Total length and mass 1, l_1 = m_1 = the ratio (link 1 is the base, the short one), width 0.1,
    gravity 9.8, from rest along x, accuracy 1e-6, double precision.  CRBM's joint-space system is
    solved by Cholesky; LU without pivoting is beside it, which the thesis says to be similar.  CRBM is
    read in two ways: composites as 6 x 6 blocks, and by their centres of mass, as section 3.1.1 forms
    them.  Counts are means over ``runs`` starts an ulp apart, for the printed ratios or for others; ABM is
    always run.
    """
    for name in methods:
        if name not in READINGS:
            raise OrderError("setting methods", f"{name!r} is unknown", f"use {'; '.join(READINGS)}")
    as_printed = (seconds, most) == (10.0, 10_000)
    said, found = printed("cloutier1995")["figure56"], []
    for ratio in ratios or tuple(said["ratio"]):
        chosen: dict[str, Run] = {}
        for name, (method, solver) in READINGS.items():
            if name != "ABM" and name not in methods:
                continue
            if solver == "lu" and ratio > ROUGH_FROM:
                continue
            progress(f"ratio {ratio:g}, {name}")
            size: dict[str, Any] = {"runs": runs, "seed": seed, "seconds": seconds, "steps": most}
            chosen[name] = run(shared(ratio), method, solver, eps=1e-6, **size)
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
    said, run = printed("cloutier1995")["figure56"], line.runs[method]
    abm = None if method == "ABM" else line.runs["ABM"].simulation
    words: dict[str, Any] = {"ratio": f"{line.ratio:g}", "method": method}
    words |= {"why": spread(run.simulation, abm, 3), "printed": None}
    none, rough = "" if line.as_printed else "settings other than the thesis's", False
    if at is None:
        none = "not in the thesis"
    elif method == "CRBM, LU":
        same = "CRBM" not in line.runs or line.failed(method)
        same = same or line.over_abm(method) >= (1 - ALIKE) * line.over_abm()
        none = "the table is Cholesky's"
        words |= {"printed": "similar", "why": words["why"] + ("" if same else f"; {said['lu']}")}
    else:
        words["printed"] = said["abm" if method == "ABM" else "crbm"][at]
        rough = method != "ABM" and line.ratio <= ROUGH_FROM
    share, unknown = (ALIKE, said["unknown"]) if rough else (CLOSE, "")
    return counted(run.simulation, share, none, unknown, **words)


def _near(theirs: float, ours: float) -> bool:
    """Of one order of magnitude, which the thesis may have rounded either way."""
    return bool(abs(np.log10(ours / theirs)) <= 1.0)


def figure58(progress: Progress, *, seconds: float = 20.0, runs: int = 12, seed: int = 0) -> Results:
    """Figure 5.8: total energy of a four-link chain over 20 seconds, by ABM and by CRBM.

    The thesis does not print the robot, only an axis.  A robot whose energy is on it has l = m = 1, 2,
    4, 8 from the base on, width 0.1, and theta_1 = 1.5 at the start, as in Figure 5.2.  Accuracy 1e-5.
    The motion is chaotic: how far the energy wanders depends on an ulp at the start, so that starts an
    ulp apart are beside the one that is drawn.
    """
    low, high = axis = printed("cloutier1995")["figure58"]["energy"]
    tree = planar_robot(DOUBLING, DOUBLING, 0.1, q=[1.5, 0.0, 0.0, 0.0], name="four_links")
    found = {}
    for method in METHODS:
        progress(method)
        one = found[method] = run(tree, method, seconds=seconds, eps=1e-5, runs=runs, seed=seed)
        energies = [one.energies(record) for record in one.simulation.records]
        drifts = [float(np.abs(energy / energy[0] - 1.0).max()) for energy in energies]
        inside = sum(bool(low <= energy.min() and energy.max() <= high) for energy in energies)
        if method == "ABM":
            yield value("start", float(one.energy[0]), printed=axis)
        margin, median = (high - low) / low, float(np.median(drifts))
        words = {"method": method, "margin": f"{margin:.1e}", "starts": len(drifts), "inside": inside}
        words |= {"least": f"{min(drifts):.1e}", "most": f"{max(drifts):.1e}"}
        yield value("change", median, median <= margin, **words)
        yield value("range", [float(one.energy.min()), float(one.energy.max())], printed=axis, **words)
    yield picture("figure58", "totals", found)


def chains(
    progress: Progress, n: tuple[int, ...], runs: int, seed: int, seconds: float
) -> list[tuple[int, dict[str, Run]]]:
    """Numbers of equal links, and an ensemble of each method on a chain of so many."""
    found = []
    for links in n:
        tree, chosen = regular(links), {}
        for method in METHODS:
            progress(f"n = {links}, {method}")
            chosen[method] = run(tree, method, seconds=seconds, runs=runs, seed=seed)
        found.append((links, chosen))
    return found


def figure59(
    progress: Progress, *, n: tuple[int, ...] = LINKS, runs: int = 24, seed: int = 0, seconds: float = SECONDS
) -> Results:
    """Figure 5.9: a minute of regular chains of 2 to 14 links, evaluations and energy.

    l = m = 10, width 1, from rest along x under 9.8, accuracy 1e-4; with the lowest point that the
    tip can reach as zero height the energy at the start is 980 n^2.  A chain of so many links is
    chaotic: counts are means over starts an ulp apart.
    """
    said = printed("cloutier1995")["figure59"]
    for links, ensembles in chains(progress, n, runs, seed, seconds):
        known = links in said["n"] and seconds == SECONDS
        at, none = said["n"].index(links) if known else 0, "" if known else "not in the thesis"

        def cell(column: list[Any]) -> Any:
            return column[at] if known else None  # noqa: B023

        energy = float(ensembles["ABM"].energy[0])
        start = within(links**2 * 100.0 * GRAVITY, energy, 1e-12)
        yield value("energy", energy, start, n=links, printed=cell(said["energy"]))
        for method in METHODS:
            one, theirs = ensembles[method], said[method.lower()]
            counts, away = one.simulation.evaluations, np.abs(one.deviations)
            count, deviation = float(one.mean), float(away.mean())
            words = {"n": links, "method": method, "starts": len(counts), "none": none}
            near = known and within(theirs["evaluations"][at], count, NEAR)
            words |= {"least": f"{counts.min():.0f}", "most": f"{counts.max():.0f}"}
            yield value("evaluations", round(count), near, printed=cell(theirs["evaluations"]), **words)
            near = known and 1 / SIZE <= deviation / theirs["deviation"][at] <= SIZE
            words |= {"least": f"{away.min():.4f}", "most": f"{away.max():.4f}"}
            yield value("deviation", deviation, near, printed=cell(theirs["deviation"]), **words)


def figure510(
    progress: Progress, *, n: tuple[int, ...] = LINKS, runs: int = 6, seed: int = 1, seconds: float = SECONDS
) -> Results:
    """Figure 5.10: how evaluations and work grow with the links of a regular chain.

    The chains of Figure 5.9.  The thesis sees evaluations grow "in a logarithmic fashion" and time grow
    slower for ABM than for CRBM, even for small n.  Time is shown as operations of all evaluations,
    which no machine changes.
    """
    if len(set(n)) < 2:
        raise PivotreeError("setting n", f"is {n}", "give two numbers of links or more")
    found = [ensembles for _, ensembles in chains(progress, n, runs, seed, seconds)]
    said, other = printed("cloutier1995")["figure59"], "settings other than the thesis's"
    links, as_printed = np.array(n, dtype=float), seconds == SECONDS
    evaluations, operations = (
        {method: np.array([f(ensembles[method]) for ensembles in found]) for method in METHODS}
        for f in (lambda run: run.mean, lambda run: run.simulation.operations)
    )
    work = {method: evaluations[method] * operations[method] for method in METHODS}  # of the whole motion
    theirs = laws(np.array(said["n"], dtype=float), np.array(said["abm"]["evaluations"]))
    ours = laws(links, evaluations["ABM"])
    (_, _, log_off), (_, power, power_off) = ours.values()
    here, there = (" and ".join(f"{100 * off:.1f} %" for *_, off in one.values()) for one in (ours, theirs))
    yield value("logarithmic", log_off / max(power_off, 1e-300), here=here, there=there)
    known, none = theirs["a n^b"][1], "" if as_printed else other
    yield value("exponent", power, abs(power - known) <= 0.1, none=none, printed=round(known, 2))
    times = [said[method]["seconds"] for method in ("abm", "crbm")]
    faster = [k for k, a, c in zip(said["n"], *times, strict=True) if a < c]
    cheaper = [k for k, a, c in zip(n, work["ABM"], work["CRBM"], strict=True) if a < c]
    yield value("cheaper", cheaper, printed=faster)
    last, ratio = work["CRBM"][-1] / work["ABM"][-1], times[1][-1] / times[0][-1]
    words = {"n": n[-1], "none": "" if as_printed and n[-1] == said["n"][-1] else other}
    yield value("work", last, within(ratio, float(last), 0.25), printed=round(ratio, 2), **words)
    yield picture("figure510", "chains", n, found, work)


def laws(n: Floats, count: Floats) -> dict[str, tuple[float, float, float]]:
    """a + b log n and a n^b by least squares: a, b, and the rms relative residual."""
    b, a = np.polyfit(np.log(n), count, 1)
    power, scale = np.polyfit(np.log(n), np.log(count), 1)
    away = {
        "a + b log n": (a, b, (a + b * np.log(n)) / count - 1.0),
        "a n^b": (np.exp(scale), power, np.exp(scale) * n**power / count - 1.0),
    }
    return {k: (float(a), float(b), float(np.sqrt(np.mean(r**2)))) for k, (a, b, r) in away.items()}
