"""Draws docs/scale.png and docs/scale_dark.png from the newest results of scale.py."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

from analysis.figures import save
from analysis.figures.style import MARKERS, new_figure, settings, style_axes, theme

ROOT = Path(__file__).parent.parent
ENDINGS = {"light": "", "dark": "_dark"}


def draw(rows: list[dict], style: str) -> Figure:
    """Time of factor and solve, and memory, against the number of bodies."""
    look = theme(style=style)
    figure = new_figure("double", 3.0, look)
    figure.set_layout_engine("constrained")
    axes = figure.subplots(1, 2)
    panels = (
        ("times", "time_exponent", 1.0, "Factor and solve, seconds of one core"),
        ("memory", "memory_exponent", 2.0**-30, "Build, factor and solve: peak memory, GiB"),
    )
    for axis, (key, exponent, unit, title) in zip(axes, panels, strict=True):
        style_axes(axis, look, grid="both")
        growths = [row for row in rows if row["what"].startswith("growth")]
        for row, colour, marker in zip(growths, look.series, MARKERS, strict=False):
            points = [(n, unit * y) for n, y in zip(row["n"], row[key], strict=True) if y > 0]
            label = f"{row['what'].removeprefix('growth, ')}: n^{row[exponent]:.2f}"
            axis.loglog(*zip(*points, strict=True), marker=marker, color=colour, label=label)
        axis.set_title(title, color=look.ink, loc="left")
        axis.set_xlabel("bodies n", color=look.ink)
        axis.legend(frameon=False, labelcolor=look.ink)
    return figure


def main() -> None:
    newest = max((ROOT / "benchmarks" / "results").glob("scale-*.json"))
    rows = json.loads(newest.read_text())["rows"]
    for style, ending in ENDINGS.items():
        with settings():
            save(draw(rows, style), ROOT / "docs" / f"scale{ending}.png")


if __name__ == "__main__":
    main()
