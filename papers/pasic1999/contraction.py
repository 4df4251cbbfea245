"""Section 4.2, the step: why 0.5 diverges, the contraction constant measured and predicted.

On one step the iteration is F <- G(F).  Near the solution its error is multiplied by dG/dF, so that
it converges where the spectral radius rho of dG/dF is below 1.  Predicted: rho from eigenvalues.
Measured: by how much the changes of y shrink from one iteration to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Value, value
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


def values(found: Found) -> Iterator[Value]:
    said = printed("pasic1999")["figure4"]["step"]
    for one in [*found.steps, *found.more]:
        largest = float(np.max(one.rho))
        printed_ = found.paper and one.s == 3
        name = "step_printed" if printed_ and one.step == said else "step"
        none = "" if printed_ and (one.step == said or one.step <= 0.25) else "not in the paper"
        ours = [f"{largest:.3f}", f"{100 * one.diverged:.0f} %"]
        words = {"step": f"{one.step:g}", "s": one.s, "fifth": f"{np.max(one.fifth):.1e}"}
        words |= {"printed": None} if none else {}
        yield value(name, ours, largest < 1.0 and one.diverged == 0.0, none=none, **words)
    rho, measured = (
        np.concatenate([getattr(one, name) for one in found.steps]) for name in ("rho", "measured")
    )
    # only where convergence is slow enough to show its constant
    slow = (rho > 0.2) & (rho < 0.9) & ~np.isnan(measured)
    ratio = float(np.median(measured[slow] / rho[slow])) if slow.any() else None
    yield value("measured", ratio, none="" if slow.any() else "no step is slow")


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import radii

    return {"contraction": radii(found.t, [(one.step, one.rho) for one in found.steps], style)}
