"""The thesis's robots: planar, revolute, links that are rectangles of uniform mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from pivotree.kkt import ModelError, add_body, new_tree
from pivotree.kkt.model import box

GRAVITY = 9.8  # [m/s^2], of all figures


def planar_robot(
    lengths: Sequence[float],
    masses: Sequence[float],
    widths: Sequence[float] | float = 1.0,
    *,
    q: Sequence[float] | None = None,
    name: str = "planar_robot",
) -> nx.DiGraph[Any]:
    """A chain in the x-y plane under gravity along -y, links 1 (base) to n (tip) as in the thesis.

    ``lengths`` (n,) [m] from joint to joint, ``masses`` (n,) [kg], ``widths`` [m] of every link or
    of all.  Joint angles ``q`` (n,) are relative, zero where None, and at 0 a link lies along x; it is at
    rest.  Raises ModelError for what is no robot.
    """
    n = len(lengths)
    wide = [float(widths)] * n if isinstance(widths, int | float) else list(widths)
    for what, values in (("lengths", lengths), ("masses", masses), ("widths", wide)):
        finite = n > 0 and len(values) == n and np.isfinite(values).all()
        if not finite or min(values) <= 0.0:
            right = "numbers above zero" if finite else "one finite number for each of n links"
            raise ModelError("planar_robot", f"{what} is {values}", f"give {right}")
    tree = new_tree(name, (0.0, -GRAVITY, 0.0))
    for k in range(n):
        length, width, mass = float(lengths[k]), float(wide[k]), float(masses[k])
        solid: dict[str, Any] = {"mass": mass, "inertia": box(mass, (length, width, width))}
        place = (float(lengths[k - 1]) if k else 0.0, 0.0, 0.0)
        com = (length / 2, 0.0, 0.0)
        add_body(tree, k + 1, k or None, com=com, axis=(0.0, 0.0, 1.0), p=place, **solid)
    tree.graph.update(q=np.zeros(n) if q is None else np.array(q), qd=np.zeros(n), tau=np.zeros(n))
    return tree


def two_links(second: float) -> nx.DiGraph[Any]:
    """Section 5.2.1: the first link of unit length and mass, the second l = m = ``second``."""
    return planar_robot((1.0, second), (1.0, second), name=f"second_{second:g}")


def shared(ratio: float) -> nx.DiGraph[Any]:
    """Section 5.2.2: two links of total length and mass 1, l_1 = m_1 = ``ratio``, width 0.1."""
    return planar_robot((ratio, 1.0 - ratio), (ratio, 1.0 - ratio), 0.1, name=f"shared_{ratio:g}")


def regular(n: int) -> nx.DiGraph[Any]:
    """Section 5.3.3: n equal links of 10 m and 10 kg, width 1 m."""
    return planar_robot([10.0] * n, [10.0] * n, name=f"regular_{n}")


def reach(tree: nx.DiGraph[Any]) -> float:
    """Sum of the links' lengths [m]; a tip's length is twice the distance to its centre."""
    return sum(2.0 * float(body["com"][0]) for _, body in tree.nodes(data=True))


def height_energy(tree: nx.DiGraph[Any]) -> float:
    """What the thesis's energies have above ``Motion.energy`` [J].

    The lowest point that the tip can reach has height zero: a regular chain at rest along x then
    has n^2 l m g, as Figure 5.9 prints.
    """
    mass: Any = sum(float(body["mass"]) for _, body in tree.nodes(data=True))
    return -float(tree.graph["gravity"][1]) * mass * reach(tree)
