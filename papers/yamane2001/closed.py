"""Equations (1) to (7): a closed chain cut at one joint, by (7), dense, and by the engine.

A chain of revolute joints whose last link is tied to the ground by one more joint.  A and b come
from the tree that is left, H from the velocity across the cut joint, and dH/dt q' from differences
of H along the motion.  The engine has the multipliers of the cut joint at the end of (4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis import inertia
from pivotree.analysis.gradients import equation

from ..item import Progress, Results, Value, value
from ..measures import Floats, apart
from ..world import Links, carried

MOST = 1e-6  # differences of H leave this much


def measure(
    progress: Progress, *, links: tuple[int, ...] = (7, 12), joint: str = "revolute", order: str = "abm"
) -> Results:
    """Chains of revolute joints about z and y in turn, closed by a ``joint``."""
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

    m = loop.rows
    if m >= len(system.state.qd):
        raise kkt.PivotreeError(
            f"closed: a {joint} joint has {m} rows, and the chain {len(system.state.qd)} freedoms; "
            "give more links"
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
    return value("closed", errors, max(errors) <= MOST, robot=robot, rows=m)
