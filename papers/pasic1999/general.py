"""Section 3.1 for equations y^(k) = f of any order k, with any linear boundary conditions.

y = w + phi: w^(k) is the polynomial through accelerations F (s, m) at s Gauss points, integrated k
times from zero; phi is of degree k - 1, its k m coefficients from the k m boundary conditions, as
equation (6) is for two values.  The iteration is F <- f(x, y(F), ..., y^(k-1)(F)), equation (7c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import factorial

import numpy as np

from pivotree import kkt

from ..measures import Floats
from .collocation import FAR, gauss, integrals

Right = Callable[[Floats, Floats], Floats]  # x (s,), derivatives 0 .. k - 1 (k, s, m) -> (s, m)


@dataclass(frozen=True)
class Conditions:
    """Row r: sum over j, c of first[r, j, c] y_c^(j)(0) + last[r, j, c] y_c^(j)(e) = value[r]."""

    first: Floats  # (k m, k, m)
    last: Floats  # (k m, k, m)
    value: Floats  # (k m,)

    def __post_init__(self) -> None:
        rows, k, m = self.first.shape
        if rows != k * m or self.last.shape != self.first.shape or self.value.shape != (rows,):
            raise kkt.PivotreeError(
                f"boundary conditions: {rows} for order {k} and {m} unknowns; give {k * m}"
            )

    @classmethod
    def at(cls, k: int, m: int, given: dict[tuple[str, int], Floats]) -> Conditions:
        """From whole vectors: ("first" or "last", derivative) -> (m,) value."""
        sides = {end: np.zeros((m * len(given), k, m)) for end in ("first", "last")}
        for row, ((end, j), c) in enumerate(product(given, range(m))):
            sides[end][row, j, c] = 1.0
        return cls(**sides, value=np.concatenate(list(given.values())).astype(float))


@dataclass(frozen=True)
class Problem:
    """y^(k) = right on [0, e], under conditions, on s Gauss points."""

    right: Right
    e: float
    conditions: Conditions
    s: int

    @property
    def k(self) -> int:
        return self.conditions.first.shape[1]

    @property
    def m(self) -> int:
        return self.conditions.first.shape[2]

    def repeated(self, x: Floats) -> Floats:
        """(k + 1, len(x), s): integrals from 0 to x in [0, 1], 0 to k times, of the basis."""
        return np.array(integrals(self.s, x, tuple(range(self.k + 1))))

    def powers(self, x: Floats) -> Floats:
        """(k, len(x), k): derivative j of x^i at e x."""
        out = np.zeros((self.k, len(x), self.k))
        for j in range(self.k):
            for i in range(j, self.k):
                out[j, :, i] = factorial(i) / factorial(i - j) * (self.e * x) ** (i - j)
        return out

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats, Floats]:
        """w's integrals at e, phi's powers at both ends, and the matrix of the coefficients."""
        end = np.ones(1)
        start, last = self.powers(np.zeros(1))[:, 0], self.powers(end)[:, 0]
        c = self.conditions
        A = np.einsum("rjc,ji->ric", c.first, start) + np.einsum("rjc,ji->ric", c.last, last)
        return self.repeated(end)[:, 0], start, last, A.reshape(len(A), -1)

    def coefficients(self, F: Floats) -> Floats:
        """(k, m) of phi.  Raises SingularError where the conditions do not determine it."""
        integral, _, _, A = self._ends
        w = np.array([self.e ** (self.k - j) * integral[self.k - j] @ F for j in range(self.k)])
        rest = self.conditions.value - np.einsum("rjc,jc->r", self.conditions.last, w)
        if np.linalg.cond(A) > 1e12:
            raise kkt.SingularError(
                "boundary conditions: do not determine a polynomial; give others, as the value at one end"
            )
        return np.linalg.solve(A, rest).reshape(self.k, self.m)

    def along(self, x: Floats, F: Floats) -> Floats:
        """(k, len(x), m): y and its derivatives at points x of [0, 1]."""
        integral, a = self.repeated(x), self.coefficients(F)
        powers = self.powers(x)
        return np.array(
            [self.e ** (self.k - j) * (integral[self.k - j] @ F) + powers[j] @ a for j in range(self.k)]
        )

    def solve(self, eps: float = 1e-13, most: int = 3000) -> tuple[Floats | None, int]:
        """F, or None where the fixed-point iteration diverges; and the iterations."""
        c = gauss(self.s).c
        F, before = np.zeros((self.s, self.m)), np.inf
        for count in range(1, most + 1):
            with np.errstate(all="ignore"):
                y = self.along(c, F)
                F = self.right(self.e * c, y)
                size = float(np.max(np.abs(y[0])))
                change = float(np.max(np.abs(self.along(c, F)[0] - y[0])))
            if not size <= FAR or not change <= FAR:
                return None, count
            if change <= eps * max(1.0, size) or change == before == 0.0:
                return F, count
            before = change
        return None, most
