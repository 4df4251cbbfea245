"""Figure 5: boundary value problems on one domain; two solutions on [0, 0.35], none from 0.4 on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..item import Progress, Results, above, picture, printed, value
from ..measures import Floats
from .arm import PAPER, Pair
from .collocation import Fixed, Path, along, at_end, bvp_map, iterate, slope
from .references import boundary_value, integrate, reached

# [s] lengths of the domain
SHORT = (0.2, 0.25, 0.29, 0.3, 0.305, 0.31, 0.315, 0.32, 0.33, 0.34)
LONG = (0.35, 0.36, 0.37, 0.38, 0.39, 0.395, 0.4, 0.405, 0.41, 0.42)
EPS, MOST = 1e-13, 3000  # of the iteration
ANOTHER = 0.1  # [rad/s] of Theta'(0), from which a solution is not the initial value problem's
SECOND = 0.35  # [s], the domain of the second solution


def measure(
    progress: Progress,
    *,
    ends: Pair = (0.3, 0.35),
    s: int = 32,
    scan: Pair = SHORT + LONG,
    guesses: int = 30,
    push: float = 100.0,
    seed: int = 0,
    order: str = "abm",
) -> Results:
    """Theta(0) = 0 and Theta(e) from the initial value problem, for every e; then all lengths.

    ``guesses`` are parabolas between the boundary values, their second derivative drawn from a
    normal distribution of ``push`` [rad/s^2].
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
        pushes = push * np.random.default_rng(seed).normal(size=(guesses, 2))
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
    """Rows of one boundary value problem, and what scipy says of its solution."""
    e, b, first = float(path.t[-1]), path.q[-1], path.qd[0]
    name = f"[0, {e:g}]" + (", four decimals" if decimals else "")
    if not found.converged:
        yield value("miss", "does not converge", name=name, none="there is no slope")
        return
    x, zero = np.linspace(0.0, 1.0, 201), np.zeros(2)
    y, yd = along(x, len(found.F), e, zero, first, found.F)
    if e == 0.3:
        apart = float(np.max(np.abs(y - exact.sol(e * x)[:2].T)))
        # four decimals of Theta(0.3) leave 5e-5 open, which the problem magnifies
        yield value("same", apart, name=name, near=f"{1e-3 if decimals else 1e-10:g}")
    elif e == SECOND:
        slopes = [f"{x:z.8f}" for x in first]
        yield value("another", slopes, bool(np.max(np.abs(first)) >= ANOTHER), name=name)
    yield value("miss", float(np.max(np.abs(reached(closed, e, zero, first) - b))), name=name)
    other = boundary_value(closed, zero, b, e * x, np.hstack([y, yd]))
    off = float(np.max(np.abs(other.sol(0.0)[2:] - first))) if other.success else None
    yield value("scipy", "fails" if off is None else off, off is not None and off <= 1e-6, name=name)


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
