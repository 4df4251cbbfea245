"""Pictures of chapter 3: errors of its methods over the condition number, and iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import MARKERS, style_axes

from ..sheet import sheet

DASHED, DOTTED, BOTH = (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2))
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


def digits(found: Any, style: str) -> Figure:
    """Largest error over the angles against kappa, one panel a format; hollow marks: broke down."""
    with sheet("double", 3.9, style) as (figure, look):
        panels = figure.subplots(1, len(found.worst))
        for ax, (format, errors) in zip(panels, found.worst.items(), strict=True):
            style_axes(ax, look, grid="both")
            first = format == "float64"
            for i, (method, (colour, marker, line)) in enumerate(STYLE.items()):
                if method not in errors:
                    continue
                values = errors[method]
                ax.plot(
                    found.kappa,
                    values,
                    marker=marker,
                    markersize=4.5,
                    linestyle=line,
                    color=look.series[colour],
                    linewidth=1.2,
                    label=method if first else None,
                )
                if np.isnan(values).any():  # where it first breaks down
                    at = found.kappa[np.isnan(values)][:1] * 1.5 ** (i - 4)
                    ax.plot(
                        at,
                        [8.0],
                        marker,
                        markersize=6,
                        markerfacecolor="none",
                        markeredgecolor=look.series[colour],
                    )
            ax.plot(
                found.kappa,
                found.kappa * UNIT[format],
                color=look.faint,
                linewidth=1,
                linestyle=(0, (2, 2)),
                label=r"$\kappa u$" if first else None,
            )
            ax.set(xscale="log", yscale="log", ylim=(UNIT[format] / 4, 50))
            ax.set_title(format, color=look.ink)
            ax.set_xlabel(r"largest $\kappa(H)$ over the angles", color=look.ink)
        panels[0].set_ylabel("largest relative error", color=look.ink)
        figure.legend(loc="outside lower center", ncols=4, frameon=False, labelcolor=look.ink, fontsize=7)
    return figure


def iterations(found: Any, style: str) -> Figure:
    """Iterations of conjugate gradients over n, and the line that exact arithmetic draws."""
    with sheet("single", 2.8, style) as (figure, look):
        ax: Any = figure.add_subplot()
        style_axes(ax, look, grid="both")
        n = np.array(found.links)
        ax.plot(n, n, color=look.faint, linestyle=(0, (2, 2)), label="n")
        ax.plot(
            found.exact_links,
            found.exact,
            "D",
            color=look.series[2],
            markersize=5,
            label="fractions, residual 0",
        )
        for i, (format, values) in enumerate(found.floats.items()):
            ax.plot(
                n, values, MARKERS[i] + "-", color=look.series[i], markersize=4, linewidth=1.2, label=format
            )
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(n, [str(k) for k in n])
        ax.minorticks_off()
        ax.set_xlabel("links n", color=look.ink)
        ax.set_ylabel("iterations", color=look.ink)
        ax.legend(frameon=False, labelcolor=look.ink, fontsize=7)
    return figure
