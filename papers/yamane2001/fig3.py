"""Figure 3: links with more than three joints are split; what it does to S.

A link with m joints becomes m - 2 links on fixed joints, so that no link has more than three
joints.  Entering one joint after another, M_i+1 then meets at most two blocks of S so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt.matrix import FC

from ..item import Progress
from ..row import Value, value


@dataclass(frozen=True)
class Splitting:
    """S of one tree, whole and split; joints in the order of elimination, leaf to root."""

    robot: str
    joints: tuple[int, int]  # in all: whole, split
    most: tuple[int, int]  # joints of one link
    links: bool  # every link with m > 3 joints has become m - 2 links
    later: tuple[int, int]  # most joints that one joint hands its update to
    S: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # joints that share a link
    fill: tuple[NDArray[np.bool_], NDArray[np.bool_]]


def measure(
    progress: Progress, *, leaves: tuple[int, ...] = (8, 32), trees: int = 4, bodies: int = 60, seed: int = 0
) -> list[Splitting]:
    """Stars with these leaves, and random branched trees."""
    robots = [kkt.star(n, joint="spherical") for n in leaves]
    robots += [kkt.random_tree(bodies, seed + i) for i in range(trees)]
    return [split(kkt.build(graph)) for graph in robots]


def split(system: kkt.System) -> Splitting:
    whole = system.structure
    pieces = whole.split_links()
    each = np.bincount(pieces.copy_of, minlength=whole.n)
    before = joints_of(whole)
    told = [_matrix(name, system) for name in ("virtual_work", "virtual_work_split")]
    return Splitting(
        system.name,
        (whole.n, pieces.n),
        (int(before.max()), int(joints_of(pieces).max())),
        bool((each == np.maximum(1, before - 2)).all()),
        (told[0][2], told[1][2]),
        (told[0][0], told[1][0]),
        (told[0][1], told[1][1]),
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


def values(found: list[Splitting]) -> Iterator[Value]:
    for one in found:
        (whole, split), (before, after), (met, later) = one.joints, one.most, one.later
        told = f"joints {whole} to {split}, on a link {before} to {after}, met later {met} to {later}"
        met_all = one.links and after <= 3 and split < 2 * whole and later <= 2
        yield value("split", told, met_all, robot=one.robot)


def figures(found: list[Splitting], style: str) -> dict[str, Any]:
    from .pictures import patterns

    star = found[0]
    titles = (f"{star.robot}: S, whole links", "S, split links")
    return {"fig3": patterns({t: (star.S[i], star.fill[i]) for i, t in enumerate(titles)}, style)}
