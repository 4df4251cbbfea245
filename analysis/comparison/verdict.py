"""The verdict: which orders keep their digits in one state, and where the others lose them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pivotree.kkt import Block, Elimination
from pivotree.kkt.base.errors import reason_of

from .row import Row

SLACK = 1.7  # decimal digits below the format's own that still count as kept
NOISE = 100.0  # unit roundoffs that a last correction may have
BEHIND = 1.0  # decimal digits fewer than another's, or lost beyond the forced, that are no fault
REASONS = 3  # reasons for a missing answer, or names of orders, that a sentence lists


Results = Mapping[tuple[str, str], Elimination]  # by order and format


def verdict(
    model: str, rows: Sequence[Row], results: Results, units: Mapping[str, float], kappa: float | None = None
) -> str:
    """Some sentences for each format, all of one state.

    ``units`` are the unit roundoffs of the formats that round; ``kappa`` is the condition number
    of qdd, where it is known.
    """
    formats = dict.fromkeys(row.format for row in rows)
    return "\n".join(
        _one_format(model, name, [row for row in rows if row.format == name], results, units.get(name), kappa)
        for name in formats
    )


def _one_format(
    model: str, format: str, rows: list[Row], results: Results, unit: float | None, kappa: float | None
) -> str:
    good = [row for row in rows if row.digits is not None]
    refused = _refusals([row for row in rows if row.digits is None])
    here = f"on {model}"
    if not good:
        return f"In {format} no order compared gives an answer {here}. {refused}".strip()
    best = max(good, key=lambda row: (_kept(row), -(row.flops or 0)))
    worst = min(good, key=_kept)
    full = -math.log10(unit) if unit else _kept(best)
    lossless = [row for row in good if _kept(row) >= full - SLACK]
    cheapest = min(lossless or good, key=lambda row: row.flops or 0)

    # how many digits are kept, and by which orders
    if len(good) == 1:
        text = f"In {format} {best.order} keeps {_count(best)} {here}."
    elif int(_kept(best)) == 0:
        text = f"In {format} no order compared keeps a digit {here}."
    elif len(lossless) == len(good):
        everyone = "every order that answers" if refused else "every order compared"
        whole = "1 digit" if int(_kept(worst)) == 1 else f"{int(_kept(worst))} digits"
        text = (
            f"In {format} {everyone} keeps at least {whole} {here}; "
            f"{cheapest.order} does it with the fewest operations ({cheapest.flops:,})."
        )
    else:
        text = f"In {format} {worst.order} keeps {_count(worst)} {here}; {best.order} keeps {_count(best)}"
        if lossless and cheapest is not best:
            text += f", and {cheapest.order}, the cheapest that loses little, {_count(cheapest)}"
        text += "."

    # where digits are lost, whose fault that is, and what else is odd
    if _kept(worst) < full - SLACK:
        elimination = results.get((worst.order, format))
        text += "" if elimination is None else _where(elimination, unit or 0.0)
        text += _fault(worst, best, kappa)
    text += _at_joint(worst) + _marks(good) + _unrefined(rows, results, unit or 0.0)
    return f"{text} {refused}".strip()


def _kept(row: Row) -> float:
    return row.digits or 0.0


def _count(row: Row) -> str:
    """Digits kept, in words where none is left."""
    return f"{_kept(row):.1f} digits" if _kept(row) >= 1.0 else "no digit"


def _where(elimination: Elimination, unit: float) -> str:
    """Where the loss enters: the first pivot that is clearly off, and the worst one."""
    steps = [PivotError(s.step, s.blocks, s.pivot_error) for s in elimination.steps if s.pivot_error]
    text = where_lost(steps, unit, elimination.order)
    if text.startswith("no pivot"):
        text += "; pivotree blame names the operations that lose most"
    return f" {text[0].upper()}{text[1:]}." if text else ""


def _fault(row: Row, best: Row, kappa: float | None) -> str:
    """Whether the problem or the order loses the digits.

    It is the problem only where no order compared keeps notably more, and the condition number
    accounts for what is lost.
    """
    behind = _kept(best) - _kept(row)
    guilty = [f"it keeps {behind:.1f} digits fewer than {best.order}"] if behind > BEHIND else []
    text = ""
    if kappa is not None and row.lost_by_order is not None:
        forced = f"{math.log10(max(kappa, 1.0)):.1f}"
        text = f" The condition number of qdd, {kappa:.2g}, may cost any order {forced} digits."
        if row.lost_by_order >= BEHIND:
            guilty.append(
                f"it loses {row.lost_by_order:.1f} digits more than the {forced} that the "
                f"condition number of qdd, {kappa:.2g}, may cost any order"
            )
            text = ""
        elif not guilty:
            return f" The problem is at fault, and no order.{text}"
    return f" {row.order} is at fault: {', and '.join(guilty)}.{text}" if guilty else text


def _at_joint(row: Row) -> str:
    """The joint where notably fewer digits are right than the largest acceleration shows."""
    if row.worst_digits is None or _kept(row) - row.worst_digits <= BEHIND:
        return ""
    return (
        f" At the joint of {row.worst_joint} {row.order} keeps {row.worst_digits:.1f} digits of what "
        "efforts, gravity and rates can do there."
    )


def _marks(rows: Sequence[Row]) -> str:
    """Orders whose answers are marked, beside those that are said to keep no digit."""
    names = [row.order for row in rows if row.marked and int(_kept(row))]
    if not names:
        return ""
    more = f" and {len(names) - REASONS} more" if names[REASONS:] else ""
    return f" Fewer than half of its digits are left by {', '.join(names[:REASONS])}{more}."


def _unrefined(rows: Sequence[Row], results: Results, unit: float) -> str:
    """Orders whose corrections stalled or diverged, other than among the last digits."""
    told = []
    for row in rows:
        elimination = results.get((row.order, row.format))
        refinement = elimination.refinement if elimination is not None else None
        if refinement is None or not refinement.status.startswith(("stalled", "drowned", "diverged")):
            continue
        if min(refinement.corrections) > NOISE * unit:
            kept = f"{refinement.kept} of them kept" if refinement.kept else "none of them is kept"
            told.append(f" The corrections of {row.order} {refinement.status}: {kept}.")
    return "".join(told)


def _refusals(rows: list[Row]) -> str:
    """Orders without an answer, the most frequent reason first; one told by one order, with its remedy."""
    reasons: dict[str, list[Row]] = {}
    for row in rows:
        if row.order.split(" +")[0] not in (r.order for r in rows if r is not row):
            # "crbm +1" fails because crbm does
            reasons.setdefault(reason_of(row.failed_at or ""), []).append(row)
    groups = sorted(reasons.items(), key=lambda item: -len(item[1]))
    groups = [(str(some[0].failed_at) if len(some) == 1 else why, some) for why, some in groups]
    told = [f"{_gives(group)} no answer: {reason}." for reason, group in groups[:REASONS]]
    others = [row for _, group in groups[REASONS:] for row in group]
    if others:
        why = "another reason" if len(others) == 1 else "reasons of their own"
        told.append(f"{_gives(others)} none for {why}.")
    return " ".join(told)


def _gives(rows: list[Row]) -> str:
    return f"{', '.join(row.order for row in rows)} {'gives' if len(rows) == 1 else 'give'}"


# -- where a loss enters --------------------------------------------------------------------------


SOUND = 100.0  # units of rounding below which no pivot is off
INFINITE = 1e-3  # error from which a loss has entered where the worst is infinitely far off


class PivotError(NamedTuple):
    """How far one step's pivots are off."""

    step: int  # 1-based
    blocks: tuple[Block, ...]
    error: float  # largest relative error of the diagonal; infinite where it is not a number


def where_lost(pivots: Sequence[PivotError], unit: float, order: str) -> str:
    """The first pivot that is clearly off, and the worst one; without a full stop.

    ``pivots`` are in the order of elimination of ``order``, ``unit`` is the format's unit
    roundoff.  Where none is clearly off, it is said how many of their digits are right: that
    alone does not tell which operations lose the answer's digits, since a pivot of several
    blocks, and what is solved with it, may still lose some.
    """
    if not pivots:
        return ""
    worst = max(pivots, key=lambda p: p.error)
    top = worst.error
    if top < SOUND * unit:
        right = -math.log10(max(top, unit))
        return f"no pivot of {order} is far off: their diagonals are right to {right:.1f} digits"
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
