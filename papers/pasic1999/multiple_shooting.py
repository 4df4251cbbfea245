"""Multiple shooting (sections 4.4 and 5): Newton's method, its matrix, and J as Schur complement.

Multiple shooting has values and slopes of all n + 1 edges as unknowns, and asks for continuity of
both.  Eliminating every slope by the row that says where its subdomain ends leaves the rows that
compare slopes, in the interface values alone: equation (17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from .collocation import FAR, Acceleration, at_end, iterate, ivp_map

Floats = NDArray[np.float64]
DIFFERENCE, EPS, MOST = 1e-6, 1e-15, 200
SETTLED, TRIES, SMALLEST = 1e-9, 60, 1e-5  # norm, iterations and share of Newton's method


def multiple_shooting(acceleration: Acceleration, edges: Floats, q: Floats, qd: Floats, s: int) -> Floats:
    """(2 N (n + 1)) square Jacobian; unknowns by edge, q before qd; q, qd (n + 1, N).

    Rows: q_0 = a; then for each subdomain its end minus q_{i+1} and minus qd_{i+1}; q_n = b.
    """
    n, N = len(q) - 1, q.shape[1]
    wide = 2 * N
    J = np.zeros((wide * (n + 1), wide * (n + 1)))
    J[:N, :N] = np.eye(N)
    J[-N:, -wide:-N] = np.eye(N)
    for k in range(wide):
        change = np.zeros(wide)
        change[k] = DIFFERENCE
        ends = [
            np.hstack(_propagate(acceleration, edges, q[:-1] + d[:N], qd[:-1] + d[N:], s))
            for d in (change, -change)
        ]
        column = (ends[0] - ends[1]) / (2.0 * DIFFERENCE)
        for i in range(n):
            J[N + wide * i : N + wide * (i + 1), wide * i + k] = column[i]
    for i in range(n):
        J[N + wide * i : N + wide * (i + 1), wide * (i + 1) : wide * (i + 2)] = -np.eye(wide)
    return J


def _propagate(
    acceleration: Acceleration, edges: Floats, q: Floats, qd: Floats, s: int
) -> tuple[Floats, Floats]:
    """Ends (n, N) of n initial value problems side by side, by collocation."""
    e = float(edges[1] - edges[0])
    G = ivp_map(acceleration, edges[:-1], e, q, qd, s)
    found = iterate(G, e, np.zeros((len(q), s, q.shape[1])), EPS, MOST)
    return at_end(e, q, qd, found.F)


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

    The subdomains are integrated side by side, by Runge and Kutta's method of order four.
    """

    acceleration: Acceleration
    edges: Floats  # (n + 1,) equal steps [s]
    a: Floats  # (N,)
    b: Floats  # (N,)
    step: float  # of the integration, at most [s]

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
        left = sp.hstack([sp.block_diag(own), sp.csc_array((2 * N * n, 2 * N))])
        right = sp.eye_array(2 * N * n, 2 * N * (n + 1), k=2 * N)
        return sp.vstack([first, left - right, last]).tocsc()

    def newton(self, y: Floats | None = None, damped: bool = True) -> Shot:
        """From a guess, or the line; a damped step is halved until the residual's norm falls."""
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
                if not damped or np.linalg.norm(after) < (1.0 - share / 4.0) * norms[-1]:
                    break
                share /= 2.0
            else:
                break
            y, left = moved, after
        return Shot(None, norms)
