"""Pictures that pages have on the site: made in seconds, or of the numbers in a page's own table."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure

from pivotree import kkt, orderings
from pivotree.analysis.figures import DARK, LIGHT, MARKERS, compare_orders
from pivotree.analysis.report import robot_report
from pivotree.analysis.report.page import strips
from pivotree.analysis.simulation import Integration, simulate
from pivotree.analysis.simulation.picture import picture
from pivotree.papers.sheet import legend, named, panels

HERE = Path(__file__).parent


def figure(name: str, style: str) -> Figure:
    """The picture of this name, light or dark."""
    return MAKERS[name](style)


def crbm_abm(style: str) -> Figure:
    """Fill of two orders on a chain of six links."""
    structure = kkt.build(kkt.chain(6)).structure
    plans = [kkt.plan(orderings.get(name), structure) for name in ("crbm", "abm")]
    return compare_orders([kkt.symbolic(plan) for plan in plans], labels=True, style=style)


def steps(style: str) -> Figure:
    """What the command in docs/simulate.md draws."""
    tree = kkt.load("two_link:r=0.0015")
    how = Integration(eps=1e-4, state="float32", floor=1e-30)
    found = [simulate(tree, order, "float32", how, runs=5) for order in ("crbm+cholesky", "abm")]
    return picture(found, style=style)


def report(style: str) -> Figure:
    """Digits kept, as the report of a humanoid shows them."""
    formats = ["float64", "float32", "tf32", "bfloat16"]
    orders = ["abm", "modified_abm", "crbm", "square_root_abm"]
    found = robot_report(kkt.humanoid(), "humanoid", orders, formats, states=200)
    return strips(found, DARK if style == "dark" else LIGHT)


def readings(style: str) -> Figure:
    """Digits predicted and measured, of the table in docs/readings.md."""
    text = (HERE / "readings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(.+)\|$", text[text.index("| robot |") :], re.M)
    (_, *programs), _, *body = [[cell.strip() for cell in row.split("|")] for row in rows]
    with panels(style, "single", 3.4) as (figure, ax, look):
        for i, program in enumerate(programs):
            pairs = [map(float, row[i + 1].split("/")) for row in body if row[i + 1]]
            mark = {"linestyle": "", "marker": MARKERS[i], "color": look.series[i], "markersize": 4}
            ax.plot(*zip(*pairs, strict=True), label=f"{program} ({len(pairs)})", **mark)
        ax.axline((5, 5), slope=1, color=look.faint, linewidth=0.8, zorder=0)
        ax.set_aspect("equal")
        named(ax, look, "digits predicted by the reading", "digits measured in the program")
        legend(ax, look)
    return figure


MAKERS = {"crbm_abm": crbm_abm, "simulate": steps, "report": report, "readings": readings}
