"""Sections 4.4 and 5: simple shooting beside the new method, by scipy, and what both evaluate.

Shooting looks for Theta'(0) so that the initial value problem ends at the boundary value: scipy's
root (Powell's hybrid method, Jacobian by differences) on scipy's integrations of equation (20).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Row
from .arm import PAPER, Arm, Floats, Pair, boundary, positive
from .collocation import bvp_map, iterate
from .matching import Matching, newton, straight
from .references import integrate, reached
from .tridiagonal import eliminate, order_of

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


def measure(
    progress: Progress, *, ends: Pair = (0.3, 0.35, 1.0, 1.5, 2.0), near: float = 0.01,
    target: Pair = (),
    subdomains: int = 20, s: int = 3, single: int = 16,
    length: Pair = PAPER.length, centre: Pair = PAPER.centre, moment: Pair = PAPER.moment,
    mass: Pair = PAPER.mass, torque: Pair = PAPER.torque, order: str = "abm",
) -> Found:  # fmt: skip
    """From the straight line's slope, and from the IVP's (zero) plus ``near`` [rad/s]."""
    positive("shooting", ends=ends)
    boundary("shooting", target)
    arm = Arm(length, centre, moment, mass, torque)
    ours = arm.accelerations(order)
    closed = arm.closed_form
    zero = np.zeros(2)
    shots, evaluations, calls = [], {}, {}
    for e in ends:
        b = np.array(target) if target else reached(closed, e, zero, zero)
        for name, first in (("straight line", b / e), (f"IVP + {near:g}", zero + near)):
            progress(f"[0, {e}] from {name}")
            shots.append(_shoot(closed, e, b, name, first))
        progress(f"[0, {e}] by the new method")
        evaluations[e], calls[e] = _counted(ours, closed, e, b, subdomains, s, single)
    own = arm.papers and not target
    return Found(own, shots, evaluations, calls)


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
) -> tuple[int | None, int]:
    """Evaluations and batches of the new method: one domain where it converges, else subdomains."""
    states = calls = 0

    def counted(t: Any, q: Floats, qd: Floats) -> Floats:
        nonlocal states, calls
        states, calls = states + q.size // 2, calls + 1
        return ours(t, q, qd)

    zero = np.zeros(2)
    found = iterate(
        bvp_map(counted, np.zeros(()), e, zero, b, single), e, np.zeros((single, 2)), 1e-10, 300
    )
    if found.converged:
        return states, calls
    states = calls = 0
    edges = np.linspace(0.0, e, subdomains + 1)
    near = integrate(closed, e, zero, zero).sol(edges)[:2].T * 1.01
    near[-1] = b
    order = order_of("virtual_work", subdomains - 1)
    for guess in (near, straight(zero, b, subdomains)):
        if newton(
            Matching(counted, edges, s), guess, lambda J, r: eliminate(J, r, order).x
        ).converged:
            return states, calls
    return None, calls


def rows(found: Found) -> list[Row]:
    said = printed("pasic1999")["figure6"]
    result = []
    for shot in found.shots:
        name = f"[0, {shot.e:g}], simple shooting from {shot.guess}"
        which = "the IVP's solution" if shot.of_ivp else "another solution"
        ours = (
            f"{which}, Theta'(0) = {shot.slope[0]:z.5f} {shot.slope[1]:z.5f}"
            if shot.hit
            else "fails"
        )
        if found.paper and shot.e == said["end"] and shot.guess != "straight line":
            result.append(
                Row(
                    name, "the IVP's solution", ours, "the IVP's solution", shot.hit and shot.of_ivp
                )
            )
            continue
        printed_ = "fails" if found.paper and shot.e > said["end"] else None
        why = ""
        if printed_ and shot.hit:
            why = f"{name}: the paper's first slope is not printed; from this one it does not fail"
        result.append(Row(name, printed_, ours, "none: the guess is not printed", None, why))
    for e, evaluations in found.ours.items():
        shots = [shot.evaluations for shot in found.shots if shot.e == e and shot.hit]
        result.append(
            Row(f"[0, {e:g}]: accelerations evaluated, new method and shooting", "fewer",
                ["fails" if evaluations is None else evaluations, min(shots, default="fails")],
                "none: tolerances are not printed", None,
                f"[0, {e:g}]: ours in {found.calls[e]} batches, shooting's one after another")
        )  # fmt: skip
    return result
