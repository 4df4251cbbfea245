"""Section 3.2: subdomains solved side by side, and their slopes matched by Newton's method.

Unknown are the values s_1 .. s_{n-1} at the interfaces.  For given values the n boundary value
problems (9) are independent: one batch.  phi (10) is the jump of the slope at each interface, its
Jacobian (17) block tridiagonal, so that three colours of interfaces, N columns each, give all of it
by differences (14) whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pivotree import kkt

from ..item import Progress, Results, picture, printed, value
from ..measures import Floats
from .arm import PAPER
from .collocation import Acceleration, Path, at_end, bvp_map, iterate, slope
from .references import conjugate_points, integrate, reached

EPS_1, MOST_1 = 1e-13, 500  # of the iteration (8) in a subdomain
EPS_2 = 1e-9  # norm of phi [rad/s], (19)
DIFFERENCE = 1e-6  # of an interface value [rad]
COLOURS = 3
SMALLEST = 1e-4  # share of a step of Newton's method, where it is damped

# of Figure 6
REFINED = 4  # times as many subdomains, from the solution found
CLOSE = 1e-3  # [s], of a conjugate point
LONGER = 2.0  # [s], beyond what the paper could solve
SHARE = 0.01  # by which the guess is off


class LocalFailure(Exception):
    """The fixed-point iteration of a subdomain did not converge."""


@dataclass(frozen=True)
class Local:
    """All subdomains solved for given interface values."""

    F: Floats  # (n, s, N)
    left: Floats  # (n, N) slope at the left end of each
    right: Floats  # (n, N) at its right end
    iterations: int

    @property
    def phi(self) -> Floats:
        """(n - 1, N) right derivative minus left derivative at each interface, (10)."""
        return self.left[1:] - self.right[:-1]


@dataclass(frozen=True)
class Matching:
    """A boundary value problem on subdomains: Theta(edges[0]), Theta(edges[-1]) given."""

    acceleration: Acceleration
    edges: Floats  # (n + 1,) equal steps
    s: int  # Gauss points in each subdomain

    def solve(self, values: Floats, F: Floats | None = None) -> Local:
        """The n problems (9) for Theta (n + 1, N) at the edges.  Raises LocalFailure."""
        e = float(self.edges[1] - self.edges[0])
        a, b = values[:-1], values[1:]
        G = bvp_map(self.acceleration, self.edges[:-1], e, a, b, self.s)
        start = np.zeros((len(a), self.s, values.shape[1])) if F is None else F
        found = iterate(G, e, start, EPS_1 * np.max(np.abs(values), initial=1.0), MOST_1)
        if not found.converged:
            raise LocalFailure
        left = slope(e, a, b, found.F)
        return Local(found.F, left, at_end(e, a, left, found.F)[1], len(found.changes))

    def jacobian(self, values: Floats, at: Local) -> sp.csc_array:
        """d phi / d s (17), N (n - 1) square, block tridiagonal.

        By central differences, every third interface at once.
        """
        n, N = len(values) - 1, values.shape[1]
        J = sp.lil_array((N * (n - 1), N * (n - 1)))
        for colour, k in product(range(COLOURS), range(N)):
            moved = np.arange(1 + colour, n, COLOURS)  # interfaces
            change = np.zeros_like(values)
            change[moved, k] = DIFFERENCE
            high, low = (self.solve(values + d, at.F).phi for d in (change, -change))
            column = (high - low) / (2.0 * DIFFERENCE)  # (n - 1, N), interface i in row i - 1
            for i in moved:
                first, last = max(i - 2, 0), min(i + 1, n - 1)  # rows of it and of its neighbours
                J[N * first : N * last, N * (i - 1) + k] = column[first:last].ravel()
        return J.tocsc()


def solved(J: sp.csc_array, r: Floats) -> Floats:
    """J^-1 r (n - 1, N), by scipy's sparse LU.  Raises SingularError."""
    try:
        return splu(J).solve(r.ravel()).reshape(r.shape)
    except RuntimeError:
        raise kkt.SingularError(
            "matching matrix", "is singular", "use another number of subdomains"
        ) from None


@dataclass(frozen=True)
class Matched:
    """What Newton's method (12) did."""

    values: Floats  # (n + 1, N) Theta at the edges
    norms: list[float]  # of phi, before each correction and after the last
    converged: bool
    why: str  # of what did not converge
    local: Local | None

    def path(self, edges: Floats) -> Path:
        assert self.local is not None
        slopes = np.concatenate([self.local.left, self.local.right[-1:]])
        return Path(edges, self.values, slopes, self.local.F)


def newton(problem: Matching, guess: Floats, most: int = 30, damped: bool = False) -> Matched:
    """(12) from a guess (n + 1, N) with the boundary values in its first and last row.

    Where it is damped, a step is halved until every subdomain converges and |phi| falls.
    """
    values = guess.copy()
    norms: list[float] = []
    local: Local | None = None
    try:
        local = problem.solve(values, None)
    except LocalFailure:
        return Matched(values, norms, False, "a subdomain's iteration diverges", local)
    for _ in range(most):
        norms.append(float(np.max(np.abs(local.phi))))
        if norms[-1] <= EPS_2:
            return Matched(values, norms, True, "", local)
        try:
            step = solved(problem.jacobian(values, local), local.phi)
            values, local = _moved(problem, values, local, step, damped)
        except LocalFailure:
            why = "no step lessens |phi|" if damped else "a subdomain's iteration diverges"
            return Matched(values, norms, False, why, local)
        except kkt.SingularError as error:
            return Matched(values, norms, False, str(error), local)
    return Matched(values, norms, False, f"{most} iterations", local)


def _moved(
    problem: Matching, values: Floats, local: Local, step: Floats, damped: bool
) -> tuple[Floats, Local]:
    """Values after a step of Newton's method, and their subdomains.  Raises LocalFailure."""
    size = float(np.linalg.norm(local.phi))
    share = 1.0
    while share >= (SMALLEST if damped else 1.0):
        moved = values.copy()
        moved[1:-1] -= share * step
        try:
            found = problem.solve(moved, None)
            if not damped or np.linalg.norm(found.phi) < (1.0 - share / 4.0) * size:
                return moved, found
        except LocalFailure:
            pass
        share /= 2.0
    raise LocalFailure


def straight(a: Floats, b: Floats, n: int) -> Floats:
    """(n + 1, N) values on the line from a to b."""
    return a + np.linspace(0.0, 1.0, n + 1)[:, None] * (b - a)


def figure6(progress: Progress, *, order: str = "abm") -> Results:
    """Figure 6: boundary value problems on 20 subdomains, matched; another solution on [0, 1.5].

    From the initial value problem's solution plus a share.
    """
    said = printed("pasic1999")["figure6"]
    wanted = {said["end"]: said["subdomains"], said["beyond"]: said["subdomains"]}
    wanted |= {LONGER: 2 * said["subdomains"]}
    ours, closed, zero = PAPER.accelerations(order), PAPER.closed_form, np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, LONGER, zero, zero)
    drawn = None
    for e, n in wanted.items():
        b, edges = reached(closed, e, zero, zero), np.linspace(0.0, e, n + 1)
        near = exact.sol(edges)[:2].T * (1.0 + SHARE)
        near[-1] = b
        case = f"[0, {e:g}] from IVP + {100 * SHARE:g} %"
        progress(case)
        found = newton(Matching(ours, edges, said["points"]), near)
        norms = " ".join(f"{x:.1e}" for x in found.norms)
        told = f"{len(found.norms)}: {norms}" if found.converged else found.why
        if e != said["beyond"]:
            name, words = "iterations_longer" if e == LONGER else "iterations", {"e": f"{e:g}", "n": n}
            yield value(name, told, found.converged and len(found.norms) <= 4, case=case, **words)
        if found.converged:
            drawn = drawn if e == LONGER else found.path(edges)
            yield from _solution(ours, closed, exact, found.path(edges), case)
    progress("conjugate points")
    points = conjugate_points(closed, said["beyond"] + 0.1, zero, zero)
    gaps = {e: abs(e - c) for e in wanted for c in points if abs(e - c) < CLOSE}
    ending = [f"[0, {e:g}] ends {gap:.1e} s from a conjugate point" for e, gap in gaps.items()]
    why = "; ".join([*ending, "there two solutions cross"]) if ending else ""
    yield value("conjugate", [f"{x:.4f}" for x in points], why=why)
    if drawn is not None:
        yield picture("figure6", "two_solutions", drawn, exact)


def _solution(ours: Any, closed: Any, exact: Any, path: Path, case: str) -> Results:
    """Rows of a solution, and of the same on REFINED times as many subdomains."""

    def distance(path: Path) -> float:
        """The largest from the initial value problem's solution at the edges [rad]."""
        return float(np.max(np.abs(path.q - exact.sol(path.t)[:2].T)))

    e, b, zero = float(path.t[-1]), path.q[-1], np.zeros(2)
    t, y = path.fine(REFINED)
    better = newton(Matching(ours, t, path.F.shape[1]), y)
    missed = finer = np.nan
    if better.converged:
        fine = better.path(t)
        finer = distance(fine)
        missed = float(np.max(np.abs(reached(closed, e, zero, fine.qd[0]) - b)))
    apart, said = distance(path), printed("pasic1999")["figure6"]
    distances = f"{apart:.1e}, refined {finer:.1e}"
    if e == said["end"]:
        yield value("same", distances, apart <= 1e-3 and finer <= 1e-7, case=case)
    elif e == said["beyond"]:
        yield value("different", distances, apart >= 0.1 and finer >= 0.1, case=case)
    yield value("miss", missed, case=case)
