"""Boundary value problems on one domain: Figure 5, and simple shooting beside the new method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..item import Progress, Results, above, picture, printed, value
from ..measures import Floats
from .arm import PAPER, Pair
from .collocation import Acceleration, Fixed, Path, along, at_end, bvp_map, iterate, slope
from .references import integrate, reached

# [s] lengths of the domain
SHORT = (0.2, 0.25, 0.29, 0.3, 0.305, 0.31, 0.315, 0.32, 0.33, 0.34)
LONG = (0.35, 0.36, 0.37, 0.38, 0.39, 0.395, 0.4, 0.405, 0.41, 0.42)
EPS, MOST = 1e-13, 3000  # of the iteration
ANOTHER = 0.1  # [rad/s] of Theta'(0), from which a solution is not the initial value problem's
SECOND = 0.35  # [s], the domain of the second solution
PUSH = 100.0  # [rad/s^2], the deviation of guesses' second derivatives

# shooting
LOOSE = 1e-9, 1e-10  # tolerances of an integration while shooting
HIT = 1e-7  # [rad], of the boundary value
NEAR = 0.01  # [rad/s] of a first slope from the initial value problem's


def figure5(
    progress: Progress,
    *,
    ends: Pair = (0.3, 0.35),
    s: int = 32,
    scan: Pair = SHORT + LONG,
    guesses: int = 30,
    order: str = "abm",
) -> Results:
    """Figure 5: boundary value problems on one domain; two solutions on [0, 0.35], none from 0.4 on.

    Theta(0) = 0 and Theta(e) from the initial value problem, for every e; then all lengths of ``scan``.
    ``guesses`` are parabolas between the boundary values, their second derivative random.
    """
    above("s", ends=ends, scan=scan)
    ours, closed, zero = PAPER.accelerations(order), PAPER.closed_form, np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, max(*ends, *scan), zero, zero)
    said = printed("pasic1999")["figure4"]
    digits = dict(zip(said["at"], said["Theta"], strict=True))
    targets: dict[float, Floats] = {}
    drawn = None
    for e in ends:
        progress(f"[0, {e}]")
        targets[e] = reached(closed, e, zero, zero)
        for b in [targets[e]] + ([np.array(digits[e], dtype=float)] if e in digits else []):
            found, path = solve(ours, e, b, s)
            yield from _solved(closed, exact, found, path, b is not targets[e])
            drawn = path if found.converged else None
    for e, b in targets.items():
        pushes = PUSH * np.random.default_rng(0).normal(size=(guesses, 2))
        reach = guessed(ours, e, b, s, pushes)
        counts = {end: reach.count(end) for end in sorted(set(reach))}
        shown = "; ".join(f"{count} to {end}" for end, count in counts.items())
        several = f"[0, {e:g}]: more solutions than one attract the iteration" if len(counts) > 1 else ""
        one_only, words = len(counts) == 1 and "diverges" not in counts, {"e": f"{e:g}", "count": guesses}
        yield value("guesses", shown, one_only, why=several, **words)
    yield from _lengths(progress, ours, exact, s, scan)
    if drawn is not None:
        yield picture("figure5", "two_solutions", drawn, exact)


def guessed(ours: Any, e: float, b: Floats, s: int, pushes: Floats) -> list[str]:
    """Where the iteration leads from parabolas: Theta'(0) in two decimals, or that it diverges."""
    G, found = bvp_map(ours, np.zeros(()), e, np.zeros(2), b, s), []
    for push in pushes:
        fixed = iterate(G, e, np.broadcast_to(push, (s, 2)).copy(), EPS, MOST)
        first = slope(e, np.zeros(2), b, fixed.F)
        shown = ", ".join(f"{x:z.2f}" for x in first)
        found.append(f"({shown})" if fixed.converged else "diverges")
    return found


def solve(ours: Any, e: float, b: Floats, s: int) -> tuple[Fixed, Path]:
    """The iteration (7c) on [0, e] from the straight line, and its solution if it converges."""
    zero = np.zeros(2)
    found = iterate(bvp_map(ours, np.zeros(()), e, zero, b, s), e, np.zeros((s, 2)), EPS, MOST)
    a1 = slope(e, zero, b, found.F)
    slopes = np.stack([a1, at_end(e, zero, a1, found.F)[1]])
    return found, Path(np.array([0.0, e]), np.stack([zero, b]), slopes, found.F[None])


def _solved(closed: Any, exact: Any, found: Fixed, path: Path, decimals: bool) -> Results:
    """Rows of one boundary value problem."""
    e, b, first = float(path.t[-1]), path.q[-1], path.qd[0]
    name = f"[0, {e:g}]" + (", four decimals" if decimals else "")
    if not found.converged:
        yield value("miss", "does not converge", name=name, none="there is no slope")
        return
    x, zero = np.linspace(0.0, 1.0, 201), np.zeros(2)
    if e == 0.3:
        y, _ = along(x, len(found.F), e, zero, first, found.F)
        apart = float(np.max(np.abs(y - exact.sol(e * x)[:2].T)))
        # four decimals of Theta(0.3) leave 5e-5 open, which the problem magnifies
        yield value("same", apart, name=name, near=f"{1e-3 if decimals else 1e-10:g}")
    elif e == SECOND:
        slopes = [f"{x:z.8f}" for x in first]
        yield value("another", slopes, bool(np.max(np.abs(first)) >= ANOTHER), name=name)
    yield value("miss", float(np.max(np.abs(reached(closed, e, zero, first) - b))), name=name)


def _lengths(progress: Progress, ours: Any, exact: Any, s: int, scan: Pair) -> Results:
    """On which lengths beyond the paper's second solution the iteration fails."""
    failing = []
    for e in scan:
        progress(f"[0, {e}]")
        if not solve(ours, e, exact.sol(e)[:2], s)[0].converged:
            failing.append(e)
    beyond = [e for e in scan if e > SECOND]
    share = f"{sum(e > SECOND for e in failing)} of {len(beyond)}, the first {min(failing, default=None)}"
    if beyond:
        yield value("longer", share, min(beyond) in failing)


# -- shooting ---------------------------------------------------------------------------------------


def shooting(progress: Progress, *, ends: Pair = (0.3, 0.35), order: str = "abm") -> Results:
    """Section 5: what the new method and simple shooting, by scipy, evaluate on one domain.

    Shooting looks for Theta'(0) so that the initial value problem ends at the boundary value: scipy's
    root (Powell's hybrid method, Jacobian by differences) on scipy's integrations of equation (20), from
    the straight line's slope, and from one near the initial value problem's.
    """
    above("s", ends=ends)
    ours, closed, zero = PAPER.accelerations(order), PAPER.closed_form, np.zeros(2)
    for e in ends:
        b = reached(closed, e, zero, zero)
        progress(f"[0, {e}] by shooting")
        shots = [_shoot(closed, e, b, first) for first in (b / e, zero + NEAR)]
        least = min((count for count in shots if count is not None), default=None)
        progress(f"[0, {e}] by the new method")
        states, calls = _counted(ours, e, b)
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


def _counted(ours: Any, e: float, b: Floats) -> tuple[int | None, int]:
    """Evaluations and batches of the new method on one domain of 16 Gauss points."""
    counted = Counted(ours)
    G = bvp_map(counted, np.zeros(()), e, np.zeros(2), b, 16)
    found = iterate(G, e, np.zeros((16, 2)), 1e-10, 300)
    return counted.states if found.converged else None, counted.calls
