"""Section 5: what the new method and simple shooting, by scipy, evaluate on one domain.

Shooting looks for Theta'(0) so that the initial value problem ends at the boundary value: scipy's
root (Powell's hybrid method, Jacobian by differences) on scipy's integrations of equation (20).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..item import Progress, Results, above, value
from ..measures import Floats
from .arm import PAPER, Pair
from .collocation import Acceleration, bvp_map, iterate
from .references import integrate, reached

LOOSE = 1e-9, 1e-10  # tolerances of an integration while shooting
HIT = 1e-7  # [rad], of the boundary value
NEAR = 0.01  # [rad/s] of a first slope from the initial value problem's


def measure(progress: Progress, *, ends: Pair = (0.3, 0.35), s: int = 16, order: str = "abm") -> Results:
    """From the straight line's slope, and from one near the initial value problem's."""
    above("s", ends=ends)
    ours, closed, zero = PAPER.accelerations(order), PAPER.closed_form, np.zeros(2)
    for e in ends:
        b = reached(closed, e, zero, zero)
        progress(f"[0, {e}] by shooting")
        shots = [_shoot(closed, e, b, first) for first in (b / e, zero + NEAR)]
        least = min((count for count in shots if count is not None), default=None)
        progress(f"[0, {e}] by the new method")
        states, calls = _counted(ours, e, b, s)
        both, words = ["fails" if x is None else x for x in (states, least)], {"e": f"{e:g}", "calls": calls}
        fewer = states < least if states is not None and least is not None else None
        none = "a length that is not solved on one domain" if fewer is None else ""
        yield value("efficient", both, fewer, none=none, **words)


@dataclass
class Counted:
    """Accelerations that count the states they are asked for, and the calls."""

    acceleration: Acceleration
    states: int = 0
    calls: int = 0

    def __call__(self, t: Any, q: Floats, qd: Floats) -> Floats:
        self.states, self.calls = self.states + q.size // 2, self.calls + 1
        return self.acceleration(t, q, qd)


def _shoot(closed: Any, e: float, b: Floats, first: Floats) -> int | None:
    """Accelerations evaluated until the boundary value is hit; None where it is not."""
    from scipy.optimize import root

    counted = Counted(closed)

    def miss(first: Floats) -> Floats:
        return integrate(counted, e, np.zeros(2), first, LOOSE).y[:2, -1] - b

    found = root(miss, first, method="hybr", options={"maxfev": 200})
    missed = float(np.max(np.abs(reached(closed, e, np.zeros(2), found.x) - b)))
    return counted.states if missed <= HIT else None


def _counted(ours: Any, e: float, b: Floats, s: int) -> tuple[int | None, int]:
    """Evaluations and batches of the new method on one domain of s Gauss points."""
    counted = Counted(ours)
    G = bvp_map(counted, np.zeros(()), e, np.zeros(2), b, s)
    found = iterate(G, e, np.zeros((s, 2)), 1e-10, 300)
    return counted.states if found.converged else None, counted.calls
