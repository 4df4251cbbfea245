"""Figure 6: serial chains of 2 to 16 spherical joints, virtual work beside the unit vector method.

The paper plots computation time, on a machine of its day; here it is operations, which do not
depend on a machine.
"""

from __future__ import annotations

from typing import Any

from ..paper import Progress, printed
from ..row import Row, within
from .growth import FOLDED, WHOLE, Growth, growth

ORDERS = ("virtual_work", "abm")
NEAR = 0.25  # of a crossing, where operations stand for the paper's seconds


def measure(progress: Progress, *, least: int = 2, most: int = 16, family: str = "spherical") -> Growth:
    """Chains of ``least`` to ``most`` links of a family of analysis.counts."""
    return growth(progress, family, range(least, most + 1), ORDERS)


def rows(found: Growth) -> list[Row]:
    paper = printed("yamane2001")["fig6"]
    same = found.differences("virtual_work")
    (step,) = same if len(same) == 1 else [()]
    result = [
        Row(
            "virtual work",
            paper["growth"],
            f"{', '.join(map(str, step))} a link (mul, add, div)" if step else "not linear",
            "first differences constant, exactly",
            bool(step),
        )
    ]
    for name, what in ((WHOLE, "every column a whole run"), (FOLDED, "zeros of e_j folded")):
        first = found.cheaper_from("virtual_work", name)
        result.append(
            Row(
                f"dof from which it takes less than unit vectors, {what}",
                paper["faster_beyond_dof"],
                first,
                f"from there on to the end; within {100 * NEAR:g} %, ours being operations",
                first is not None and within(paper["faster_beyond_dof"], first, NEAR),
                "the paper's crossing is of its program's times; ours lies where operations say",
            )
        )
    result.append(
        Row(
            "exponents, multiplications",
            None,
            [round(found.exponent(name), 2) for name in ("virtual_work", WHOLE, FOLDED)],
            "none: the paper prints none; virtual work, unit vectors whole, folded",
            None,
        )
    )
    return result


def figures(found: Growth, style: str) -> dict[str, Any]:
    from .pictures import curves

    lines = {
        "virtual_work": ("virtual work", "-", "o"),
        WHOLE: ("unit vectors, whole runs", (0, (5, 2)), "s"),
        FOLDED: ("unit vectors, zeros folded", (0, (2, 1.5)), "D"),
        "abm": ("ABM", (0, (1, 1)), "^"),
    }
    return {"fig6": curves(found, lines, style)}
