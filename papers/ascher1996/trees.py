"""Section 2, trees: the same elimination from leaves to root, linear in the number of bodies.

Random trees of growing size: ABM fills one block for every body but the roots, and what it costs
grows with the first power of n; CRBM's fill is twice the sum of the depths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pivotree import kkt, orderings

from ..paper import Progress
from ..row import Value, value

LEAST = 32  # bodies, from which the root's cheaper body no longer shows
LONGEST = 20  # links of a chain


@dataclass(frozen=True)
class Tree:
    n: int
    seed: int
    depths: int  # sum of the bodies' depths, a root's 0
    abm_fill: int
    crbm_fill: int
    abm_flops: int


@dataclass(frozen=True)
class Found:
    trees: list[Tree]
    cheaper: dict[str, int]  # composites -> links of a chain from which ABM's tape is shorter


def measure(
    progress: Progress, *, sizes: tuple[int, ...] = (8, 16, 32, 64, 128, 256), seeds: int = 3, seed: int = 0
) -> Found:
    """Random trees of these sizes, several of each."""
    trees = []
    for n in sizes:
        for number in range(seed, seed + seeds):
            progress(f"{n} bodies, seed {number}")
            system = kkt.build(kkt.random_tree(n, seed=number))
            abm, crbm = (kkt.symbolic(kkt.plan(orderings.get(o), system.structure)) for o in ("abm", "crbm"))
            flops = kkt.trace(system, orderings.get("abm")).flops
            depths = int(system.structure.depth.sum())
            trees.append(Tree(n, number, depths, abm.fill_blocks, crbm.fill_blocks, flops))
    return Found(trees, _crossing(progress))


def _crossing(progress: Progress) -> dict[str, int]:
    """The number of links from which on ABM takes fewer operations than CRBM on a chain.

    CRBM's composite inertias are moved as 6 x 6 matrices, or as the ten numbers of a rigid body.
    """
    found = {}
    for composites in ("general", "rigid"):

        def crbm(structure: kkt.Structure, how: str = composites) -> kkt.PivotSequence:
            groups = orderings.get("crbm")(structure)
            return kkt.PivotSequence(groups, f"crbm, {how}", composites=how)

        for n in range(2, LONGEST):
            progress(f"chain of {n}, composites {composites}")
            system = kkt.build(kkt.chain(n))
            if kkt.trace(system, orderings.get("abm")).flops < kkt.trace(system, crbm).flops:
                break
        found[composites] = n
    return found


def values(found: Found) -> Iterator[Value]:
    trees = found.trees
    large = [t for t in trees if t.n >= LEAST]
    n, flops = (np.array(x, dtype=float) for x in zip(*((t.n, t.abm_flops) for t in large), strict=True))
    yield value("abm_fill", [t.abm_fill for t in trees], all(t.abm_fill == t.n - 1 for t in trees))
    yield value("crbm_fill", [t.crbm_fill for t in trees], all(t.crbm_fill == 2 * t.depths for t in trees))
    yield value("exponent", float(np.polyfit(np.log(n), np.log(flops), 1)[0]), least=LEAST)
    for composites, what in (("general", "6 x 6 matrices"), ("rigid", "ten numbers")):
        yield value("cheaper", found.cheaper[composites], what=what)
