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
from typing import Any

import numpy as np

from ..item import Progress, Results, Value, above, each, value
from ..measures import Floats
from .arm import PAPER, Pair
from .collocation import FAR, gauss, integrals
from .references import integrate

Right = Callable[[Floats, Floats], Floats]  # x (s,), derivatives 0 .. k - 1 (k, s, m) -> (s, m)
KINDS: dict[str, tuple[tuple[str, int], ...]] = {  # what is given: end and derivative
    "y(0), y(e)": (("first", 0), ("last", 0)),
    "y(0), y'(0)": (("first", 0), ("first", 1)),
    "y(0), y'(e)": (("first", 0), ("last", 1)),
    "y'(0), y(e)": (("first", 1), ("last", 0)),
    "y(e), y'(e)": (("last", 0), ("last", 1)),
}
LONG = 0.2  # [s], of a domain on which the iteration may diverge
NEAR = 1e-7  # [rad], of a solution and of conditions
MIXED = "y(0) + y'(0), y(e) - 2 y'(e) / 10"
S, POINTS = 20, 4  # Gauss points of the arm, and of exp(-x)


@dataclass(frozen=True)
class Conditions:
    """Row r: sum over j, c of first[r, j, c] y_c^(j)(0) + last[r, j, c] y_c^(j)(e) = value[r]."""

    first: Floats  # (k m, k, m)
    last: Floats  # (k m, k, m)
    value: Floats  # (k m,)

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
        """(k, m) of phi."""
        integral, _, _, A = self._ends
        w = np.array([self.e ** (self.k - j) * integral[self.k - j] @ F for j in range(self.k)])
        rest = self.conditions.value - np.einsum("rjc,jc->r", self.conditions.last, w)
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


# -- the arm, and equations of other orders -------------------------------------------------------------


def boundaries(
    progress: Progress, *, ends: Pair = (0.1, 0.3), orders: tuple[int, ...] = (1, 2, 3, 4), order: str = "abm"
) -> Results:
    """Section 3.1: other boundary conditions than two values, and equations of other orders than two.

    The arm on [0, e], whose values and rates at both ends come from scipy's initial value problem.  On
    the short domain any pair of them must lead to that solution again, on the long one to a solution.
    Equations of these orders have the solution exp(-x), put into
    y^(k) = (-1)^k y + (y^2 - exp(-2x)) / 4 on [0, 1].
    """
    above("s", ends=ends)
    each("orders", orders, 1)
    ours = PAPER.accelerations(order)
    exact = integrate(PAPER.closed_form, max(ends), np.zeros(2), np.zeros(2))

    def right(t: Floats, y: Floats) -> Floats:
        return ours(t, y[0], y[1])

    for e in ends:
        both = {"first": exact.sol(0.0).reshape(2, 2), "last": exact.sol(e).reshape(2, 2)}
        kinds = {
            name: Conditions.at(2, 2, {key: both[key[0]][key[1]] for key in given})
            for name, given in KINDS.items()
        }
        for name, kind in (kinds | {MIXED: mixed(both)}).items():
            progress(f"[0, {e:g}], {name}")
            yield _solved(name, Problem(right, e, kind, S), exact)
    for k in orders:
        progress(f"order {k}")
        some, more = (_exponential(k, count) for count in (POINTS, POINTS + 2))
        shown, met = [f"{some:.1e}", f"{more:.1e}"], some <= 1e-4 and more <= some / 100.0
        yield value("order", shown, met, k=k, s=POINTS, more=POINTS + 2)


def mixed(both: dict[str, Floats]) -> Conditions:
    """Two linear combinations of value and rate, for each joint."""
    first, last = np.zeros((4, 2, 2)), np.zeros((4, 2, 2))
    for c in range(2):
        first[c, :, c] = 1.0, 1.0
        last[2 + c, :, c] = 1.0, -0.2
    value = np.concatenate([both["first"][0] + both["first"][1], both["last"][0] - 0.2 * both["last"][1]])
    return Conditions(first, last, value)


def _solved(name: str, problem: Problem, exact: Any) -> Value:
    """The row of one kind of conditions: the iteration, and scipy's integration from its start."""
    (F, count), words = problem.solve(), {"e": f"{problem.e:g}", "given": name}
    ours, missed = "diverges", np.inf
    if F is not None:
        x = np.linspace(0.0, 1.0, 101)
        y = problem.along(x, F)
        apart = float(np.max(np.abs(y[0] - exact.sol(problem.e * x)[:2].T)))
        end = integrate(PAPER.closed_form, problem.e, y[0, 0], y[1, 0]).y[:, -1].reshape(2, 2)
        c = problem.conditions
        left = np.einsum("rjc,jc->r", c.first, y[:, 0]) + np.einsum("rjc,jc->r", c.last, end) - c.value
        missed, which = float(np.max(np.abs(left))), "the IVP's solution" if apart <= NEAR else "another"
        ours = f"{which} in {count}, missed by {missed:.0e}"
    elif problem.e > LONG:
        return value("arm_elsewhere", ours, none="long domains diverge, as the paper says", **words)
    return value("arm", ours, missed <= NEAR, **words)


def _exponential(k: int, s: int) -> float:
    """Largest error of exp(-x) on [0, 1], derivatives given at both ends in turn."""

    def right(x: Floats, y: Floats) -> Floats:
        return (-1.0) ** k * y[0] + (y[0] ** 2 - np.exp(-2.0 * x)[:, None]) / 4.0

    given = {}
    for i in range(k):
        end, j = ("first", "last")[i % 2], i // 2
        given[end, j] = np.array([(-1.0) ** j * (1.0 if end == "first" else np.exp(-1.0))])
    problem = Problem(right, 1.0, Conditions.at(k, 1, given), s)
    F, _ = problem.solve()
    if F is None:
        return float("inf")
    x = np.linspace(0.0, 1.0, 51)
    return float(np.max(np.abs(problem.along(x, F)[0][:, 0] - np.exp(-x))))
