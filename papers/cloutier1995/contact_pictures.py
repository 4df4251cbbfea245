"""Pictures of chapter 6: a chain that falls, its energy, and blows with friction."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import MARKERS, style_axes

from ..sheet import sheet
from .falling import places

DOTS = 1200  # blows that are drawn


def fall(found: Any, style: str, panels: int = 8) -> Figure:
    """The chain at some times from its fall to its rest, points that touch the floor marked."""
    run, chain = found.rigid, found.chain
    still = np.flatnonzero(run.energy > 1e-4 * run.energy[0])
    last = float(run.t[min(still[-1] + 1, len(run.t) - 1)])
    times = np.linspace(0.0, last, panels)
    r = places(chain, run.y[[np.searchsorted(run.t, t).clip(0, len(run.t) - 1) for t in times]])
    wide = max(np.ptp(x[:, 0]) for x in r) * 0.55
    high = max(x[:, 1].max() for x in r) * 1.08
    with sheet("double", 2.9, style) as (figure, look):
        for ax, t, x in zip(figure.subplots(2, panels // 2).ravel(), times, r, strict=True):
            style_axes(ax, look)
            middle = (x[:, 0].max() + x[:, 0].min()) / 2
            ax.axhspan(-0.08, 0.0, color=look.shade)
            ax.axhline(0.0, color=look.ink, linewidth=0.8)
            ax.plot(x[:, 0], x[:, 1], "-", color=look.series[0], linewidth=3, solid_capstyle="round")
            ax.plot(x[:, 0], x[:, 1], "o", color=look.page, markeredgecolor=look.series[0], markersize=4)
            on = x[:, 1] < 1e-6
            ax.plot(x[on, 0], x[on, 1], "s", color=look.series[1], markersize=4)
            ax.set(
                xlim=(middle - wide, middle + wide), ylim=(-0.08, high), aspect="equal", xticks=[], yticks=[]
            )
            ax.set_title(f"{t:.2f} s", color=look.ink, fontsize=8)
            for spine in ax.spines.values():
                spine.set_visible(False)
    return figure


def energies(found: Any, style: str) -> Figure:
    """Left: energy over time.  Right: springs' distance from rigid contact over stiffness."""
    run = found.rigid
    with sheet("double", 2.8, style) as (figure, look):
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for ax in (left, right):
            style_axes(ax, look, grid="both")
        floor = 1e-6 * run.energy[0]
        left.plot(
            run.t,
            np.maximum(run.energy, floor),
            color=look.series[0],
            linewidth=1.4,
            label=f"rigid, e = {found.e:g}",
        )
        at = np.array([blow.t for blow in run.blows])
        left.plot(
            at, np.interp(at, run.t, np.maximum(run.energy, floor)), "o", markersize=2.5, color=look.series[0]
        )
        name = f"damped springs, k = {min(found.stiffness):g} N/m"
        left.plot(
            found.damped.t,
            np.maximum(found.damped_energy, floor),
            "--",
            linewidth=1.4,
            color=look.series[1],
            label=name,
        )
        left.set_yscale("log")
        left.set(xlim=(0, run.t[-1]))
        left.set_xlabel("time [s]", color=look.ink)
        left.set_ylabel("energy [J]", color=look.ink)
        left.legend(frameon=False, labelcolor=look.ink, fontsize=7)
        names = (("q, springs less rigid contact", found.apart), ("deepest point [m]", found.depth))
        for i, (name, values) in enumerate(names):
            right.loglog(
                found.stiffness,
                values,
                MARKERS[i] + "-",
                color=look.series[2 + i],
                markersize=4,
                linewidth=1.2,
                label=name,
            )
        guide = found.apart[-1] * np.sqrt(found.stiffness[-1] / np.array(found.stiffness))
        right.loglog(found.stiffness, guide, ":", color=look.faint, label=r"$k^{-1/2}$")
        right.set_xlabel("stiffness k [N/m]", color=look.ink)
        right.set_ylim(found.depth.min() / 20, None)
        right.legend(frameon=False, labelcolor=look.ink, fontsize=7, loc="lower left")
    return figure


def blows(found: Any, style: str) -> Figure:
    """Energy that a blow adds, over friction: one panel a law."""
    with sheet("double", 2.7, style) as (figure, look):
        panels = figure.subplots(1, len(found.gains), sharey=True)
        for ax, (law, gains) in zip(panels, found.gains.items(), strict=True):
            style_axes(ax, look, grid="y")
            share = (gains > 1e-12).mean()
            gains, mu = gains[:DOTS], found.mu[:DOTS]
            more = gains > 1e-12
            ax.plot(mu[~more], gains[~more], ".", color=look.series[0], markersize=2)
            ax.plot(mu[more], np.minimum(gains[more], 1.0), "^", color=look.series[1], markersize=3)
            ax.set_yticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["-1", "-0.5", "0", "0.5", "≥ 1"])
            ax.axhline(0.0, color=look.ink, linewidth=0.7)
            ax.set(ylim=(-1.05, 1.05), xlim=(0, found.mu.max()))
            ax.set_title(f"{law}: {share:.1%} create energy", color=look.ink)
            ax.set_xlabel(r"coefficient of friction $\mu$", color=look.ink)
        panels[0].set_ylabel("energy added / kinetic energy", color=look.ink)
    return figure


def growth(found: Any, style: str) -> Figure:
    """Operations and fill over the number of links, one line a number of contacts."""
    with sheet("double", 2.7, style) as (figure, look):
        for ax, what, name in zip(
            figure.subplots(1, 2), ("operations", "fill"), ("operations", "blocks filled in"), strict=True
        ):
            style_axes(ax, look, grid="both")
            for i, contacts in enumerate(found.contacts):
                ax.plot(
                    found.links,
                    getattr(found, what)["abm"][i],
                    MARKERS[i] + "-",
                    color=look.series[i],
                    markersize=4,
                    linewidth=1.2,
                    label=f"{contacts} contacts" if contacts != 1 else "1 contact",
                )
            ax.set_xlabel("links n", color=look.ink)
            ax.set_ylabel(name, color=look.ink)
            ax.set(ylim=(0, None), xlim=(0, None))
            if what == "operations":
                ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure
