"""The page: one HTML file that needs nothing else, light or dark as the reader's system is.

The reader's browser prints it on A4, or into a PDF.  Its text stands in ``report.html.j2``.
"""

from __future__ import annotations

import io
import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from ..figures.style import DARK, LIGHT, settings
from .picture import joints, strips
from .summary import QUANTILES, Report
from .words import percent

ACROSS = 4  # formats beside each other in a table


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
    focused = any(report.cell(order, report.focus).joints for order in report.orders)
    return surroundings.get_template("report.html.j2").render(
        report=report,
        across=ACROSS,
        quantiles=tuple(reversed(QUANTILES)),  # median, 10 %, 1 %, worst
        light=_colours(False),
        dark=_colours(True),
        strips=_svg(strips(report), "a"),
        joints=_svg(joints(report), "b") if focused else "",
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
