"""Section 3.2: matching "on the local level", all subdomains at once, beside Newton's method.

Reference [7] of the paper, which has the details, is not to be had.  Local is here: every other
interface is corrected by its own 2 x 2 block of J, its neighbours held, then those between; each
half is one parallel step.  That is the block Gauss-Seidel iteration, which converges to solutions
at which J is definite: to the initial value problem's up to the first conjugate point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..paper import Progress
from ..row import Value, value
from ..settings import above, between
from .arm import PAPER, Arm, Floats, Pair
from .matching import EPS_2, Local, LocalFailure, Matching, newton
from .references import conjugate_points, integrate, reached
from .tridiagonal import eliminate, order_of

MOST = 400  # sweeps
LOST = 1e3  # |phi| from which a sweep has run away


@dataclass(frozen=True)
class Swept:
    """One domain, matched locally and globally."""

    e: float
    n: int
    sweeps: int | None  # None where it diverges
    rate: float  # by how much |phi| shrinks in a sweep, measured over the last
    predicted: float  # spectral radius of the Gauss-Seidel matrix of J, at the solution found
    there: float  # the same at the solution of Newton's method
    newton: int  # iterations of Newton's method
    apart: float  # of the two solutions [rad]

    @property
    def same(self) -> bool:
        return self.sweeps is not None and self.apart <= 1e-7


@dataclass(frozen=True)
class Found:
    paper: bool
    swept: list[Swept]
    conjugate: float  # the first conjugate point [s]


def measure(
    progress: Progress,
    *,
    ends: Pair = (0.2, 0.3, 0.36),
    subdomains: int = 5,
    s: int = 6,
    arm: Arm = PAPER,
    order: str = "abm",
) -> Found:
    """Both from the initial value problem's solution plus 1 %, so that both find that one."""
    above("s", ends=ends)
    between("subdomains", subdomains, 3)
    zero = np.zeros(2)
    ours = arm.accelerations(order)
    exact = integrate(arm.closed_form, max(ends), zero, zero)
    swept = []
    for e in ends:
        progress(f"[0, {e:g}]")
        edges = np.linspace(0.0, e, subdomains + 1)
        guess = exact.sol(edges)[:2].T * 1.01
        guess[-1] = reached(arm.closed_form, e, zero, zero)
        swept.append(_both(Matching(ours, edges, s), e, guess))
    points = conjugate_points(arm.closed_form, max(*ends, 0.5), zero, zero)
    return Found(arm.papers, swept, float(points[0]) if len(points) else np.nan)


def _both(problem: Matching, e: float, guess: Floats) -> Swept:
    n = len(guess) - 1
    order = order_of("virtual_work", n - 1)
    whole = newton(problem, guess, lambda J, r: eliminate(J, r, order).x)
    predicted = there = np.nan
    if whole.converged and whole.local is not None:
        there = gauss_seidel(problem, whole.values, whole.local)
    values, norms = sweep(problem, guess)
    last = norms[-9:]
    rate = (last[-1] / last[0]) ** (1.0 / max(len(last) - 1, 1))
    done = norms[-1] <= EPS_2
    apart = np.nan
    if done:
        predicted = gauss_seidel(problem, values, problem.solve(values))
        apart = float(np.max(np.abs(values - whole.values))) if whole.converged else np.nan
    sweeps = len(norms) - 1 if done else None
    return Swept(e, n, sweeps, rate, predicted, there, len(whole.norms), apart)


def sweep(problem: Matching, guess: Floats) -> tuple[Floats, list[float]]:
    """Values (n + 1, N), and |phi| before each sweep and after the last."""
    values, norms = guess.copy(), []
    for _ in range(MOST):
        try:
            at = problem.solve(values)
            norms.append(float(np.max(np.abs(at.phi))))
            if norms[-1] <= EPS_2 or norms[-1] > LOST:
                break
            blocks = problem.jacobian(values, at).diagonal
            for half in (0, 1):
                own = np.arange(half, len(values) - 2, 2)  # interfaces, from 0
                step = np.linalg.solve(blocks[own], at.phi[own][..., None])[..., 0]
                values[own + 1] -= step
                at = problem.solve(values)
        except LocalFailure:
            norms.append(np.inf)
            break
    return values, norms


def gauss_seidel(problem: Matching, values: Floats, at: Local) -> float:
    """Spectral radius of the iteration, red interfaces before black ones."""
    J = problem.jacobian(values, at).sparse.toarray()
    N, size = values.shape[1], len(values) - 2
    red = np.concatenate([np.arange(0, size, 2), np.arange(1, size, 2)])
    turn = (red[:, None] * N + np.arange(N)).ravel()
    J = J[np.ix_(turn, turn)]
    block = np.repeat(np.arange(size), N)
    lower = np.where(block[:, None] >= block[None], J, 0.0)
    # what couples two of one colour is zero, so that this is block Gauss-Seidel
    radius = np.abs(np.linalg.eigvals(np.linalg.solve(lower, lower - J)))
    return float(radius.max())


def values(found: Found) -> Iterator[Value]:
    for one in found.swept:
        words = {"e": f"{one.e:g}", "n": one.n, "there": f"{one.there:.3f}"}
        ours = ["diverges" if one.sweeps is None else one.sweeps, one.newton]
        if one.sweeps is None or not one.same or not found.paper:
            other = "" if one.sweeps is None else f", for another, {one.apart:.2f} rad away"
            yield value("leaves", ours, other=other, **words)
        else:
            yield value("sweeps", ours, one.sweeps > one.newton, **words)
        if one.sweeps is not None:
            near = abs(one.rate / one.predicted - 1.0) <= 0.05
            yield value("rate", [one.rate, one.predicted], near, **words)
    before = [one.same == (one.e < found.conjugate) for one in found.swept]
    same = f"{sum(one.same for one in found.swept)} of {len(before)}"
    yield value("domains", same, all(before), conjugate=f"{found.conjugate:.3f}")
