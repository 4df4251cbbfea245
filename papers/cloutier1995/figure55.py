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
    progress: Progress,
    *,
    second: tuple[float, ...] = (4e4, 5e4, 1e5),
    angles: int = 1001,
    width: float = 1.0,
    solver: str = "cholesky",
) -> list[Sweep]:
    """One sweep for each l_2 = m_2."""
    found = []
    for length in second:
        progress(f"l_2 = m_2 = {length:g}")
        found.append(sweep(length, pair(solver), angles, width))
    return found


def rows(found: list[Sweep]) -> list[Row]:
    known = printed("cloutier1995")["figure55"]
    printed_axes = zip(known["bottom"], known["top"], strict=True)
    axes = dict(zip(known["second"], printed_axes, strict=False))  # the third is not legible
    result = []
    for one in found:
        ours, exact = (
            [round(float(f(curve[:, 0])), 6) for f in (min, max)] for curve in (one.found["ABM"], one.exact)
        )
        axis, name = axes.get(one.second), f"l_2 = m_2 = {one.second:g}"
        asked = one.second in known["second"]
        smooth, rough = one.roughness("ABM"), one.roughness("CRBM")
        result += [
            Row(f"{name}: range of ABM", None, ours, f"{exact}, the closed form's", ours == exact),
            Row(
                f"{name}: ABM's curve on the printed axis",
                list(axis) if axis else None,
                ours,
                "on it, and fills half of it" if axis else "none: no legible axis",
                _on(ours, axis) if axis else None,
            ),
            Row(
                f"{name}: ABM's variation over the exact curve's",
                "smooth",
                smooth,
                f"within {100 * SMOOTH:g} % of 1",
                abs(smooth - 1.0) <= SMOOTH,
            ),
            Row(
                f"{name}: CRBM's variation over the exact curve's",
                "not smooth",
                rough,
                f"at least {ROUGH:g}" if asked else "none: not in the thesis",
                rough >= ROUGH if asked else None,
            ),
        ]
    return result


def _on(curve: list[float], axis: tuple[float, float]) -> bool:
    """Whether a curve's range lies on an axis and fills half of it."""
    inside = axis[0] <= curve[0] and curve[1] <= axis[1]
    return inside and (curve[1] - curve[0]) / (axis[1] - axis[0]) >= 0.5


def figures(found: list[Sweep], style: str) -> dict[str, Any]:
    from .pictures import accelerations

    return {"figure55": accelerations(found, ("CRBM", "ABM"), style)}
