"""The picture of docs/gradients.md on the site."""

from __future__ import annotations

from matplotlib.figure import Figure

from pivotree import kkt
from pivotree.analysis import gradients
from pivotree.analysis.figures import MARKERS
from pivotree.papers.sheet import named, panels, shared_legend

WAYS = {
    "no preconditioner": {},
    "crbm in float32": {"preconditioner": "crbm"},
    "abm in float32": {"preconditioner": "abm"},
    "abm in bfloat16": {"preconditioner": "abm", "by": "bfloat16"},
}
SPECS = ("chain:100", "humanoid")


def draw(found: dict[str, dict[str, gradients.Descent]], style: str) -> Figure:
    """Residuals over iterations, a panel a robot; a cross where an iteration cannot go on."""
    with panels(style, "double", 3.0, 1, 2, sharey=True) as (figure, axes, look):
        for ax, (spec, ways) in zip(axes, found.items(), strict=True):
            for i, (way, one) in enumerate(ways.items()):
                k = range(1, one.iterations + 2)
                mark = {"linewidth": 1.2, "markersize": 4, "markevery": max(1, one.iterations // 12)}
                ax.loglog(k, one.residuals, MARKERS[i] + "-", color=look.series[i], label=way, **mark)
                if one.failed:
                    cross = {"color": look.series[i], "markersize": 9, "markeredgewidth": 2}
                    ax.plot([k[-1]], [one.residuals[-1]], "x", **cross)
            named(ax, look, "iterations + 1", title=spec)
            ax.set_ylim(1e-21, 1e2)
        named(axes[0], look, y="residual over the first")
        shared_legend(figure, ax, look, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def figure(style: str) -> Figure:
    found = {}
    for spec in SPECS:
        system = kkt.build(kkt.from_spec(spec))
        found[spec] = {way: gradients.solve(system, **how) for way, how in WAYS.items()}
    return draw(found, style)
