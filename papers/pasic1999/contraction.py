"""Section 4.2, the step: why 0.5 diverges, the contraction constant measured and predicted.

On one step the iteration is F <- G(F).  Near the solution its error is multiplied by dG/dF, so that
it converges where the spectral radius rho of dG/dF is below 1.  Predicted: rho from eigenvalues.
Measured: by how much the changes of y shrink from one iteration to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row, claim
from ..settings import above
from .arm import END, PAPER, Arm, Floats, Pair
from .collocation import contraction, gauss, iterate, ivp_map
from .references import integrate

STEPS = (0.5, 0.25, 0.1, 0.05, 0.025)
MOST, EPS = 400, 1e-13  # iterations; change of y [rad] at which one has converged
LAST = 8  # of the changes, over which shrinking is measured


@dataclass(frozen=True)
class Steps:
    """Steps of one length, from many points of the exact solution."""

    step: float
    s: int
    rho: Floats  # (k,) predicted
    measured: Floats  # (k,) not a number where the iteration diverged
    fifth: Floats  # (k,) change of y in the fifth iteration [rad]

    @property
    def diverged(self) -> float:
        return float(np.mean(np.isnan(self.measured)))


@dataclass(frozen=True)
class Found:
    paper: bool  # the paper's arm, and enough starts to tell
    t: Floats  # (k,) where the steps start
    steps: list[Steps]
    more: list[Steps]  # the longest step with more Gauss points


def measure(
    progress: Progress,
    *,
    steps: Pair = STEPS,
    s: int = 3,
    more: tuple[int, ...] = (5, 8, 12),
    starts: int = 41,
    end: float = END,
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """Steps of every length from ``starts`` points of the exact solution, F = 0 to begin with."""
    above("s", steps=steps, end=end)
    ours = arm.accelerations(order)
    progress("scipy, equation (20)")
    zero = np.zeros(2)
    longest = max(steps)
    exact = integrate(arm.closed_form, end + longest, zero, zero)
    t = np.linspace(0.0, end, starts)

    def of(step: float, s: int) -> Steps:
        progress(f"step {step}, {s} Gauss points")
        return Steps(step, s, *np.array([_one(ours, exact, start, step, s) for start in t]).T)

    every, longer = [of(step, s) for step in steps], [of(longest, k) for k in more]
    return Found(arm.papers and starts > 10, t, every, longer)


def _one(ours: Any, exact: Any, start: float, step: float, s: int) -> tuple[float, float, float]:
    """rho, what is measured, and the fifth change."""
    at = start + step * gauss(s).c
    y = exact.sol(at).T
    here = exact.sol(start)
    G = ivp_map(ours, start, step, here[:2], here[2:], s)
    rho = abs(contraction(G, ours(at, y[:, :2], y[:, 2:])))
    found = iterate(G, step, np.zeros((s, 2)), EPS, MOST)
    fifth = found.changes[4] if len(found.changes) > 4 else found.changes[-1]
    if not found.converged:
        return rho, np.nan, fifth
    last = found.changes[-LAST - 1 :]
    return rho, (last[-1] / last[0]) ** (1.0 / max(len(last) - 1, 1)), fifth


def rows(found: Found) -> list[Row]:
    said = printed("pasic1999")["figure4"]["step"]
    result = []
    for one in [*found.steps, *found.more]:
        largest, diverged = float(np.max(one.rho)), one.diverged
        name = f"step {one.step:g}, {one.s} Gauss points: largest rho, share that diverges"
        ours = [f"{largest:.3f}", f"{100 * diverged:.0f} %"]
        fifth = f"{np.max(one.fifth):.1e} rad"
        why = f"the fifth change is up to {fifth} at step {one.step:g}, s = {one.s}"
        if found.paper and one.s == 3 and one.step == said:
            converges = largest < 1.0 and diverged == 0.0
            result.append(claim(name, "converges", ours, "rho < 1, and it converges", converges, why))
        elif found.paper and one.s == 3 and one.step <= 0.25:
            met = largest < 1.0 and diverged == 0.0
            result.append(Row(name, None, ours, "rho < 1, and it converges", met, why))
        else:
            result.append(Row(name, None, ours, "none: not in the paper", None, why))
    result.append(_agreement(found))
    return result


def _agreement(found: Found) -> Row:
    """Only where convergence is slow enough to show its constant: rho from 0.2 to 0.9."""
    rho = np.concatenate([one.rho for one in found.steps])
    measured = np.concatenate([one.measured for one in found.steps])
    slow = (rho > 0.2) & (rho < 0.9) & ~np.isnan(measured)
    if not slow.any():
        return Row("measured over predicted", None, None, "none: no step is slow", None)
    ratio = float(np.median(measured[slow] / rho[slow]))
    return Row("measured over predicted, median", None, ratio, "within 0.1 of 1", abs(ratio - 1) < 0.1)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import radii

    return {"contraction": radii(found.t, [(one.step, one.rho) for one in found.steps], style)}
