"""The paper's figures in the project's styles: angles against time, solutions, subdomains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.analysis.figures import Theme, style_axes

from ..sheet import sheet
from .collocation import Path, along

Floats = NDArray[np.float64]
DASHED = (0, (5, 2))
DOTTED = (0, (1.2, 1.4))
ANGLES = (r"$\theta_1$", r"$\theta_2$")
KNOWN = {"fontsize": 8.0, "frameon": False, "handlelength": 2.6}


@contextmanager
def axes(style: str, width: str, height: float, across: int = 1) -> Iterator[tuple[Figure, Any, Theme]]:
    """A figure, its one axes or its several in a row, and its colours."""
    with sheet(width, height, style) as (figure, look):
        made = figure.subplots(1, across, squeeze=False)[0]
        for ax in made:
            style_axes(ax, look, grid="both")
        yield figure, made if across > 1 else made[0], look


def named(ax: Any, look: Theme, x: str, y: str, title: str = "") -> None:
    ax.set_xlabel(x, color=look.ink)
    ax.set_ylabel(y, color=look.ink)
    if title:
        ax.set_title(title, color=look.ink, loc="left", fontsize=8.5)


def legend(ax: Any, look: Theme, **options: Any) -> None:
    ax.legend(labelcolor=look.ink, **{**KNOWN, **options})


def torques(slopes: tuple[float, ...], end: float, style: str) -> Figure:
    """Figure 3: the joint torques that reproduce the printed angles."""
    with axes(style, "single", 2.1) as (figure, ax, look):
        t = np.linspace(0.0, end, 9)
        for k, slope in enumerate(slopes):
            label = rf"$\tau_{k + 1} = {slope:g}\,t$"
            ax.plot(
                t,
                slope * t,
                color=look.series[k],
                linestyle="-" if k == 0 else DASHED,
                marker="os"[k],
                markersize=3.5,
                clip_on=False,
                label=label,
            )
        ax.set(xlim=(0, end))
        named(ax, look, "time [s]", "joint torque [N m]")
        legend(ax, look)
    return figure


def angles(fine: Path, marked: dict[str, Path], style: str) -> Figure:
    """Figure 4: both angles of the initial value problem; another step's edges as marks."""
    with axes(style, "double", 2.9) as (figure, ax, look):
        t, y = fine.fine(8)
        for k, name in enumerate(ANGLES):
            ax.plot(
                t,
                y[:, k],
                color=look.series[k],
                linestyle="-" if k == 0 else DASHED,
                linewidth=1.4,
                label=name,
            )
            for label, path in marked.items():
                ax.plot(
                    path.t[::2],
                    path.q[::2, k],
                    "os"[k],
                    color=look.series[k],
                    markersize=3.4,
                    markerfacecolor=look.page,
                    markeredgewidth=0.8,
                    clip_on=False,
                    label=f"{name}, {label}",
                )
        ax.set(xlim=(0, fine.t[-1]))
        named(ax, look, "time [s]", "joint angle [rad]")
        legend(ax, look, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def two_solutions(path: Path, exact: Any, style: str) -> Figure:
    """Figures 5 and 6: the boundary value problem's solution beside the initial value problem's."""
    with axes(style, "double", 2.5) as (figure, ax, look):
        t, y = path.fine(max(4, 160 // len(path.F)))
        other = exact.sol(t)
        for k, name in enumerate(ANGLES):
            every = max(1, len(t) // 14)
            ax.plot(
                t,
                y[:, k],
                color=look.series[k],
                linewidth=1.5,
                marker="os"[k],
                markersize=4,
                markevery=(every // 2 * k, every),
                label=f"{name}, BVP",
            )
            ax.plot(t, other[k], color=look.series[k], linewidth=1.2, linestyle=DASHED, label=f"{name}, IVP")
        ax.set(xlim=(0, path.t[-1]))
        named(ax, look, "time [s]", "joint angle [rad]")
        legend(ax, look, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def partition(edges: Floats, local: Any, values: Floats, s: int, matched: Path, style: str) -> Figure:
    """Figure 1: subdomains solved from the straight line, with jumps of slope; and matched."""
    with axes(style, "double", 2.7, across=2) as (figure, both, look):
        x = np.linspace(0.0, 1.0, 13)
        for k, ax in enumerate(both):
            for i, e in enumerate(np.diff(edges)):
                y = along(x, s, e, values[i], local.left[i], local.F[i])[0]
                ax.plot(
                    edges[i] + e * x,
                    y[:, k],
                    color=look.series[1],
                    linewidth=1.3,
                    label="subdomains, not matched" if i == 0 else None,
                )
            ax.plot(
                edges,
                values[:, k],
                "o",
                color=look.series[1],
                markersize=3.2,
                label="interface values: straight line",
            )
            t, y = matched.fine(8)
            ax.plot(t, y[:, k], color=look.series[0], linestyle=DASHED, linewidth=1.2, label="matched")
            ax.set(xlim=(edges[0], edges[-1]))
            named(ax, look, "time [s]", f"{ANGLES[k]} [rad]")
        handles, labels = both[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, labelcolor=look.ink, **KNOWN)
    return figure


def radii(t: Floats, steps: list[tuple[float, Floats]], style: str) -> Figure:
    """The contraction constant of one step, along the solution, for several steps."""
    lines = ("-", DASHED, DOTTED, (0, (5, 1.5, 1, 1.5)), (0, (8, 2)))
    with axes(style, "single", 2.6) as (figure, ax, look):
        for i, (step, rho) in enumerate(steps):
            ax.semilogy(
                t,
                rho,
                color=look.series[i % len(look.series)],
                linewidth=1.2,
                linestyle=lines[i % len(lines)],
                marker="osD^v"[i % 5],
                markersize=3,
                markevery=8,
                label=f"step {step:g}",
            )
        ax.axhline(1.0, color=look.ink, linewidth=0.9, label="diverges above")
        ax.set(xlim=(t[0], t[-1]))
        named(ax, look, "start of the step [s]", r"spectral radius $\rho$ of $dG/dF$")
        handles, labels = ax.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, labelcolor=look.ink, **KNOWN)
    return figure
