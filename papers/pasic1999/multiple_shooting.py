"""Multiple shooting (sections 4.4 and 5): Newton's method, and J, equation (17), as Schur complement.

Multiple shooting has values and slopes of all n + 1 edges as unknowns, and asks for continuity of
both.  Eliminating every slope by the row that says where its subdomain ends leaves the rows that
compare slopes, in the interface values alone: equation (17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from ..item import Progress, Results, above, each, printed, value
from ..measures import Floats, apart
from .arm import PAPER, Pair
from .collocation import FAR, Acceleration, at_end, iterate, ivp_map
from .matching import LONGER, Matching, newton, straight
from .references import integrate, reached

DIFFERENCE, EPS, MOST = 1e-6, 1e-15, 200
SETTLED, TRIES, SMALLEST = 1e-9, 60, 1e-5  # norm, iterations and share of Newton's method
OWN = 1e-2  # [rad/s] of Theta'(0) up to which a solution is the initial value problem's
S = 3  # Gauss points


def without_slopes(J: Floats, N: int) -> Floats:
    """(N (n - 1)) square: what is left when end values and all slopes are eliminated."""
    n = len(J) // (2 * N) - 1
    edge, part = np.divmod(np.arange(len(J)), 2 * N)
    inner = (part < N) & (edge > 0) & (edge < n)  # unknowns: values at the interfaces
    row = np.arange(len(J)) - N
    slopes = (row >= 0) & (row < 2 * N * n) & (row % (2 * N) >= N) & (row // (2 * N) < n - 1)
    first, last = J[~slopes], J[slopes]
    return last[:, inner] - last[:, ~inner] @ np.linalg.solve(first[:, ~inner], first[:, inner])


@dataclass(frozen=True)
class Shot:
    """What Newton's method did."""

    y: Floats | None  # (n + 1, 2 N) q and qd at the edges; None where it failed
    norms: list[float]  # of the residual, before each step and after the last


@dataclass(frozen=True)
class Shooting:
    """q(edges[0]) = a, q(edges[-1]) = b, by initial value problems on the subdomains.

    The subdomains are integrated side by side, by collocation on ``s`` Gauss points, or, where s is
    0, by Runge and Kutta's method of order four.
    """

    acceleration: Acceleration
    edges: Floats  # (n + 1,) equal steps [s]
    a: Floats  # (N,)
    b: Floats  # (N,)
    step: float = 0.0  # of Runge and Kutta's integration, at most [s]
    s: int = 0

    @property
    def line(self) -> Floats:
        """(n + 1, 2 N) the straight line from a to b, and its slope."""
        share = np.linspace(0.0, 1.0, len(self.edges))[:, None]
        slope = (self.b - self.a) / (self.edges[-1] - self.edges[0])
        q = self.a + share * (self.b - self.a)
        return np.hstack([q, np.broadcast_to(slope, q.shape)])

    def ends(self, y: Floats) -> Floats:
        """(n, 2 N) where the subdomains end that begin in y (n, 2 N)."""
        N, length = len(self.a), float(self.edges[1] - self.edges[0])
        if self.s:
            q, qd = y[:, :N], y[:, N:]
            G = ivp_map(self.acceleration, self.edges[:-1], length, q, qd, self.s)
            found = iterate(G, length, np.zeros((len(q), self.s, N)), EPS, MOST)
            return np.hstack(at_end(length, q, qd, found.F))
        count = int(np.ceil(length / self.step - 1e-9))
        h, t = length / count, self.edges[:-1].copy()

        def slope(t: Floats, y: Floats) -> Floats:
            return np.hstack([y[:, N:], self.acceleration(t, y[:, :N], y[:, N:])])

        with np.errstate(all="ignore"):  # a state that has run away is told by its residual
            for _ in range(count):
                one = slope(t, y)
                two = slope(t + h / 2, y + h / 2 * one)
                three = slope(t + h / 2, y + h / 2 * two)
                four = slope(t + h, y + h * three)
                y, t = y + h / 6 * (one + 2 * two + 2 * three + four), t + h
        return y

    def residual(self, y: Floats) -> Floats:
        """(2 N (n + 1),) q_0 - a; the subdomains' ends minus the edges; q_n - b."""
        N = len(self.a)
        jumps = self.ends(y[:-1]) - y[1:]
        return np.concatenate([y[0, :N] - self.a, jumps.ravel(), y[-1, :N] - self.b])

    def jacobian(self, y: Floats) -> sp.csc_array:
        """Block bidiagonal, between the boundary rows; the subdomains' parts by differences."""
        N, n = len(self.a), len(self.edges) - 1
        own = np.empty((n, 2 * N, 2 * N))
        for k in range(2 * N):
            change = np.zeros(2 * N)
            change[k] = DIFFERENCE
            high, low = (self.ends(y[:-1] + d) for d in (change, -change))
            own[:, :, k] = (high - low) / (2.0 * DIFFERENCE)
        first = sp.eye_array(N, 2 * N * (n + 1))
        last = sp.eye_array(N, 2 * N * (n + 1), k=2 * N * n)
        left = sp.hstack([sp.block_diag(list(map(sp.coo_array, own))), sp.csc_array((2 * N * n, 2 * N))])
        right = sp.eye_array(2 * N * n, 2 * N * (n + 1), k=2 * N)
        return sp.vstack([first, left - right, last]).tocsc()

    def newton(self, y: Floats | None = None) -> Shot:
        """From a guess, or the line; a step is halved until the residual's norm falls."""
        y = self.line if y is None else y
        left, norms = self.residual(y), []
        for _ in range(TRIES):
            norms.append(float(np.linalg.norm(left)))
            if norms[-1] <= SETTLED:
                return Shot(y, norms)
            if not norms[-1] <= FAR:
                break
            step = spla.spsolve(self.jacobian(y), left).reshape(y.shape)
            share = 1.0
            while share >= SMALLEST:
                moved = y - share * step
                after = self.residual(moved)
                if np.linalg.norm(after) < (1.0 - share / 4.0) * norms[-1]:
                    break
                share /= 2.0
            else:
                break
            y, left = moved, after
        return Shot(None, norms)


def equation17(progress: Progress, *, order: str = "abm") -> Results:
    """Equation (17): the matching matrix is multiple shooting's, its slopes eliminated: half the size.

    At the initial value problem's solution on [0, 1].
    """
    ours, zero, n = PAPER.accelerations(order), np.zeros(2), printed("pasic1999")["figure6"]["subdomains"]
    progress("scipy, equation (20)")
    exact = integrate(PAPER.closed_form, 1.0, zero, zero)
    edges = np.linspace(0.0, 1.0, n + 1)
    values, problem = exact.sol(edges)[:2].T, Matching(ours, edges, S)
    local = problem.solve(values)
    dense = problem.jacobian(values, local).toarray()
    progress("multiple shooting")
    y = np.hstack([values, np.concatenate([local.left, local.right[-1:]])])
    long = Shooting(ours, edges, y[0, :2], y[-1, :2], s=S).jacobian(y).toarray()
    size = len(dense), len(long)
    yield value("size", list(size), size == (2 * (n - 1), 4 * (n + 1)))
    # rows of multiple shooting are left minus right derivatives, phi is right minus left
    yield value("half", apart(-without_slopes(long, 2), dense))


def multiple(
    progress: Progress,
    *,
    ends: Pair = (1.0, 1.5, LONGER),
    subdomains: tuple[int, ...] = (10, 15, 20, 30, 40),
    step: float = 0.005,
    order: str = "abm",
) -> Results:
    """Sections 4.4 and 5: multiple shooting and the new method, damped, from the straight line.

    The paper's shooting solves [0, 1] and diverges beyond.  Neither its guess nor its damping is
    printed.  Here both methods start from the straight line, and a step of Newton's is halved until the
    residual falls.  The paper has 20 subdomains, and here ``subdomains`` on [0, 2]; ``step`` [s] is that of
    Runge-Kutta.
    """
    above("s", ends=ends, step=step)
    each("subdomains", subdomains, 3)
    ours, zero = PAPER.accelerations(order), np.zeros(2)
    said = printed("pasic1999")["figure6"]

    def matched(e: float, n: int, b: Floats) -> tuple[str, bool]:
        progress(f"[0, {e:g}], {n} subdomains")
        found = newton(Matching(ours, np.linspace(0.0, e, n + 1), S), straight(zero, b, n), 60, damped=True)
        slope = found.local.left[0] if found.converged and found.local is not None else None
        return _told(slope, len(found.norms))

    for e in ends:
        progress(f"[0, {e:g}], multiple shooting")
        n, b = said["subdomains"], reached(PAPER.closed_form, e, zero, zero)
        shot = Shooting(ours, np.linspace(0.0, e, n + 1), zero, b, step).newton()
        told, own = _told(None if shot.y is None else shot.y[0, 2:], len(shot.norms))
        if e <= said["end"]:
            yield value("shooting", told, own, e=f"{e:g}", n=n)
            told, own = matched(e, n, b)
            yield value("new", told, own, e=f"{e:g}", n=n)
        else:
            yield value("shooting_longer", told, shot.y is None, e=f"{e:g}", n=n)
        if e == LONGER:
            tries = [matched(e, n, b)[0] for n in subdomains]
            told = "; ".join(f"{n}: {one}" for n, one in zip(subdomains, tries, strict=True))
            yield value("new_longer", told, all(one.startswith("fails") for one in tries), e=f"{e:g}")


def _told(slope: Floats | None, count: int) -> tuple[str, bool]:
    """What became of a try, by its Theta'(0), and whether it is the initial value problem's."""
    if slope is None:
        return f"fails after {count}", False
    own = bool(np.max(np.abs(slope)) < OWN)
    which = "the IVP's" if own else "another solution"
    return f"{which} in {count}", own
