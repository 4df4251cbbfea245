"""What figures of numbers measure: errors over random states, operations over growing trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, OrderError, System
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.solution.conditioning import conditioning

from .condition import Instance

STATES = 60
COUNTED = 4_000_000  # operations with dense blocks up to which they are counted one by one
_SIZES = (1, 2, 3, 4, 5, 6, 8)  # of a growing tree; then 10 to the power of eighths

Progress = Callable[[str], None]


def _silent(step: str) -> None:
    return None


def instances(
    system: System,
    orders: Sequence[str],
    format: Format,
    *,
    states: int = STATES,
    seed: int = 0,
    progress: Progress = _silent,
) -> list[Instance]:
    """Errors and condition numbers of orders at random states (analysis.states.sample).

    Errors are those of arithmetic: the exact answer is that for the data rounded to the format,
    in double-double (analysis.states.traced).  States for which the format has no answer are
    left out.  Raises SizeError where a condition number would take too long.
    """
    from ..states.closing import ranges_of
    from ..states.sample import system_at
    from ..states.traced import TracedOrder

    if format.kind != "float":
        raise FormatError(f"format {format.name!r}: does not round; use float32 or another float")
    ranges = ranges_of(system)
    traced = {
        name: TracedOrder(kkt.trace(system, orderings.get(name)), system)
        for name in dict.fromkeys(("abm", *orders))
    }
    found = []
    for number in range(states):
        progress(f"state {number + 1} of {states}")
        here = system_at(system, ranges, seed, number)
        proof = traced["abm"].fitting("abm", here)
        kappa = conditioning(here, proof.tape).kappa
        exact = proof.truth(format, proof.values(here)[None], np.array([least_size(here)]))
        if not exact.known[0]:
            continue
        for name in orders:
            order = traced[name].fitting(name, here)
            values = format.cast(order.values(here)[None])
            qdd, pivots = order.found(format, values, *order.wanted[:2])
            failed = not np.isfinite(qdd).all() or bool((pivots == 0).any())
            error = None if failed else float(exact.pair.largest(qdd)[0])
            found.append(Instance(name, kappa, error))
    return found


def sizes(most: int) -> list[int]:
    """Numbers of bodies at which a growing tree is looked at, all of them included."""
    spaced = [round(10 ** (k / 4)) for k in range(4, 40)]
    return sorted({n for n in (*_SIZES, *spaced) if n < most} | {most})


def grown(tree: nx.DiGraph, bodies: int) -> nx.DiGraph:
    """The first bodies of a tree, breadth first from its bases, and the loops among them.

    Where the tree has loops the bodies stay where its own state has them, else they are at q = 0.
    """
    order = list(nx.topological_sort(tree))
    depth: dict[object, int] = {}
    for body in order:
        above = list(tree.predecessors(body))
        depth[body] = 1 + depth[above[0]] if above else 0
    kept = sorted(order, key=depth.__getitem__)[:bodies]
    part = nx.DiGraph(**{k: v for k, v in tree.graph.items() if k not in ("q", "qd", "tau")})
    part.add_nodes_from((body, tree.nodes[body]) for body in tree.nodes if body in set(kept))
    part.add_edges_from((a, b) for a, b in tree.edges if b in set(kept))
    if tree.graph.get("loops"):
        whole, there = kkt.build(tree), {None, *kept}
        part.graph["loops"] = tuple(
            loop for loop in whole.loops if all({*pair.bodies} <= there for pair in loop.pairs)
        )
        q = np.split(np.asarray(tree.graph["q"], dtype=float), whole.tree.offset[1:-1])
        mine = [x for name, x in zip(whole.tree.names, q, strict=True) if name in part]
        part.graph["q"] = np.concatenate(mine)
    return part


def costs(
    tree: nx.DiGraph, orders: Iterable[str], *, progress: Progress = _silent
) -> dict[str, list[tuple[int, int]]]:
    """Operations of each order on the first n bodies of a tree, as (n, operations).

    They are counted one by one on the traced tape, zeros and ones of the model folded away; a
    curve ends where that would take more than ``COUNTED`` operations with dense blocks.
    """
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in orders}
    for n in sizes(tree.number_of_nodes()):
        system = kkt.build(grown(tree, n))
        for name in found:
            function = orderings.get(name)
            if kkt.symbolic(kkt.plan(function, system.structure)).flops > COUNTED:
                continue
            progress(f"{name} on {n} bodies")
            found[name].append((n, kkt.trace(system, function).flops))
    if not any(found.values()):
        raise OrderError("figure: no order can be counted on this model; use a smaller one")
    return found
