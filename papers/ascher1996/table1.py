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
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Integration, Motion, Simulation, side_by_side

from ..item import Progress, Results, Value, picture, printed, value
from ..measures import condition, counted, fails, spread

NEAR, ALIKE = 0.10, 0.25  # shares of printed counts, of ABM and CRBM: single runs spread so far
NAMES = {
    "abm": ("ABM", "abm", NEAR),
    "crbm": ("CRBM, composites as 6 x 6 blocks", "crbm", ALIKE),
    "crbm_com": ("CRBM, composites by their centres", "crbm", ALIKE),
    "crbm@world": ("CRBM, 6 x 6 blocks in the world's frame", "crbm", ALIKE),
    "crbm_com@world": ("CRBM, centres in the world's frame", "crbm", ALIKE),
}  # order, and frames if not the links' own -> name, what the paper prints of it, and how near

PRINTED = ("float32", "float32", "cholesky")


def measure(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (),
    runs: int = 40,
    seconds: float = 10.0,
    eps: float = 1e-4,
    format: str = PRINTED[0],
    clock: str = PRINTED[1],
    solver: str = PRINTED[2],
    orders: tuple[str, ...] = tuple(NAMES),
    tilt: float = 0.0,
) -> Results:
    """Ensembles for the printed ratios l_2 / (l_1 + l_2), 2 the base link, or others.

    ``format`` is in place of single precision, ``clock`` that of the integrator's time and step; a
    joint-space inertia, where an order leaves one, is solved by ``solver``.  All frames are turned by
    ``tilt`` degrees about x, of which the end of section 3 tells.
    """
    said = printed("ascher1996")["table1"]
    as_printed = (seconds, eps, format, clock, solver, tilt) == (10.0, 1e-4, *PRINTED, 0.0)
    state = "float64" if format == "float64" else "float32"
    integration = Integration(seconds, eps, state=state, clock=clock)
    found: dict[float, dict[str, Simulation]] = {}
    for r in ratios or tuple(said["r"]):
        tree = kkt.two_link(r, math.radians(tilt))
        found[r] = ensemble(progress, tree, orders, format, solver, integration, runs)
        yield from (count(r, order, found[r], as_printed) for order in orders)
        (exact,) = ensemble(progress, tree, orders[:1], "float64", solver, Integration(seconds, eps)).values()
        kappa = float(condition(tree, exact.records[0].y[:, :2]).max())
        power = said["kappa"][said["r"].index(r)] if r in said["r"] else None
        words = {"r": f"{r:g}", "kappa": f"{kappa:.3g}", "none": "" if power else "not in the paper"}
        yield value("kappa", float(10.0 ** np.floor(np.log10(kappa))), printed=power, **words)
    yield picture("table1", "growth", found, {order: key for order, (_, key, _) in NAMES.items()})
    worst = found[min(found)].items()
    told_apart = [run for order, run in worst if order != "crbm@world"][:4]
    yield picture("table1_steps", "steps", told_apart)


def ensemble(
    progress: Progress,
    tree: Any,
    orders: tuple[str, ...],
    format: str,
    solver: str,
    integration: Integration,
    runs: int = 1,
) -> dict[str, Simulation]:
    """Runs of orders side by side, their joint-space inertia, where they leave one, by a dense solver.

    An order may name the frames that (4) is written in, as crbm@world.
    """
    what, motions = f"{tree.graph['name']} in {format}", []
    for order in orders:
        pivots, _, frames = order.partition("@")
        name, _, own = pivots.partition("+")
        dense = own or (solver if name.startswith("crbm") else None)
        motions.append(Motion.of(tree, orderings.get(name), format, solver=dense, frames=frames or "own"))
    begun, tick = [motion.start() for motion in motions], lambda t: progress(f"{what}: {t:.1f} s")
    return dict(zip(orders, side_by_side(motions, begun, format, integration, runs, tick=tick), strict=True))


def count(r: float, order: str, runs: dict[str, Simulation], as_printed: bool) -> Value:
    """Evaluations of one order beside the printed count, where the paper has one."""
    said, run, abm = printed("ascher1996")["table1"], runs[order], runs.get("abm")
    name, key, share = NAMES.get(order, (order, "", 0.0))
    at = said["r"].index(r) if r in said["r"] and key else None
    none = "not in the paper" if at is None else "" if as_printed else "settings other than the paper's"
    words = {"r": f"{r:g}", "name": name, "why": spread(run, None if order == "abm" else abm)}
    theirs = None if at is None else said[key][at]
    rougher = fails(run) or (isinstance(theirs, int) and run.mean > theirs)
    unknown = "" if order == "abm" else said["unknown"].format(than="smoother" if rougher else "rougher")
    return counted(run, share, none, unknown, printed=theirs, **words)
