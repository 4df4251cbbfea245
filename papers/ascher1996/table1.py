"""Table 1: evaluations for ten seconds of motion, ABM and CRBM in single precision.

Two links with l = m, l_1 + l_2 = m_1 + m_2 = 1, width 0.1, from rest; accuracy 1e-4 of the
Cash-Karp steps of Numerical Recipes, first step 0.01, given up after 10000 steps.  The count of
one run is chaotic: an ulp at the start changes it by several percent.  Compared are means over
ensembles of starts an ulp apart.  All of the integrator is in single precision too, its time and
step included, and CRBM's system is solved by Cholesky's method, as in the paper; ``--set
solver=lu`` is beside it.

CRBM is read in four ways, with the same pivots.  The order crbm carries composite inertias as 6 x 6
blocks, as the paper's equations do; crbm_com carries mass, centre of mass and inertia about it, as
the thesis of the third author tells of their program (Cloutier 1995, section 3.1.1).  Either is
written in the frames of the links, where a link's own inertia is a constant, and, as ``@world``, in
the world's directions, where it turns with the link and is rounded in every state anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.analysis.simulation import Integration, Simulation, simulate

from ..measures import condition, spread
from ..paper import Progress, printed
from ..row import Value, value, within

LIKELY = 0.5  # of runs that fail, from which a row counts as failed
NEAR, ALIKE = 0.10, 0.25  # shares of printed counts, of ABM and CRBM: single runs spread so far
NAMES = {
    "abm": ("ABM", "abm", NEAR),
    "crbm": ("CRBM, composites as 6 x 6 blocks", "crbm", ALIKE),
    "crbm_com": ("CRBM, composites by their centres", "crbm", ALIKE),
    "crbm@world": ("CRBM, 6 x 6 blocks in the world's frame", "crbm", ALIKE),
    "crbm_com@world": ("CRBM, centres in the world's frame", "crbm", ALIKE),
}  # order, and frames if not the links' own -> name, what the paper prints of it, and how near


@dataclass(frozen=True)
class Ratio:
    """One line of the table."""

    r: float  # l_2 / (l_1 + l_2), base link
    single: dict[str, Simulation]  # order -> ensemble in float32
    double: dict[str, Simulation]  # in float64
    kappa: float  # largest condition number of the joint-space inertia on the way
    as_printed: bool  # the settings are the paper's


@dataclass(frozen=True)
class Numbers:
    """What is rounded, and by what a joint-space inertia is solved, where an order leaves one."""

    format: str = "float32"  # in place of single precision
    clock: str = "float32"  # of the integrator's time and step
    solver: str = "cholesky"


PRINTED = Numbers()


def measure(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (),
    runs: int = 40,
    seed: int = 0,
    seconds: float = 10.0,
    eps: float = 1e-4,
    numbers: Numbers = PRINTED,
    orders: tuple[str, ...] = tuple(NAMES),
    tilt: float = 0.0,
) -> list[Ratio]:
    """Ensembles for the printed ratios, or others.

    All frames are turned by ``tilt`` degrees about x, of which the end of section 3 tells.
    """
    as_printed = (seconds, eps, numbers, tilt) == (10.0, 1e-4, PRINTED, 0.0)
    own = (numbers.format, "float32", numbers.clock)
    found = []
    for r in ratios or tuple(printed("ascher1996")["table1"]["r"]):
        tree = kkt.two_link(r, math.radians(tilt))
        single, double = (
            {
                order: ensemble(
                    progress,
                    tree,
                    order,
                    name,
                    numbers.solver,
                    Integration(seconds, eps, state=state, clock=beat),
                    runs=runs,
                    seed=seed,
                )
                for order in orders
            }
            for name, state, beat in (own, ("float64", "float64", "float64"))
        )
        first = next(iter(double.values()))
        kappa = float(condition(tree, first.records[0].y[:, :2]).max())
        found.append(Ratio(r, single, double, kappa, as_printed))
    return found


def ensemble(
    progress: Progress,
    tree: Any,
    order: str,
    format: str,
    solver: str,
    integration: Integration,
    **options: Any,
) -> Simulation:
    """Runs of an order, its joint-space inertia, where it leaves one, by a dense solver.

    ``order`` may name the frames that (4) is written in, as crbm@world.
    """
    name = tree.graph["name"]
    pivots, _, frames = order.partition("@")
    progress(f"{name}, {order} in {format}")

    def tick(t: float) -> None:
        progress(f"{name}, {order} in {format}: {t:.1f} s")

    dense = solver if order.startswith("crbm") and "+" not in order else None
    return simulate(
        tree, pivots, format, integration, solver=dense, frames=frames or "own", tick=tick, **options
    )


def values(found: list[Ratio]) -> Iterator[Value]:
    said = printed("ascher1996")["table1"]
    for line in found:
        at, r = said["r"].index(line.r) if line.r in said["r"] else None, f"{line.r:g}"
        for order in line.single:
            yield _count(line, order, at)
        for order in [order for order in line.double if order != "abm" and "abm" in line.double]:
            yield value("control", line.double[order].mean / line.double["abm"].mean, r=r, order=order)
        power = float(10.0 ** np.floor(np.log10(line.kappa)))
        kappa = None if at is None else said["kappa"][at]
        none = "not in the paper" if kappa is None else ""
        yield value("kappa", power, none=none, r=r, kappa=f"{line.kappa:.3g}", printed=kappa)


def _count(line: Ratio, order: str, at: int | None) -> Value:
    """Evaluations of one order beside the printed count, where the paper has one."""
    run, abm = line.single[order], None if order == "abm" else line.single.get("abm")
    why = spread(run, abm)
    name, key, share = NAMES.get(order, (order, "", 0.0))
    ours: Any = "fail" if run.failed / len(run.records) >= LIKELY else round(run.mean)
    words = {"r": f"{line.r:g}", "name": name, "why": why}
    if at is None or not key:
        return value("count", ours, none="not in the paper", **words)
    words["printed"] = said = printed("ascher1996")["table1"][key][at]
    if not line.as_printed:
        return value("count", ours, none="settings other than the paper's", **words)
    fails = isinstance(said, str)
    near = ours == "fail" if fails else ours != "fail" and within(said, run.mean, share)
    if not near and order != "abm":
        words["why"] = f"{why}; {printed('ascher1996')['table1']['unknown']}"
    return value("count_fails" if fails else "count", ours, bool(near), share=f"{share:.0%}", **words)


def figures(found: list[Ratio], style: str) -> dict[str, Any]:
    from pivotree.analysis.simulation.picture import picture

    from .pictures import growth

    worst = min(found, key=lambda line: line.r)
    steps = {order: run for order, run in worst.single.items() if order != "crbm@world"}
    runs = list(steps.values())[:4]  # as many as are told apart
    keys = {order: key for order, (_, key, _) in NAMES.items()}
    return {"table1": growth(found, keys, style), "table1_steps": picture(runs, style=style)}
