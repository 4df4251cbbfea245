"""Sections 4.4 and 5: multiple shooting, by Newton's method damped and not, on many subdomains.

The paper's shooting solves [0, 1] and diverges beyond.  Neither its guess nor its damping is
printed.  Here both methods start from the straight line; Newton's step is halved until the
residual falls, or taken whole.  What converges depends on the number of subdomains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..item import Progress, Results, above, each, picture, printed, value
from ..measures import Floats
from .arm import PAPER, Arm, Pair
from .matching import Matching, newton, straight
from .multiple_shooting import Shooting
from .references import reached

OWN = 1e-2  # [rad/s] of Theta'(0) up to which a solution is the initial value problem's
METHODS = ("multiple shooting", "new method")


@dataclass(frozen=True)
class Try:
    """One boundary value problem by one method from the straight line."""

    method: str
    damped: bool
    e: float
    n: int
    slope: Floats | None  # Theta'(0), None where it fails
    iterations: int
    missed: float  # |Theta(e) - b| of scipy's integration from that slope [rad]

    @property
    def says(self) -> str:
        if self.slope is None:
            return f"fails after {self.iterations}"
        which = "the IVP's" if self.of_ivp else "another solution"
        return f"{which} in {self.iterations}"

    @property
    def of_ivp(self) -> bool:
        return self.slope is not None and bool(np.max(np.abs(self.slope)) < OWN)


def measure(
    progress: Progress,
    *,
    ends: Pair = (1.0, 1.5, 2.0),
    subdomains: tuple[int, ...] = (10, 15, 20, 30, 40),
    s: int = 3,
    step: float = 0.005,
    arm: Arm = PAPER,
    order: str = "abm",
) -> Results:
    """Both methods from the straight line; ``step`` [s] is that of shooting's Runge-Kutta."""
    above("s", ends=ends, step=step)
    each("subdomains", subdomains, 3)
    ours, zero = arm.accelerations(order), np.zeros(2)
    said = printed("pasic1999")["figure6"]["subdomains"]
    tries = []
    for e in ends:
        b = reached(arm.closed_form, e, zero, zero)
        for n in subdomains:
            edges = np.linspace(0.0, e, n + 1)
            for damped in (True, False) if n == said else (True,):
                progress(f"[0, {e:g}], {n} subdomains")
                shot = Shooting(ours, edges, zero, b, step).newton(damped=damped)
                found = None if shot.y is None else shot.y[0, 2:]
                tries.append(_try(arm, METHODS[0], damped, e, n, found, len(shot.norms), b))
                matched = newton(Matching(ours, edges, s), straight(zero, b, n), 60, damped)
                found = None
                if matched.converged and matched.local is not None:
                    found = matched.local.left[0]
                tries.append(_try(arm, METHODS[1], damped, e, n, found, len(matched.norms), b))
    yield from rows(tries, arm.papers)
    yield picture("multiple", "reach", [one for one in tries if one.damped], METHODS)


def _try(
    arm: Arm, method: str, damped: bool, e: float, n: int, slope: Floats | None, count: int, b: Floats
) -> Try:
    missed = float("nan")
    if slope is not None:
        missed = float(np.max(np.abs(reached(arm.closed_form, e, np.zeros(2), slope) - b)))
    return Try(method, damped, e, n, slope, count, missed)


def rows(tries: list[Try], paper: bool) -> Results:
    """Rows of all tries; of the paper's arm they are held against what it says."""
    said = printed("pasic1999")["figure6"]
    shots = [t for t in tries if t.method == METHODS[0] and t.n == said["subdomains"]]
    for one in shots:
        words = {"e": f"{one.e:g}", "n": one.n, "kind": "damped" if one.damped else "undamped"}
        if not paper or not one.damped:
            yield value("undamped", one.says, **words)
        elif one.e <= said["end"]:
            yield value("shooting", one.says, one.of_ivp, **words)
        else:
            yield value("shooting_longer", one.says, one.slope is None, **words)
    for method in METHODS:
        for e in dict.fromkeys(one.e for one in tries):
            own = [t for t in tries if (t.method, t.e, t.damped) == (method, e, True)]
            yield value("counts", "; ".join(f"{t.n}: {t.says}" for t in own), e=f"{e:g}", method=method)
    for one in tries:
        if one.method == METHODS[1] and one.n == said["subdomains"] and one.e <= said["end"]:
            known = paper and one.damped
            yield value("new" if known else "new_undamped", one.says, one.of_ivp, e=f"{one.e:g}", n=one.n)
