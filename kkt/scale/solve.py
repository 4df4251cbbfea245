"""Run the passes over a large tree, in one thread or in several."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ..base.errors import SingularError
from ..machine.native import address_of
from ..matrix.system import System
from ..model.tree import BodyTree
from .factor import Addresses, Code, compiled
from .plan import Part, TreePlan

Floats = NDArray[np.float64]


def solve(system: System, plan: TreePlan, threads: int, relaxed: bool) -> tuple[Floats, Floats, Floats]:
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
    numbers |= plan.addresses | {name: address_of(block) for name, block in given.items()}
    Works(code, plan, numbers, threads).run("factor", "solve")
    if not np.isfinite(qdd).all():  # a pivot may be zero
        if not plan.order.told:
            raise SingularError(
                f"order {plan.order.name!r}: a pivot is zero or not a number for these numbers; "
                "kkt.eliminate names it"
            )
        require_pivots(tree, plan.order.name, plan.walk.order, x[12 * n + N :])
    return qdd, pdd.reshape(n, 6), f.reshape(n, 6)


class Works:
    """Working memory of the passes: streams and stacks of every part of the walk."""

    def __init__(self, code: Code, plan: TreePlan, numbers: Addresses, threads: int) -> None:
        self.code, self.threads, self.update = code, threads, plan.order.update
        shares = plan.shares(threads)
        numbers = {**numbers, "held": 0}
        self.parts = []
        if shares.parts:
            self.held = np.empty(self.update * sum(part.held for part in shares.parts))
            numbers["held"] = address_of(self.held)
            self.parts = [Work(code, part, self.update, numbers) for part in shares.parts]
        self.rest = Work(code, shares.rest, self.update, numbers)

    def run(self, *passes: str) -> None:
        """Run passes in turn; from tip to base the parts come before the rest, back after it."""
        if not self.parts:
            for name in passes:
                self.code.functions[name](self.rest.table)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for name in passes:
                step = self.code.functions[name]
                if name not in self.code.tip_to_base:
                    step(self.rest.table)
                list(pool.map(lambda work, step=step: step(work.table), self.parts))
                if name in self.code.tip_to_base:
                    kept = [work.room[: self.update * work.part.held] for work in self.parts]
                    np.concatenate(kept, out=self.held)
                    step(self.rest.table)


class Work:
    """The stack and the streams of a part of the walk."""

    def __init__(self, code: Code, part: Part, update: int, numbers: Addresses) -> None:
        self.part = part
        sizes = {"stack": part.places * update}
        sizes |= {name: part.total(size) for name, size in code.streams.items()}
        self.room = np.empty(sum(sizes.values()))
        start, own = address_of(self.room), {}
        for name, size in sizes.items():
            own[name] = start
            start += 8 * size
        self.whole = code.table(part, {**numbers, **own})
        self.table = address_of(self.whole)


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
