"""Section 3: more links at the tip end of an ill-conditioned arm make the conditioning worse.

The paper verified it with SD/FAST; here it is the joint-space inertia in random states.  The arm is
that of Table 1, and after its tip come more links like the tip.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pivotree import kkt

from ..item import Progress, Results, between, picture, value
from ..measures import condition


def longer(r: float, more: int) -> Any:
    """:func:`kkt.two_link` with ``more`` links like its tip behind it."""
    tree = kkt.two_link(r)
    own = {name: tree.nodes[1][name] for name in ("mass", "com", "inertia", "axis")}
    tip: Any = 1
    for j in range(more):
        kkt.add_body(tree, ("more", j), tip, p=(1.0 - r, 0.0, 0.0), **own)
        tip = ("more", j)
    n = 2 + more
    tree.graph.update(q=np.zeros(n), qd=np.zeros(n), tau=np.zeros(n))
    return tree


def measure(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (0.1, 0.01, 0.002),
    most: int = 6,
    states: int = 40,
    seed: int = 0,
) -> Results:
    """Medians over random angles of the joints, for 0 to ``most`` links more."""
    between("most", most, 1)
    between("states", states, 1)
    kappa: dict[float, list[float]] = {r: [] for r in ratios}
    for r, more in ((r, more) for r in ratios for more in range(most + 1)):
        progress(f"r = {r:g}, {more} links more")
        tree, draw = longer(r, more), np.random.default_rng((seed, more))
        q = draw.uniform(0.0, 2.0 * np.pi, (states, 2 + more))
        kappa[r].append(float(np.median(condition(tree, q))))
    for r, each in kappa.items():
        worse = all(a < b for a, b in pairwise(each))
        yield value("kappa", [f"{k:.1e}" for k in each], worse, r=f"{r:g}", most=most)
    yield picture("links", "lengthened", kappa)
