"""The tip joint of Example 1 turned once around: accelerations of the base joint, by orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress
from ..measures import Curves

TIP, BASE = 1, 2  # the paper counts from the tip


def child_frame(structure: kkt.Structure) -> kkt.PivotSequence:
    """Equation (11) with H M~ H* as w* Mbar w, w = Phi* H*: summed in the child's own frame."""
    groups = orderings.get("modified_abm")(structure)
    return kkt.PivotSequence(groups, "child_frame", rules=kkt.Rules(accumulate="child_frame"))


def order_of(name: str) -> Any:
    """An order by its name, or that of eq (11) in the child's frame."""
    return child_frame if name == "child_frame" else orderings.get(name)


def turned(tree: Any, axis: Iterable[float], angle: float) -> Any:
    """The same robot written in frames that are all turned about an axis by ``angle`` [rad].

    Every body's frame and the world's are turned alike, so that poses between them, joint angles
    and accelerations stay, and only the numbers of axes, places and inertias change.
    """
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_rotvec(-angle * np.asarray(tuple(axis), dtype=float)).as_matrix()
    new = tree.copy()
    new.graph["gravity"] = tuple(turn @ tree.graph["gravity"])
    for body in new.nodes:
        own = new.nodes[body]
        inertia = turn @ np.asarray(own["inertia"], dtype=float) @ turn.T
        own["inertia"] = (inertia + inertia.T) / 2
        own["R"] = turn @ np.asarray(own["R"], dtype=float) @ turn.T
        for place in ("com", "axis", "p"):
            own[place] = turn @ np.asarray(own[place], dtype=float)
    return new


def sweep(
    progress: Progress,
    orders: Iterable[str],
    angles: int,
    tree: Any = None,
    format: str = "float32",
    base_angle: float = 0.0,
) -> Curves:
    """The base joint's accelerations by every order, on angles of the tip joint in [0, 2 pi].

    Of a tree like :func:`kkt.example1`, or of that; what is exact is certified, of the model rounded
    to the format.  ``base_angle`` [rad] is that of the base link; at 0 gravity is perpendicular to it.
    """
    tree = kkt.example1() if tree is None else tree
    turns = np.linspace(0.0, 2.0 * np.pi, angles)
    first = kkt.build(tree, q={BASE: 0.3, TIP: 0.7})
    base = first.tree.names.index(BASE)
    tapes = {order: kkt.trace(first, order_of(order)) for order in orders}
    inertia = kkt.trace(first, orderings.get("crbm"))
    found = {order: np.empty(angles) for order in tapes}
    exact, kappa = np.empty(angles), np.empty(angles)
    for i, q1 in enumerate(turns):
        if i % 100 == 0:
            progress(f"{i} of {angles} angles")
        system = kkt.build(tree, q={BASE: base_angle, TIP: float(q1)})
        exact[i] = kkt.certify(system, 16, rounded_to=format).qdd[base]
        kappa[i] = np.linalg.cond(kkt.joint_space_inertia(system, inertia))
        for order, tape in tapes.items():
            found[order][i] = kkt.eliminate(system, tape, format, records=False).qdd[base]
    return Curves(turns, exact, kappa, found)
