"""A planar chain over a floor: links are rods with the inertia of rectangles, in the x-y plane.

Gravity is along -y, the floor y = 0.  The chain hangs on a fixed joint, or is free: then two
massless slides carry its first link.  What may touch the floor are the free ends and the joints.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt

from .floor import Floor

LENGTH, WIDTH, MASS, GRAVITY = 0.25, 0.02, 0.5, 9.8  # [m], [m], [kg], [m/s^2]


def falling(n: int, *, free: bool = True, order: str = "abm") -> Floor:
    """n equal links, free or hanging on a fixed joint in the origin; points base to tip."""
    if n < 1:
        raise kkt.ModelError(f"falling chain has {n} links; ask for at least one")
    tree = kkt.new_tree(f"falling_{n}", (0.0, -GRAVITY, 0.0))
    parent = None
    if free:
        for name, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0))):
            kkt.add_body(tree, name, parent, mass=0.0, joint="prismatic", axis=axis)
            parent = name
    about = MASS * (LENGTH**2 + WIDTH**2) / 12
    inertia = np.diag([MASS * WIDTH**2 / 6, about, about])
    for k in range(n):
        place = (LENGTH if k else 0.0, 0.0, 0.0)
        kkt.add_body(
            tree, f"link{k + 1}", parent, mass=MASS, com=(LENGTH / 2, 0.0, 0.0), inertia=inertia, p=place
        )
        parent = f"link{k + 1}"
    first = [("link1", (0.0, 0.0, 0.0))] if free else []
    ends = [(f"link{k + 1}", (LENGTH, 0.0, 0.0)) for k in range(n)]
    return Floor.of(tree, [*first, *ends], normal=(0.0, 1.0, 0.0), order=order)
