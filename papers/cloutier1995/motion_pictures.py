"""Figures 5.6, 5.8 and 5.10: what the integrator and the energy tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from pivotree.analysis.figures import style_axes

from ..counted import MARKERS, ours, theirs
from ..paper import printed
from ..sheet import sheet

NAMES = {"cash_karp": "Cash-Karp", "rosenbrock": "Rosenbrock"}


def stiffness(found: Sequence[Any], style: str) -> Figure:
    """Evaluations over the ratio of the links; hollow marks are printed."""
    said = printed("cloutier1995")["figure56"]
    with sheet("double", 3.4, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, method in enumerate(("ABM", "CRBM", "CRBM, centres", "CRBM, LU")):
            lines = [line for line in found if method in line.runs]
            if lines:
                runs = [line.runs[method].simulation for line in lines]
                ours(ax, look, i, f"{method}, ours", [line.ratio for line in lines], runs)
                counts = said.get(method.lower(), [])
                theirs(ax, look.series[i], i, f"{method}, printed", said["ratio"], counts)
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        ax.set_xlabel(r"ratio of the links, $l_1 / (l_1 + l_2)$", color=look.ink)
        ax.set_ylabel("evaluations for 10 s", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def energies(found: Mapping[str, Any], style: str) -> Figure:
    """Total energy over time, one panel a method, on the printed axis where it fits."""
    low, high = printed("cloutier1995")["figure58"]["energy"]
    with sheet("double", 3.9, style) as (figure, look):
        panels = figure.subplots(len(found), 1, sharex=True, sharey=True)
        for i, (ax, (method, one)) in enumerate(zip(panels, found.items(), strict=True)):
            style_axes(ax, look, grid="y")
            ax.plot(one.first.t, one.energy, color=look.series[i], linewidth=1.2)
            ax.axhline(one.energy[0], color=look.ink, linewidth=0.7, linestyle=(0, (4, 3)))
            ax.set_title(f"{'ab'[i]}) {method}", color=look.ink)
            ax.set_ylabel("total energy [J]", color=look.ink)
            ax.ticklabel_format(axis="y", useOffset=False)
            ax.set_xlim(0, one.first.reached)
        if all(low <= one.energy.min() and one.energy.max() <= high for one in found.values()):
            panels[0].set_ylim(low, high)
        panels[-1].set_xlabel("t [s]", color=look.ink)
    return figure


def chains(found: Any, style: str) -> Figure:
    """Evaluations, and operations of the whole motion, over the number of links."""
    said = printed("cloutier1995")["figure59"]
    with sheet("double", 3.2, style) as (figure, look):
        left, right = figure.subplots(1, 2)
        for ax in (left, right):
            style_axes(ax, look, grid="both")
        for i, method in enumerate(("ABM", "CRBM")):
            colour, counts = look.series[i], said[method.lower()]["evaluations"]
            runs = [chain.runs[method].simulation for chain in found.short]
            ours(left, look, i, f"{method}, ours", found.n, runs)
            theirs(left, colour, i, f"{method}, printed", said["n"], counts)
            right.plot(
                found.n,
                found.work(method),
                color=colour,
                marker=MARKERS[i],
                markersize=4,
                linestyle=("-", "--")[i],
                label=method,
            )
        left.set(ylim=(0, None))
        right.set(ylim=(0, None))
        left.set_ylabel("evaluations for 60 s", color=look.ink)
        right.set_ylabel("operations for 60 s", color=look.ink)
        for ax in (left, right):
            ax.set_xlabel("links n", color=look.ink)
            ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def evolution(found: Any, style: str) -> Figure:
    """The simulator's statistics over time: energy, calls, condition number, difference."""
    first = found.first
    with sheet("double", 4.2, style) as (figure, look):
        panels = figure.subplots(2, 2, sharex=True).ravel()
        for ax in panels:
            style_axes(ax, look, grid="y")
        panels[0].plot(first.t, found.energy, color=look.series[0])
        panels[0].set_ylabel("total energy [J]", color=look.ink)
        panels[0].ticklabel_format(axis="y", useOffset=False)
        panels[1].step(*found.calls(0.1), color=look.series[1], where="post")
        panels[1].set_ylabel("evaluations so far", color=look.ink)
        panels[2].plot(first.t, found.condition, color=look.series[2])
        panels[2].set(yscale="log")
        panels[2].set_ylabel(r"$\kappa(H)$", color=look.ink)
        names = [rf"$\Delta_r\ddot\theta_{k + 1}$" for k in range(found.difference.shape[1])]
        for k, name in enumerate(names):
            panels[3].plot(
                first.t,
                found.difference[:, k],
                "os^vDPX*"[k % 8],
                markersize=2.5,
                color=look.series[k % len(look.series)],
                label=name,
            )
        panels[3].set(yscale="log")
        panels[3].set_ylabel("ABM and CRBM apart", color=look.ink)
        low, high = panels[3].get_ylim()
        panels[3].set_ylim(low, 20.0 * high)  # room for the legend
        panels[3].legend(frameon=False, labelcolor=look.ink, fontsize=7, ncols=3, loc="upper center")
        for ax in panels[2:]:
            ax.set_xlabel("t [s]", color=look.ink)
            ax.set_xlim(0, first.reached)
    return figure


def precision(curves: Mapping[str, Sequence[tuple[int, float]]], style: str) -> Figure:
    """Error of the final angles over evaluations, one line an integrator."""
    with sheet("single", 2.9, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for i, (name, points) in enumerate(curves.items()):
            ax.plot(
                *zip(*points, strict=True),
                marker="osD^vPX"[i % 7],
                markersize=4,
                linestyle=("-", "--", "--", "--", ":", ":", ":")[i % 7],
                linewidth=1.2,
                color=look.series[i],
                label=NAMES.get(name, name),
            )
        ax.set(xscale="log", yscale="log")
        ax.set_xlabel("evaluations", color=look.ink)
        ax.set_ylabel("error of the final angles [rad]", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure
