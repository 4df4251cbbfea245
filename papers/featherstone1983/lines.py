"""Lines of ``pivotree list`` beside formulas of the slides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pivotree import kkt
from pivotree.analysis import listing
from pivotree.analysis.listing import full

from ..item import Progress, Results, picture, printed
from ..row import Row
from .formula import in_one_frame, key, put, read

CRITERION = "the same symbols, multiplied out, X = 1"


@dataclass(frozen=True)
class Beside:
    """One formula, as the slides have it and as the order's listing does."""

    slide: str
    printed: str
    line: str  # left side in the listing
    ours: str  # right side as listed
    same: bool


def rows(progress: Progress, part: str, order: str, model: str) -> Results:
    """The formulas of a part of the slides on a model whose joints have one freedom."""
    progress(f"listing {order}")
    beside = compared(part, listing.of(kkt.build(kkt.load(model)), order, "featherstone"))
    for one in beside:
        ours, why = f"{one.line} = {one.ours}", "" if one.same else "the words differ"
        yield Row(one.slide, one.printed, ours, CRITERION, one.same, why)
    yield picture(part, "page", order, beside)


def compared(part: str, told: Any) -> list[Beside]:
    """Every formula of a part of the slides, beside its line of a listing."""
    data, lines = printed("featherstone1983"), listed(told)
    return [_beside(row, lines, data["rules"]) for row in data[part]]


def listed(told: Any) -> dict[str, str]:
    """Left side -> right side, recursions in full where they are; a body that has a parent."""
    texts = full(told) or [line.replace("←", "=") for line in listing.render(told, "pseudocode").splitlines()]
    result: dict[str, str] = {}
    for text in texts:
        left, equals, right = text.strip().partition(" = ")
        right, _, condition = right.partition("   if ")
        if equals and "a root" not in condition:
            result[left] = right.strip()
    return result


def _beside(row: dict[str, Any], lines: dict[str, str], rules: dict[str, str]) -> Beside:
    formula = row["formula"]
    for symbol, meaning in row.get("where", {}).items():
        formula = formula.replace(symbol, f"({meaning})")
    ours = lines.get(row["line"], "")
    mine = in_one_frame(ours)
    if row.get("leaf"):  # link 2 hangs on link 1 and carries nothing
        mine = mine.replace("I^A_{i+1}", "I_2").replace("p^A_{i+1}", "v_2 × I_2 v_2")
        mine = mine.replace("_{i+1}", "_2").replace("_i", "_1")
    theirs = put(read(formula), rules)
    same = bool(ours) and key(read(mine)) == key(theirs)
    return Beside(row["slide"], row["formula"], row["line"], ours, same)
