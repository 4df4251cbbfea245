"""Section 3: more links at the tip end of an ill-conditioned arm make the conditioning worse.

The paper verified it with SD/FAST; here it is the joint-space inertia in random states.  The arm is
that of Table 1, and after its tip come more links like the tip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..measures import eliminated
from ..paper import Progress
from ..row import Value, value
from ..settings import between

ORDERS = ("crbm", "abm")


@dataclass(frozen=True)
class Found:
    ratios: tuple[float, ...]
    kappa: dict[float, list[float]]  # ratio -> median over states, for 0, 1, ... more links
    errors: dict[str, list[float]]  # order -> median error of qdd, least ratio, single precision


def longer(r: float, more: int) -> Any:
    """:func:`kkt.two_link` with ``more`` links like its tip behind it."""
    tree = kkt.two_link(r)
    own = dict(tree.nodes[1])
    tip: Any = 1
    for j in range(more):
        kkt.add_body(
            tree,
            ("more", j),
            tip,
            mass=own["mass"],
            com=own["com"],
            inertia=own["inertia"],
            axis=own["axis"],
            p=(1.0 - r, 0.0, 0.0),
        )
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
) -> Found:
    """Medians over random angles of the joints, for 0 to ``most`` links more."""
    between("most", most, 1)
    between("states", states, 1)
    kappa: dict[float, list[float]] = {r: [] for r in ratios}
    errors: dict[str, list[float]] = {order: [] for order in ORDERS}
    for r in ratios:
        for more in range(most + 1):
            progress(f"r = {r:g}, {more} links more")
            draw = np.random.default_rng((seed, more))
            tree = longer(r, more)
            tapes = {order: kkt.trace(kkt.build(tree), orderings.get(order)) for order in ORDERS}
            found: dict[str, list[float]] = {name: [] for name in ("kappa", *ORDERS)}
            for q in draw.uniform(0.0, 2.0 * np.pi, (states, 2 + more)):
                system = kkt.build(tree, q=q)
                inertia = kkt.joint_space_inertia(system, tapes["crbm"])
                found["kappa"].append(float(np.linalg.cond(inertia)))
                if r == min(ratios):
                    exact = kkt.certify(system, 16, rounded_to="float32")
                    for order, tape in tapes.items():
                        found[order].append(eliminated(exact, system, tape))
            kappa[r].append(float(np.median(found["kappa"])))
            for order in ORDERS if r == min(ratios) else ():
                errors[order].append(float(np.median(found[order])))
    return Found(tuple(ratios), kappa, errors)


def values(found: Found) -> Iterator[Value]:
    for r, kappa in found.kappa.items():
        worse = all(a < b for a, b in pairwise(kappa))
        yield value("kappa", [f"{k:.1e}" for k in kappa], worse, r=f"{r:g}", most=len(kappa) - 1)
    for order, errors in found.errors.items():
        yield value("error", [f"{e:.1e}" for e in errors], r=f"{min(found.ratios):g}", order=order)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import lengthened

    return {"links": lengthened(found.kappa, found.errors, style)}
