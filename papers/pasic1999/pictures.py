"""The paper's figures in the project's styles."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .. import sheet
from ..sheet import named, panels
from .collocation import Path

DASHED, DOTTED = (0, (5, 2)), (0, (1.2, 1.4))
LINES = ("-", DASHED, DOTTED, (0, (5, 1.5, 1, 1.5)), (0, (8, 2)))
ANGLES = (r"$\theta_1$", r"$\theta_2$")
TIME, ANGLE = "time [s]", "joint angle [rad]"
ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}


def legend(place: Any, look: Any, **options: Any) -> None:
    sheet.legend(place, look, **{"fontsize": 8.0, "handlelength": 2.6, **options})


def torques(slopes: tuple[float, ...], end: float, style: str) -> Figure:
    """Figure 3: the joint torques that reproduce the printed angles."""
    with panels(style, "single", 2.1) as (figure, ax, look):
        t = np.linspace(0.0, end, 9)
        for k, slope in enumerate(slopes):
            mark = {"linestyle": LINES[k], "marker": "os"[k], "markersize": 3.5, "clip_on": False}
            ax.plot(t, slope * t, color=look.series[k], label=rf"$\tau_{k + 1} = {slope:g}\,t$", **mark)
        ax.set(xlim=(0, end))
        named(ax, look, TIME, "joint torque [N m]")
        legend(ax, look)
    return figure


def angles(fine: Path, marked: dict[str, Path], style: str) -> Figure:
    """Figure 4: both angles of the initial value problem; another step's edges as marks."""
    with panels(style, "double", 2.9) as (figure, ax, look):
        t, y = fine.fine(8)
        for k, name in enumerate(ANGLES):
            ax.plot(t, y[:, k], color=look.series[k], linestyle=LINES[k], linewidth=1.4, label=name)
            mark = {"markersize": 3.4, "markerfacecolor": look.page, "markeredgewidth": 0.8, "clip_on": False}
            for label, path in marked.items():
                edges = path.t[::2], path.q[::2, k]
                ax.plot(*edges, "os"[k], color=look.series[k], label=f"{name}, {label}", **mark)
        ax.set(xlim=(0, fine.t[-1]))
        named(ax, look, TIME, ANGLE)
        legend(ax, look, ncols=2, **ABOVE)
    return figure


def two_solutions(path: Path, exact: Any, style: str) -> Figure:
    """Figures 5 and 6: the boundary value problem's solution beside the initial value problem's."""
    with panels(style, "double", 2.5) as (figure, ax, look):
        t, y = path.fine(max(4, 160 // len(path.F)))
        other, every = exact.sol(t), max(1, len(t) // 14)
        for k, name in enumerate(ANGLES):
            colour = look.series[k]
            mark = {"marker": "os"[k], "markersize": 4, "markevery": (every // 2 * k, every)}
            ax.plot(t, y[:, k], color=colour, linewidth=1.5, label=f"{name}, BVP", **mark)
            ax.plot(t, other[k], color=colour, linewidth=1.2, linestyle=DASHED, label=f"{name}, IVP")
        ax.set(xlim=(0, path.t[-1]))
        named(ax, look, TIME, ANGLE)
        legend(ax, look, ncols=4, **ABOVE)
    return figure
