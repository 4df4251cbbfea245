"""Joint accelerations by virtual work beside other methods: trees, and a closed chain cut at one joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis import inertia
from pivotree.analysis.gradients import equation

from ..item import Progress, Results, Value, value
from ..measures import Floats, apart, error
from ..world import Links, carried
from .recursion import joint_accelerations

MOST = 1e-10  # of max |qdd|
ORDERS = ("virtual_work", "virtual_work_split")
CLOSED = 1e-6  # differences of H leave this much


def agreement(
    progress: Progress,
    *,
    chains: tuple[int, ...] = (16, 64, 128),
    stars: tuple[int, ...] = (2, 12, 24),
    trees: int = 3,
    bodies: int = 24,
    seed: int = 0,
    joint: str = "spherical",
) -> Results:
    """Joint accelerations by virtual work, by section 3 as typed and by ABM, on chains and stars.

    Chains and stars of a joint, then ``trees`` random branched trees of all kinds of joints.
    """
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


# -- a closed chain ----------------------------------------------------------------------------------


def closed(
    progress: Progress, *, links: tuple[int, ...] = (7, 12), joint: str = "revolute", order: str = "abm"
) -> Results:
    """Equations (1) to (7): a closed chain cut at one joint, by (7), dense, and by the engine.

    A chain of revolute joints about z and y in turn, whose last link is tied to the ground by one more
    ``joint``.  A and b come from the tree that is left, H from the velocity across the cut joint, and
    dH/dt q' from differences of H along the motion.  The engine has the multipliers of the cut joint at
    the end of (4).
    """
    for n in links:
        progress(f"{n} links and a {joint} joint")
        yield close(kkt.chain(n), joint, order)


def close(graph: Any, joint: str, order: str) -> Value:
    """The engine's q'' and tau_C beside (7), of the largest, and (5): |H q'' + dH/dt q'| of its q''."""
    system = kkt.build(graph)
    tip = system.structure.tip_to_base[0]
    held = Links.of(system)
    R, p = held.pose[held.body.index(system.structure.index[tip])]
    loop = kkt.cut_joint(None, tip, joint, R=R, p=p)
    frame = carried(R, p)

    def H(q: Floats) -> Floats:
        """(3), (4): C* times the velocity of the tip in the cut joint's frame."""
        links = Links.of(system.refresh(q=q))
        return np.asarray(loop.C.T @ frame.T @ np.hstack(links.s))

    m, freedoms = loop.rows, len(system.state.qd)
    if m >= freedoms:
        raise kkt.PivotreeError(
            "closed", f"a {joint} joint has {m} rows, and the chain {freedoms} freedoms", "give more links"
        )
    q, qd, h = system.graph.graph["q"], system.state.qd, 1e-5
    here = H(q)
    turning = (H(q + h * qd) - H(q - h * qd)) @ qd / (2 * h)
    A, (_, efforts, _) = inertia.columns(system).M, equation(system, "float64")
    matrix = np.block([[A, -here.T], [here, np.zeros((m, m))]])  # (7)
    x = np.linalg.solve(matrix, np.r_[efforts, -turning])
    N = len(qd)
    engine = kkt.eliminate(kkt.build(system.graph, loops=[loop]), orderings.get(order), records=False)
    kept = float(np.abs(here @ engine.qdd + turning).max() / max(1.0, np.abs(turning).max()))
    errors = [apart(engine.qdd, x[:N]), apart(engine.lam, x[N:]), kept]
    robot = f"{system.name}, {joint} joint to the ground, {order}"
    return value("closed", errors, max(errors) <= CLOSED, robot=robot, rows=m)
