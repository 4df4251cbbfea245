"""The verdict in plain words: what an engineer would write above the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pivotree import orderings
from pivotree.kkt.base.errors import reason_of

from .summary import Report

ALIKE = 0.3  # digits by which orders may differ and still be called alike
NOTHING = 0.05  # medians below so many digits count as none: they are written 0.0
FEW = 3  # pairs of order and format whose failures are told one by one
NAMES = 4  # orders that a sentence names; of more it gives the number
SPELLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def verdict(report: Report) -> tuple[str, ...]:
    """Sentences, the most useful first."""
    sentences = [_cheapest(report)]
    # the longest format, which loses least, comes first
    hopeless = [name for name in reversed(report.by_cost) if _hopeless(report, name)]
    sentences += [_format(report, n) for n in reversed(report.by_cost) if n not in hopeless]
    if hopeless:
        none = _none(report, "keeps", "digit")
        sentences.append(f"In {joined(hopeless)} {none} in half of the states.")
    sentences += _data(report)
    sentences += [*_failures(report), *_marked(report)]
    sentences += [f"{why[:1].upper()}{why[1:]}." for why in report.narrow.values()]
    sentences += [*_others(report), *_refused(report)]
    return tuple(s for s in sentences if s)


def _cheapest(report: Report) -> str:
    """Which format the digits asked for take, orders that need the same one together."""
    groups: dict[str | None, list[str]] = {}
    for order in report.orders:
        groups.setdefault(report.cheapest(order), []).append(order)
    parts = []
    for name in [*report.by_cost, None]:
        if name not in groups:
            continue
        who = _who(report, groups[name])
        one = len(groups[name]) == 1
        if len(groups) == 1 and len(report.orders) > 1:
            each = "each" if name else "any"
            who, one = f"{each} of the {_measured(report)}", True
        if name is None:
            parts.append(f"no format tried is enough for {who}")
        elif name == report.by_cost[0] and len(report.formats) > 1:
            parts.append(f"{name}, the shortest tried, is enough for {who}")
        elif len(report.formats) == 1:
            parts.append(f"{name} is enough for {who}")
        else:
            parts.append(f"{who} need{'s' if one else ''} {name}")
    count = f"all {report.states:,} states" if report.states > 1 else "the one state"
    return f"To keep {amount(report.wanted)} in {count}, {'; '.join(parts)}."


def _measured(report: Report) -> str:
    """How many orders were measured, and which, where they are few."""
    count = len(report.orders)
    names = f" ({', '.join(report.orders)})" if count <= NAMES else ""
    return f"{SPELLED[count] if count < len(SPELLED) else count} orders measured{names}"


def _none(report: Report, verb: str, what: str) -> str:
    if len(report.orders) == 1:
        return f"{report.orders[0]} {verb} no {what}"
    return f"none of these orders {verb} {'an' if what[0] in 'aeiou' else 'a'} {what}"


def _who(report: Report, orders: Sequence[str]) -> str:
    """Orders by name where they are few, else how many."""
    if len(orders) == len(report.orders) > 1:
        return "each of these orders"
    return joined(orders) if len(orders) <= NAMES else f"{len(orders)} of these orders"


def _others(report: Report) -> list[str]:
    """That other orders were not measured, where there are any."""
    if set(orderings.names()) <= {*report.orders, *report.refused}:
        return []
    return ["Other orders may fare otherwise; name those to measure with --order."]


def amount(digits: float) -> str:
    return "1 digit" if digits == 1 else f"{digits:g} digits"


def _format(report: Report, name: str) -> str:
    """Best and worst order in one format."""
    cells = [report.cell(order, name) for order in report.orders]
    full = [c for c in cells if c.failed < report.states]
    if not full:
        none = _none(report, "gives", "answer")
        return f"In {name} {none} in any state: {cells[0].why_failed}."
    ranked = sorted(full, key=lambda c: c.digits["median"] + c.digits["worst"])
    worst, best = ranked[0], ranked[-1]
    both = ("median", "worst")
    spread = max(max(c.digits[k] for c in full) - min(c.digits[k] for c in full) for k in both)
    if len(full) == 1:
        return f"In {name}, {best.order} keeps {_kept(best.digits)}."
    if spread <= ALIKE:
        low, high = ({k: f(c.digits[k] for c in full) for k in both} for f in (min, max))
        return (
            f"In {name} these orders are alike: {_range(low['median'], high['median'])} digits in "
            f"the median, {_range(low['worst'], high['worst'])} at worst."
        )
    return (
        f"In {name}, {best.order} keeps {_kept(best.digits)}; {worst.order} "
        f"{worst.digits['median']:.1f} and {worst.digits['worst']:.1f}."
    )


def _hopeless(report: Report, name: str) -> bool:
    """Whether all orders have a median below NOTHING, and some an answer in some state."""
    cells = [report.cell(order, name) for order in report.orders]
    answered = any(cell.failed < report.states for cell in cells)
    return answered and all(cell.digits["median"] < NOTHING for cell in cells)


def _kept(digits: dict[str, float]) -> str:
    return f"{digits['median']:.1f} digits in the median and {digits['worst']:.1f} at worst"


def _range(low: float, high: float) -> str:
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"


def _data(report: Report) -> list[str]:
    """Digits of the true answer that rounding the robot's data leaves, whatever the order."""
    left: dict[str, list[str]] = {}
    for name in reversed(report.by_cost):
        if report.data[name]["worst"] < report.wanted:
            left.setdefault(f"{report.data[name]['median']:.1f}", []).append(name)
    if not left:
        return []
    parts = [f"{digits} digits in {joined(names)}" for digits, names in left.items()]
    return [
        "Rounding the robot's own data, before any arithmetic and whatever the order, leaves of "
        f"the true answer (median) {joined(parts)}."
    ]


def _failures(report: Report) -> list[str]:
    """Where there is no answer: each pair where they are few, else the worst of them."""
    # a format in which no order has an answer is told as a whole
    answered = {cell.format for cell in report.cells if cell.failed < report.states}
    pairs = [cell for cell in report.cells if cell.failed and cell.format in answered]
    pairs.sort(key=lambda cell: -cell.failed)
    told = [
        f"{c.order} in {c.format} has no answer in {_states(c.failed, report.states)}: {c.why_failed}."
        for c in pairs[: FEW if len(pairs) <= FEW else 1]
    ]
    if len(pairs) > FEW:
        others = dict.fromkeys(f"{c.order} in {c.format}" for c in pairs[1:])
        told.append(f"Fewer states have no answer with {joined(others)}.")
    return told


def _marked(report: Report) -> list[str]:
    """How many answers are marked as not to be relied on, format by format."""
    parts = []
    for name in reversed(report.by_cost):
        counts = {o: cell.marked for o in report.orders if (cell := report.cell(o, name)).marked}
        if counts:
            low, high = min(counts.values()), max(counts.values())
            span = f"{high:,}" if low == high else f"{low:,} to {high:,}"
            parts.append(f"{span} in {name} with {_who(report, list(counts))}")
    if not parts:
        return []
    return [
        "An answer is marked where fewer than half of the format's digits are right, or where it "
        f"leaves an error of that size in equation (4). Of {report.states:,} states this marks "
        f"{joined(parts)}."
    ]


def _states(count: int, all_of: int) -> str:
    return "any state" if count == all_of else f"{count} of {all_of:,} states"


def _refused(report: Report) -> list[str]:
    """Orders that are ruled out for the same reason together; the document has all of it."""
    reasons: dict[str, list[str]] = {}
    for order, why in report.refused.items():
        reasons.setdefault(reason_of(why), []).append(order)
    verbs = ("is not for this robot", "are not for this robot")
    told = {why: why if len(orders) > 1 else report.refused[orders[0]] for why, orders in reasons.items()}
    return [f"{joined(orders)} {verbs[len(orders) > 1]}: {told[why]}." for why, orders in reasons.items()]


def joined(words: Iterable[str]) -> str:
    """a, b and c."""
    *most, last = list(words)
    return f"{', '.join(most)} and {last}" if most else last


def percent(share: float) -> str:
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 9.5 else f"{value:.2g} %"
