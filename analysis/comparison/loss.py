"""Where a loss of digits enters among the pivots of an order, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pivotree.kkt import Block

SOUND = 100.0  # units of rounding below which no pivot is off
INFINITE = 1e-3  # error from which a loss has entered where the worst is infinitely far off


class PivotError(NamedTuple):
    """How far one step's pivots are off."""

    step: int  # 1-based
    blocks: tuple[Block, ...]
    error: float  # largest relative error of the diagonal; infinite where it is not a number


def where_lost(pivots: Sequence[PivotError], unit: float) -> str:
    """The first pivot that is clearly off, and the worst one; without a full stop.

    ``pivots`` are in the order of elimination, ``unit`` is the format's unit roundoff.
    """
    if not pivots:
        return ""
    worst = max(pivots, key=lambda p: p.error)
    top = worst.error
    if top < SOUND * unit:
        return "its pivots are sound: the digits go in the right-hand side"
    # halfway, in decades, between rounding and the worst
    threshold = math.sqrt(unit * top) if math.isfinite(top) else INFINITE
    enters = next(p for p in pivots if p.error >= threshold)
    body = enters.blocks[-1].body
    text = f"the loss enters at body {body} (pivot {_pivot(enters)}, step {enters.step})"
    if worst is not enters:
        text += f" and is worst at {_pivot(worst)} (step {worst.step})"
    if math.isfinite(top):
        text += f", whose diagonal is off by {_percent(top)}"
    return text


def _pivot(pivot: PivotError) -> str:
    return " ".join(str(block) for block in pivot.blocks[-3:])


def _percent(x: float) -> str:
    if 1e-3 <= x < 10.0:
        return f"{100.0 * x:.2g} %"
    return f"a factor of {1 + x:.2g}" if x >= 10.0 else f"{x:.1e}"
