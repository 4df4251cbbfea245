"""Figure 5.10: how evaluations and work grow with the links of a regular chain.

The chains of Figure 5.9.  The thesis sees evaluations grow "in a logarithmic fashion" and time grow
slower for ABM than for CRBM, even for small n.  Time is shown as operations of all evaluations,
which no machine changes.
"""

from __future__ import annotations

import numpy as np

from pivotree.kkt import PivotreeError

from ..item import Progress, Results, picture, printed, value, within
from ..measures import Floats
from .figure59 import METHODS, chains


def measure(
    progress: Progress,
    *,
    n: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14),
    runs: int = 6,
    seed: int = 1,
    seconds: float = 60.0,
    eps: float = 1e-4,
) -> Results:
    """Ensembles for n links by both methods."""
    if len(set(n)) < 2:
        raise PivotreeError(f"setting n: is {n}; give two numbers of links or more")
    found = chains(progress, n, runs, seed, seconds, eps)
    said, other = printed("cloutier1995")["figure59"], "settings other than the thesis's"
    links, as_printed = np.array(n, dtype=float), all(chain.as_printed for chain in found)
    evaluations, operations = (
        {method: np.array([f(chain.runs[method]) for chain in found]) for method in METHODS}
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
    each, late = operations["CRBM"] / operations["ABM"], links >= 6
    growing = bool((each[late] > 1.0).all() and (np.diff(each[late]) > 0).all())
    yield value("operations", each, growing, links=", ".join(map(str, n)))
    yield picture("figure510", "chains", n, [chain.runs for chain in found], work)


def laws(n: Floats, count: Floats) -> dict[str, tuple[float, float, float]]:
    """a + b log n and a n^b by least squares: a, b, and the rms relative residual."""
    b, a = np.polyfit(np.log(n), count, 1)
    power, scale = np.polyfit(np.log(n), np.log(count), 1)
    away = {
        "a + b log n": (a, b, (a + b * np.log(n)) / count - 1.0),
        "a n^b": (np.exp(scale), power, np.exp(scale) * n**power / count - 1.0),
    }
    return {k: (float(a), float(b), float(np.sqrt(np.mean(r**2)))) for k, (a, b, r) in away.items()}
