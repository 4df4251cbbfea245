"""Figure 7: 2 to 12 end links on a link that a spherical joint connects to the ground.

Without splitting the constraint forces of all end links are coupled through their common link, and
S is a full matrix of 3 n rows; its factor takes (3 n)^3 / 6 multiplications.  Split links keep at
most three joints on a piece.  The paper plots computation time, here it is operations.
"""

from __future__ import annotations

from pivotree.analysis.counts import polynomial, text_of

from ..item import Progress, Results, between, picture, printed, value, within
from .fig6 import NEAR
from .growth import FOLDED, WHOLE, exponent, growth

FAR = (16, 24, 32, 48, 64), (256, 384, 512, 768, 1024)  # leaves
ORDERS = ("virtual_work", "virtual_work_split", "abm")


def measure(progress: Progress, *, least: int = 2, most: int = 12, family: str = "star_spherical") -> Results:
    """Stars of ``least`` to ``most`` leaves of a family of analysis.counts."""
    between("most", most, 5)  # links are split from three leaves on
    found = growth(progress, family, range(least, most + 1), ORDERS)
    beyond = printed("yamane2001")["fig7"]["faster_beyond_dof"]
    progress("polynomials")
    counts = [polynomial(name, family) for name in ORDERS[:2]]
    whole, split = (count.polynomials for count in counts)
    same = found.differences("virtual_work_split", start=3)
    (step,) = same if len(same) == 1 else [()]
    told = f"{', '.join(map(str, step))} a leaf (mul, add, div)"
    yield value("split", told if step else "not linear", bool(step), law=text_of(split["mul"]))
    yield value("whole", text_of(whole["mul"]), whole["mul"].degree() == 2)
    here = found.exponent("virtual_work")
    yield value("whole_here", here, within(2.0, here, NEAR))
    near, far = (exponent(ns, [int(whole["mul"](n)) for n in ns]) for ns in FAR)
    yield value("whole_beyond", far, within(2.0, far, NEAR), here=f"{near:.2f}")
    ratios = [a / b for a, b in zip(found.total("virtual_work"), found.total(WHOLE), strict=True)]
    words = {"folded": f"{found.total(FOLDED)[-1]:,}", "runs": f"{found.total(WHOLE)[-1]:,}"}
    alike = max(ratios) < 1.5 and min(ratios) > 1 / 1.5
    yield value("units", [min(ratios), max(ratios)], alike, **words)
    first, last = (found.cheaper_from("virtual_work_split", name) for name in (WHOLE, FOLDED))
    against = "not in this range" if last is None else f"from {last} dof"
    close = first is not None and within(beyond, first, NEAR)
    yield value("split_units", first, close, printed=beyond, against=against)

    def fewer(*kinds: str) -> int | None:
        """Leaves from which splitting takes fewer operations of these kinds."""
        sizes = range(max(3, counts[1].holds_from or 3), 200)
        return next((n for n in sizes if sum(split[k](n) - whole[k](n) for k in kinds) < 0), None)

    leaves = fewer("mul", "add", "div")
    per_leaf = (found.dof[-1] - found.dof[0]) // (found.n[-1] - found.n[0])
    dof = None if leaves is None else found.dof[0] + per_leaf * (leaves - found.n[0])
    yield value("split_whole", dof, printed=beyond, all=leaves, mul=fewer("mul"))
    yield picture("fig7", "curves", found, ("virtual_work", WHOLE, FOLDED, "virtual_work_split", "abm"))
