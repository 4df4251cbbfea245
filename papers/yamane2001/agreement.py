"""Joint accelerations by virtual work, by section 3 as typed and by ABM, on chains and stars."""

from __future__ import annotations

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis import inertia

from ..item import Progress, Results, value
from ..measures import apart, error
from .recursion import joint_accelerations

MOST = 1e-10  # of max |qdd|
ORDERS = ("virtual_work", "virtual_work_split")


def measure(
    progress: Progress,
    *,
    chains: tuple[int, ...] = (16, 64, 128),
    stars: tuple[int, ...] = (2, 12, 24),
    trees: int = 3,
    bodies: int = 24,
    seed: int = 0,
    joint: str = "spherical",
) -> Results:
    """Chains and stars of a joint, then ``trees`` random branched trees of all kinds of joints."""
    robots = [kkt.chain(n, joint=joint) for n in chains]
    robots += [kkt.star(n, joint=joint) for n in stars]
    robots += [kkt.random_tree(bodies, seed + i) for i in range(trees)]
    typed = {}  # a chain's freedoms and name -> error of section 3
    for graph in robots:
        system = kkt.build(graph)
        progress(system.name)
        name, dof, off = system.name, len(system.entries.tau), differences(system)
        worst = max(off.values())
        yield value("same", worst, worst <= MOST, robot=name, dof=dof, methods=", ".join(off))
        if np.bincount(system.tree.parent + 1, minlength=1).max() <= 1:
            typed[dof, name] = error(kkt.certify(system, 20), joint_accelerations(system))
    if typed:
        worst = max(typed.values())
        yield value("typed", worst, worst <= MOST, robot=max(typed)[1])


def differences(system: kkt.System) -> dict[str, float]:
    """Order or method -> difference of qdd from ABM's, of the largest of ABM's."""
    abm, *others = (kkt.eliminate(system, orderings.get(o), records=False).qdd for o in ("abm", *ORDERS))
    qdd = dict(zip(ORDERS, others, strict=True))
    if len(system.entries.tau) <= 100:  # n columns of n links each
        qdd["unit vectors"] = inertia.solve(system)
    return {method: apart(x, abm) for method, x in qdd.items()}
