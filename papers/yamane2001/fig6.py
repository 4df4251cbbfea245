"""Figure 6: serial chains of 2 to 16 spherical joints, virtual work beside the unit vector method.

The paper plots computation time, on a machine of its day; here it is operations, which do not
depend on a machine.
"""

from __future__ import annotations

from ..item import Progress, Results, picture, printed, value, within
from .growth import FOLDED, WHOLE, growth

ORDERS = ("virtual_work", "abm")
NEAR = 0.25  # of a crossing, where operations stand for the paper's seconds


def measure(progress: Progress, *, least: int = 2, most: int = 16, family: str = "spherical") -> Results:
    """Chains of ``least`` to ``most`` links of a family of analysis.counts."""
    found = growth(progress, family, range(least, most + 1), ORDERS)
    same, beyond = found.differences("virtual_work"), printed("yamane2001")["fig6"]["faster_beyond_dof"]
    (step,) = same if len(same) == 1 else [()]
    told = f"{', '.join(map(str, step))} a link (mul, add, div)"
    yield value("linear", told if step else "not linear", bool(step))
    for name, what in ((WHOLE, "every column a whole run"), (FOLDED, "zeros of e_j folded")):
        first = found.cheaper_from("virtual_work", name)
        near = first is not None and within(beyond, first, NEAR)
        yield value("crossing", first, near, what=what, printed=beyond)
    yield picture("fig6", "curves", found, ("virtual_work", WHOLE, FOLDED, "abm"))
