"""Section 2, trees: the same elimination from leaves to root, linear in the number of bodies.

Random trees of growing size: ABM fills one block for every body but the roots, and what it costs
grows with the first power of n; CRBM's fill is twice the sum of the depths.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, value

LEAST = 32  # bodies, from which the root's cheaper body no longer shows
LONGEST = 20  # links of a chain


def measure(
    progress: Progress, *, sizes: tuple[int, ...] = (8, 16, 32, 64, 128, 256), seeds: int = 3, seed: int = 0
) -> Results:
    """Random trees of these sizes, several of each."""
    links, depths, fill, operations = [], [], [], []
    for n, number in ((n, number) for n in sizes for number in range(seed, seed + seeds)):
        progress(f"{n} bodies, seed {number}")
        system = kkt.build(kkt.random_tree(n, seed=number))
        plans = [kkt.plan(orderings.get(order), system.structure) for order in ("abm", "crbm")]
        links.append(n)
        depths.append(int(system.structure.depth.sum()))  # a root's depth is 0
        fill.append([kkt.symbolic(plan).fill_blocks for plan in plans])
        operations.append(kkt.trace(system, orderings.get("abm")).flops)
    abm, crbm = (list(each) for each in zip(*fill, strict=True))
    large = [i for i, n in enumerate(links) if n >= LEAST]
    size, flops = (np.log([float(each[i]) for i in large]) for each in (links, operations))
    yield value("abm_fill", abm, abm == [n - 1 for n in links])
    yield value("crbm_fill", crbm, crbm == [2 * depth for depth in depths])
    yield value("exponent", float(np.polyfit(size, flops, 1)[0]), least=LEAST)
    for composites, what in (("general", "6 x 6 matrices"), ("rigid", "ten numbers")):
        yield value("cheaper", _crossing(progress, composites), what=what)


def _crossing(progress: Progress, composites: str) -> int:
    """The number of links from which on ABM takes fewer operations than CRBM on a chain.

    CRBM's composite inertias are moved as 6 x 6 matrices, or as the ten numbers of a rigid body.
    """

    def crbm(structure: kkt.Structure) -> kkt.PivotSequence:
        groups = orderings.get("crbm")(structure)
        return kkt.PivotSequence(groups, f"crbm, {composites}", composites=composites)

    for n in range(2, LONGEST):
        progress(f"chain of {n}, composites {composites}")
        system = kkt.build(kkt.chain(n))
        if kkt.trace(system, orderings.get("abm")).flops < kkt.trace(system, crbm).flops:
            break
    return n
