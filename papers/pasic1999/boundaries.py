"""Section 3.1: other boundary conditions than two values, and equations of other orders than two.

The arm on [0, 0.1] and [0, 0.3], whose values and rates at both ends come from scipy's initial
value problem.  On the short domain any pair of them must lead to that solution again, on the long
one to a solution.  Equations of order 1 to 4 have the solution exp(-x), put into
y^(k) = (-1)^k y + (y^2 - exp(-2x)) / 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..item import Progress, Results, Value, above, between, each, value
from ..measures import Floats
from .arm import PAPER, Pair
from .general import Conditions, Problem
from .references import integrate

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


def measure(
    progress: Progress,
    *,
    ends: Pair = (0.1, 0.3),
    s: int = 20,
    orders: tuple[int, ...] = (1, 2, 3, 4),
    points: int = 4,
    order: str = "abm",
) -> Results:
    """The arm on [0, e] with s Gauss points; exp(-x) on [0, 1] with ``points``."""
    above("s", ends=ends)
    each("orders", orders, 1)
    between("points", points, 2)
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
            yield _solved(name, Problem(right, e, kind, s), exact)
    for k in orders:
        progress(f"order {k}")
        some, more = (_exponential(k, count) for count in (points, points + 2))
        shown, met = [f"{some:.1e}", f"{more:.1e}"], some <= 1e-4 and more <= some / 100.0
        yield value("order", shown, met, k=k, s=points, more=points + 2)


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
