"""The page: one HTML file that needs nothing else, light or dark as the reader's system is.

The reader's browser prints it on A4, or into a PDF.  Its text stands in ``report.html.j2``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from ..figures.style import DARK, LIGHT, settings
from .facts import (
    CHEAPEST_HEAD,
    COLUMNS,
    DATA,
    FIELD_COLUMNS,
    cheapest_rows,
    digits_rows,
    field_rows,
    notes,
    replays,
    subtitle,
    title,
)
from .picture import joints, strips
from .summary import Report

ACROSS = 4  # formats beside each other in a table


class _Row(NamedTuple):
    """A line of a table of digits; of ``low`` digits the figures are bold."""

    name: str
    digits: list[str]
    columns: int  # of a group
    least: float | None = None
    kind: str = ""

    def words(self, i: int) -> str:
        """Classes of the i-th cell: the first of its group, and too few digits."""
        low = self.least is not None and float(self.digits[i]) < self.least
        return " ".join(word for word, on in (("first", i % self.columns == 0), ("low", low)) if on)


def page(report: Report) -> str:
    """The whole HTML document."""
    loader = PackageLoader("pivotree.analysis.report", "")
    surroundings = Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    focused = any(report.cell(order, report.focus).joints for order in report.orders)
    relative = "Errors relative to the largest acceleration of the state."
    if report.quantity == "derivatives":
        relative = "Errors in their rows, relative to the largest entry of each matrix."
    return surroundings.get_template("report.html.j2").render(
        report=report,
        title=title(report),
        subtitle=subtitle(report),
        wanted=f"{report.wanted:g}",
        light=_colours(False),
        dark=_colours(True),
        strips=_svg(strips(report), "a"),
        digits=list(_digits(report)),
        told=_told(report),
        fields=list(_fields(report)),
        cheapest_head=CHEAPEST_HEAD,
        cheapest=cheapest_rows(report),
        joints=_svg(joints(report), "b") if focused else "",
        joints_caption=relative,
        notes=notes(report),
        worst=list(_worst(report)),
        replays=[command for *_, command in replays(report)],
    )


def _colours(dark: bool) -> list[tuple[str, str]]:
    look = DARK if dark else LIGHT
    named = {"page": look.page, "ink": look.ink, "faint": look.faint}
    named |= {"soft": "#A6AFB9" if dark else "#555555", "line": "#2A313A" if dark else "#DDDDDD"}
    named |= {f"s{i}": colour for i, colour in enumerate(look.series)}
    return list(named.items())


def _svg(figure: Figure, prefix: str) -> Markup:
    """A light figure as inline SVG, its colours turned into the page's own."""
    stream = io.StringIO()
    with settings("sans"):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    for name, colour in [
        *((f"s{i}", colour) for i, colour in enumerate(LIGHT.series)),
        ("ink", LIGHT.ink),
        ("faint", LIGHT.faint),
        ("page", LIGHT.page),
    ]:
        text = re.sub(f"{colour}\\b", f"var(--{name})", text, flags=re.I)
    # two pictures on one page must not share names
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    return Markup(re.sub(r"<svg ", '<svg aria-hidden="true" ', text, count=1))


def _digits(report: Report) -> Iterator[tuple[list[str], tuple[str, ...], list[_Row]]]:
    """Tables of some formats each, the longest formats first; all as wide as the first."""
    names = list(reversed(report.by_cost))
    for start in range(0, len(names), ACROSS):
        some = names[start : start + ACROSS]
        room = [""] * (ACROSS - len(some)) if start else []
        rows = [
            _Row(name, digits, len(COLUMNS), *((None, "data") if name == DATA else (report.wanted, "")))
            for name, *digits in digits_rows(report, some)
        ]
        yield some + room, COLUMNS, rows


def _told(report: Report) -> str:
    """What stands below the table of digits."""
    told = f"Bold: fewer than the {report.wanted:g} digits asked for."
    failed = [f"{c.order} in {c.format}: {c.failed} of {report.states}" for c in report.cells if c.failed]
    if failed:
        told += f" Without an answer, counted as 0: {'; '.join(failed)} states."
    marked = [f"{c.order} in {c.format}: {c.marked}" for c in report.cells if c.marked]
    if marked:
        told += f" Marked as not to be relied on: {'; '.join(marked)} of {report.states} states."
    return told


def _fields(report: Report) -> Iterator[tuple[str, list[str], tuple[str, ...], list[_Row]]]:
    """Digits of qdd and of each matrix, of derivatives; a table a format."""
    if not report.cells[0].fields:
        return
    for format in reversed(report.by_cost):
        rows = [_Row(name, digits, len(FIELD_COLUMNS)) for name, *digits in field_rows(report, format)]
        yield format, list(report.cells[0].fields), FIELD_COLUMNS, rows


def _worst(report: Report) -> Iterator[tuple[Any, ...]]:
    """A line a saved state: order, format, state, error, and where it is lost."""
    for cell in report.cells:
        worst = cell.worst
        if worst is None:
            continue
        error = "no answer" if worst.error is None else f"{worst.error:.1e}"
        if worst.error is not None and not worst.certified:
            error += " (not certified)"
        state: Any = worst.state
        if worst.file:
            state = Markup(f'<a href="{escape(quote(worst.file))}">{worst.state}</a>')
        yield cell.order, cell.format, state, error, worst.why
