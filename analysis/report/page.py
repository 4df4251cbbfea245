"""The page: one HTML file that needs nothing else, light or dark as the reader's system is.

The reader's browser prints it on A4, or into a PDF.  Its text stands in ``report.html.j2``.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from ..colours import DARK, LIGHT, Theme, plain
from ..figures.charts import DASHED, chart, series
from ..figures.style import settings
from .summary import QUANTILES, Report
from .words import percent

ROW = 0.21  # [in] height of an order's line
ACROSS = 4  # formats side by side, as panels and in a table


def strips(report: Report, colours: Theme = LIGHT) -> Figure:
    """One panel a format, one line an order: median, 10 %, 1 % and the worst state."""
    look, names = replace(colours, font="sans"), list(reversed(report.by_cost))
    shape = -(-len(names) // ACROSS), min(len(names), ACROSS)
    height = shape[0] * (0.72 + ROW * len(report.orders))
    with chart(look, "double", height, shape=shape, grid="x", columns=(2, 3)) as drawn:
        for k, ax in enumerate(drawn.axes):
            if k < len(names):
                _panel(ax, report, names[k], look, first=k % ACROSS == 0)
            else:
                ax.set_visible(False)
        ink: dict[str, Any] = {"color": look.ink}
        drawn.note("median", marker="o", markersize=5, **ink)
        drawn.note("10 % of states below", linewidth=3.2, **ink)
        drawn.note("1 % below", linewidth=1.2, **ink)
        drawn.note("worst state", marker="x", linestyle=":", linewidth=0.9, markersize=5, **ink)
        drawn.note("all that the format holds", linewidth=0.8, linestyle=DASHED, **ink)
        drawn.note("digits asked for", linewidth=0.8, color=look.faint)
    return drawn.figure


def _panel(ax: Any, report: Report, name: str, look: Theme, first: bool) -> None:
    """A line an order; the first panel of a row bears their names."""
    for y, order in enumerate(report.orders):
        d, point = report.cell(order, name).digits, series(look, y)
        line: dict[str, Any] = {"color": point["color"], "solid_capstyle": "butt"}
        ax.plot([d["worst"], d["1 %"]], [y, y], ":", linewidth=0.9, color=point["color"])
        ax.plot([d["1 %"], d["10 %"]], [y, y], linewidth=1.2, **line)
        ax.plot([d["10 %"], d["median"]], [y, y], linewidth=3.2, **line)
        ax.plot(d["worst"], y, "x", markersize=4.5, color=point["color"], clip_on=False)
        ax.plot(d["median"], y, markersize=4.8, clip_on=False, **point)
    most = report.capacity[name]
    ax.axvline(most, color=look.ink, linewidth=0.8, linestyle=DASHED)
    ax.axvline(report.wanted, color=look.faint, linewidth=0.8)
    ax.set(xlim=(0, max(most, report.wanted) * 1.06), ylim=(len(report.orders) - 0.4, -0.6))
    ax.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    ax.tick_params(axis="y", length=0, pad=7)
    ax.spines["left"].set_visible(False)
    names = [plain(order if len(order) <= 18 else f"{order[:17]}…") for order in report.orders]
    ax.set_yticks(range(len(names)), names if first else [])
    ax.set_title(name, color=look.ink, loc="left", fontsize=8.5)
    ax.set_xlabel("digits kept", color=look.ink, fontsize=7.5)


def page(report: Report) -> str:
    """The whole HTML document."""
    surroundings = Environment(
        loader=PackageLoader("pivotree.analysis.report", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    surroundings.filters["percent"] = percent
    return surroundings.get_template("report.html.j2").render(
        report=report,
        across=ACROSS,
        quantiles=tuple(reversed(QUANTILES)),  # median, 10 %, 1 %, worst
        light=_colours(False),
        dark=_colours(True),
        strips=_svg(strips(report)),
    )


def _colours(dark: bool) -> list[tuple[str, str]]:
    look = DARK if dark else LIGHT
    named = {"page": look.page, "ink": look.ink, "faint": look.faint}
    named |= {"soft": "#A6AFB9" if dark else "#555555", "line": "#2A313A" if dark else "#DDDDDD"}
    named |= {f"s{i}": colour for i, colour in enumerate(look.series)}
    return list(named.items())


def _svg(figure: Figure) -> Markup:
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
    return Markup(re.sub(r"<svg ", '<svg aria-hidden="true" ', text, count=1))
