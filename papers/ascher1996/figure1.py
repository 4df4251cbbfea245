"""Figure 1: Example 1's base acceleration in single precision, smooth by ABM, rough by CRBM.

Tip 2 m, 10 kg, base 0.02 m, 0.1 kg, widths 0.02 m, at rest under gravity; other masses, lengths
and widths are settings.  The condition number of the joint-space inertia is that of the float64
matrix.  "Bad ABM" has ABM's pivots without its brackets: the paper says that ABM "can be easily
formulated to perform as badly".  The paper prints a curve and no numbers; ours are held against
the arm's closed form, worked out by hand from Lagrange's equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt
from pivotree.kkt.model import IN_PLANE

from ..paper import Progress
from ..row import Row, claim
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


def rows(found: Found) -> list[Row]:
    sweep, kappa = found.sweep, found.kappa
    low, high = (float(k) for k in (sweep.kappa.min(), sweep.kappa.max()))
    result = [
        Row(
            "kappa, least and most, by the closed form and by the engine",
            None,
            [*kappa, low, high],
            "within 1e-9 of each other",
            bool(np.allclose(kappa, (low, high), rtol=1e-9)),
        ),
        Row(
            "certified base acceleration beside the closed form",
            None,
            found.apart,
            "within 1e-13, relative",
            found.apart <= 1e-13,
        ),
    ]
    for order, name in (("abm", "ABM"), ("crbm", "CRBM"), ("bad_abm", "bad ABM")):
        rms, worst, rough = sweep.rms(order), sweep.worst(order), sweep.roughness(order)
        curve = f"{name}, variation over the exact curve's"
        error = f"{name}, rms relative error, and the largest"
        if not found.paper:
            other = f"none: not the paper's links in float32, or fewer than {ENOUGH} angles"
            result.append(Row(curve, None, rough, other, None))
            result.append(Row(error, None, [rms, worst], other, None))
            continue
        smooth = order == "abm"
        result.append(
            claim(
                curve,
                "smooth" if smooth else "rough",
                rough,
                "within 5 % of 1" if smooth else "at least 10",
                abs(rough - 1.0) <= 0.05 if smooth else rough >= 10.0,
                "variation is the sum of |differences| from angle to angle",
            )
        )
        share = rms / (kappa[1] * 2.0**-24)
        result.append(
            Row(
                error,
                None,
                [rms, worst],
                "largest at most 4 u" if smooth else "rms between 0.01 and 1 times kappa u",
                worst <= 4 * 2.0**-24 if smooth else 0.01 <= share <= 1.0,
            )
        )
    return result


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import curves

    names = {"abm": "ABM", "crbm": "CRBM", "bad_abm": "ABM without brackets"}
    return {"figure1": curves(found.sweep, names, style)}
