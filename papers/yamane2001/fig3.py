"""Figure 3: links with more than three joints are split; what it does to S.

A link with m joints becomes m - 2 links on fixed joints, so that no link has more than three
joints.  Entering one joint after another, M_i+1 then meets at most two blocks of S so far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt.matrix import FC

from ..item import Progress, Results, picture, value


def measure(
    progress: Progress, *, leaves: tuple[int, ...] = (8, 32), trees: int = 4, bodies: int = 60, seed: int = 0
) -> Results:
    """Stars with these leaves, and random branched trees."""
    robots = [kkt.star(n, joint="spherical") for n in leaves]
    robots += [kkt.random_tree(bodies, seed + i) for i in range(trees)]
    for i, graph in enumerate(robots):
        system = kkt.build(graph)
        whole, pieces = system.structure, system.structure.split_links()
        each, before = np.bincount(pieces.copy_of, minlength=whole.n), joints_of(whole)
        most, after = int(before.max()), int(joints_of(pieces).max())
        *drawn, met = _matrix("virtual_work", system)
        *split, later = _matrix("virtual_work_split", system)
        joints = f"joints {whole.n} to {pieces.n}, on a link {most} to {after}"
        fewer = bool((each == np.maximum(1, before - 2)).all()) and pieces.n < 2 * whole.n
        told = f"{joints}, met later {met} to {later}"
        yield value("split", told, fewer and after <= 3 and later <= 2, robot=system.name)
        if not i:
            yield picture(
                "fig3", "patterns", {f"{system.name}: S, whole links": drawn, "S, split links": split}
            )


def joints_of(structure: kkt.Structure) -> NDArray[np.int64]:
    """(n,) joints of each link: its own and its children's."""
    carried = structure.parent[structure.parent >= 0]
    return 1 + np.bincount(carried, minlength=structure.n)


def _matrix(order: str, system: kkt.System) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """S of the free bodies, its fill, and the most later neighbours of a constraint force."""
    factor = kkt.symbolic(kkt.plan(orderings.get(order), system.structure))
    graph = factor.plan.graph
    places = np.flatnonzero(graph.kind[factor.plan.blocks] == FC)
    carried = [graph.block(int(factor.plan.blocks[p])).body for p in places]
    links = [{k, graph.structure.parent_of(k)} - {None} for k in carried]
    n = len(places)
    S = np.array([[bool(links[i] & links[j]) for j in range(n)] for i in range(n)])
    number = {int(p): i for i, p in enumerate(places)}
    met = np.zeros_like(S)
    for i, p in enumerate(places):
        for q in factor.column_index[factor.column_pointer[p] : factor.column_pointer[p + 1]]:
            met[i, number[int(q)]] = met[number[int(q)], i] = True
    return S, met & ~S, int(factor.counts[places].max())
