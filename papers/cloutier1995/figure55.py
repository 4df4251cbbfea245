"""Figure 5.5: joint 1's acceleration over theta_2, smooth by ABM, rough by CRBM.

l_1 = m_1 = 1 and l_2 = m_2 = 4e4, 5e4, 1e5, unit widths, at rest, gravity 9.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..paper import Progress, printed
from ..row import Value, value
from .sweep import Sweep, pair, sweep


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


def values(found: list[Sweep]) -> Iterator[Value]:
    known = printed("cloutier1995")["figure55"]
    axes = dict(zip(known["second"], zip(known["bottom"], known["top"], strict=True), strict=False))
    for one in found:
        ours, exact = (
            [round(float(f(curve[:, 0])), 6) for f in (min, max)] for curve in (one.found["ABM"], one.exact)
        )
        axis, second = axes.get(one.second), f"{one.second:g}"
        yield value("range", ours, ours == exact, second=second, exact=exact)
        if axis:
            yield value("axis", ours, _on(ours, axis), second=second, printed=list(axis))
        else:  # the third is not legible
            yield value("axis", ours, none="no legible axis", second=second)
        yield value("smooth", one.roughness("ABM"), second=second)
        none = "" if one.second in known["second"] else "not in the thesis"
        yield value("rough", one.roughness("CRBM"), second=second, none=none)


def _on(curve: list[float], axis: tuple[float, float]) -> bool:
    """Whether a curve's range lies on an axis and fills half of it."""
    inside = axis[0] <= curve[0] and curve[1] <= axis[1]
    return inside and (curve[1] - curve[0]) / (axis[1] - axis[0]) >= 0.5


def figures(found: list[Sweep], style: str) -> dict[str, Any]:
    from .pictures import accelerations

    return {"figure55": accelerations(found, ("CRBM", "ABM"), style)}
