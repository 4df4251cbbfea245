"""Figure 5.5: joint 1's acceleration over theta_2, smooth by ABM, rough by CRBM.

l_1 = m_1 = 1 and l_2 = m_2 = 4e4, 5e4, 1e5, unit widths, at rest, gravity 9.8.
"""

from __future__ import annotations

from typing import Any

from ..paper import Progress, printed
from ..row import Row
from .sweep import Sweep, pair, sweep

SMOOTH, ROUGH = 0.05, 2.0  # of the variation of the exact curve


def measure(
    progress: Progress, *, second: tuple[float, ...] = (4e4, 5e4, 1e5), angles: int = 1001,
    width: float = 1.0, solver: str = "cholesky",
) -> list[Sweep]:  # fmt: skip
    """One sweep for each l_2 = m_2."""
    found = []
    for length in second:
        progress(f"l_2 = m_2 = {length:g}")
        found.append(sweep(length, pair(solver), angles, width))
    return found


def rows(found: list[Sweep]) -> list[Row]:
    known = printed("cloutier1995")["figure55"]
    ranges = dict(zip(known["second"], known["range"], strict=True))
    result = []
    for one in found:
        ours = [round(float(f(one.found["ABM"][:, 0])), 6) for f in (min, max)]
        asked, name = ranges.get(one.second), f"l_2 = m_2 = {one.second:g}"
        smooth, rough = one.roughness("ABM"), one.roughness("CRBM")
        result += [
            Row(f"{name}: range of ABM", None, ours,
                f"{asked}, the closed form's" if asked else "none: not in the thesis",
                ours == asked if asked else None),
            Row(f"{name}: ABM's variation over the exact curve's", "smooth", smooth,
                f"within {100 * SMOOTH:g} % of 1", abs(smooth - 1.0) <= SMOOTH),
            Row(f"{name}: CRBM's variation over the exact curve's", "not smooth", rough,
                f"at least {ROUGH:g}" if asked else "none: not in the thesis",
                rough >= ROUGH if asked else None),
        ]  # fmt: skip
    return result


def figures(found: list[Sweep], style: str) -> dict[str, Any]:
    from .pictures import accelerations

    return {"figure55": accelerations(found, ("CRBM", "ABM"), style)}
