"""Figure 5.7: the articulated-body method implemented badly is as rough as CRBM.

The bad implementation adds all of link 2's inertia to link 1's before it takes the projection
away.  l_2 = m_2 = 1e5, as in Figure 5.5 c.
"""

from __future__ import annotations

from ..item import Progress, Results, picture, value
from .simulator import BIAS
from .sweep import sweep

METHODS = {name: (name, "cholesky", BIAS) for name in ("ABM", "bad ABM", "CRBM")}


def measure(progress: Progress, *, second: float = 1e5, angles: int = 1001, width: float = 1.0) -> Results:
    """Good and bad ABM, and CRBM beside them."""
    progress(f"l_2 = m_2 = {second:g}")
    found = sweep(second, METHODS, angles, width)
    yield value("good", found.roughness("ABM"))
    yield value("bad", found.roughness("bad ABM"), none="" if second >= 1e5 else "another arm")
    yield value("crbm", found.rms("bad ABM") / found.rms("CRBM"))
    yield picture("figure57", "accelerations", [found], ("bad ABM", "ABM"))
