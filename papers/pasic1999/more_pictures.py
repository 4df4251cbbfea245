"""Figures that the paper has not: branches of solutions, conditioning, and orders of J."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from pivotree.analysis.figures import style_axes

from ..sheet import sheet
from .branches import Point
from .pictures import DASHED, axes, legend, named

Floats = NDArray[np.float64]


def branches(
    found: dict[str, list[Point]], scan: list[tuple[float, bool, Floats]], marks: dict[str, float], style: str
) -> Figure:
    """Initial slope against length: solutions that attract the iteration, and those that do not."""
    with axes(style, "double", 3.2) as (figure, ax, look):
        for i, (name, points) in enumerate(found.items()):
            for kind, line, width in ((True, "-", 2.0), (False, DASHED, 1.0)):
                parts = [
                    ((one.e, one.slope[-1]), (two.e, two.slope[-1]))
                    for one, two in pairwise(points)
                    if (one.attracts and two.attracts) is kind
                ]
                what = "attracts" if kind else "does not attract"
                ax.add_collection(
                    LineCollection(
                        parts,
                        colors=look.series[i],
                        linestyles=[line],
                        linewidths=width,
                        label=f"{name}, {what}",
                    )
                )
        kept = [(e, slope[-1]) for e, converged, slope in scan if converged]
        ax.plot(
            *zip(*kept, strict=True),
            "o",
            color=look.series[2],
            markersize=5,
            markerfacecolor="none",
            label="found from the straight line",
        )
        low, high = ax.get_ylim()
        lost = [e for e, converged, _ in scan if not converged]
        foot = np.full(len(lost), low + 0.04 * (high - low))
        ax.plot(lost, foot, "x", color=look.series[1], markersize=5, label="does not converge")
        for text, e in marks.items():
            ax.axvline(e, color=look.faint, linewidth=0.8)
            ax.annotate(
                text, (e, high), (3, -2), textcoords="offset points", va="top", fontsize=7.5, color=look.ink
            )
        named(ax, look, r"length $e$ of the domain [s]", r"$\dot\theta_2(0)$ [rad/s]")
        legend(ax, look, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.2)
    return figure


def conditioning(ends: Floats, condition: Floats, conjugate: Floats, style: str) -> Figure:
    """The condition number of J against the length of the domain."""
    with axes(style, "double", 2.6) as (figure, ax, look):
        for i, e in enumerate(conjugate):
            ax.axvline(
                e,
                color=look.series[1],
                linewidth=0.9,
                linestyle=DASHED,
                label="conjugate points (scipy)" if i == 0 else None,
            )
        ax.semilogy(
            ends,
            condition,
            color=look.series[0],
            linewidth=1.2,
            marker="o",
            markersize=2.2,
            label=r"$\kappa_2(J)$",
        )
        ax.set(xlim=(ends[0], ends[-1]))
        named(ax, look, "length of the domain [s]", "condition number")
        legend(ax, look, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def filled(orders: list[tuple[str, list[int], set[tuple[int, int]], int, int]], style: str) -> Figure:
    """J in several orders: its own blocks, and + what elimination adds; rows as they are taken."""
    with axes(style, "double", 2.75, across=len(orders)) as (figure, panels, look):
        for ax, (name, order, extra, fill, height) in zip(np.atleast_1d(panels), orders, strict=True):
            count = len(order)
            place = {interface: i for i, interface in enumerate(order)}
            own = {(place[i], place[j]) for i in range(count) for j in (i - 1, i, i + 1) if 0 <= j < count}
            for i, j in own:
                ax.add_patch(Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, color=look.entry_strong))
            for i, j in extra:
                ax.add_patch(Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, color=look.fill))
                ax.plot(j, i, "+", color=look.fill_hatch, markersize=3.2, markeredgewidth=0.9)
            ax.grid(False)
            ax.set(xlim=(-0.7, count - 0.3), ylim=(count - 0.3, -0.7), aspect="equal", xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_visible(True)
            ax.set_title(f"{name}\n{fill} blocks of fill, height {height}", color=look.ink, fontsize=8.5)
    return figure


def reach(tries: Sequence[Any], methods: Sequence[str], style: str) -> Figure:
    """Which domains are solved on how many subdomains, from the straight line."""
    kinds = (
        ("the IVP's solution", "o", lambda t: t.of_ivp),
        ("another solution", "D", lambda t: t.slope is not None and not t.of_ivp),
        ("does not converge", "x", lambda t: t.slope is None),
    )
    with sheet("double", 2.2, style) as (figure, look):
        panels = figure.subplots(1, len(methods), sharey=True)
        counts, ends = (sorted({getattr(t, name) for t in tries}) for name in ("n", "e"))
        for ax, method in zip(panels, methods, strict=True):
            style_axes(ax, look, grid="both")
            for i, (label, marker, is_kind) in enumerate(kinds):
                own = [t for t in tries if t.method == method and is_kind(t)]
                ax.plot(
                    [counts.index(t.n) for t in own],
                    [ends.index(t.e) for t in own],
                    marker,
                    color=look.series[i],
                    label=label,
                    markersize=7,
                )
            ax.set_title(f"{method}, damped", color=look.ink)
            ax.set_xticks(range(len(counts)), [str(n) for n in counts])
            ax.set_yticks(range(len(ends)), [f"[0, {e:g}]" for e in ends])
            ax.set(ylim=(-0.5, len(ends) - 0.5), xlim=(-0.5, len(counts) - 0.5))
            ax.set_xlabel("subdomains", color=look.ink)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=3,
            frameon=False,
            labelcolor=look.ink,
            fontsize=7,
        )
    return figure
