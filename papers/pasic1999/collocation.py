"""Section 3.1: y = w + a_0 + a_1 x, w'' collocated at Gauss points, found by fixed-point iteration.

On a subdomain of length e the accelerations F (s, N) at the s Gauss points say all: w'' is the
polynomial of degree s - 1 through them, w and w' its integrals from w(0) = w'(0) = 0, and a_1 the
initial slope, given (IVP) or from equation (6) (BVP).  The iteration (7c) is F <- Theta''(y(F)).
Arrays may have axes in front: subdomains side by side, or columns of a Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..item import between
from ..measures import Floats

Acceleration = Callable[[Floats, Floats, Floats], Floats]  # t (...), q (..., N), qd (..., N)
FAR = 1e8  # an iterate beyond this [rad, rad/s] does not come back


@dataclass(frozen=True)
class Gauss:
    """s Gauss points on [0, 1], and integrals of the Lagrange polynomials through them."""

    c: Floats  # (s,) the points
    once: Floats  # (s, s) from 0 to each point
    twice: Floats  # (s, s) integrated twice
    end_once: Floats  # (s,) from 0 to 1
    end_twice: Floats  # (s,)


@cache
def gauss(s: int) -> Gauss:
    between("s", s, 1, 64)  # Gauss points
    c = (np.polynomial.legendre.leggauss(s)[0] + 1.0) / 2.0
    once, twice = integrals(s, np.append(c, 1.0))
    return Gauss(c, once[:-1], twice[:-1], once[-1], twice[-1])


def integrals(s: int, x: Floats, times: tuple[int, ...] = (1, 2)) -> tuple[Floats, ...]:
    """(len(x), s) integrals from 0 to x, so many times each, of the s Lagrange polynomials.

    By their Legendre coefficients (k + 1/2) w_j P_k(x_j), exact since Gauss quadrature is.
    """
    legendre = np.polynomial.legendre
    points, weights = legendre.leggauss(s)
    k = np.arange(s)
    coefficients = (k[:, None] + 0.5) * legendre.legvander(points, s - 1).T * weights
    on = 2.0 * np.asarray(x) - 1.0
    return tuple(legendre.legval(on, legendre.legint(coefficients, m, lbnd=-1)).T / 2**m for m in times)


# -- y(F) -----------------------------------------------------------------------------------------


def along(points: Floats, s: int, e: float, a0: Floats, a1: Floats, F: Floats) -> tuple[Floats, Floats]:
    """y and y' (..., len(points), N) at points of [0, 1]; a_0, a_1 (..., N), F (..., s, N)."""
    once, twice = integrals(s, points)
    return _y(points, once, twice, e, a0, a1, F)


def at_points(e: float, a0: Floats, a1: Floats, F: Floats) -> tuple[Floats, Floats]:
    """y and y' (..., s, N) at the Gauss points."""
    rule = gauss(F.shape[-2])
    return _y(rule.c, rule.once, rule.twice, e, a0, a1, F)


def at_end(e: float, a0: Floats, a1: Floats, F: Floats) -> tuple[Floats, Floats]:
    """y and y' (..., N) at e."""
    rule = gauss(F.shape[-2])
    ends = (rule.end_once[None], rule.end_twice[None])
    y, yd = _y(np.ones(1), *ends, e, a0, a1, F)
    return y[..., 0, :], yd[..., 0, :]


def slope(e: float, a: Floats, b: Floats, F: Floats) -> Floats:
    """Equation (6): a_1 = (b - a - w(e)) / e (..., N), for y(0) = a, y(e) = b."""
    return (b - a) / e - e * np.einsum("j,...jn->...n", gauss(F.shape[-2]).end_twice, F)


def _y(
    x: Floats, once: Floats, twice: Floats, e: float, a0: Floats, a1: Floats, F: Floats
) -> tuple[Floats, Floats]:
    a0, a1 = a0[..., None, :], a1[..., None, :]
    # overflow of an iteration that diverges is seen by its changes
    with np.errstate(all="ignore"):
        return a0 + e * x[:, None] * a1 + e * e * (twice @ F), a1 + e * (once @ F)


# -- the iteration (7c) ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """Where a fixed-point iteration came to."""

    F: Floats  # (..., s, N)
    changes: list[float]  # max |y_{i+1} - y_i| at the Gauss points, equation (8)
    converged: bool


def iterate(G: Callable[[Floats], Floats], e: float, F: Floats, eps: float, most: int) -> Fixed:
    """F <- G(F) until y changes by eps at most, at most ``most`` times, or y leaves [-FAR, FAR]."""
    twice = gauss(F.shape[-2]).twice
    changes: list[float] = []
    for _ in range(most):
        new = G(F)
        with np.errstate(all="ignore"):
            changes.append(float(np.max(np.abs(e * e * (twice @ (new - F))))))
        F = new
        if not changes[-1] <= FAR:
            return Fixed(F, changes, False)
        if changes[-1] <= eps:
            return Fixed(F, changes, True)
    return Fixed(F, changes, False)


@dataclass(frozen=True)
class Path:
    """A solution on subdomains: values at the edges, and accelerations between them."""

    t: Floats  # (n + 1,) edges [s]
    q: Floats  # (n + 1, N)
    qd: Floats  # (n + 1, N)
    F: Floats  # (n, s, N)

    def fine(self, each: int = 20) -> tuple[Floats, Floats]:
        """Times and y at ``each`` points of every subdomain, and the last edge."""
        x = np.arange(each) / each
        pieces = [
            along(x, self.F.shape[1], e, q, qd, F)[0]
            for e, q, qd, F in zip(np.diff(self.t), self.q, self.qd, self.F, strict=False)
        ]
        t = (self.t[:-1, None] + np.diff(self.t)[:, None] * x).ravel()
        return np.append(t, self.t[-1]), np.concatenate([*pieces, self.q[-1:]])


def ivp(
    acceleration: Acceleration, t: Floats, q0: Floats, qd0: Floats, s: int, iterations: int, eps: float = 0.0
) -> Path:
    """Theta'' = acceleration from t[0] on, subdomain after subdomain; (N,) values at the start."""
    q, qd, F = [q0], [qd0], []
    for start, e in zip(t, np.diff(t), strict=False):
        G = ivp_map(acceleration, start, e, q[-1], qd[-1], s)
        found = iterate(G, e, np.zeros((s, len(q0))), eps, iterations)
        y, yd = at_end(e, q[-1], qd[-1], found.F)
        q.append(y)
        qd.append(yd)
        F.append(found.F)
    return Path(t, np.array(q), np.array(qd), np.array(F))


def ivp_map(
    acceleration: Acceleration, start: float | Floats, e: float, q: Floats, qd: Floats, s: int
) -> Callable[[Floats], Floats]:
    """G of one step (q, qd (N,)) or of many side by side (start (n,), q, qd (n, N))."""
    return _map(acceleration, start, e, q, lambda F: qd, s)


def bvp_map(
    acceleration: Acceleration, start: Floats, e: float, a: Floats, b: Floats, s: int
) -> Callable[[Floats], Floats]:
    """G of one subdomain (a, b (N,)) or of many side by side (start (n,), a, b (n, N))."""
    return _map(acceleration, start, e, a, lambda F: slope(e, a, b, F), s)


def _map(
    acceleration: Acceleration, start: Any, e: float, a0: Floats, a1: Callable[[Floats], Floats], s: int
) -> Callable[[Floats], Floats]:
    """F -> Theta''(y(F)), (7c), from a_0 and a_1(F)."""
    t = np.asarray(start)[..., None] + e * gauss(s).c

    def G(F: Floats) -> Floats:
        lead = (*F.shape[:-2], F.shape[-1])
        y, yd = at_points(e, np.broadcast_to(a0, lead), np.broadcast_to(a1(F), lead), F)
        return acceleration(np.broadcast_to(t, y.shape[:-1]), y, yd)

    return G
