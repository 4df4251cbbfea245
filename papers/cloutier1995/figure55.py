"""Figure 5.5: joint 1's acceleration over theta_2, smooth by ABM, rough by CRBM.

l_1 = m_1 = 1 and l_2 = m_2 = 4e4, 5e4, 1e5, unit widths, at rest, gravity 9.8.
"""

from __future__ import annotations

from ..item import Progress, Results, picture, printed, value
from .sweep import pair, sweep


def measure(
    progress: Progress,
    *,
    second: tuple[float, ...] = (4e4, 5e4, 1e5),
    angles: int = 1001,
    width: float = 1.0,
    solver: str = "cholesky",
) -> Results:
    """One sweep for each l_2 = m_2."""
    known = printed("cloutier1995")["figure55"]
    axes = dict(zip(known["second"], zip(known["bottom"], known["top"], strict=True), strict=False))
    found = []
    for length in second:
        progress(f"l_2 = m_2 = {length:g}")
        one = sweep(length, pair(solver), angles, width)
        found.append(one)
        ours, exact = (
            [round(float(f(curve)), 6) for f in (min, max)] for curve in (one.found["ABM"], one.exact)
        )
        axis, at = axes.get(length), f"{length:g}"
        yield value("range", ours, ours == exact, second=at, exact=exact)
        if axis:
            yield value("axis", ours, _on(ours, axis), second=at, printed=list(axis))
        else:  # the third is not legible
            yield value("axis", ours, none="no legible axis", second=at)
        yield value("smooth", one.roughness("ABM"), second=at)
        none = "" if length in known["second"] else "not in the thesis"
        yield value("rough", one.roughness("CRBM"), second=at, none=none)
    yield picture("figure55", "accelerations", found, ("CRBM", "ABM"))


def _on(curve: list[float], axis: tuple[float, float]) -> bool:
    """Whether a curve's range lies on an axis and fills half of it."""
    inside = axis[0] <= curve[0] and curve[1] <= axis[1]
    return inside and (curve[1] - curve[0]) / (axis[1] - axis[0]) >= 0.5
