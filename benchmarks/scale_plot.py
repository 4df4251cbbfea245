"""Draws docs/scale.png and docs/scale_dark.png from the newest results of scale.py."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt

ROOT = Path(__file__).parent.parent
THEMES = {"": ("#fcfcfb", "#1f1f1e", "#d9d8d4"), "_dark": ("#1a1a19", "#ecebe6", "#3c3b39")}
COLOURS = {"": ("#2a78d6", "#1baf7a"), "_dark": ("#3987e5", "#199e70")}


def draw(rows: list[dict], theme: str) -> None:
    """Time of factor and solve, and memory, against the number of bodies."""
    paper, ink, grid = THEMES[theme]
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), facecolor=paper, layout="constrained")
    panels = (
        ("times", "time_exponent", 1.0, "Factor and solve, seconds of one core"),
        ("memory", "memory_exponent", 2.0**-30, "Build, factor and solve: peak memory, GiB"),
    )
    for axis, (key, exponent, unit, title) in zip(axes, panels, strict=True):
        axis.set_facecolor(paper)
        growths = [row for row in rows if row["what"].startswith("growth")]
        for row, colour in zip(growths, COLOURS[theme], strict=True):
            points = [(n, unit * y) for n, y in zip(row["n"], row[key], strict=True) if y > 0]
            name = row["what"].removeprefix("growth, ")
            label = f"{name}: n^{row[exponent]:.2f}"
            axis.loglog(*zip(*points, strict=True), "o-", color=colour, label=label, linewidth=2)
        axis.set_title(title, color=ink, fontsize=10, loc="left")
        axis.set_xlabel("bodies n", color=ink)
        axis.grid(color=grid, linewidth=0.6)
        axis.tick_params(colors=ink, which="both")
        axis.legend(frameon=False, labelcolor=ink)
        for side, spine in axis.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(grid)
    figure.savefig(ROOT / "docs" / f"scale{theme}.png", dpi=144, facecolor=paper)
    plt.close(figure)


def main() -> None:
    newest = max((ROOT / "benchmarks" / "results").glob("scale-*.json"))
    rows = json.loads(newest.read_text())["rows"]
    for theme in THEMES:
        draw(rows, theme)


if __name__ == "__main__":
    main()
