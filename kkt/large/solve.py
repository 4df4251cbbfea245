"""Run the passes over a large tree, in one thread or in several."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError
from ..system import System
from ..tree import BodyTree
from . import factor
from .machine import Addresses, Code, Make, address, compiled
from .plan import Part, Plan, Shares, plan_of
from .steps import UPDATE

Floats = NDArray[np.float64]


def solve(system: System, threads: int, relaxed: bool) -> tuple[Floats, Floats, Floats]:
    """qdd (N,), pdd (n, 6), f (n, 6) from the entries of (4)."""
    tree, e = system.tree, system.entries
    n, N = tree.n, int(tree.offset[-1])
    plan = system.plans.get("abm")
    if plan is None:
        plan = system.plans["abm"] = plan_of(tree, system.pattern)
    code = code_of(plan, factor.passes, relaxed)
    qdd, pdd, f, pivot = np.empty(N), np.empty((n, 6)), np.empty((n, 6)), np.empty(N)
    given = {"M": e.M, "Phi": e.Phi, "S": e.S, "a": e.a, "b": e.b, "tau": e.tau,
             "offset": tree.offset, "parent": tree.parent}  # fmt: skip
    given = {name: np.ascontiguousarray(x) for name, x in given.items()}
    made = {"qdd": qdd, "pdd": pdd, "f": f, "pdd_up": pdd, "pivot": pivot}
    numbers = {name: address(x) for name, x in (given | made).items()}
    Works(code, plan.shares(threads), numbers, threads).run("factor", "solve")
    require_pivots(tree, plan, pivot)
    return qdd, pdd, f


def code_of(plan: Plan, make: Make, relaxed: bool) -> Code:
    key = make.__module__, relaxed
    if key not in plan.codes:
        plan.codes[key] = compiled(make, plan.kinds, relaxed)
    return plan.codes[key]


class Works:
    """Room to run the passes in: streams and stacks of every part of the walk."""

    def __init__(self, code: Code, shares: Shares, numbers: Addresses, threads: int) -> None:
        self.code, self.threads = code, threads
        self.held = np.empty(UPDATE * sum(part.held for part in shares.parts))
        numbers = {**numbers, "held": address(self.held)}
        self.parts = [Work(code, part, numbers) for part in shares.parts]
        self.rest = Work(code, shares.rest, numbers)

    def run(self, *passes: str) -> None:
        """Run passes in turn: tip to base parts before the rest, base to tip after it."""
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
                    kept = [work.stack[: UPDATE * work.part.held] for work in self.parts]
                    np.concatenate(kept, out=self.held)
                    step(self.rest.table)


class Work:
    """The streams and the stack of a part of the walk."""

    def __init__(self, code: Code, part: Part, numbers: Addresses) -> None:
        self.part = part
        self.stack = np.empty(part.places * UPDATE)
        self.streams = {name: np.empty(part.total(sizes)) for name, sizes in code.streams.items()}
        own = {"stack": address(self.stack)}
        own |= {name: address(stream) for name, stream in self.streams.items()}
        self.whole = code.table(part, {**numbers, **own})
        self.table = address(self.whole)


def require_pivots(tree: BodyTree, plan: Plan, pivot: Floats) -> None:
    """SingularError for the first body of the walk whose pivot is zero or not a number."""
    if np.isfinite(pivot).all() and pivot.all():
        return
    wrong = np.flatnonzero(~np.isfinite(pivot) | (pivot == 0.0))
    bodies = np.searchsorted(tree.offset, wrong, side="right") - 1
    first = plan.walk.order[np.isin(plan.walk.order, bodies)][0]
    raise SingularError(
        f"order 'abm': pivot qdd_{tree.names[first]} is zero or not a number for these "
        "numbers; give the massless links an inertia"
    )
