"""Pictures of Cloutier 1995: the figures in the thesis's own form, methods, motions and contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.counts import COUNTS, Count, crossings

from ..item import printed
from ..measures import Floats
from ..sheet import DASHES, evaluated, legend, named, ours, panels, shared_legend, theirs
from ..sheet import MARKERS as COUNTED
from .sweep import Sweep

TURN = r"angle of joint 2, $\theta_2$ [rad]"
LETTERS = "abcdefgh"
DASHED, DOTTED, BOTH = DASHES[1:]
STYLE: dict[str, tuple[int, str, Any]] = {  # method -> colour, marker, line: a family, a colour
    "ABM": (0, "o", "-"),
    "ABM by rotations": (0, "s", DASHED),
    "CRBM, Cholesky": (1, "D", "-"),
    "CRBM, LU": (1, "^", DASHED),
    "CRBM, Gauss-Jordan": (1, "v", DOTTED),
    "CRBM, SVD": (1, "X", BOTH),
    "complement 1": (2, "P", "-"),
    "complement 2": (2, "*", DASHED),
    "conjugate gradients": (3, "h", BOTH),
}
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24}
DOTS = 1200  # blows that are drawn
LINKS = 16  # up to which counts are drawn


# -- figures 5.3 to 5.5 and 5.7 ---------------------------------------------------------------------


def configuration(found: Sweep, style: str) -> Figure:
    """Condition number above, relative difference below, over theta_2."""
    with panels(style, "double", 3.6, 2, 1, "y", sharex=True) as (figure, (top, bottom), look):
        top.plot(found.angles, found.kappa, color=look.series[0], linewidth=1.4)
        top.set(ylim=(0, None), xlim=(0, 2 * np.pi))
        named(top, look, y=r"$\kappa(H)$", title=f"$l_2 = m_2 =$ {found.second:g}")
        bottom.plot(found.angles, found.difference(), ".", color=look.series[1], markersize=2.5)
        bottom.set(ylim=(0, None))
        named(bottom, look, TURN, r"$\Delta_r\ddot\theta_1$")
        figure.align_ylabels([top, bottom])
    return figure


def lengths(second: Floats, kappa: Floats, difference: Floats, worst: Any, slopes: Any, style: str) -> Figure:
    """Left: kappa and the difference over the length.  Right: errors over kappa, and their slopes."""
    names = {
        "CRBM": "CRBM, slope {:.2f}",
        "ABM, bias apart": "ABM, bias apart, {:.2f}",
        "ABM": "ABM, bias propagated, {:.2f}",
    }
    with panels(style, "double", 3.9, 1, 2) as (figure, (left, right), look):
        for ax in (left, right):
            ax.set(xscale="log", yscale="log")
        label = r"$\Delta_r\ddot\theta_1$, ABM and CRBM"
        left.plot(second, kappa, "s-", color=look.series[0], markersize=4, label=r"$\kappa(H)$")
        left.plot(second, difference, "o--", color=look.series[1], markersize=4, label=label)
        named(left, look, "length and mass of link 2", "largest over the angles")
        for i, (method, name) in enumerate(names.items()):
            mark = {"linestyle": DASHES[i], "color": look.series[(1, 2, 0)[i]], "markersize": 4}
            label = name.format(slopes[method])
            right.plot(kappa, worst[method], "os^"[i], label=label, **mark)
        named(right, look, r"largest $\kappa(H)$", r"largest relative error of $\ddot\theta_1$")
        for ax in (left, right):
            legend(ax, look, loc="upper left")
        right.set_ylim(2e-17, 1e2)
    return figure


def accelerations(found: Sequence[Sweep], methods: tuple[str, str], style: str) -> Figure:
    """Joint 1's acceleration, the rough method under the smooth one; one panel a length."""
    rough, smooth = methods
    with panels(style, "double", 1.8 * len(found) + 0.8, len(found), 1, "y", sharex=True) as drawn:
        figure, axes, look = drawn
        mark = {"color": look.series[1], "linewidth": 0.5, "marker": ".", "markersize": 1.5}
        for i, (ax, one) in enumerate(zip(np.atleast_1d(axes), found, strict=True)):
            ax.plot(one.angles, one.found[rough], label=rough, **mark)
            ax.plot(one.angles, one.found[smooth], color=look.ink, linewidth=1.4, label=smooth)
            letter = f"{LETTERS[i]}) " if len(found) > 1 else ""
            title = f"{letter}link 2 length and mass = {one.second:.0e}".replace("e+0", "e")
            named(ax, look, y="joint 1 [rad/s²]", title=title)
            ax.ticklabel_format(axis="y", useOffset=False)
            ax.set_xlim(0, 2 * np.pi)
        named(ax, look, TURN)
        figure.align_ylabels(axes)
        shared_legend(figure, ax, look, loc="outside upper center", ncols=2, fontsize=None)
    return figure


# -- figures 5.6, 5.8 and 5.10: the integrator and the energy --------------------------------------


def stiffness(found: Sequence[Any], style: str) -> Figure:
    """Evaluations over the ratio of the links; hollow marks are printed."""
    said = printed("cloutier1995")["figure56"]
    with panels(style, "double", 3.4) as (figure, ax, look):
        for i, method in enumerate(("ABM", "CRBM", "CRBM, centres", "CRBM, LU")):
            kept = [line for line in found if method in line.runs]
            if kept:
                runs = [line.runs[method].simulation for line in kept]
                ours(ax, look, i, f"{method}, ours", [line.ratio for line in kept], runs)
                counts = said.get(method.lower(), [])
                theirs(ax, look.series[i], i, f"{method}, printed", said["ratio"], counts)
        ax.set(xscale="log", yscale="log")
        ax.invert_xaxis()
        named(ax, look, r"ratio of the links, $l_1 / (l_1 + l_2)$", "evaluations for 10 s")
        legend(ax, look)
    return figure


def totals(found: Mapping[str, Any], style: str) -> Figure:
    """Total energy over time, one panel a method, on the printed axis where it fits."""
    low, high = printed("cloutier1995")["figure58"]["energy"]
    shared = {"sharex": True, "sharey": True}
    with panels(style, "double", 3.9, len(found), 1, "y", **shared) as (figure, axes, look):
        for i, (ax, (method, one)) in enumerate(zip(axes, found.items(), strict=True)):
            ax.plot(one.first.t, one.energy, color=look.series[i], linewidth=1.2)
            ax.axhline(one.energy[0], color=look.ink, linewidth=0.7, linestyle=(0, (4, 3)))
            named(ax, look, y="total energy [J]", title=f"{'ab'[i]}) {method}")
            ax.ticklabel_format(axis="y", useOffset=False)
            ax.set_xlim(0, one.first.reached)
        if all(low <= one.energy.min() and one.energy.max() <= high for one in found.values()):
            axes[0].set_ylim(low, high)
        named(axes[-1], look, "t [s]")
    return figure


def chains(n: Sequence[int], found: Sequence[Any], work: Any, style: str) -> Figure:
    """Evaluations, and operations of the whole motion, over the number of links."""
    said = printed("cloutier1995")["figure59"]
    with panels(style, "double", 3.2, 1, 2) as (figure, (left, right), look):
        for i, method in enumerate(("ABM", "CRBM")):
            colour, counts = look.series[i], said[method.lower()]["evaluations"]
            runs = [runs[method].simulation for runs in found]
            ours(left, look, i, f"{method}, ours", n, runs)
            theirs(left, colour, i, f"{method}, printed", said["n"], counts)
            mark = {"marker": COUNTED[i], "markersize": 4, "linestyle": ("-", "--")[i]}
            right.plot(n, work[method], color=colour, label=method, **mark)
        for ax, what in ((left, "evaluations for 60 s"), (right, "operations for 60 s")):
            ax.set(ylim=(0, None))
            named(ax, look, "links n", what)
            legend(ax, look)
    return figure


# -- chapter 3: its methods -----------------------------------------------------------------------


def digits(kappa: Floats, worst: Mapping[str, Mapping[str, Floats]], style: str) -> Figure:
    """Largest error over the angles against kappa, one panel a format; hollow marks: broke down."""
    with panels(style, "double", 3.9, 1, len(worst)) as (figure, axes, look):
        for ax, (format, errors) in zip(np.atleast_1d(axes), worst.items(), strict=True):
            first = format == "float64"
            for i, (method, (family, marker, line)) in enumerate(STYLE.items()):
                if method not in errors:
                    continue
                values, colour = errors[method], look.series[family]
                mark = {"marker": marker, "markersize": 4.5, "linestyle": line, "linewidth": 1.2}
                ax.plot(kappa, values, color=colour, label=method if first else None, **mark)
                if np.isnan(values).any():  # where it first breaks down
                    at = kappa[np.isnan(values)][:1] * 1.5 ** (i - 4)
                    hollow = {"markerfacecolor": "none", "markeredgecolor": colour}
                    ax.plot(at, [8.0], marker, markersize=6, **hollow)
            rounded, label = kappa * UNIT[format], r"$\kappa u$" if first else None
            guide = {"color": look.faint, "linewidth": 1, "linestyle": (0, (2, 2))}
            ax.plot(kappa, rounded, label=label, **guide)
            ax.set(xscale="log", yscale="log", ylim=(UNIT[format] / 4, 50))
            named(ax, look, r"largest $\kappa(H)$ over the angles", title=format)
        named(np.atleast_1d(axes)[0], look, y="largest relative error")
        legend(figure, look, loc="outside lower center", ncols=4)
    return figure


def crossing(crbm: Count, abm: Count, style: str) -> Figure:
    """Operations against links, counted and printed, where CRBM and ABM cross marked.

    Multiplications and additions together, without divisions, which papers do not print.
    """
    printed_abm, printed_crbm = COUNTS
    pairs = (
        ("counted here: solution of (4)", crbm.polynomials, abm.polynomials, "-", "o"),
        ("printed: with bias", printed_crbm.polynomials, printed_abm.polynomials, (0, (4, 2)), "s"),
    )
    n = np.linspace(1.0, LINKS, 200)
    with panels(style, "double", 3.2) as (figure, ax, look):
        for what, heavy, light, dash, marker in pairs:
            sums = {"CRBM": heavy["mul"] + heavy["add"], "ABM": light["mul"] + light["add"]}
            for i, (name, law) in enumerate(sums.items()):
                mark = {"color": look.series[1 - i], "linestyle": dash, "linewidth": 1.4}
                ax.plot(n, evaluated(law, n), label=f"{name}, {what}", **mark)
            root = crossings(heavy, light)["both"].root
            if root is not None:
                height = float(evaluated(sums["ABM"], np.array([root]))[0])
                ax.plot(root, height, marker, color=look.ink, markersize=6, zorder=5)
                beside = {"textcoords": "offset points", "color": look.ink, "fontsize": 8}
                ax.annotate(f"n = {root:.2f}", (root, height), (7, -11), **beside)
        ax.set(xlim=(1, LINKS), ylim=(0, None))
        x = "links n, revolute joints on Denavit-Hartenberg frames"
        named(ax, look, x, "multiplications and additions")
        ax.legend(frameon=False, loc="upper left", labelcolor=look.ink).set_zorder(6)
    return figure


# -- chapter 6: contact ---------------------------------------------------------------------------


def blows(mu: Floats, found: Mapping[str, Floats], style: str) -> Figure:
    """Energy that a blow adds, over friction: one panel a law."""
    with panels(style, "double", 2.7, 1, len(found), "y", sharey=True) as (figure, axes, look):
        for ax, (law, gains) in zip(axes, found.items(), strict=True):
            share = (gains > 1e-12).mean()
            gains, at = gains[:DOTS], mu[:DOTS]
            more = gains > 1e-12
            ax.plot(at[~more], gains[~more], ".", color=look.series[0], markersize=2)
            ax.plot(at[more], np.minimum(gains[more], 1.0), "^", color=look.series[1], markersize=3)
            ax.set_yticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["-1", "-0.5", "0", "0.5", "≥ 1"])
            ax.axhline(0.0, color=look.ink, linewidth=0.7)
            ax.set(ylim=(-1.05, 1.05), xlim=(0, mu.max()))
            title = f"{law}: {share:.1%} create energy"
            named(ax, look, r"coefficient of friction $\mu$", title=title)
        named(axes[0], look, y="energy added / kinetic energy")
    return figure
