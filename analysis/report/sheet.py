"""The sheet: the report on one A4 page, for PDF."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..figures.style import LIGHT, settings
from .facts import CHEAPEST_HEAD, COLUMNS, DATA, cheapest_rows, digits_rows, notes, replays, subtitle, title
from .picture import ACROSS, ROW, draw_joints, draw_strips, losing_joints, order_handles, strip_handles
from .summary import Report

WIDTH, HEIGHT = 8.27, 11.69  # [in] A4
MARGIN = 0.6
LINE = 0.155  # [in] of a table or of text at 8 pt


BOTTOM = 0.35  # [in]


class Economy(NamedTuple):
    """What is left out so that the rest fits on one page."""

    joints: int  # that are drawn
    sentences: int  # of the verdict
    letters: int  # of a sentence
    formats: int
    cheapest: bool  # the table


ECONOMIES = (
    Economy(6, 99, 999, 99, True),
    Economy(4, 99, 999, 99, True),
    Economy(3, 10, 250, 8, True),
    Economy(3, 10, 250, 4, True),
    Economy(0, 10, 250, 4, True),
    Economy(0, 6, 200, 4, False),
)
MORE = "The rest stands in report.html."


class Sheet:
    """A page filled from the top; places are in inches."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(WIDTH, HEIGHT), facecolor=LIGHT.page)
        self.y = MARGIN  # from the top

    def text(self, x: float, text: str, size: float = 8.0, **more: Any) -> None:
        """One line whose baseline is at the present height."""
        look: dict[str, Any] = {"color": LIGHT.ink, "va": "baseline", "parse_math": False, **more}
        self.figure.text(x / WIDTH, 1.0 - self.y / HEIGHT, text, fontsize=size, **look)

    def lines(self, text: str, size: float, first: str = "", **more: Any) -> None:
        """A paragraph over the width of the page."""
        count = int((WIDTH - 2 * MARGIN) * 72 / (size * 0.532))  # DejaVu Sans, on average
        for line in textwrap.wrap(first + text, count, subsequent_indent=" " * len(first)):
            self.y += size * 1.36 / 72
            self.text(MARGIN, line, size, **more)

    def rule(self) -> None:
        y = 1.0 - self.y / HEIGHT
        ends = [MARGIN / WIDTH, 1.0 - MARGIN / WIDTH]
        self.figure.add_artist(Line2D(ends, [y, y], color=LIGHT.ink, linewidth=0.6))

    def axes(self, count: int, height: float, left: float, gap: float = 0.24) -> list[Any]:
        """Panels side by side below what is there, the first one's frame at ``left``."""
        width = (WIDTH - MARGIN - left - gap * (count - 1)) / count
        low = 1.0 - (self.y + height) / HEIGHT
        self.y += height
        return [
            self.figure.add_axes(((left + k * (width + gap)) / WIDTH, low, width / WIDTH, height / HEIGHT))
            for k in range(count)
        ]

    def legend(self, handles: list[Any]) -> None:
        """One line, centred."""
        self.y += 0.12
        self.figure.legend(
            handles=handles,
            loc="center",
            bbox_to_anchor=(0.5, 1.0 - self.y / HEIGHT),
            ncols=min(len(handles), 6),
            frameon=False,
            fontsize=7,
            columnspacing=1.3,
            handletextpad=0.5,
            borderpad=0,
        )
        self.y += 0.08

    def heading(self, text: str) -> None:
        self.y += 0.3
        self.text(MARGIN, text, 9.0, weight="bold")
        self.y += 0.04


def sheet(report: Report) -> Figure:
    """The report as one A4 figure; what does not fit stays on the HTML page."""
    with settings("sans"):
        for economy in ECONOMIES:
            made = _laid_out(report, economy)
            if made.y <= HEIGHT - BOTTOM:
                break
    return made.figure


def _laid_out(report: Report, economy: Economy) -> Sheet:
    made = Sheet()
    made.y += 0.16
    made.text(MARGIN, title(report), 14.0, weight="bold")
    made.y += 0.2
    made.text(MARGIN, subtitle(report), 8.0, color="#555555")
    made.y += 0.08
    sentences = [
        textwrap.shorten(text, economy.letters, placeholder=" …")
        for text in report.verdict[: economy.sentences]
    ]
    if len(sentences) < len(report.verdict) or len(report.formats) > economy.formats:
        sentences.append(MORE)
    for i, sentence in enumerate(sentences):
        made.lines(sentence, 8.2, weight="bold" if i == 0 else "normal")
        made.y += 0.03
    made.y += 0.12
    _strips(made, report, economy.formats)
    _digits(made, report, economy.formats)
    if economy.cheapest:
        _cheapest(made, report)
    _joints(made, report, economy.joints)
    _below(made, report)
    return made


def _strips(made: Sheet, report: Report, most: int) -> None:
    panels: list[Any] = []
    for _ in range(0, min(len(report.formats), most), ACROSS):
        made.y += 0.24
        count = ACROSS if len(report.formats) > ACROSS else len(report.formats)
        panels += made.axes(count, ROW * len(report.orders), MARGIN + 1.25)
        made.y += 0.38
    draw_strips(panels, report, LIGHT)
    made.legend(strip_handles(LIGHT))


def _joints(made: Sheet, report: Report, most: int) -> None:
    names = losing_joints(report, most)
    if not names:
        return
    made.heading(f"Joints that lose most in {report.focus}")
    made.y += 0.08
    height = len(names) * (0.1 + 0.06 * len(report.orders))
    (ax,) = made.axes(1, height, MARGIN + 1.9)
    draw_joints(ax, report, LIGHT, most)
    made.y += 0.36
    made.legend(order_handles(report, LIGHT))


def _digits(made: Sheet, report: Report, most: int) -> None:
    names = list(reversed(report.by_cost))[:most]
    made.heading("Digits kept, by share of states")
    for start in range(0, len(names), 4):
        some = names[start : start + 4]
        left = MARGIN + 1.35
        group = (WIDTH - MARGIN - left) / 4
        step = group / 4.35
        made.y += LINE
        for k, name in enumerate(some):
            made.text(left + k * group + 2.35 * step, name, 7.5, weight="bold", ha="center")
        made.y += LINE
        for k in range(len(some)):
            for i, column in enumerate(COLUMNS):
                x = left + k * group + (i + 1.2) * step
                made.text(x, column, 6.6, ha="right", color="#555555")
        made.y += 0.05
        made.rule()
        for row in digits_rows(report, some):
            made.y += LINE
            soft = {"color": "#555555"} if row[0] == DATA else {}
            made.text(MARGIN, _clip(row[0], 22), 7.5, **soft)
            for i, text in enumerate(row[1:]):
                x = left + (i // 4) * group + (i % 4 + 1.2) * step
                low = {"weight": "bold"} if _short(row[0], text, report) else {}
                made.text(x, text, 7.5, ha="right", **low, **soft)
        made.y += 0.06


def _short(order: str, digits: str, report: Report) -> bool:
    """Whether an order falls short of the digits asked for."""
    return order != DATA and float(digits) < report.wanted


def _cheapest(made: Sheet, report: Report) -> None:
    made.heading(f"Cheapest format that keeps {report.wanted:g} digits")
    places = [MARGIN + x for x in (0.0, 1.6, 2.8, 4.0, 5.2)]
    made.y += LINE
    for x, text in zip(places, CHEAPEST_HEAD, strict=True):
        made.text(x, text, 6.6, color="#555555")
    made.y += 0.05
    made.rule()
    for row in cheapest_rows(report):
        made.y += LINE
        for x, text in zip(places, row, strict=True):
            made.text(x, _clip(text, 24), 7.5)
    made.y += 0.06


def _below(made: Sheet, report: Report) -> None:
    commands = [command for _, name, command in replays(report) if name == report.focus]
    size = 5.8
    made.y += 0.1
    for note in notes(report):
        made.lines(note, size, color="#555555")
        made.y += 0.02
    if commands:
        made.lines(
            "The worst state of each order and format is saved; in this report's folder, such as:",
            size,
            color="#555555",
        )
        for command in commands[: max(0, int((HEIGHT - BOTTOM - made.y) / 0.1))]:
            made.y += 0.1
            made.text(MARGIN + 0.1, command, 5.4, family="DejaVu Sans Mono", color="#555555")


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
