"""Figure 4: the arm falls from rest, as an initial value problem by collocation."""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt

from ..item import Progress, Results, above, between, picture, printed, value
from ..measures import Floats
from .arm import END, PAPER, Pair
from .collocation import Path, ivp
from .references import integrate

STEPS = (0.5, 0.1, 0.05, 0.025, 0.0125)
MARKED = 0.05  # [s], the step whose edges are drawn
DRAWN = 1e-2  # [rad], the width of a line in Figure 4
ASYMPTOTIC = 0.0125  # [s], the longest step from which halving tells the order
ROUNDOFF = 1e-11  # errors [rad] below this tell no order
FINE, FINE_POINTS = 0.025, 8  # step [s] and Gauss points of the solution to 12 digits


def measure(
    progress: Progress,
    *,
    s: int = 3,
    iterations: int = 5,
    steps: Pair = STEPS,
    end: float = END,
    at: Pair = (0.3, 1.0),
    order: str = "abm",
) -> Results:
    """Step lengths with five iterations as printed, and a solution to 12 digits."""
    above("s", steps=steps, end=end, at=at)
    between("iterations", iterations, 1)
    said = printed("pasic1999")["figure4"]
    for step in steps:
        edges(end, step)
    ours, zero = PAPER.accelerations(order), np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(PAPER.closed_form, max(end, *at), zero, zero)
    digits = dict(zip(said["at"], said["Theta"], strict=True))
    for time in at:
        found = ivp(ours, edges(time, FINE), zero, zero, FINE_POINTS, 100, 1e-15).q[-1]
        scipy, name, short = exact.sol(time)[:2], f"Theta({time:g})", [f"{x:.4f}" for x in found]
        if time in digits:
            yield value("digits", short, short == digits[time], name=name, printed=digits[time])
        both = [f"{x:.12f}" for x in (*found, *scipy)]
        yield value("twelve", both, bool(np.max(np.abs(found - scipy)) <= 1e-11), name=name)
    as_printed = (s, iterations, end) == (3, 5, said["end"])
    rows = {said["step"]: "step_printed", said["step"] / 10.0: "step_tenth"} if as_printed else {}
    settled = {}  # largest error of Theta at the edges, iterated until y changes by 1e-14
    for step in (*steps, min(steps) / 2):
        progress(f"step {step}")
        settled[step] = error(ivp(ours, edges(end, step), zero, zero, s, 100, 1e-14), exact)
    marked = {}
    for step in steps:
        path = ivp(ours, edges(end, step), zero, zero, s, iterations)
        off = error(path, exact)
        words = {"step": f"{step:g}", "count": iterations, "end": f"{end:g}"}
        yield value(rows.get(step, "step"), off, off <= DRAWN, settled=f"{settled[step]:.1e}", **words)
        if step == MARKED:
            marked = {f"step {MARKED}, 5 iterations": path}
    half = settled[min(steps) / 2]
    slope = float(np.log2(settled[min(steps)] / half)) if half > ROUNDOFF else np.nan
    known = np.isfinite(slope) and min(steps) <= ASYMPTOTIC
    none = "" if known else "the finest step is too long to tell, or its error is roundoff"
    near, text = bool(abs(slope - 2 * s) <= 0.5), f"2 s = {2 * s}"
    yield value("order", slope if known else None, near, none=none, printed=text)
    progress(f"{FINE_POINTS} Gauss points, step {FINE}")
    fine = ivp(ours, edges(end, FINE), zero, zero, FINE_POINTS, 100, 1e-15)
    yield picture("figure3", "torques", PAPER.torque, end)
    yield picture("figure4", "angles", fine, marked)


def edges(end: float, step: float) -> Floats:
    """0, step, ... end; steps are a little shorter where they do not divide the domain."""
    if not 0.0 < step <= end:
        raise kkt.PivotreeError(
            f"setting steps: a step of {step:g} s does not fit into {end:g} s; give more than "
            "0 and at most the end"
        )
    return np.linspace(0.0, end, int(np.ceil(end / step - 1e-9)) + 1)


def error(path: Path, exact: Any) -> float:
    apart = np.abs(path.q - exact.sol(path.t)[:2].T)
    return float(np.max(apart)) if np.isfinite(apart).all() else np.inf
