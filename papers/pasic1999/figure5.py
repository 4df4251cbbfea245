"""Figure 5: boundary value problems on one domain; two solutions on [0, 0.35], none from 0.4 on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..paper import Progress, printed
from ..row import Value, value
from ..settings import above
from .arm import PAPER, Arm, Floats, Pair, boundary
from .branches import Point, Problem, crossing
from .collocation import Path, along, bvp_map, iterate, slope
from .references import boundary_value, conjugate_points, integrate, reached

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
FOLD, CROSS, SWING = "turns", "cross", "swings"  # what happens at a length
CHAIN = 0.2, 0.48, 56  # lengths over which branches are followed, and steps


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
    branches: dict[str, list[Point]]
    conjugate: float  # the first conjugate point, by scipy
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
    exact = integrate(closed, max(*ends, *scan, CHAIN[1]), zero, zero)
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
        return Found(own, s, solved, [], {}, np.nan, from_guesses, exact)
    lengths = []
    for e in scan:
        progress(f"[0, {e}]")
        b = exact.sol(e)[:2]
        found = iterate(bvp_map(ours, np.zeros(()), e, zero, b, s), e, np.zeros((s, 2)), EPS, MOST)
        lengths.append((e, found.converged, slope(e, zero, b, found.F)))
    progress("branches")
    problem = Problem(ours, zero, lambda e: exact.sol(e)[:2])
    branches = followed(problem, min(s, 20)) if own else {}
    points = conjugate_points(closed, CHAIN[1], zero, zero) if own else np.array([])
    return Found(
        own, s, solved, lengths, branches, float(points[0]) if len(points) else np.nan, from_guesses, exact
    )


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


def followed(problem: Problem, s: int) -> dict[str, list[Point]]:
    """The initial value problem's solution, and the one that crosses it, as e grows."""
    low, high, steps = CHAIN
    zero = np.zeros((s, 2))
    fixed = {e: iterate(problem.map(e, s), e, zero, EPS, MOST) for e in (low, 0.35)}
    one, two = (problem.at_length(e, found.F) for e, found in fixed.items())
    branches: dict[str, list[Point]] = {}
    if one is not None:
        branches["IVP's solution"] = problem.follow_length(one, np.linspace(low, high, steps + 1)[1:])
    if two is not None:
        sigma = float(two.slope[-1])
        down = problem.follow_slope(
            two, np.append(np.arange(np.ceil(sigma), -0.5), (-0.4, 0.4, 1.2, 2.0, 3.0, 4.0))
        )
        up = problem.follow_slope(two, sigma - np.linspace(0.15, 2.85, 19))
        up += problem.follow_length(up[-1], np.arange(up[-1].e + 0.01, high, 0.01))[1:]
        branches["other solution"] = down[::-1] + up[1:]
    return branches


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
    if not found.branches:
        return
    at = marks(found.branches)
    cross, swings = at.get(CROSS), at.get(SWING)
    near = cross is not None and abs(cross - found.conjugate) <= 1e-3
    yield value("conjugate", [cross, found.conjugate], near)
    yield value("turns", at.get(FOLD))
    yield value("swings", swings)
    between = swings is not None and all(
        (e < swings) == ok for e, ok, _ in found.scan if abs(e - swings) > 2e-3
    )
    yield value("fails", between, between)


def marks(branches: dict[str, list[Point]]) -> dict[str, float]:
    """Lengths at which something happens to a solution."""
    ivp, other = branches.get("IVP's solution", []), branches.get("other solution", [])
    lengths = {FOLD: crossing(other[::-1], 1.0), CROSS: crossing(ivp, 1.0), SWING: crossing(other, -1.0)}
    return {name: e for name, e in lengths.items() if e is not None}


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import branches, two_solutions

    last = found.solved[-1]
    result = {"figure5": two_solutions(last.path, found.exact, style)} if last.converged else {}
    if found.branches:
        result["branches"] = branches(found.branches, found.scan, marks(found.branches), style)
    return result
