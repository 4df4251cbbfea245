"""Figure 6: boundary value problems on 20 subdomains, matched; another solution on [0, 1.5]."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..item import Progress, Results, above, between, picture, printed, value
from ..measures import Floats
from .arm import PAPER, Pair
from .collocation import Path
from .matching import Local, LocalFailure, Matching, newton, straight
from .references import boundary_value, conjugate_points, integrate, reached

REFINED = 4  # times as many subdomains, from the solution found
CLOSE = 1e-3  # [s], of a conjugate point
PIECES = 8  # subdomains of Figure 1
LONGER = 2.0  # [s], beyond what the paper could solve
OTHER = "other settings than the paper's"


def measure(
    progress: Progress,
    *,
    ends: Pair = (1.0, 1.5),
    subdomains: int = 20,
    s: int = 3,
    plus: float = 0.01,
    order: str = "abm",
) -> Results:
    """From the initial value problem's solution ``plus`` a share."""
    between("subdomains", subdomains, 3)
    above("s", ends=ends)
    ours, closed, zero = PAPER.accelerations(order), PAPER.closed_form, np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, max(*ends, LONGER), zero, zero)
    own = (subdomains, s, plus, ends) == (20, 3, 0.01, (1.0, 1.5))
    wanted = dict.fromkeys(ends, subdomains) | ({LONGER: 2 * subdomains} if own else {})
    paths: list[tuple[float, Path]] = []
    for e, n in wanted.items():
        b, edges = reached(closed, e, zero, zero), np.linspace(0.0, e, n + 1)
        near = exact.sol(edges)[:2].T * (1.0 + plus)
        near[-1] = b
        case = f"[0, {e:g}] from IVP + {100 * plus:g} %"
        progress(case)
        found = newton(Matching(ours, edges, s), near)
        norms = " ".join(f"{x:.1e}" for x in found.norms)
        told = f"{len(found.norms)}: {norms}" if found.converged else found.why
        if e in (1.0, LONGER):
            name, none = ("iterations_longer", None) if e == LONGER else ("iterations", "" if own else OTHER)
            words = {"case": case, "e": f"{e:g}", "n": n} | ({} if none is None else {"none": none})
            yield value(name, told, found.converged and len(found.norms) <= 4, **words)
        if found.converged:
            paths.append((e, found.path(edges)))
            yield from _solution(ours, closed, exact, found.path(edges), case, own)
    progress("conjugate points")
    points = conjugate_points(closed, max(ends) + 0.1, zero, zero)
    gaps = {e: abs(e - c) for e in sorted(wanted) for c in points if abs(e - c) < CLOSE}
    ending = [f"[0, {e:g}] ends {gap:.1e} s from a conjugate point" for e, gap in gaps.items()]
    why = "; ".join([*ending, "there two solutions cross"]) if ending else ""
    yield value("conjugate", [f"{x:.4f}" for x in points], why=why)
    solved = [path for e, path in paths if e <= 1.0]
    pieces = _pieces(ours, solved[0].t[-1], solved[0].q[-1], s) if solved else None
    if pieces:
        yield picture("figure1", "partition", *pieces, s, solved[0])
    other = [path for e, path in paths if e != LONGER]
    if other:
        yield picture("figure6", "two_solutions", other[-1], exact)


def _pieces(ours: Any, e: float, b: Floats, s: int) -> tuple[Floats, Local, Floats] | None:
    """Edges, subdomains from the straight line, and the values between them, of Figure 1."""
    edges, values = np.linspace(0.0, e, PIECES + 1), straight(np.zeros(2), b, PIECES)
    try:
        return edges, Matching(ours, edges, s).solve(values), values
    except LocalFailure:
        return None


def _solution(ours: Any, closed: Any, exact: Any, path: Path, case: str, own: bool) -> Results:
    """Rows of a solution, and of the same on REFINED times as many subdomains."""

    def distance(path: Path) -> float:
        """The largest from the initial value problem's solution at the edges [rad]."""
        return float(np.max(np.abs(path.q - exact.sol(path.t)[:2].T)))

    e, b, zero = float(path.t[-1]), path.q[-1], np.zeros(2)
    t, y = path.fine(REFINED)
    better = newton(Matching(ours, t, path.F.shape[1]), y)
    missed = scipy = finer = np.nan
    if better.converged:
        fine = better.path(t)
        first, finer = fine.qd[0], distance(fine)
        missed = float(np.max(np.abs(reached(closed, e, zero, first) - b)))
        other = boundary_value(closed, zero, b, t, np.hstack([fine.q, fine.qd]))
        scipy = float(np.max(np.abs(other.sol(0.0)[2:] - first))) if other.success else np.nan
    apart, said = distance(path), printed("pasic1999")["figure6"]
    distances = f"{apart:.1e}, refined {finer:.1e}"
    if own and e == said["end"]:
        yield value("same", distances, apart <= 1e-3 and finer <= 1e-7, case=case)
    elif own and e == said["beyond"]:
        yield value("different", distances, apart >= 0.1 and finer >= 0.1, case=case)
    yield value("miss", missed, case=case)
    yield value("scipy", scipy, case=case)
