"""Pictures: a page of formulas, slides beside listing; and how costs grow."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from flint import fmpq_poly
from matplotlib.figure import Figure

from pivotree.analysis.counts import COUNTS
from pivotree.analysis.figures import new_figure, settings, style_axes, theme

from ..sheet import sheet


def tex(text: str) -> str:
    """A formula of a listing or of the slides for matplotlib's mathtext."""
    text = re.sub(r"Σ_\{c ∈ children\(k\)\}", r"\\sum_{c} ", text)
    text = text.replace("λ(k)", r"{\lambda(k)}")
    text = re.sub(r"([a-z])''", r"\\ddot{\1}", text)
    text = re.sub(r"([a-z])'", r"\\dot{\1}", text)
    text = re.sub(r"([A-Za-z])\*", r"\1^{*}", text)
    text = re.sub(r"_(\{[^}]*\}|[a-z0-9])ᵀ", r"_\1^{T}", text)
    text = text.replace("×", r"\times").replace("ᵀ", "^{T}")
    return text.replace(" / ", r"\,/\,").replace(" ", r"\,")


def page(found: Any, style: str) -> Figure:
    """Every formula twice: as on the slide, and below it as the listing has it."""
    look = theme(style=style)
    height = 0.62 * len(found.beside) + 0.35
    size = 8.5
    with settings():
        figure = new_figure("double", height, look)
        figure.text(
            0.015, 1 - 0.12 / height, "slides, one frame", fontsize=7.5, va="center", color=look.series[0]
        )
        figure.text(
            0.17,
            1 - 0.12 / height,
            f"pivotree list, order {found.order}",
            fontsize=7.5,
            va="center",
            color=look.ink,
        )
        for i, one in enumerate(found.beside):
            top = 1 - (0.34 + 0.62 * i) / height
            left = tex(one.line.replace("_k", "_{1}" if "_1" in one.printed else "_i"))
            rows = (
                (f"{left} = {tex(one.printed)}", look.series[0], 0.0),
                (f"{tex(one.line)} = {tex(one.ours)}", look.ink, 0.27),
            )
            for text, colour, down in rows:
                figure.text(0.03, top - down / height, f"${text}$", fontsize=size, color=colour, va="center")
            mark = "=" if one.same else "≠"
            figure.text(
                0.012, top - 0.135 / height, mark, fontsize=9, color=look.ink, va="center", ha="center"
            )
    return figure


def growth(found: Any, style: str) -> Figure:
    """Multiplications of what is O(n) and what is not, and where ABA overtakes CRBA."""
    n = np.linspace(1.0, 16.0, 200)
    marks = np.arange(1, 17)
    abm, crbm = (found.counts[name].polynomials["mul"] for name in ("abm", "crbm"))
    with sheet("double", 2.9, style) as (figure, look):
        left, right = figure.subplots(1, 2)
        lines = [
            ("RNEA", found.counts["inverse_dynamics"].polynomials["mul"], "-", "o"),
            ("ABA", abm, (0, (5, 2)), "s"),
            ("inertia by unit vectors", found.columns, (0, (1, 1)), "^"),
            ("CRBA", crbm, (0, (6, 2, 1, 2)), "v"),
        ]
        for i, (name, law, dash, marker) in enumerate(lines):
            if law is not None:
                left.plot(n, _values(law, n), color=look.series[i], linestyle=dash, linewidth=1.3)
                left.plot(marks, _values(law, marks), marker, color=look.series[i], markersize=3.5)
                left.plot(
                    [], [], color=look.series[i], linestyle=dash, marker=marker, markersize=3.5, label=name
                )
        left.set(xlim=(1, 16), ylim=(0, None))
        left.set_ylabel("multiplications [thousand]", color=look.ink)
        n = n[n >= 2]  # polynomials, of which the literature's are small at 1
        pairs = (
            ("here", abm, crbm, "-", look.series[1]),
            ("literature", COUNTS[0].mul, COUNTS[1].mul, (0, (5, 2)), look.series[0]),
        )
        for name, light, heavy, dash, colour in pairs:
            y = _values(heavy, n) / _values(light, n)
            right.plot(n, y, color=colour, linestyle=dash, linewidth=1.4, label=name)
            inside = np.flatnonzero((y[:-1] < 1) & (y[1:] >= 1))
            if len(inside):
                x = float(np.interp(1.0, y[inside[-1] : inside[-1] + 2], n[inside[-1] :][:2]))
                right.plot(x, 1.0, "o", color=colour, markersize=5)
                right.annotate(
                    f"{x:.2f}", (x, 1.0), (5, -11), textcoords="offset points", color=look.ink, fontsize=8
                )
        right.axhline(1.0, color=look.ink, linewidth=0.6)
        right.set(xlim=(1, 16), ylim=(0, None))
        right.set_ylabel("CRBA over ABA, multiplications", color=look.ink)
        for ax in (left, right):
            style_axes(ax, look, grid="both")
            ax.set_xlabel(f"links n ({found.family})", color=look.ink)
            legend: Any = ax.legend(
                frameon=False, labelcolor=look.ink, fontsize=7, loc="upper left", handlelength=3.2
            )
            legend.set_zorder(6)
    return figure


def _values(law: fmpq_poly, n: np.ndarray) -> np.ndarray:
    scale = 1000.0
    return np.polynomial.polynomial.polyval(n, [float(c) / scale for c in law.coeffs()])
