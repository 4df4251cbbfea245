"""Figures 5.3 to 5.5 and 5.7 in the thesis's own form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import style_axes

from ..sheet import DASHES, sheet
from .sweep import Sweep

TURN = r"angle of joint 2, $\theta_2$ [rad]"
LETTERS = "abcdefgh"


def configuration(found: Sweep, style: str) -> Figure:
    """Condition number above, relative difference below, over theta_2."""
    with sheet("double", 3.6, style) as (figure, look):
        top, bottom = figure.subplots(2, 1, sharex=True)
        for ax in (top, bottom):
            style_axes(ax, look, grid="y")
        top.plot(found.angles, found.kappa, color=look.series[0], linewidth=1.4)
        top.set(ylim=(0, None), xlim=(0, 2 * np.pi))
        top.set_ylabel(r"$\kappa(H)$", color=look.ink)
        top.set_title(f"$l_2 = m_2 =$ {found.second:g}", color=look.ink)
        bottom.plot(found.angles, found.difference(), ".", color=look.series[1], markersize=2.5)
        bottom.set(ylim=(0, None))
        bottom.set_ylabel(r"$\Delta_r\ddot\theta_1$", color=look.ink)
        bottom.set_xlabel(TURN, color=look.ink)
        figure.align_ylabels([top, bottom])
    return figure


def lengths(found: Any, style: str) -> Figure:
    """Left: kappa and the difference over the length.  Right: errors over kappa."""
    with sheet("double", 3.9, style) as (figure, look):
        left, right = figure.subplots(1, 2)
        for ax in (left, right):
            style_axes(ax, look, grid="both")
            ax.set(xscale="log", yscale="log")
        second = [one.second for one in found.grid]
        worst = [one.difference().max() for one in found.grid]
        left.plot(second, found.kappa, "s-", color=look.series[0], markersize=4, label=r"$\kappa(H)$")
        left.plot(
            second,
            worst,
            "o--",
            color=look.series[1],
            markersize=4,
            label=r"$\Delta_r\ddot\theta_1$, ABM and CRBM",
        )
        left.set_xlabel("length and mass of link 2", color=look.ink)
        left.set_ylabel("largest over the angles", color=look.ink)
        names = {
            "CRBM": "CRBM, slope {:.2f}",
            "ABM, bias apart": "ABM, bias apart, {:.2f}",
            "ABM": "ABM, bias propagated, {:.2f}",
        }
        for i, (method, name) in enumerate(names.items()):
            right.plot(
                found.kappa,
                found.worst(method),
                "os^"[i],
                linestyle=DASHES[i],
                color=look.series[(1, 2, 0)[i]],
                markersize=4,
                label=name.format(found.slope(method)),
            )
        kappa = [one.kappa.max() for one in found.drawn]
        right.plot(
            kappa,
            found.worst("ABM", drawn=True),
            "x",
            color=look.series[0],
            markersize=4,
            label="ABM, other lengths",
        )
        right.set_xlabel(r"largest $\kappa(H)$", color=look.ink)
        right.set_ylabel(r"largest relative error of $\ddot\theta_1$", color=look.ink)
        for ax in (left, right):
            ax.legend(frameon=False, labelcolor=look.ink, fontsize=7, loc="upper left")
        right.set_ylim(2e-17, 1e2)
    return figure


def accelerations(found: Sequence[Sweep], methods: tuple[str, str], style: str) -> Figure:
    """Joint 1's acceleration, the rough method under the smooth one; one panel a length."""
    rough, smooth = methods
    with sheet("double", 1.8 * len(found) + 0.8, style) as (figure, look):
        panels = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
        for i, (ax, one) in enumerate(zip(panels, found, strict=True)):
            style_axes(ax, look, grid="y")
            ax.plot(
                one.angles,
                one.found[rough][:, 0],
                color=look.series[1],
                linewidth=0.5,
                marker=".",
                markersize=1.5,
                label=rough,
            )
            ax.plot(one.angles, one.found[smooth][:, 0], color=look.ink, linewidth=1.4, label=smooth)
            mark = f"{LETTERS[i]}) " if len(found) > 1 else ""
            ax.set_title(
                f"{mark}link 2 length and mass = {one.second:.0e}".replace("e+0", "e"), color=look.ink
            )
            ax.set_ylabel("joint 1 [rad/s²]", color=look.ink)
            ax.ticklabel_format(axis="y", useOffset=False)
            ax.set_xlim(0, 2 * np.pi)
        panels[-1].set_xlabel(TURN, color=look.ink)
        figure.align_ylabels(panels)
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside upper center",
            ncols=2,
            frameon=False,
            labelcolor=look.ink,
        )
    return figure
