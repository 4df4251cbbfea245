"""Operations against links: CRBM and ABM, counted and printed, where they cross marked."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq_poly
from matplotlib.figure import Figure

from pivotree.analysis.counts import COUNTS, Count, crossings
from pivotree.analysis.figures import new_figure, settings, style_axes, theme

LINKS = 16


def picture(crbm: Count, abm: Count, *, dark: bool = False) -> Figure:
    """Multiplications and additions together, without divisions, which papers do not print."""
    look, (printed_abm, printed_crbm) = theme(dark), COUNTS
    pairs = (
        ("counted here: solution of (4)", crbm.polynomials, abm.polynomials, "-", "o"),
        ("printed: with bias", printed_crbm.polynomials, printed_abm.polynomials, (0, (4, 2)), "s"),
    )
    n = np.linspace(1.0, LINKS, 200)
    with settings():
        figure = new_figure("double", 3.2, dark)
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        style_axes(ax, look, grid="both")
        for what, heavy, light, dash, marker in pairs:
            sums = {"CRBM": _both(heavy), "ABM": _both(light)}
            for i, (name, polynomial) in enumerate(sums.items()):
                ax.plot(
                    n,
                    _values(polynomial, n),
                    color=look.series[1 - i],
                    linestyle=dash,
                    linewidth=1.4,
                    label=f"{name}, {what}",
                )
            root = crossings(heavy, light)["both"].root
            if root is not None:
                height = float(_values(sums["ABM"], np.array([root]))[0])
                ax.plot(root, height, marker, color=look.ink, markersize=6, zorder=5)
                ax.annotate(
                    f"n = {root:.2f}",
                    (root, height),
                    (7, -11),
                    textcoords="offset points",
                    color=look.ink,
                    fontsize=8,
                )
        ax.set(xlim=(1, LINKS), ylim=(0, None))
        ax.set_xlabel("links n, revolute joints on Denavit-Hartenberg frames", color=look.ink)
        ax.set_ylabel("multiplications and additions", color=look.ink)
        legend: Any = ax.legend(frameon=False, loc="upper left", labelcolor=look.ink)
        legend.set_zorder(6)
    return figure


def _both(polynomials: Any) -> fmpq_poly:
    return polynomials["mul"] + polynomials["add"]


def _values(polynomial: fmpq_poly, n: np.ndarray) -> np.ndarray:
    return np.polynomial.polynomial.polyval(n, [float(c) for c in polynomial.coeffs()])
