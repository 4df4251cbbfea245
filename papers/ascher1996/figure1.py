"""Figure 1: Example 1's base acceleration in single precision, smooth by ABM, rough by CRBM.

Tip 2 m, 10 kg, base 0.02 m, 0.1 kg, widths 0.02 m, at rest under gravity; other masses, lengths
and widths are settings.  The condition number of the joint-space inertia is that of the float64
matrix.  "Bad ABM" has ABM's pivots without its brackets: the paper says that ABM "can be easily
formulated to perform as badly".  The paper prints a curve and no numbers; ours are held against
the arm's closed form, worked out by hand from Lagrange's equations.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt
from pivotree.kkt.model import IN_PLANE

from ..item import Progress, Results, picture, value
from .sweep import BASE, TIP, sweep

NAMES = {"abm": "ABM", "crbm": "CRBM", "bad_abm": "bad ABM"}
DRAWN = NAMES | {"bad_abm": "ABM without brackets"}
PAPER = 10.0, 2.0, 0.1, 0.02, 0.02
ENOUGH = 501  # angles, from which noise of 4e-4 is ten times the curve's own variation
CHECKED = 16  # angles at which the certified answer is held against the closed form
GRAVITY = -float(IN_PLANE[1])


def closed_form(q1: float, m1: float, l1: float, m2: float, l2: float, width: float) -> tuple[float, float]:
    """Base acceleration [rad/s^2] and 2-norm condition number of the joint-space inertia.

    From rest with the base link, number 2, level: M = [[a + b + 2 c C, b + c C], [b + c C, b]] with
    C = cos q1, det M = a b - (c C)^2, and gravity's torques below.
    """
    C = np.cos(q1)
    box = [m * (x * x + width**2) / 12.0 for m, x in ((m1, l1), (m2, l2))]
    a = box[1] + m2 * l2**2 / 4.0 + m1 * l2**2
    b = box[0] + m1 * l1**2 / 4.0
    c = m1 * l2 * l1 / 2.0
    det = a * b - (c * C) ** 2
    level = GRAVITY * (m2 * l2 / 2.0 + m1 * l2)
    tip = GRAVITY * m1 * l1 / 2.0 * C
    trace = a + 2.0 * b + 2.0 * c * C
    largest = (trace + np.sqrt(trace * trace - 4.0 * det)) / 2.0
    # b (level + tip) - (b + c C) tip, without the difference
    return float(-(b * level - c * C * tip) / det), float(largest * largest / det)


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
) -> Results:
    """The three orders over ``angles`` angles of the tip joint; masses [kg] and lengths [m]."""
    links = (m1, l1, m2, l2, width)
    tree = kkt.example1(m1=m1, l1=l1, m2=m2, l2=l2, width=width)
    found = sweep(progress, NAMES, angles, tree, format)
    each = [closed_form(q, *links)[1] for q in found.angles]
    kappa = [min(each), max(each)]
    apart = 0.0
    for q in found.angles[:: max(1, angles // CHECKED)]:
        system = kkt.build(tree, q={BASE: 0.0, TIP: float(q)})
        ours = float(kkt.certify(system, 20).qdd[system.tree.names.index(BASE)])
        apart = max(apart, abs(ours / closed_form(q, *links)[0] - 1.0))
    engine = [float(found.kappa.min()), float(found.kappa.max())]
    yield value("kappa", [*kappa, *engine], bool(np.allclose(kappa, engine, rtol=1e-9)))
    yield value("certified", apart)
    other = f"not the paper's links in float32, or fewer than {ENOUGH} angles"
    paper = links == PAPER and format == "float32" and angles >= ENOUGH
    none = {} if paper else {"none": other, "printed": None, "why": ""}
    for order, name in NAMES.items():
        kind, rms, worst = "smooth" if order == "abm" else "rough", found.rms(order), found.worst(order)
        yield value(f"{kind}_curve", found.roughness(order), name=name, **none)
        share = rms / (kappa[1] * 2.0**-24)
        holds = worst <= 4 * 2.0**-24 if kind == "smooth" else 0.01 <= share <= 1.0
        yield value(f"{kind}_error", [rms, worst], holds, name=name, **none)
    yield picture("figure1", "curves", found, DRAWN)
