"""Figure 5.10: how evaluations and work grow with the links of a regular chain.

The chains of Figure 5.9, and longer ones by ABM.  The thesis sees evaluations grow "in a
logarithmic fashion" and time grow slower for ABM than for CRBM, even for small n.  Time is shown
as operations of all evaluations, which no machine changes.  Not in the thesis: at 28 links its
own ABM, whose bias comes from inverse dynamics, is stiff where the propagated bias is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.kkt import PivotreeError

from ..paper import Progress, printed
from ..row import Row, within
from .figure59 import Chain
from .figure59 import measure as chains
from .robot import regular
from .simulator import Run, run
from .sweep import Floats

BIASES = ("propagated", "inverse_dynamics")


@dataclass(frozen=True)
class Growth:
    short: list[Chain]  # both methods
    long: dict[int, dict[str, Run]]  # ABM on longer ones, by bias

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
    longer: tuple[int, ...] = (28,),
    runs: int = 6,
    seed: int = 1,
    seconds: float = 60.0,
    eps: float = 1e-4,
) -> Growth:
    """Ensembles for n links by both methods, and for longer chains by ABM."""
    if len(set(n)) < 2:
        raise PivotreeError(f"setting n: is {n}; give two numbers of links or more")
    short = chains(progress, n=n, runs=runs, seed=seed, seconds=seconds, eps=eps)
    long: dict[int, dict[str, Run]] = {}
    for links in longer:
        long[links] = {}
        for bias in BIASES:
            progress(f"n = {links}, ABM, bias {bias}")
            long[links][bias] = run(
                regular(links), "ABM", seconds=seconds, eps=eps, runs=runs, seed=seed, bias=bias
            )
    return Growth(short, long)


def laws(n: Floats, count: Floats) -> dict[str, tuple[float, float, float]]:
    """a + b log n and a n^b by least squares: a, b, and the rms relative residual."""
    b, a = np.polyfit(np.log(n), count, 1)
    power, scale = np.polyfit(np.log(n), np.log(count), 1)
    away = {
        "a + b log n": (a, b, (a + b * np.log(n)) / count - 1.0),
        "a n^b": (np.exp(scale), power, np.exp(scale) * n**power / count - 1.0),
    }
    return {k: (float(a), float(b), float(np.sqrt(np.mean(r**2)))) for k, (a, b, r) in away.items()}


def rows(found: Growth) -> list[Row]:
    said = printed("cloutier1995")["figure59"]
    theirs = laws(np.array(said["n"], dtype=float), np.array(said["abm"]["evaluations"]))
    ours = laws(found.n, found.evaluations("ABM"))
    log, power = "a + b log n", "a n^b"
    ratio = ours[log][2] / max(ours[power][2], 1e-300)
    here, there = (f"{100 * one[log][2]:.1f} % and {100 * one[power][2]:.1f} %" for one in (ours, theirs))
    as_printed = all(chain.as_printed for chain in found.short)
    result = [
        Row(
            "rms residual of a + b log n over that of a n^b, evaluations of ABM",
            "seems to increase in a logarithmic fashion",
            round(ratio, 2),
            "none: the thesis gives no law that a count could contradict",
            None,
            f"residuals {here} here, {there} on the printed counts",
        ),
        Row(
            "exponent of n in a n^b",
            round(theirs[power][1], 2),
            round(ours[power][1], 2),
            "within 0.1 of that of the printed counts",
            abs(ours[power][1] - theirs[power][1]) <= 0.1 if as_printed else None,
        ),
    ]
    for links, runs in found.long.items():
        guesses = [
            ours["a + b log n"][0] + ours["a + b log n"][1] * np.log(links),
            ours["a n^b"][0] * links ** ours["a n^b"][1],
        ]
        shown = {bias: "fail" if one.simulation.failed else round(one.mean) for bias, one in runs.items()}
        result += [
            Row(
                f"n = {links}: evaluations of ABM; guesses by log n and by n^b",
                None,
                [shown["propagated"], *(round(guess) for guess in guesses)],
                "none: not in the thesis",
                None,
            ),
            Row(
                f"n = {links}: the same, bias from inverse dynamics",
                None,
                shown["inverse_dynamics"],
                "none: not in the thesis",
                None,
                _STIFF if shown["inverse_dynamics"] == "fail" else "",
            ),
        ]
    result += _work(found)
    return result


_STIFF = (
    "a straight chain that falls bends exponentially little far from its base; tau - c cancels to "
    "noise there, which asks for steps too small, and ABM has formulation stiffness of its own"
)


def _work(found: Growth) -> list[Row]:
    said = printed("cloutier1995")["figure59"]
    cheaper = [n for n, a, c in zip(found.n, found.work("ABM"), found.work("CRBM"), strict=True) if a < c]
    theirs = [
        n for n, a, c in zip(said["n"], said["abm"]["seconds"], said["crbm"]["seconds"], strict=True) if a < c
    ]
    last = found.short[-1]
    ratio = found.work("CRBM")[-1] / found.work("ABM")[-1]
    printed_ratio = said["crbm"]["seconds"][-1] / said["abm"]["seconds"][-1]
    each = found.operations("CRBM") / found.operations("ABM")
    ns, late = found.n.astype(int).tolist(), found.n >= 6
    return [
        Row(
            "ABM does the motion with less work for n =",
            theirs,
            [int(n) for n in cheaper],
            "none: time of two programs there, operations of one here",
            None,
        ),
        Row(
            f"work of CRBM over ABM at n = {found.n[-1]:g}",
            round(printed_ratio, 2),
            round(float(ratio), 2),
            "within 25 %, either way",
            within(printed_ratio, float(ratio), 0.25)
            if last.as_printed and last.n == said["n"][-1]
            else None,
            "time of two programs there, operations of one here",
        ),
        Row(
            f"operations of one evaluation, CRBM over ABM, n = {', '.join(map(str, ns))}",
            None,
            [round(float(x), 2) for x in each],
            "above 1 from n = 6 on, growing",
            bool((each[late] > 1.0).all() and (np.diff(each[late]) > 0).all()),
        ),
    ]


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .motion_pictures import chains as picture

    return {"figure510": picture(found, style)}
