"""Figure 1: Example 1's base acceleration in single precision, smooth by ABM, rough by CRBM.

Tip 2 m, 10 kg, base 0.02 m, 0.1 kg, widths 0.02 m, at rest under gravity; other masses, lengths
and widths are settings.  The condition number of the joint-space inertia is that of the float64
matrix.  "Bad ABM" has ABM's pivots without its brackets: the paper says that ABM "can be easily
formulated to perform as badly".  The paper prints a curve and no numbers; ours are held against
the arm's closed form, worked out by hand from Lagrange's equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.kkt.model import IN_PLANE

from ..paper import Progress
from ..row import Value, value
from .sweep import BASE, TIP, Sweep, sweep

ORDERS = ("abm", "crbm", "bad_abm")
ENOUGH = 501  # angles, from which noise of 4e-4 is ten times the curve's own variation
CHECKED = 16  # angles at which the certified answer is held against the closed form
GRAVITY = -float(IN_PLANE[1])


@dataclass(frozen=True)
class Links:
    """Two rectangular links, 1 the tip [kg, m]."""

    m1: float
    l1: float
    m2: float
    l2: float
    width: float

    def closed_form(self, q1: float) -> tuple[float, float]:
        """Base acceleration [rad/s^2] and 2-norm condition number of the joint-space inertia.

        From rest with the base link level: M = [[a + b + 2 c C, b + c C], [b + c C, b]] with
        C = cos q1, det M = a b - (c C)^2, and gravity's torques below.
        """
        C = np.cos(q1)
        box = [m * (x * x + self.width**2) / 12.0 for m, x in ((self.m1, self.l1), (self.m2, self.l2))]
        a = box[1] + self.m2 * self.l2**2 / 4.0 + self.m1 * self.l2**2
        b = box[0] + self.m1 * self.l1**2 / 4.0
        c = self.m1 * self.l2 * self.l1 / 2.0
        det = a * b - (c * C) ** 2
        level = GRAVITY * (self.m2 * self.l2 / 2.0 + self.m1 * self.l2)
        tip = GRAVITY * self.m1 * self.l1 / 2.0 * C
        trace = a + 2.0 * b + 2.0 * c * C
        largest = (trace + np.sqrt(trace * trace - 4.0 * det)) / 2.0
        # b (level + tip) - (b + c C) tip, without the difference
        return float(-(b * level - c * C * tip) / det), float(largest * largest / det)


@dataclass(frozen=True)
class Found:
    paper: bool  # its links, in single precision, at angles enough to see roughness
    links: Links
    sweep: Sweep
    kappa: tuple[float, float]  # least and most by the closed form, over the same angles
    apart: float  # certified answers from the closed form, largest relative difference


def measure(
    progress: Progress,
    *,
    angles: int = 1001,
    format: str = "float32",
    m1: float = 10.0,
    l1: float = 2.0,
    m2: float = 0.1,
    l2: float = 0.02,
    width: float = 0.02,
) -> Found:
    """The three orders over ``angles`` angles of the tip joint."""
    links = Links(m1, l1, m2, l2, width)
    tree = kkt.example1(m1=m1, l1=l1, m2=m2, l2=l2, width=width)
    found = sweep(progress, ORDERS, angles, tree, format)
    kappa = [links.closed_form(q)[1] for q in found.angles]
    apart = 0.0
    for q in found.angles[:: max(1, angles // CHECKED)]:
        system = kkt.build(tree, q={BASE: 0.0, TIP: float(q)})
        ours = float(kkt.certify(system, 20).qdd[system.tree.names.index(BASE)])
        apart = max(apart, abs(ours / links.closed_form(q)[0] - 1.0))
    paper = links == Links(10.0, 2.0, 0.1, 0.02, 0.02) and format == "float32" and angles >= ENOUGH
    return Found(paper, links, found, (min(kappa), max(kappa)), apart)


def values(found: Found) -> Iterator[Value]:
    sweep, kappa = found.sweep, found.kappa
    engine = (float(sweep.kappa.min()), float(sweep.kappa.max()))
    yield value("kappa", [*kappa, *engine], bool(np.allclose(kappa, engine, rtol=1e-9)))
    yield value("certified", found.apart)
    other = "" if found.paper else f"not the paper's links in float32, or fewer than {ENOUGH} angles"
    for order, name in (("abm", "ABM"), ("crbm", "CRBM"), ("bad_abm", "bad ABM")):
        kind, rms, worst = "smooth" if order == "abm" else "rough", sweep.rms(order), sweep.worst(order)
        none = {"none": other, "printed": None, "why": ""} if other else {}
        yield value(f"{kind}_curve", sweep.roughness(order), name=name, **none)
        share = rms / (kappa[1] * 2.0**-24)
        holds = worst <= 4 * 2.0**-24 if kind == "smooth" else 0.01 <= share <= 1.0
        yield value(f"{kind}_error", [rms, worst], holds, name=name, **none)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import curves

    names = {"abm": "ABM", "crbm": "CRBM", "bad_abm": "ABM without brackets"}
    return {"figure1": curves(found.sweep, names, style)}
