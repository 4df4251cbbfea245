"""Figure 5: boundary value problems on one domain; two solutions on [0, 0.35], none from 0.4 on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..item import Progress, printed
from ..row import Value, value
from ..settings import above
from .arm import PAPER, Arm, Floats, Pair, boundary
from .collocation import Path, along, bvp_map, iterate, slope
from .references import boundary_value, integrate, reached

# [s] lengths of the domain
SCAN = (
    0.2,
    0.25,
    0.29,
    0.3,
    0.305,
    0.31,
    0.315,
    0.32,
    0.33,
    0.34,
    0.35,
    0.36,
    0.37,
    0.38,
    0.39,
    0.395,
    0.4,
    0.405,
    0.41,
    0.42,
)
EPS, MOST = 1e-13, 3000  # of the iteration
ANOTHER = 0.1  # [rad/s] of Theta'(0), from which a solution is not the initial value problem's
SECOND = 0.35  # [s], the domain of the second solution


@dataclass(frozen=True)
class Solved:
    """One boundary value problem, by fixed-point iteration from the straight line."""

    e: float
    b: Floats  # Theta(e)
    said: bool  # b in the paper's four decimals
    converged: bool
    iterations: int
    rate: float  # by how much the last changes shrink
    slope: Floats  # Theta'(0)
    missed: float  # |Theta(e) - b| of scipy's integration from that slope [rad]
    apart: float  # largest distance from the initial value problem's solution [rad]
    scipy: Floats | None  # Theta'(0) by solve_bvp
    path: Path


@dataclass(frozen=True)
class Found:
    paper: bool
    s: int
    solved: list[Solved]
    scan: list[tuple[float, bool, Floats]]  # length, converged, Theta'(0)
    guesses: dict[float, list[str]]  # length -> solutions from random guesses
    exact: Any  # scipy's solution of the initial value problem


def measure(
    progress: Progress,
    *,
    ends: Pair = (0.3, 0.35),
    s: int = 32,
    target: Pair = (),
    scan: Pair = SCAN,
    guesses: int = 30,
    push: float = 100.0,
    seed: int = 0,
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """Theta(0) = 0 and Theta(e) from the IVP, or ``target``, for every e; then all lengths.

    ``guesses`` are parabolas between the boundary values, their second derivative drawn from a
    normal distribution of ``push`` [rad/s^2].
    """
    above("s", ends=ends, scan=scan)
    boundary("figure5", target)
    ours = arm.accelerations(order)
    closed = arm.closed_form
    zero = np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, max(*ends, *scan), zero, zero)
    own = arm.papers and not target
    solved = []
    for e in ends:
        progress(f"[0, {e}]")
        b = np.array(target) if target else reached(closed, e, zero, zero)
        solved.append(solve(ours, closed, e, b, s, exact))
        values = dict(zip(*(printed("pasic1999")["figure4"][k] for k in ("at", "Theta")), strict=True))
        if own and e in values:
            short = np.array(values[e], dtype=float)
            solved.append(solve(ours, closed, e, short, s, exact, said=True))
    from_guesses = {
        one.e: guessed(ours, one, s, push * np.random.default_rng(seed).normal(size=(guesses, 2)))
        for one in solved
        if not one.said
    }
    if target:
        return Found(own, s, solved, [], from_guesses, exact)
    lengths = []
    for e in scan:
        progress(f"[0, {e}]")
        b = exact.sol(e)[:2]
        found = iterate(bvp_map(ours, np.zeros(()), e, zero, b, s), e, np.zeros((s, 2)), EPS, MOST)
        lengths.append((e, found.converged, slope(e, zero, b, found.F)))
    return Found(own, s, solved, lengths, from_guesses, exact)


def guessed(ours: Any, one: Solved, s: int, pushes: Floats) -> list[str]:
    """Where the iteration leads from parabolas: Theta'(0) in two decimals, or that it diverges."""
    G, found = bvp_map(ours, np.zeros(()), one.e, np.zeros(2), one.b, s), []
    for push in pushes:
        fixed = iterate(G, one.e, np.broadcast_to(push, (s, 2)).copy(), EPS, MOST)
        first = slope(one.e, np.zeros(2), one.b, fixed.F)
        shown = ", ".join(f"{x:z.2f}" for x in first)
        found.append(f"({shown})" if fixed.converged else "diverges")
    return found


def solve(ours: Any, closed: Any, e: float, b: Floats, s: int, exact: Any, said: bool = False) -> Solved:
    """The iteration (7c) on [0, e], and what scipy says of its solution."""
    zero = np.zeros(2)
    found = iterate(bvp_map(ours, np.zeros(()), e, zero, b, s), e, np.zeros((s, 2)), EPS, MOST)
    a1 = slope(e, zero, b, found.F)
    x = np.linspace(0.0, 1.0, 201)
    y, yd = along(x, s, e, zero, a1, found.F)
    path = Path(
        np.array([0.0, e]), np.stack([zero, b]), np.stack([a1, yd[-1]]), found.F[None], [found.changes]
    )
    last = found.changes[-9:]
    rate = (last[-1] / last[0]) ** (1.0 / max(len(last) - 1, 1)) if found.converged else np.nan
    missed, scipy = np.inf, None
    if found.converged:
        missed = float(np.max(np.abs(reached(closed, e, zero, a1) - b)))
        other = boundary_value(closed, zero, b, e * x, np.hstack([y, yd]))
        scipy = other.sol(0.0)[2:] if other.success else None
    apart = float(np.max(np.abs(y - exact.sol(e * x)[:2].T)))
    return Solved(e, b, said, found.converged, len(found.changes), rate, a1, missed, apart, scipy, path)


def values(found: Found) -> Iterator[Value]:
    for one in found.solved:
        yield from _solved(one, found)
    for e, ends in found.guesses.items():
        counts = {end: ends.count(end) for end in sorted(set(ends))}
        shown = "; ".join(f"{count} to {end}" for end, count in counts.items())
        words = {"e": f"{e:g}", "count": len(ends)}
        if found.paper:
            several = f"[0, {e:g}]: more solutions than one attract the iteration"
            one_only = len(counts) == 1 and "diverges" not in counts
            yield value("guesses", shown, one_only, why=several if len(counts) > 1 else "", **words)
        else:
            yield value("guesses_other", shown, **words)
    if found.scan:
        yield from _lengths(found)


def _solved(one: Solved, found: Found) -> Iterator[Value]:
    name = f"[0, {one.e:g}]" + (", four decimals" if one.said else "")
    if not one.converged:
        yield value("slope", "does not converge", name=name, why="")
        return
    slopes = [f"{x:z.8f}" for x in one.slope]
    if found.paper and one.e == 0.3:
        # four decimals of Theta(0.3) leave 5e-5 open, which the problem magnifies
        yield value("same", one.apart, name=name, near=f"{1e-3 if one.said else 1e-10:g}")
    elif found.paper and one.e == SECOND:
        yield value("another", slopes, bool(np.max(np.abs(one.slope)) >= ANOTHER), name=name)
    yield value("slope", slopes, name=name, count=one.iterations, rate=f"{one.rate:.3f}")
    yield value("miss", one.missed, name=name)
    apart = None if one.scipy is None else float(np.max(np.abs(one.scipy - one.slope)))
    yield value("scipy", "fails" if apart is None else apart, apart is not None and apart <= 1e-6, name=name)


def _lengths(found: Found) -> Iterator[Value]:
    failing = [e for e, converged, _ in found.scan if not converged]
    beyond = [e for e, _, _ in found.scan if e > SECOND]
    share = f"{sum(e > SECOND for e in failing)} of {len(beyond)}, the first {min(failing, default=None)}"
    known = found.paper and beyond
    yield value("longer" if known else "longer_other", share, bool(beyond) and min(beyond) in failing)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import two_solutions

    last = found.solved[-1]
    return {"figure5": two_solutions(last.path, found.exact, style)} if last.converged else {}
