"""Figure 5.7: the articulated-body method implemented badly is as rough as CRBM.

The bad implementation adds all of link 2's inertia to link 1's before it takes the projection
away.  l_2 = m_2 = 1e5, as in Figure 5.5 c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..paper import Progress
from ..row import Value, value
from .sweep import Sweep, sweep

METHODS = {
    name: (name, "cholesky", "inverse_dynamics") for name in ("ABM", "bad ABM", "CRBM")
}  # name -> method, solver, bias


def measure(progress: Progress, *, second: float = 1e5, angles: int = 1001, width: float = 1.0) -> Sweep:
    """Good and bad ABM, and CRBM beside them."""
    progress(f"l_2 = m_2 = {second:g}")
    return sweep(second, METHODS, angles, width)


def values(found: Sweep) -> Iterator[Value]:
    yield value("good", found.roughness("ABM"))
    yield value("bad", found.roughness("bad ABM"), none="" if found.second >= 1e5 else "another arm")
    yield value("crbm", found.rms("bad ABM") / found.rms("CRBM"))


def figures(found: Sweep, style: str) -> dict[str, Any]:
    from .pictures import accelerations

    return {"figure57": accelerations([found], ("bad ABM", "ABM"), style)}
