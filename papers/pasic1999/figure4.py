"""Figure 4: the arm falls from rest, as an initial value problem by collocation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt

from ..item import Progress, printed
from ..row import Value, value
from ..settings import above, between
from .arm import END, PAPER, Arm, Floats, Pair
from .collocation import Path, ivp
from .references import integrate

STEPS = (0.5, 0.1, 0.05, 0.025, 0.0125)
DRAWN = 1e-2  # [rad], the width of a line in Figure 4
ASYMPTOTIC = 0.0125  # [s], the longest step from which halving tells the order
ROUNDOFF = 1e-11  # errors [rad] below this tell no order
FINE, FINE_POINTS = 0.025, 8  # step [s] and Gauss points of the solution to 12 digits


@dataclass(frozen=True)
class Found:
    paper: bool  # the arm and the torques are the paper's
    end: float
    s: int
    iterations: int
    torque: Pair
    values: list[tuple[float, Floats, Floats]]  # time, Theta by collocation, by scipy
    errors: dict[float, float]  # step -> largest error of Theta at the edges; inf where it diverges
    settled: dict[float, float]  # the same, iterated until y changes by 1e-14
    slope: float  # order of the error, settled, from the finest step to its half
    paths: dict[float, Path]
    fine: Path


def measure(
    progress: Progress,
    *,
    s: int = 3,
    iterations: int = 5,
    steps: Pair = STEPS,
    end: float = END,
    at: Pair = (0.3, 1.0),
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """Step lengths with five iterations as printed, and a solution to 12 digits."""
    above("s", steps=steps, end=end, at=at)
    between("iterations", iterations, 1)
    for step in steps:
        edges(end, step)
    ours = arm.accelerations(order)
    progress("scipy, equation (20)")
    zero = np.zeros(2)
    exact = integrate(arm.closed_form, max(end, *at), zero, zero)
    progress(f"{FINE_POINTS} Gauss points, step {FINE}")
    fine = ivp(ours, edges(end, FINE), zero, zero, FINE_POINTS, 100, 1e-15)
    values = []
    for time in at:
        path = ivp(ours, edges(time, FINE), zero, zero, FINE_POINTS, 100, 1e-15)
        values.append((time, path.q[-1], exact.sol(time)[:2]))
    errors, settled, paths = {}, {}, {}
    for step in steps:
        progress(f"step {step}")
        paths[step] = ivp(ours, edges(end, step), zero, zero, s, iterations)
        errors[step] = error(paths[step], exact)
        settled[step] = error(ivp(ours, edges(end, step), zero, zero, s, 100, 1e-14), exact)
    progress("order of the error")
    half = error(ivp(ours, edges(end, min(steps) / 2), zero, zero, s, 100, 1e-14), exact)
    slope = float(np.log2(settled[min(steps)] / half)) if half > ROUNDOFF else np.nan
    own = arm.papers
    return Found(own, end, s, iterations, arm.torque, values, errors, settled, slope, paths, fine)


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


def values(found: Found) -> Iterator[Value]:
    said = printed("pasic1999")["figure4"]
    digits = dict(zip(said["at"], said["Theta"], strict=True)) if found.paper else {}
    for time, ours, scipy in found.values:
        name, short = f"Theta({time:g})", [f"{x:.4f}" for x in ours]
        if time in digits:
            yield value("digits", short, short == digits[time], name=name, printed=digits[time])
        both = [*(f"{x:.12f}" for x in ours), *(f"{x:.12f}" for x in scipy)]
        yield value("twelve", both, bool(np.max(np.abs(ours - scipy)) <= 1e-11), name=name)
    as_printed = found.paper and (found.s, found.iterations, found.end) == (3, 5, said["end"])
    rows = {said["step"]: "step_printed", said["step"] / 10.0: "step_tenth"} if as_printed else {}
    for step, error in found.errors.items():
        words = {"step": f"{step:g}", "count": found.iterations, "end": f"{found.end:g}"}
        name = rows.get(step, "step")
        yield value(name, error, error <= DRAWN, settled=f"{found.settled[step]:.1e}", **words)
    known = np.isfinite(found.slope) and min(found.errors) <= ASYMPTOTIC
    none = "" if known else "the finest step is too long to tell, or its error is roundoff"
    near = abs(found.slope - 2 * found.s) <= 0.5
    said = {"printed": f"2 s = {2 * found.s}"}
    yield value("order", found.slope if known else None, bool(near), none=none, **said)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import angles, torques

    marked = {"step 0.05, 5 iterations": found.paths[0.05]} if 0.05 in found.paths else {}
    return {"figure3": torques(found.torque, found.end, style), "figure4": angles(found.fine, marked, style)}
