"""Pictures: a page of formulas, slides beside listing; and how costs grow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.counts import COUNTS, Count
from pivotree.analysis.figures import new_figure, settings, theme

from ..sheet import DASHES, evaluated, legend, named, panels
from .lines import Beside


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


def page(order: str, beside: Sequence[Beside], style: str) -> Figure:
    """Every formula twice: as on the slide, and below it as the listing has it."""
    look = theme(style=style)
    height = 0.62 * len(beside) + 0.35
    with settings():
        figure = new_figure("double", height, look)

        def write(x: float, y: float, text: str, size: float, colour: str, **more: Any) -> None:
            figure.text(x, y, text, fontsize=size, color=colour, va="center", **more)

        write(0.015, 1 - 0.12 / height, "slides, one frame", 7.5, look.series[0])
        write(0.17, 1 - 0.12 / height, f"pivotree list, order {order}", 7.5, look.ink)
        for i, one in enumerate(beside):
            top = 1 - (0.34 + 0.62 * i) / height
            left = tex(one.line.replace("_k", "_{1}" if "_1" in one.printed else "_i"))
            write(0.03, top, f"${left} = {tex(one.printed)}$", 8.5, look.series[0])
            write(0.03, top - 0.27 / height, f"${tex(one.line)} = {tex(one.ours)}$", 8.5, look.ink)
            write(0.012, top - 0.135 / height, "=" if one.same else "≠", 9, look.ink, ha="center")
    return figure


def growth(family: str, counts: Mapping[str, Count], style: str) -> Figure:
    """Multiplications of what is O(n) and what is not, and where ABA overtakes CRBA."""
    n = np.linspace(1.0, 16.0, 181)
    abm, crbm = (counts[name].polynomials["mul"] for name in ("abm", "crbm"))
    drawn = (
        ("RNEA", counts["inverse_dynamics"].polynomials["mul"], "o"),
        ("ABA", abm, "s"),
        ("CRBA", crbm, "v"),
    )
    with panels(style, "double", 2.9, 1, 2) as (figure, (left, right), look):
        for i, (name, law, marker) in enumerate(drawn):
            drawn_as = {"color": look.series[i], "linestyle": DASHES[i], "linewidth": 1.3}
            marked = {"marker": marker, "markersize": 3.5, "markevery": 12, "label": name}
            left.plot(n, evaluated(law, n) / 1000.0, **drawn_as, **marked)
        named(left, look, y="multiplications [thousand]")
        n = n[n >= 2]  # polynomials, of which the literature's are small at 1
        pairs = (
            ("here", abm, crbm, "-", look.series[1]),
            ("literature", COUNTS[0].mul, COUNTS[1].mul, DASHES[1], look.series[0]),
        )
        for name, light, heavy, dash, colour in pairs:
            y = evaluated(heavy, n) / evaluated(light, n)
            right.plot(n, y, color=colour, linestyle=dash, linewidth=1.4, label=name)
            inside = np.flatnonzero((y[:-1] < 1) & (y[1:] >= 1))
            if len(inside):
                x = float(np.interp(1.0, y[inside[-1] : inside[-1] + 2], n[inside[-1] :][:2]))
                right.plot(x, 1.0, "o", color=colour, markersize=5)
                beside = {"textcoords": "offset points", "color": look.ink, "fontsize": 8}
                right.annotate(f"{x:.2f}", (x, 1.0), (5, -11), **beside)
        right.axhline(1.0, color=look.ink, linewidth=0.6)
        named(right, look, y="CRBA over ABA, multiplications")
        for ax in (left, right):
            ax.set(xlim=(1, 16), ylim=(0, None))
            named(ax, look, f"links n ({family})")
            legend(ax, look, loc="upper left", handlelength=3.2).set_zorder(6)
    return figure
