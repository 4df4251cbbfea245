"""Figure 7: 2 to 12 end links on a link that a spherical joint connects to the ground.

Without splitting the constraint forces of all end links are coupled through their common link, and
S is a full matrix of 3 n rows; its factor takes (3 n)^3 / 6 multiplications.  Split links keep at
most three joints on a piece.  The paper plots computation time, here it is operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pivotree.analysis.counts import Count, polynomial, text_of

from ..item import Progress, printed
from ..row import Value, value, within
from ..settings import between
from .fig6 import NEAR
from .growth import FOLDED, WHOLE, Growth, exponent, growth

ORDERS = ("virtual_work", "virtual_work_split", "abm")


@dataclass(frozen=True)
class Branched:
    growth: Growth
    laws: Mapping[str, Count]  # polynomials of virtual work, unsplit and split
    beyond: tuple[float, ...]  # exponents of unsplit multiplications, n = 16 to 64, 256 to 1024
    split_from: int | None  # leaves from which splitting takes fewer multiplications
    split_from_all: int | None  # fewer operations of all kinds


def measure(
    progress: Progress, *, least: int = 2, most: int = 12, family: str = "star_spherical"
) -> Branched:
    """Stars of ``least`` to ``most`` leaves of a family of analysis.counts."""
    between("most", most, 5)  # links are split from three leaves on
    found = growth(progress, family, range(least, most + 1), ORDERS)
    progress("polynomials")
    laws = {name: polynomial(name, family) for name in ORDERS[:2]}
    whole, split = (laws[name].polynomials for name in ORDERS[:2])
    far = ((16, 24, 32, 48, 64), (256, 384, 512, 768, 1024))
    beyond = tuple(exponent(ns, [int(whole["mul"](n)) for n in ns]) for ns in far)

    def first(kinds: tuple[str, ...]) -> int | None:
        start = max(3, laws[ORDERS[1]].holds_from or 3)
        less = [n for n in range(start, 200) if sum(split[k](n) - whole[k](n) for k in kinds) < 0]
        return less[0] if less else None

    return Branched(found, laws, beyond, first(("mul",)), first(("mul", "add", "div")))


def values(found: Branched) -> Iterator[Value]:
    beyond, g = printed("yamane2001")["fig7"]["faster_beyond_dof"], found.growth
    split = g.differences("virtual_work_split", start=3)
    laws = [found.laws[name].polynomials["mul"] for name in ORDERS[:2]]
    (step,) = split if len(split) == 1 else [()]
    told = f"{', '.join(map(str, step))} a leaf (mul, add, div)"
    yield value("split", told if step else "not linear", bool(step), law=text_of(laws[1]))
    yield value("whole", text_of(laws[0]), laws[0].degree() == 2)
    near = within(2.0, g.exponent("virtual_work"), NEAR)
    yield value("whole_here", g.exponent("virtual_work"), near)
    near = within(2.0, found.beyond[1], NEAR)
    yield value("whole_beyond", found.beyond[1], near, here=f"{found.beyond[0]:.2f}")
    ratios = [a / b for a, b in zip(g.total("virtual_work"), g.total(WHOLE), strict=True)]
    words = {"folded": f"{g.total(FOLDED)[-1]:,}", "runs": f"{g.total(WHOLE)[-1]:,}"}
    near = max(ratios) < 1.5 and min(ratios) > 1 / 1.5
    yield value("units", [min(ratios), max(ratios)], near, **words)
    first = g.cheaper_from("virtual_work_split", WHOLE)
    near = first is not None and within(beyond, first, NEAR)
    against = _dof(g.cheaper_from("virtual_work_split", FOLDED))
    yield value("split_units", first, near, printed=beyond, against=against)
    per_leaf = (g.dof[-1] - g.dof[0]) // (g.n[-1] - g.n[0])
    least = found.split_from_all
    dof = None if least is None else g.dof[0] + per_leaf * (least - g.n[0])
    yield value("split_whole", dof, printed=beyond, all=least, mul=found.split_from)


def _dof(first: int | None) -> str:
    return "not in this range" if first is None else f"from {first} dof"


def figures(found: Branched, style: str) -> dict[str, Any]:
    from .pictures import curves

    lines = {
        "virtual_work": ("virtual work, whole links", "-", "o"),
        WHOLE: ("unit vectors, whole runs", (0, (5, 2)), "s"),
        FOLDED: ("unit vectors, zeros folded", (0, (2, 1.5)), "D"),
        "virtual_work_split": ("virtual work, split links", (0, (6, 2, 1, 2)), "v"),
        "abm": ("ABM", (0, (1, 1)), "^"),
    }
    return {"fig7": curves(found.growth, lines, style)}
