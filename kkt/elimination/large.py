"""ABM without a tape: the same bracket for every body, on arrays, for trees of a million bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError
from ..large.solve import solve
from ..system import System

Floats = NDArray[np.float64]
NO_ANSWER = 2.0**-20  # backward error
SINGULAR = 2.0**50  # condition number, shown by an answer so large


@dataclass(frozen=True)
class LargeSolution:
    """Unknowns of (4) in float64, bodies and joints as in the tree."""

    system: System
    qdd: Floats  # (N,) joint accelerations [rad/s^2, m/s^2]
    pdd: Floats  # (n, 6) minus spatial accelerations, gravity included
    f: Floats  # (n, 6) joint forces [N m, N]

    @property
    def unknowns(self) -> Floats:
        """(size,) pdd, qdd, f in the order of equation (4)."""
        return np.concatenate([self.pdd.ravel(), self.qdd, self.f.ravel()])

    @cached_property
    def residual(self) -> Residual:
        """K x - r, computed apart from the elimination, from the assembled matrix.

        Products and sums are in extended precision where the machine has it.
        """
        return residual_of(self.system, self.unknowns)


@dataclass(frozen=True)
class Residual:
    """How well (4), K x = r, is solved."""

    left: NDArray  # (size,) K x - r
    size: NDArray  # (size,) |K| |x| + |r|, row by row
    scale: float  # max row sum of |K| times max |x|, and max |r|

    @property
    def normwise(self) -> float:
        """Least relative change of K and r, in the maximum norm, that explains x.

        Rigal & Gaches 1967.
        """
        return float(np.max(np.abs(self.left), initial=0.0) / self.scale) if self.scale else 0.0

    @property
    def componentwise(self) -> float:
        """Least relative change of single entries of K and r that explains x.

        Oettli & Prager 1964; it asks of a row of tiny numbers what it asks of the largest.
        """
        rows = self.size > 0
        return float(np.max(np.abs(self.left[rows]) / self.size[rows], initial=0.0))


def residual_of(system: System, unknowns: Floats) -> Residual:
    """K x - r for any solution x (size,) of (4), in the order of its rows."""
    K, r = system.matrix, system.rhs
    rows, data = K.indices, K.data  # K is symmetric: its columns are its rows
    x = unknowns.astype(np.longdouble)
    products = data * x[rows]
    start = K.indptr[:-1]
    left = np.add.reduceat(products, start) - r
    size = np.add.reduceat(np.abs(products), start) + np.abs(r)
    norm = np.max(np.add.reduceat(np.abs(data), start), initial=0.0)
    scale = norm * np.max(np.abs(x), initial=0.0) + np.max(np.abs(r), initial=0.0)
    return Residual(left, size, float(scale))


def require_solved(name: str, solution: LargeSolution) -> None:
    """Raise SingularError for what does not solve (4), or only with numbers beyond all bounds.

    A pivot was zero, but for rounding.  Tapes are run modulo a prime, which tells a pivot that is
    zero in any state; arrays are not.  Unstable orders, such as CRBM on long chains, still solve
    (4) to 1e-9 or better.
    """
    system, x = solution.system, solution.unknowns
    K, r = system.matrix, system.rhs
    norm = np.max(np.add.reduceat(np.abs(K.data), K.indptr[:-1]), initial=0.0)
    size, right = norm * np.max(np.abs(x), initial=0.0), np.max(np.abs(r), initial=0.0)
    left = np.max(np.abs(K @ x - r), initial=0.0)
    if left <= NO_ANSWER * (size + right) and size <= SINGULAR * right:
        return
    found = (
        f"leaves {left / (size + right):.1g} of equation (4)"
        if size <= SINGULAR * right
        else f"is {size / right:.1g} times what equation (4) asks for"
    )
    raise SingularError(
        f"order {name!r}: what it finds {found}, since a pivot is zero but for rounding; "
        "kkt.eliminate names the pivot"
    )


def solve_large(
    system: System, order: Any = None, *, threads: int = 1, relaxed: bool = False
) -> LargeSolution:
    """Factor and solve (4) in float64 by ABM, body by body, without tracing a tape.

    The operations are those of ``kkt.eliminate(system, orderings.get("abm"))``, and so are the
    results to the last bit, but no step is recorded: bodies whose entries have their zeros and
    ones in the same places share one compiled bracket, in time proportional to their number and
    less than 1 kB of memory for each beside the entries of (4).  ``threads`` share subtrees; the
    bits stay the same.  With ``relaxed`` the machine may round a product and a sum once: other
    bits, and a smaller error as a rule.
    With an ``order``, a plan (:func:`kkt.plan`, :func:`kkt.plan_from_arrays`,
    :func:`kkt.nested_dissection`) or its analysis, its pivots and brackets are used instead, on the
    panels of its symbolic factor (:mod:`.numeric`): to rounding what ``kkt.eliminate`` gives.
    Raises OrderError for orders whose numbers are not those of (4), and SizeError for too much
    fill.
    Raises LoopError for closed loops and contacts, and SingularError where a pivot is zero or
    not a number, or where the result does not solve (4), as behind a pivot that is zero but for
    rounding.
    """
    if order is not None and order != "abm":
        from .numeric import solve_in_order

        return solve_in_order(system, order, threads)
    system.structure.require_tree("solve_large")
    solution = LargeSolution(system, *solve(system, threads, relaxed))
    if not system.plans["abm"].whole:
        require_solved("abm", solution)
    return solution
