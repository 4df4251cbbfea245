"""The picture of docs/gradients.md on the site."""

from __future__ import annotations

from matplotlib.figure import Figure

from pivotree import kkt
from pivotree.analysis import gradients
from pivotree.analysis.figures import MARKERS, new_figure, settings, style_axes, theme

WAYS = {
    "no preconditioner": {},
    "crbm in float32": {"preconditioner": "crbm"},
    "abm in float32": {"preconditioner": "abm"},
    "abm in bfloat16": {"preconditioner": "abm", "by": "bfloat16"},
}
SPECS = ("chain:100", "humanoid")


def draw(found: dict[str, dict[str, gradients.Descent]], style: str) -> Figure:
    """Residuals over iterations, a panel a robot; a cross where an iteration cannot go on."""
    look = theme(style=style)
    with settings():
        figure = new_figure("double", 3.0, look)
        figure.set_layout_engine("constrained")
        for ax, (spec, ways) in zip(figure.subplots(1, 2, sharey=True), found.items(), strict=True):
            style_axes(ax, look, grid="both")
            for i, (way, one) in enumerate(ways.items()):
                k = range(1, one.iterations + 2)
                every = max(1, one.iterations // 12)
                ax.loglog(
                    k,
                    one.residuals,
                    MARKERS[i] + "-",
                    color=look.series[i],
                    linewidth=1.2,
                    markersize=4,
                    markevery=every,
                    label=way,
                )
                if one.failed:
                    ax.plot(
                        [k[-1]],
                        [one.residuals[-1]],
                        "x",
                        color=look.series[i],
                        markersize=9,
                        markeredgewidth=2,
                    )
            ax.set_title(spec, color=look.ink)
            ax.set_xlabel("iterations + 1", color=look.ink)
            ax.set_ylim(1e-21, 1e2)
            if spec == SPECS[0]:
                ax.set_ylabel("residual over the first", color=look.ink)
        lines, names = ax.get_legend_handles_labels()
        figure.legend(
            lines, names, loc="outside lower center", ncols=4, frameon=False, labelcolor=look.ink, fontsize=8
        )
    return figure


def figure(style: str) -> Figure:
    found = {}
    for spec in SPECS:
        system = kkt.build(kkt.from_spec(spec))
        found[spec] = {way: gradients.solve(system, **how) for way, how in WAYS.items()}
    return draw(found, style)
