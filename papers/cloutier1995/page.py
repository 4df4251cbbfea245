"""The page that plays two runs side by side: one file, no network."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pivotree.analysis.figures import DARK, LIGHT
from pivotree.kkt.base import beside

from .drawing import lengths_of

RATE = 60  # positions a second
COLOURS = ("page", "ink", "faint", "shade", "entry", "entry_strong", "new")


def write(found: Any, path: Path) -> Path:
    """Write the page, whole or not at all."""
    text = files("pivotree.papers.cloutier1995").joinpath("animation.html").read_text("utf-8")
    text = text.replace("/*COLOURS*/", colours()).replace("/*DATA*/", json.dumps(data(found)))
    path = Path(path)
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def data(found: Any) -> dict[str, Any]:
    """What the page plays: positions at even times, and the steps of each run."""
    t = np.arange(0.0, found.seconds + 1e-9, 1.0 / RATE)
    runs = []
    for order, run in found.runs.items():
        record = run.records[0]
        runs.append(
            {
                "name": order.upper(),
                "evaluations": record.evaluations,
                "failed": record.failed,
                "reached": record.reached,
                "operations": run.operations,
                "q": np.round(found.positions(record, t), 4).tolist(),
                "h": [float(f"{h:.3g}") for h in record.step],
            }
        )
    first = found.runs["abm"]
    return {
        "lengths": lengths_of(found.pair).tolist(),
        "seconds": found.seconds,
        "rate": RATE,
        "format": first.format,
        "model": first.model,
        "runs": runs,
    }


def colours() -> str:
    """Both palettes of the figures as variables of the page."""

    def of(look: Any) -> str:
        named = "; ".join(f"--{name.replace('_', '-')}: {getattr(look, name)}" for name in COLOURS)
        return f"{named}; --first: {look.series[0]}; --second: {look.series[1]}"

    dark = of(DARK)
    return f":root {{ {of(LIGHT)} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
