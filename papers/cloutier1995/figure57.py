"""Figure 5.7: the articulated-body method implemented badly is as rough as CRBM.

The bad implementation adds all of link 2's inertia to link 1's before it takes the projection
away.  l_2 = m_2 = 1e5, as in Figure 5.5 c.
"""

from __future__ import annotations

from typing import Any

from ..paper import Progress
from ..row import Row
from .sweep import Sweep, sweep

METHODS = {
    name: (name, "cholesky", "inverse_dynamics") for name in ("ABM", "bad ABM", "CRBM")
}  # name -> method, solver, bias


def measure(progress: Progress, *, second: float = 1e5, angles: int = 1001, width: float = 1.0) -> Sweep:
    """Good and bad ABM, and CRBM beside them."""
    progress(f"l_2 = m_2 = {second:g}")
    return sweep(second, METHODS, angles, width)


def rows(found: Sweep) -> list[Row]:
    good, bad = (found.roughness(method) for method in ("ABM", "bad ABM"))
    ratio = found.rms("bad ABM") / found.rms("CRBM")
    return [
        Row(
            "good ABM's variation over the exact curve's",
            "the smooth curve",
            good,
            "within 5 % of 1",
            abs(good - 1.0) <= 0.05,
        ),
        Row(
            "bad ABM's variation over the exact curve's",
            "rough",
            bad,
            "at least 10",
            bad >= 10.0 if found.second >= 1e5 else None,
        ),
        Row(
            "rms error of bad ABM over CRBM's",
            None,
            ratio,
            "between 0.2 and 5: no better",
            0.2 <= ratio <= 5.0,
        ),
    ]


def figures(found: Sweep, style: str) -> dict[str, Any]:
    from .pictures import accelerations

    return {"figure57": accelerations([found], ("bad ABM", "ABM"), style)}
