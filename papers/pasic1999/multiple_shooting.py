"""The matrix of multiple shooting (section 5), and J as its Schur complement.

Multiple shooting has values and slopes of all n + 1 edges as unknowns, and asks for continuity of
both.  Eliminating every slope by the row that says where its subdomain ends leaves the rows that
compare slopes, in the interface values alone: equation (17).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .collocation import Acceleration, at_end, iterate, ivp_map

Floats = NDArray[np.float64]
DIFFERENCE, EPS, MOST = 1e-6, 1e-15, 200


def multiple_shooting(
    acceleration: Acceleration, edges: Floats, q: Floats, qd: Floats, s: int
) -> Floats:
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
