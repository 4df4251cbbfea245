"""Parts of the page: tables as rows of text, and the notes below them."""

from __future__ import annotations

from .summary import QUANTILES, Report
from .words import percent

COLUMNS = tuple(reversed(QUANTILES))  # median, 10 %, 1 %, worst
DATA = "data alone"


def digits_rows(report: Report, formats: list[str]) -> list[list[str]]:
    """A line an order, four quantiles for each format; the last line is for rounded data alone."""
    rows = []
    for order in report.orders:
        cells = [report.cell(order, name) for name in formats]
        rows.append([order, *(_digits(cell.digits[q]) for cell in cells for q in COLUMNS)])
    data = [_digits(report.data[name][q]) for name in formats for q in COLUMNS]
    return [*rows, [DATA, *data]]


def _digits(x: float) -> str:
    return f"{x:.1f}"


def title(report: Report) -> str:
    """The heading of the page."""
    of = " of the derivatives of qdd" if report.quantity == "derivatives" else ""
    return f"{report.model}: digits{of} kept"


FIELD_COLUMNS = ("median", "worst")


def field_rows(report: Report, format: str) -> list[list[str]]:
    """A line an order: of qdd and of each matrix the digits in the median and at worst."""
    rows = []
    for cell in (report.cell(order, format) for order in report.orders):
        kept = (_digits(q[name]) for q in cell.fields.values() for name in FIELD_COLUMNS)
        rows.append([cell.order, *kept])
    return rows


def cheapest_rows(report: Report) -> list[list[str]]:
    """A line an order: the cheapest format in all states, in 99 %, in half, and with the data."""
    return [
        [
            order,
            *(report.cheapest(order, share) or "none" for share in (1.0, 0.99, 0.5)),
            report.cheapest(order, with_data=True) or "none",
        ]
        for order in report.orders
    ]


CHEAPEST_HEAD = ("order", "all states", "99 %", "half", "all, rounded data counted")


def subtitle(report: Report) -> str:
    states = f"{report.states:,} random states"
    return (
        f"{report.bodies} bodies, {report.dof} degrees of freedom · {states}, seed {report.seed}"
        f" · asked for: {report.wanted:g} digits"
    )


def notes(report: Report) -> list[str]:
    """How it was measured, and how far the reference can be trusted."""
    what = "max |qdd - exact| / max |exact| over all joint accelerations"
    if report.quantity == "derivatives":
        what = (
            "max |D - exact| / max |exact| over all entries of D = d qdd / dq, dqd and dtau, the "
            "worst of these three matrices"
        )
    told = [
        f"Digits kept: -log10 of {what}, "
        "exact for equation (4) with its entries rounded to the format, so that the arithmetic "
        "alone is judged; a state without an answer counts as 0. Data alone: the exact answer for "
        "the rounded entries against the exact answer for those in double precision.",
        "Marked: an answer whose error, or whose backward error in equation (4), is beyond half of "
        "the format's digits; where one of its pivots has no right bit it is refused.",
        f"States: {report.distribution}.",
    ]
    seen = report.reference
    if seen is not None:
        text = "Reference: the articulated-body program in double-double. "
        if seen.certified:
            text += (
                f"Held against certified balls in {seen.certified} cases, the worst states among "
                f"them: largest disagreement {seen.disagreement:.1e}"
            )
        else:
            text += "It had no answer that certified balls could be held against"
        if not seen.sound:
            text += "; NOT SOUND: " + (
                seen.trouble or f"the smallest error measured is {seen.smallest_error:.1e}"
            )
        told.append(f"{text}.")
    text = (
        f"“All states”: so in every state seen; at 95 % confidence fewer than "
        f"{percent(report.at_most)} of such states fall short."
    )
    told.append(text)
    return told


def replays(report: Report) -> list[tuple[str, str, str]]:
    """(order, format, command) of each saved worst state."""
    return [
        (cell.order, cell.format, cell.worst.replay)
        for cell in report.cells
        if cell.worst is not None and cell.worst.replay
    ]
