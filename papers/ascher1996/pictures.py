"""Pictures of Ascher, Pai & Cloutier 1996 in the paper's own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import style_axes

from ..sheet import DASHES, sheet
from .sweep import Sweep


def curves(found: Sweep, names: Mapping[str, str], style: str) -> Figure:
    """Base acceleration against the tip's angle, one panel an order, and the errors below."""
    with sheet("double", 3.9, style) as (figure, look):
        panels = figure.subplots(2, len(names), sharex=True, sharey="row", height_ratios=(3, 2))
        turns = found.angles / np.pi
        least = 1e-9
        for column, (order, name) in enumerate(names.items()):
            top, bottom = panels[:, column]
            style_axes(top, look, grid="y")
            style_axes(bottom, look, grid="y")
            colour = look.series[column]
            top.plot(turns, found.found[order], color=colour, linewidth=0.7)
            top.plot(turns, found.exact, color=look.ink, linewidth=0.6, linestyle=(0, (1, 3)))
            top.set_title(f"{name}\nrms error {found.rms(order):.1e}", color=look.ink)
            error = np.maximum(np.abs(found.error(order)), least)
            bottom.plot(turns, error, ".", color=colour, markersize=1.6)
            bottom.set_yscale("log")
            bottom.set_xlabel(r"angle of the tip joint $q_1$ / $\pi$", color=look.ink)
        panels[0, 0].set_ylabel("base joint [rad/s²]", color=look.ink)
        panels[1, 0].set_ylabel("relative error", color=look.ink)
    return figure


def turns(found: Mapping[float, Sweep], names: Mapping[str, str], style: str) -> Figure:
    """Rms error of the base acceleration against the angle by which all frames are turned."""
    with sheet("single", 2.7, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, (order, name) in enumerate(names.items()):
            ax.plot(
                list(found),
                [turn.rms(order) for turn in found.values()],
                marker="o",
                markersize=2.5,
                color=look.series[i],
                linestyle=DASHES[i],
                linewidth=1.3,
                label=name,
            )
        ax.set_yscale("log")
        ax.set_xlabel("frames turned about x [degrees]", color=look.ink)
        ax.set_ylabel("rms error, single precision", color=look.ink)
        figure.legend(loc="outside upper center", ncols=2, frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def pivots(found: Mapping[str, list[tuple[float, float]]], style: str) -> Figure:
    """D_2 of Example 3, case 2, over m_1, which is 1 in exact arithmetic; the printed masses ruled.

    Symmetric logarithm: a pivot may be negative.
    """
    with sheet("double", 2.3, style) as (figure, look):
        panels = figure.subplots(1, len(found), sharey=True)
        for ax, (i, (name, values)) in zip(panels, enumerate(found.items()), strict=True):
            style_axes(ax, look, grid="y")
            masses, pivot = np.array(values).T
            for power in (1e6, 1e7, 1e8, 1e9):
                ax.axvline(power, color=look.faint, linewidth=0.6)
            ax.axhline(1.0, color=look.ink, linewidth=0.6, linestyle=(0, (1, 3)))
            ax.plot(masses, pivot, ".", color=look.series[i], markersize=3.5)
            ax.set_xscale("log")
            ax.set_yscale("symlog", linthresh=1.0)
            ax.set_title(name, color=look.ink)
            ax.set_xlabel(r"$m_1$, printed at the rules", color=look.ink)
        panels[0].set_ylabel(r"$D_2$, exactly 1", color=look.ink)
    return figure


def approach(
    angles: Sequence[float], kappa: Sequence[float], errors: Mapping[str, Sequence[float]], style: str
) -> Figure:
    """Errors of orders, and the condition number, as two axes of a shoulder come together."""
    with sheet("single", 2.9, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, (name, values) in enumerate(errors.items()):
            ax.plot(
                angles,
                values,
                marker="o",
                markersize=3,
                color=look.series[i],
                label=name,
                linestyle=DASHES[i],
                linewidth=1.3,
            )
        ax.plot(
            angles,
            2.0**-24 * np.array(kappa),
            color=look.ink,
            linewidth=0.8,
            linestyle=(0, (1, 3)),
            label=r"$\kappa u$",
        )
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        ax.set_xlabel("angle between the first and the third axis [rad]", color=look.ink)
        ax.set_ylabel(r"error of $\ddot q$, single precision", color=look.ink)
        figure.legend(loc="outside upper center", ncols=3, frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def lengthened(
    kappa: Mapping[float, Sequence[float]], errors: Mapping[str, Sequence[float]], style: str
) -> Figure:
    """Condition number and errors over the number of links added at the tip."""
    with sheet("double", 2.5, style) as (figure, look):
        left, right = figure.subplots(1, 2)
        for ax, curves, title in (
            (left, {f"r = {r:g}": values for r, values in kappa.items()}, r"median $\kappa$"),
            (
                right,
                {order.upper(): values for order, values in errors.items()},
                rf"median error of $\ddot q$, r = {min(kappa):g}",
            ),
        ):
            style_axes(ax, look, grid="both")
            for i, (name, values) in enumerate(curves.items()):
                ax.plot(
                    range(len(values)),
                    values,
                    marker="o",
                    markersize=3,
                    linewidth=1.3,
                    color=look.series[i],
                    linestyle=DASHES[i],
                    label=name,
                )
            ax.set_yscale("log")
            ax.set_title(title, color=look.ink)
            ax.set_xlabel("links added at the tip", color=look.ink)
            ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def kept(digits: Mapping[str, list[float]], style: str) -> Figure:
    """Digits kept over random axes: the share of axes on which an order keeps at least so many."""
    names = {
        "abm": "ABM",
        "modified_abm": "eq (11)",
        "projected_abm": "eq (10) with E",
        "square_root_abm": "rotations",
    }
    with sheet("single", 2.5, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, (order, values) in enumerate(digits.items()):
            level = np.sort(np.array(values))
            share = 1.0 - np.arange(len(level)) / len(level)
            ax.step(
                level,
                share,
                where="pre",
                color=look.series[i],
                linestyle=DASHES[i],
                linewidth=1.6,
                label=names[order],
            )
        ax.set(xlim=(0, 8), ylim=(0, 1.05))
        ax.set_xlabel(r"digits of $\ddot q_1$ kept in single precision", color=look.ink)
        ax.set_ylabel("share of random axes", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7, loc="center")
    return figure


def structure(before: Any, after: Any, circled: list[tuple[int, int]], style: str) -> Figure:
    """(6) and what the forward elimination leaves of it, crosses for blocks, pivots circled."""
    n = len(before)
    with sheet("double", 4.0, style) as (figure, look):
        panels = figure.subplots(1, 2)
        for ax, marks, title in zip(
            panels, (before, after), ("equation (6)", "after the forward elimination"), strict=True
        ):
            ax.set_facecolor(look.page)
            ax.set_title(title, color=look.ink)
            for i, j in zip(*np.nonzero(marks), strict=True):
                ax.plot(j + 1, i + 1, "x", color=look.ink, markersize=6 if n < 12 else 3)
            for edge in range(3, n, 3):  # bodies
                ax.axhline(edge + 0.5, color=look.faint, linewidth=0.4)
                ax.axvline(edge + 0.5, color=look.faint, linewidth=0.4)
            ax.set(xlim=(0.4, n + 0.6), ylim=(n + 0.6, 0.4), aspect="equal")
            ax.set_xticks(range(1, n + 1) if n < 20 else [])
            ax.set_yticks(range(1, n + 1) if n < 20 else [])
            ax.tick_params(colors=look.ink, length=0, labelsize=7)
            for spine in ax.spines.values():
                spine.set_color(look.ink)
                spine.set_linewidth(0.6)
        for i, j in circled:
            panels[1].plot(
                j,
                i,
                "o",
                markerfacecolor="none",
                markeredgecolor=look.series[1],
                markersize=15 if n < 12 else 7,
                markeredgewidth=1.4,
            )
    return figure
