"""Pictures of a report: digits kept by order and format, and the joints that lose most."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..figures.style import MARKERS, Theme, plain, settings, style_axes, theme
from .summary import Joint, Report

ROW = 0.21  # [in] height of an order's line
JOINTS = 6  # that are drawn
ACROSS = 4  # panels side by side


def strips(report: Report, *, dark: bool = False, width: float = 7.0) -> Figure:
    """One panel a format, one line an order: median, 10 %, 1 % and the worst state."""
    rows = -(-len(report.formats) // ACROSS)
    height = rows * (0.72 + ROW * len(report.orders)) + 0.28
    with settings("sans"):
        figure = _figure(width, height, dark)
        grid = figure.subplots(rows, min(len(report.formats), ACROSS), squeeze=False)
        draw_strips(list(grid.flat), report, theme(dark))
        figure.legend(handles=strip_handles(theme(dark)), loc="outside lower center", ncols=6, **_plain(dark))
    return figure


def _figure(width: float, height: float, dark: bool) -> Figure:
    figure = Figure(figsize=(width, height), facecolor=theme(dark).page)
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.04, wspace=0.03)
    return figure


def _plain(dark: bool) -> dict[str, Any]:
    """How legends look."""
    return {
        "frameon": False,
        "fontsize": 7,
        "labelcolor": theme(dark).ink,
        "columnspacing": 1.3,
        "handletextpad": 0.5,
    }


def draw_strips(axes: list[Any], report: Report, look: Theme) -> None:
    """A panel a format, the longest first; the first of each row bears the orders' names."""
    names = list(reversed(report.by_cost))[: len(axes)]
    for k, ax in enumerate(axes):
        if k < len(names):
            _panel(ax, report, names[k], look, first=k % ACROSS == 0)
        else:
            ax.set_visible(False)


def strip_handles(look: Theme) -> list[Line2D]:
    """What the parts of a strip mean."""
    ink: dict[str, Any] = {"color": look.ink}
    return [
        Line2D([], [], marker="o", linestyle="", markersize=5, label="median", **ink),
        Line2D([], [], linewidth=3.2, label="10 % of states below", **ink),
        Line2D([], [], linewidth=1.2, label="1 % below", **ink),
        Line2D([], [], marker="x", linestyle=":", linewidth=0.9, markersize=5, label="worst state", **ink),
        Line2D([], [], linewidth=0.8, linestyle=(0, (4, 3)), label="all that the format holds", **ink),
        Line2D([], [], linewidth=0.8, color=look.faint, label="digits asked for"),
    ]


def _panel(ax: Any, report: Report, name: str, look: Theme, first: bool) -> None:
    style_axes(ax, look, grid="x")
    for y, order in enumerate(report.orders):
        cell, colour = report.cell(order, name), _colour(look, y)
        d = cell.digits
        line: dict[str, Any] = {"color": colour, "solid_capstyle": "butt"}
        ax.plot([d["worst"], d["1 %"]], [y, y], ":", linewidth=0.9, color=colour)
        ax.plot([d["1 %"], d["10 %"]], [y, y], linewidth=1.2, **line)
        ax.plot([d["10 %"], d["median"]], [y, y], linewidth=3.2, **line)
        ax.plot(d["worst"], y, "x", markersize=4.5, color=colour, clip_on=False)
        marker = MARKERS[y % len(MARKERS)]
        ax.plot(d["median"], y, marker, markersize=4.8, color=colour, clip_on=False)
    _scale(ax, report, name, look, 6)
    ax.set_ylim(len(report.orders) - 0.4, -0.6)
    names = [plain(_short(order, 18)) for order in report.orders]
    ax.set_yticks(range(len(names)), names if first else [])
    ax.set_title(name, color=look.ink, loc="left", fontsize=8.5)
    ax.set_xlabel("digits kept", color=look.ink, fontsize=7.5)


def losing_joints(report: Report, count: int = JOINTS) -> list[str]:
    """The joints with the fewest digits in the format in focus, by their worst median."""
    least: dict[str, float] = {}
    for order in report.orders:
        for joint in report.cell(order, report.focus).joints:
            least[joint.name] = min(least.get(joint.name, 99.0), joint.median)
    return sorted(least, key=lambda name: least[name])[:count]


def joints(report: Report, *, dark: bool = False, width: float = 7.0) -> Figure:
    """Median and worst digits of the joints that lose most, one marker an order."""
    count = max(len(losing_joints(report)), 1)
    with settings("sans"):
        figure = _figure(width, 0.75 + count * (0.1 + 0.075 * len(report.orders)), dark)
        draw_joints(figure.subplots(), report, theme(dark))
        figure.legend(
            handles=order_handles(report, theme(dark)),
            loc="outside lower center",
            ncols=min(len(report.orders), 5),
            **_plain(dark),
        )
    return figure


def draw_joints(ax: Any, report: Report, look: Theme, most: int = JOINTS) -> None:
    """One line a joint and order, from the median to the worst state."""
    names = losing_joints(report, most)
    style_axes(ax, look, grid="x")
    count = len(report.orders)
    for i, order in enumerate(report.orders):
        by_name = {joint.name: joint for joint in report.cell(order, report.focus).joints}
        for y, name in enumerate(names):
            if name in by_name:
                at = y + 0.66 * ((i + 0.5) / count - 0.5)
                _joint(ax, by_name[name], at, _colour(look, i), MARKERS[i % len(MARKERS)])
    for y in range(len(names) - 1):
        ax.axhline(y + 0.5, color=look.faint, linewidth=0.4, alpha=0.5)
    _scale(ax, report, report.focus, look, 16)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), [plain(_short(name)) for name in names])
    label = f"digits kept in {report.focus}: median (marker) and worst state (cross)"
    ax.set_xlabel(label, color=look.ink, fontsize=7.5)


def order_handles(report: Report, look: Theme) -> list[Line2D]:
    """Which marker is which order."""
    return [
        Line2D(
            [],
            [],
            linestyle="-",
            linewidth=0.9,
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            color=_colour(look, i),
            label=plain(order),
        )
        for i, order in enumerate(report.orders)
    ]


def _scale(ax: Any, report: Report, name: str, look: Theme, ticks: int) -> None:
    """Digits from 0 to all that the format holds, and the line of those asked for."""
    most = report.capacity[name]
    ax.axvline(most, color=look.ink, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.axvline(report.wanted, color=look.faint, linewidth=0.8)
    ax.set_xlim(0, max(most, report.wanted) * 1.06)
    ax.xaxis.get_major_locator().set_params(integer=True, nbins=ticks)
    ax.tick_params(axis="y", length=0, pad=7)
    ax.spines["left"].set_visible(False)


def _joint(ax: Any, joint: Joint, y: float, colour: str, marker: str) -> None:
    ax.plot([joint.worst, joint.median], [y, y], linewidth=0.9, color=colour)
    ax.plot(joint.worst, y, "x", markersize=3.6, color=colour, clip_on=False)
    ax.plot(joint.median, y, marker, markersize=3.8, color=colour, clip_on=False)


def _colour(look: Theme, i: int) -> str:
    return look.series[i % len(look.series)]


def _short(name: str, most: int = 30) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
