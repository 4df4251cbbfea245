"""Figure 1: Example 1's base acceleration in single precision, smooth by ABM, rough by CRBM.

Tip 2 m, 10 kg, base 0.02 m, 0.1 kg, widths 0.02 m, at rest under gravity.  The condition number
of the joint-space inertia is that of the float64 matrix.  "Bad ABM" has ABM's pivots without its
brackets: the paper says that ABM "can be easily formulated to perform as badly".
"""

from __future__ import annotations

from typing import Any

import kkt

from ..paper import Progress, printed
from ..row import Row, within
from .sweep import BASE, Sweep, sweep

ORDERS = ("abm", "crbm", "bad_abm")


def measure(progress: Progress, *, angles: int = 1001, format: str = "float32") -> Sweep:
    """The three orders over ``angles`` angles of the tip joint."""
    return sweep(progress, ORDERS, angles, format=format)


def rows(found: Sweep) -> list[Row]:
    known = printed("ascher1996")["figure1"]
    low, high = (float(k) for k in (found.kappa.min(), found.kappa.max()))
    at_rest = kkt.build(kkt.example1(q1=0.0))
    base = at_rest.tree.names.index(BASE)
    exact = kkt.certify(at_rest, 20).decimals(17)[base]
    return [
        Row("kappa, least and most", None, [low, high], "1.33e4 and 5.41e4 within 1 %",
            within(known["kappa"][0], low, 0.01) and within(known["kappa"][1], high, 0.01)),
        Row("base acceleration at q_1 = 0", None, exact, f"{known['at_zero']}, the closed form",
            within(float(known["at_zero"]), float(exact), 1e-15)),
        Row("ABM, largest relative error", None, found.worst("abm"), "at most 2e-5",
            found.worst("abm") <= 2e-5),
        Row("ABM, variation over the exact curve's", "smooth", found.roughness("abm"),
            "within 5 % of 1", abs(found.roughness("abm") - 1.0) <= 0.05),
        *(row for order, name in (("crbm", "CRBM"), ("bad_abm", "bad ABM"))
          for row in _rough(found, order, name)),
    ]  # fmt: skip


def _rough(found: Sweep, order: str, name: str) -> list[Row]:
    rms, rough = found.rms(order), found.roughness(order)
    return [
        Row(f"{name}, rms relative error", None, rms, "between 1e-4 and 3e-3", 1e-4 <= rms <= 3e-3),
        Row(f"{name}, variation over the exact curve's", "rough", rough, "at least 10",
            rough >= 10.0),
    ]  # fmt: skip


def figures(found: Sweep, style: str) -> dict[str, Any]:
    from .pictures import curves

    names = {"abm": "ABM", "crbm": "CRBM", "bad_abm": "ABM without brackets"}
    return {"figure1": curves(found, names, style)}
