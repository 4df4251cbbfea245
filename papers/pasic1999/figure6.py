"""Figure 6: boundary value problems on 20 subdomains, matched; another solution on [0, 1.5]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..item import Progress, printed
from ..row import Value, value
from ..settings import above, between
from .arm import PAPER, Arm, Floats, Pair, boundary
from .collocation import Path
from .matching import Local, LocalFailure, Matched, Matching, newton, straight
from .references import boundary_value, conjugate_points, integrate, reached

REFINED = 4  # times as many subdomains, from the solution found
CLOSE = 1e-3  # [s], of a conjugate point
PIECES = 8  # subdomains of Figure 1
LONGER = 2.0  # [s], beyond what the paper could solve


@dataclass(frozen=True)
class Case:
    """[0, e] from one guess."""

    e: float
    guess: str
    n: int
    b: Floats
    matched: Matched
    path: Path | None  # None where Newton's method failed
    refined: Matched | None
    apart: float  # largest distance from the initial value problem's solution at the edges [rad]
    finer: float  # the same, refined
    missed: float  # |Theta(e) - b| of scipy's integration from the refined slope [rad]
    scipy: float  # largest difference of solve_bvp's Theta'(0)


@dataclass(frozen=True)
class Found:
    paper: bool
    s: int
    cases: list[Case]
    conjugate: Floats  # conjugate points of the initial value problem's solution
    exact: Any
    pieces: tuple[Floats, Local, Floats] | None  # edges, subdomains from the straight line, values


def measure(
    progress: Progress,
    *,
    ends: Pair = (1.0, 1.5),
    subdomains: int = 20,
    s: int = 3,
    plus: float = 0.01,
    target: Pair = (),
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """From the IVP's solution ``plus`` a share, and from the straight line."""
    between("subdomains", subdomains, 3)
    above("s", ends=ends)
    boundary("figure6", target)
    ours = arm.accelerations(order)
    closed = arm.closed_form
    zero = np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, max(*ends, LONGER), zero, zero)
    own = arm.papers and not target
    paper = own and (subdomains, s, plus, ends) == (20, 3, 0.01, (1.0, 1.5))
    wanted = [(e, subdomains) for e in ends] + ([(LONGER, 2 * subdomains)] if paper else [])
    cases, pieces = [], None
    for e, n in wanted:
        b = np.array(target) if target else reached(closed, e, zero, zero)
        edges = np.linspace(0.0, e, n + 1)
        near = exact.sol(edges)[:2].T * (1.0 + plus)
        near[-1] = b
        for name, guess in ((f"IVP + {100 * plus:g} %", near), ("straight line", straight(zero, b, n))):
            progress(f"[0, {e}], {name}")
            cases.append(_case(ours, closed, e, name, guess, s, exact))
    first = Matching(ours, np.linspace(0.0, ends[0], PIECES + 1), s)
    try:
        values = straight(zero, cases[0].b, PIECES)
        pieces = (first.edges, first.solve(values), values)
    except LocalFailure:
        pieces = None
    progress("conjugate points")
    points = conjugate_points(closed, max(ends) + 0.1, zero, zero)
    return Found(paper, s, cases, points, exact, pieces)


def _case(ours: Any, closed: Any, e: float, name: str, guess: Floats, s: int, exact: Any) -> Case:
    n, b = len(guess) - 1, guess[-1]

    def solved(edges: Floats, values: Floats) -> Matched:
        return newton(Matching(ours, edges, s), values)

    def distance(edges: Floats, found: Matched) -> float:
        return float(np.max(np.abs(found.values - exact.sol(edges)[:2].T)))

    edges = np.linspace(0.0, e, n + 1)
    found = solved(edges, guess)
    if not found.converged:
        return Case(e, name, n, b, found, None, None, np.nan, np.nan, np.nan, np.nan)
    path = found.path(edges)
    t, y = path.fine(REFINED)
    refined = solved(t, y)
    missed = scipy = finer = np.nan
    if refined.converged and refined.local is not None:
        slope = refined.local.left[0]
        finer = distance(t, refined)
        missed = float(np.max(np.abs(reached(closed, e, np.zeros(2), slope) - b)))
        better = refined.path(t)
        other = boundary_value(closed, np.zeros(2), b, t, np.hstack([better.q, better.qd]))
        scipy = float(np.max(np.abs(other.sol(0.0)[2:] - slope))) if other.success else np.nan
    return Case(e, name, n, b, found, path, refined, distance(edges, found), finer, missed, scipy)


def values(found: Found) -> Iterator[Value]:
    said = printed("pasic1999")["figure6"]
    for case in found.cases:
        name, norms = f"[0, {case.e:g}] from {case.guess}", [f"{x:.1e}" for x in case.matched.norms]
        if case.guess == "straight line":
            ours = "converges" if case.matched.converged else "does not converge"
            why = case.matched.why or "converges"
            yield value("undamped", ours, case=name, norms=" ".join(norms[:6]), reason=why)
            continue
        yield _iterations(case, name, norms, found.paper and case.e == said["end"])
        if case.path is not None:
            yield from _solution(case, name, found, said)
    ends = sorted({case.e for case in found.cases})
    close = [(e, abs(e - c)) for e in ends for c in found.conjugate if abs(e - c) < CLOSE]
    ending = [f"[0, {e:g}] ends {gap:.1e} s from a conjugate point" for e, gap in close]
    told = "; ".join([*ending, "there two solutions cross"]) if ending else ""
    yield value("conjugate", [f"{x:.4f}" for x in found.conjugate], why=told)


def _iterations(case: Case, name: str, norms: list[str], paper: bool) -> Value:
    ours = f"{len(norms)}: {' '.join(norms)}" if case.matched.converged else case.matched.why
    words = {"case": name, "e": f"{case.e:g}", "n": case.n}
    if paper:
        return value("iterations", ours, case.matched.converged and len(norms) <= 4, **words)
    return value("iterations_longer" if case.e == LONGER else "iterations_other", ours, **words)


def _solution(case: Case, name: str, found: Found, said: dict[str, Any]) -> Iterator[Value]:
    assert case.path is not None
    slope = [f"{x:z.5f}" for x in case.path.qd[0]]
    fine = [f"{x:z.7f}" for x in case.refined.local.left[0]] if case.refined and case.refined.local else None
    distances = f"{case.apart:.1e}, refined {case.finer:.1e}"
    if found.paper and case.e == said["end"]:
        yield value("same", distances, case.apart <= 1e-3 and case.finer <= 1e-7, case=name)
    elif found.paper and case.e == said["beyond"]:
        yield value("different", distances, case.apart >= 0.1 and case.finer >= 0.1, case=name)
    else:
        yield value("distance", distances, case=name)
    yield value("slope", [*slope, *(fine or [])], case=name)
    yield value("miss", case.missed, case=name)
    yield value("scipy", case.scipy, case=name)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import partition, two_solutions

    result: dict[str, Any] = {}
    solved = next((case for case in found.cases if case.path is not None and case.e <= 1.0), None)
    if found.pieces is not None and solved is not None and solved.path is not None:
        result["figure1"] = partition(*found.pieces, found.s, solved.path, style)
    other = [case for case in found.cases if case.path is not None and case.e != LONGER]
    if other and other[-1].path is not None:
        result["figure6"] = two_solutions(other[-1].path, found.exact, style)
    return result
