"""Equation (17): the matching matrix is multiple shooting's, its slopes eliminated: half the size."""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt

from ..item import Progress, Results, above, between, value
from ..measures import Floats, apart
from .arm import PAPER
from .matching import Local, LocalFailure, Matching
from .multiple_shooting import Shooting, without_slopes
from .references import integrate


def measure(
    progress: Progress, *, end: float = 1.0, subdomains: int = 20, s: int = 3, order: str = "abm"
) -> Results:
    """J at the initial value problem's solution on [0, end]."""
    between("subdomains", subdomains, 3)
    above("s", end=end)
    ours, zero = PAPER.accelerations(order), np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(PAPER.closed_form, end, zero, zero)
    edges = np.linspace(0.0, end, subdomains + 1)
    J, local = _jacobian(ours, exact, edges, s)
    progress("multiple shooting")
    slopes = np.concatenate([local.left, local.right[-1:]])
    y = np.hstack([exact.sol(edges)[:2].T, slopes])
    long = Shooting(ours, edges, y[0, :2], y[-1, :2], s=s).jacobian(y).toarray()
    dense = J.toarray()
    size = len(dense), len(long)
    yield value("size", list(size), size == (2 * (subdomains - 1), 4 * (subdomains + 1)))
    # rows of multiple shooting are left minus right derivatives, phi is right minus left
    yield value("half", apart(-without_slopes(long, 2), dense))
    yield value("condition", [f"{np.linalg.cond(A):.3g}" for A in (dense, long)])


def _jacobian(ours: Any, exact: Any, edges: Floats, s: int) -> tuple[Any, Local]:
    values = exact.sol(edges)[:2].T
    problem = Matching(ours, edges, s)
    try:
        local = problem.solve(values)
        return problem.jacobian(values, local), local
    except LocalFailure:
        raise kkt.PivotreeError(
            f"equation17: the iteration diverges on subdomains of {edges[1]:g} s; give more of them"
        ) from None
