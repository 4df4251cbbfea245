"""What figures of numbers measure: errors over random states, operations over growing trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, OrderError, System
from pivotree.kkt.arithmetic import Format
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

    Errors are those of arithmetic: the exact answer is that for the data rounded to the format, in
    double-double.  States for which the format has no reference are left out, and an order that is
    refused takes no other with it.  Raises SizeError where a condition number would take too long.
    """
    from ..states.closing import ranges_of
    from ..states.sample import system_at
    from ..study.measure import States, blocks, measure, traced_orders

    if format.kind != "float":
        raise FormatError(f"format {format.name!r}: does not round; use float32 or another float")
    ranges = ranges_of(system)
    base = system_at(system, ranges, seed, 0)
    traced = traced_orders(base, dict.fromkeys(("abm", *orders)))
    proof = traced["abm"]
    if isinstance(proof, str):
        raise OrderError(proof)
    found = []
    for numbers in blocks(range(states), system.tree.n):
        progress(f"states {numbers[0] + 1} to {numbers[-1] + 1} of {states}")
        here = States.drawn(base, ranges, seed, numbers)
        asked = {name: traced[name] for name in orders}
        columns = measure(here, asked, proof, [format], condition=conditioning, whole=True)
        for i in np.flatnonzero(~np.isnan(columns.data[:, 0])).tolist():
            for o, name in enumerate(orders):
                failed = columns.failed[i, o, 0]
                error = None if failed else float(columns.error[i, o, 0])
                found.append(Instance(name, columns.conditions[i].kappa, error, columns.marked[i, o, 0]))
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
