"""Sections 4.4 and 5: simple shooting beside the new method, by scipy, and what both evaluate.

Shooting looks for Theta'(0) so that the initial value problem ends at the boundary value: scipy's
root (Powell's hybrid method, Jacobian by differences) on scipy's integrations of equation (20).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress
from ..row import Value, value
from ..settings import above
from .arm import PAPER, Arm, Floats, Pair, boundary
from .collocation import bvp_map, iterate
from .matching import Matching, newton, straight
from .references import integrate, reached

RELATIVE, ABSOLUTE = 1e-9, 1e-10  # tolerances of an integration while shooting
HIT = 1e-7  # [rad], of the boundary value


@dataclass(frozen=True)
class Shot:
    """One boundary value problem from one first slope."""

    e: float
    guess: str
    hit: bool
    slope: Floats
    missed: float  # [rad]
    of_ivp: bool  # the initial value problem's own solution was found
    evaluations: int  # of the acceleration


@dataclass(frozen=True)
class Found:
    paper: bool
    shots: list[Shot]
    ours: dict[float, int | None]  # length -> evaluations by the new method; None where it fails
    calls: dict[float, int]  # length -> batches in which they were made
    single: list[float]  # lengths that the new method solves without subdomains


def measure(
    progress: Progress,
    *,
    ends: Pair = (0.3, 0.35, 1.0, 1.5, 2.0),
    near: float = 0.01,
    target: Pair = (),
    subdomains: int = 20,
    s: int = 3,
    single: int = 16,
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """From the straight line's slope, and from the IVP's (zero) plus ``near`` [rad/s]."""
    above("s", ends=ends)
    boundary("shooting", target)
    ours = arm.accelerations(order)
    closed = arm.closed_form
    zero = np.zeros(2)
    shots, evaluations, calls, alone = [], {}, {}, []
    for e in ends:
        b = np.array(target) if target else reached(closed, e, zero, zero)
        for name, first in (("straight line", b / e), (f"IVP + {near:g}", zero + near)):
            progress(f"[0, {e}] from {name}")
            shots.append(_shoot(closed, e, b, name, first))
        progress(f"[0, {e}] by the new method")
        evaluations[e], calls[e], whole = _counted(ours, closed, e, b, subdomains, s, single)
        alone += [e] if whole else []
    own = arm.papers and not target
    return Found(own, shots, evaluations, calls, alone)


def _shoot(closed: Any, e: float, b: Floats, name: str, first: Floats) -> Shot:
    from scipy.optimize import root

    count = 0

    def counted(t: Any, q: Floats, qd: Floats) -> Floats:
        nonlocal count
        count += 1
        return closed(t, q, qd)

    def miss(first: Floats) -> Floats:
        return integrate(counted, e, np.zeros(2), first, RELATIVE, ABSOLUTE).y[:2, -1] - b

    found = root(miss, first, method="hybr", options={"maxfev": 200})
    missed = float(np.max(np.abs(reached(closed, e, np.zeros(2), found.x) - b)))
    own = bool(np.max(np.abs(found.x)) < 1e-3)
    return Shot(e, name, missed <= HIT, found.x, missed, own, count)


def _counted(
    ours: Any, closed: Any, e: float, b: Floats, subdomains: int, s: int, single: int
) -> tuple[int | None, int, bool]:
    """Evaluations and batches of the new method; one domain where it converges, else subdomains."""
    states = calls = 0

    def counted(t: Any, q: Floats, qd: Floats) -> Floats:
        nonlocal states, calls
        states, calls = states + q.size // 2, calls + 1
        return ours(t, q, qd)

    zero = np.zeros(2)
    found = iterate(bvp_map(counted, np.zeros(()), e, zero, b, single), e, np.zeros((single, 2)), 1e-10, 300)
    if found.converged:
        return states, calls, True
    states = calls = 0
    edges = np.linspace(0.0, e, subdomains + 1)
    near = integrate(closed, e, zero, zero).sol(edges)[:2].T * 1.01
    near[-1] = b
    for guess in (near, straight(zero, b, subdomains)):
        if newton(Matching(counted, edges, s), guess).converged:
            return states, calls, False
    return None, calls, False


def values(found: Found) -> Iterator[Value]:
    for shot in found.shots:
        which = "the IVP's solution" if shot.of_ivp else "another solution"
        slope = f"{which}, Theta'(0) = {shot.slope[0]:z.5f} {shot.slope[1]:z.5f}"
        yield value("simple", slope if shot.hit else "fails", e=f"{shot.e:g}", guess=shot.guess)
    for e, ours in found.ours.items():
        least = min((shot.evaluations for shot in found.shots if shot.e == e and shot.hit), default=None)
        both = ["fails" if x is None else x for x in (ours, least)]
        words = {"e": f"{e:g}", "calls": found.calls[e]}
        if found.paper and e in found.single and ours is not None and least is not None:
            yield value("efficient", both, ours < least, **words)
        else:
            yield value("evaluations", both, **words)
