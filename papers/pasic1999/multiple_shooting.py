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

from ..measures import Floats
from .collocation import FAR, Acceleration, at_end, iterate, ivp_map

DIFFERENCE, EPS, MOST = 1e-6, 1e-15, 200
SETTLED, TRIES, SMALLEST = 1e-9, 60, 1e-5  # norm, iterations and share of Newton's method


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
        left = sp.hstack([sp.block_diag(own), sp.csc_array((2 * N * n, 2 * N))])
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
