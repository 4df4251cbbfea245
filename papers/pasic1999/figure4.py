"""Figure 4: the arm falls from rest, as an initial value problem by collocation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..item import Progress, Results, picture, printed, value
from ..measures import Floats
from .arm import PAPER
from .collocation import Path, ivp
from .references import integrate

S = 3  # Gauss points
DRAWN = 1e-2  # [rad], the width of a line in Figure 4
ASYMPTOTIC = 0.0125  # [s], a step from which halving tells the order
FINE, FINE_POINTS = 0.025, 8  # step [s] and Gauss points of the solution to 12 digits


def measure(progress: Progress, *, order: str = "abm") -> Results:
    """Step lengths with five iterations as printed, and a solution to 12 digits."""
    said = printed("pasic1999")["figure4"]
    end, count = said["end"], said["iterations"]
    ours, zero = PAPER.accelerations(order), np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(PAPER.closed_form, end, zero, zero)

    def settled(step: float) -> float:
        """The largest error of Theta at the edges, iterated until y changes by 1e-14."""
        progress(f"step {step}")
        return error(ivp(ours, edges(end, step), zero, zero, S, 100, 1e-14), exact)

    for time, digits in zip(said["at"], said["Theta"], strict=True):
        found = ivp(ours, edges(time, FINE), zero, zero, FINE_POINTS, 100, 1e-15).q[-1]
        scipy, name, short = exact.sol(time)[:2], f"Theta({time:g})", [f"{x:.4f}" for x in found]
        yield value("digits", short, short == digits, name=name, printed=digits)
        both = [f"{x:.12f}" for x in (*found, *scipy)]
        yield value("twelve", both, bool(np.max(np.abs(found - scipy)) <= 1e-11), name=name)
    for row, step in (("step_printed", said["step"]), ("step_tenth", said["step"] / 10.0)):
        path = ivp(ours, edges(end, step), zero, zero, S, count)
        off, words = error(path, exact), {"step": f"{step:g}", "count": count, "end": f"{end:g}"}
        yield value(row, off, off <= DRAWN, settled=f"{settled(step):.1e}", **words)
    slope = float(np.log2(settled(ASYMPTOTIC) / settled(ASYMPTOTIC / 2)))
    yield value("order", slope, abs(slope - 2 * S) <= 0.5, printed=f"2 s = {2 * S}")
    progress(f"{FINE_POINTS} Gauss points, step {FINE}")
    fine = ivp(ours, edges(end, FINE), zero, zero, FINE_POINTS, 100, 1e-15)
    yield picture("figure3", "torques", PAPER.torque, end)
    yield picture("figure4", "angles", fine, {f"step {step:g}, {count} iterations": path})


def edges(end: float, step: float) -> Floats:
    """0, step, ... end; steps are a little shorter where they do not divide the domain."""
    return np.linspace(0.0, end, int(np.ceil(end / step - 1e-9)) + 1)


def error(path: Path, exact: Any) -> float:
    apart = np.abs(path.q - exact.sol(path.t)[:2].T)
    return float(np.max(apart)) if np.isfinite(apart).all() else np.inf
