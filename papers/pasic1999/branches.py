"""Several solutions of a boundary value problem on one domain, by Newton's method and continuation.

The fixed-point iteration finds a solution only where the eigenvalues of dG/dF lie inside the unit
circle.  Newton's method on F = G(F) finds it anyway, and the eigenvalues then say what happens: +1
where the boundary value problem itself is singular (a conjugate point), -1 where the iteration
begins to swing between two functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .collocation import Acceleration, bvp_map, jacobian, slope

Floats = NDArray[np.float64]
Target = Callable[[float], Floats]  # length e -> Theta(e)
SETTLED = 1e-9  # relative change of F at which Newton's method stops
MOST = 25


@dataclass(frozen=True)
class Point:
    """One solution on [0, e]."""

    e: float
    slope: Floats  # (N,) Theta'(0)
    F: Floats  # (s, N) accelerations at the Gauss points
    eigenvalues: NDArray[np.complex128]  # of dG/dF

    @property
    def attracts(self) -> bool:
        """Whether the fixed-point iteration converges to it from nearby."""
        return bool(np.max(np.abs(self.eigenvalues)) < 1.0)

    def above(self, level: float) -> float:
        """How far the eigenvalue nearest to a real level lies above it."""
        near = self.eigenvalues[np.argmin(np.abs(self.eigenvalues - level))]
        return float(near.real - level)


@dataclass(frozen=True)
class Problem:
    """Theta(0) = a, Theta(e) = target(e), for every length e."""

    acceleration: Acceleration
    a: Floats
    target: Target

    def map(self, e: float, s: int) -> Callable[[Floats], Floats]:
        return bvp_map(self.acceleration, np.zeros(()), e, self.a, self.target(e), s)

    def slope(self, e: float, F: Floats) -> Floats:
        return slope(e, self.a, self.target(e), F)

    def at_length(self, e: float, F: Floats) -> Point | None:
        """The solution of F = G(F) near a guess; None where Newton's method does not settle."""
        G = self.map(e, len(F))
        for _ in range(MOST):
            J, rest = jacobian(G, F), (F - G(F)).ravel()
            step = _step(np.eye(F.size) - J, rest)
            if step is None:
                return None
            F = F - step.reshape(F.shape)
            if _small(step, F):
                return self._point(e, F)
        return None

    def at_slope(self, sigma: float, e: float, F: Floats) -> Point | None:
        """The solution, and its length, with Theta'(0)[-1] = sigma: passes points where e turns."""
        tiny = 1e-6
        for _ in range(MOST):
            G, s = self.map(e, len(F)), len(F)
            size = F.size
            A = np.zeros((size + 1, size + 1))
            A[:size, :size] = np.eye(size) - jacobian(G, F)
            A[:size, size] = -(self.map(e + tiny, s)(F) - self.map(e - tiny, s)(F)).ravel() / (2 * tiny)
            A[size, :size] = [
                self.slope(e, x.reshape(F.shape))[-1] - self.slope(e, 0 * F)[-1] for x in np.eye(size)
            ]
            A[size, size] = (self.slope(e + tiny, F) - self.slope(e - tiny, F))[-1] / (2 * tiny)
            rest = np.append((F - G(F)).ravel(), self.slope(e, F)[-1] - sigma)
            step = _step(A, rest)
            if step is None:
                return None
            F, e = F - step[:size].reshape(F.shape), e - float(step[size])
            if _small(step[:size], F):
                return self._point(e, F)
        return None

    def _point(self, e: float, F: Floats) -> Point:
        values = np.linalg.eigvals(jacobian(self.map(e, len(F)), F))
        return Point(e, self.slope(e, F), F, values.astype(complex))

    def follow_length(self, first: Point, ends: Floats) -> list[Point]:
        """The branch through a point at these lengths, each guessed from the two before."""
        branch = [first]
        for e in ends:
            found = self.at_length(float(e), _ahead(branch, "e", float(e)))
            if found is None:
                break
            branch.append(found)
        return branch

    def follow_slope(self, first: Point, sigmas: Floats) -> list[Point]:
        """The branch through a point at these values of Theta'(0)[-1]."""
        branch = [first]
        for sigma in sigmas:
            share = _share(branch, float(sigma))
            guess = branch[-1].e + (share * (branch[-1].e - branch[-2].e) if share else 0.0)
            found = self.at_slope(float(sigma), guess, _ahead(branch, "slope", float(sigma)))
            if found is None:
                break
            branch.append(found)
        return branch


def crossing(branch: list[Point], level: float) -> float | None:
    """Length at which an eigenvalue passes a level, on a line between two points."""
    for one, two in pairwise(branch):
        x, y = one.above(level), two.above(level)
        if x * y < 0.0 and abs(x - y) < 0.5:
            return one.e + (two.e - one.e) * x / (x - y)
    return None


def _step(A: NDArray, rest: NDArray) -> NDArray | None:
    """A^-1 rest, or None where there is none."""
    if not (np.isfinite(A).all() and np.isfinite(rest).all()):
        return None
    try:
        return np.linalg.solve(A, rest)
    except np.linalg.LinAlgError:
        return None


def _small(step: NDArray, F: NDArray) -> bool:
    return bool(np.max(np.abs(step)) <= SETTLED * np.max(np.abs(F), initial=1.0))


def _ahead(branch: list[Point], by: str, to: float) -> Floats:
    """F on the line through the last two points."""
    if len(branch) < 2:
        return branch[-1].F
    one, two = branch[-2:]
    share = _share(branch, to) if by == "slope" else (to - two.e) / (two.e - one.e)
    return two.F + share * (two.F - one.F)


def _share(branch: list[Point], sigma: float) -> float:
    if len(branch) < 2:
        return 0.0
    one, two = (float(p.slope[-1]) for p in branch[-2:])
    return (sigma - two) / (two - one)
