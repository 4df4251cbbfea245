"""Run the passes over a large tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.errors import SingularError
from ..machine.native import address_of
from ..matrix.system import System
from ..model.tree import BodyTree
from .factor import compiled
from .plan import TreePlan

Floats = NDArray[np.float64]


def solve(system: System, plan: TreePlan, relaxed: bool) -> tuple[Floats, Floats, Floats]:
    """qdd (N,), pdd (n, 6), f (n, 6) from the entries of (4)."""
    tree, e = system.tree, system.entries
    n, N = tree.n, int(tree.offset[-1])
    code = plan.codes.get(relaxed)
    if code is None:
        code = plan.codes[relaxed] = compiled(plan.order, plan.kinds, relaxed)
    # the unknowns in the order of (4), and the pivots
    x = np.empty(12 * n + 2 * N)
    pdd, qdd, f = x[: 6 * n], x[6 * n : 6 * n + N], x[6 * n + N : 12 * n + N]
    given = {"M": e.M, "Phi": e.Phi, "S": e.S, "a": e.a, "b": e.b, "tau": e.tau, "A": e.A}
    given = {name: np.ascontiguousarray(block) for name, block in given.items()}
    start = address_of(x)
    numbers = {"pdd": start, "pdd_up": start, "qdd": start + 48 * n}
    numbers |= {"f": start + 8 * (6 * n + N), "pivot": start + 8 * (12 * n + N)}
    numbers |= {name: address_of(block) for name, block in given.items()}
    # the stack of updates, and the streams that one pass hands to the other
    sizes = {"stack": plan.places * plan.order.update}
    sizes |= {name: plan.total(size) for name, size in code.streams.items()}
    room = np.empty(sum(sizes.values()))
    start = address_of(room)
    for name, size in sizes.items():
        numbers[name] = start
        start += 8 * size
    table = code.table(plan, numbers)
    for name in ("factor", "solve"):
        code.functions[name](address_of(table))
    if not np.isfinite(qdd).all():  # a pivot may be zero
        if not plan.order.told:
            raise SingularError(
                f"order {plan.order.name!r}: a pivot is zero or not a number for these numbers; "
                "kkt.eliminate names it"
            )
        require_pivots(tree, plan.order.name, plan.walk.order, x[12 * n + N :])
    return qdd, pdd.reshape(n, 6), f.reshape(n, 6)


def require_pivots(tree: BodyTree, name: str, order: NDArray[np.int32], pivot: Floats) -> None:
    """Raise SingularError for the first body of the walk whose pivot is zero or not a number."""
    if np.isfinite(pivot).all() and pivot.all():
        return
    wrong = np.flatnonzero(~np.isfinite(pivot) | (pivot == 0.0))
    bodies = np.searchsorted(tree.offset, wrong, side="right") - 1
    first = order[np.isin(order, bodies)][0]
    raise SingularError(
        f"order {name!r}: pivot qdd_{tree.names[first]} is zero or not a number for these "
        "numbers; give the massless links an inertia"
    )
