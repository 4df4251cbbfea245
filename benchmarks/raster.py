"""What the picture of a large matrix costs: the density raster beside matplotlib's own spy.

    python benchmarks/raster.py [--bodies N] [--repeat N]

CRBM on a chain fills about 2 n^2 of its blocks.  Both draw the same blocks, each of them one
entry, into an axes of the same size; "drawn" counts blocks, then makes the image, "as PNG" writes
the file as well.  Medians of wall time.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table
from scipy.sparse import coo_array

from pivotree import kkt, orderings
from pivotree.analysis.figures import LIGHT, BlockState, block_state
from pivotree.analysis.figures.density import density, raster

TARGET = 0.2  # [s]


def median(task: Callable[[], object], repeat: int) -> float:
    task()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def ours(state: BlockState) -> Figure:
    figure = Figure(figsize=(5, 5), dpi=100)
    raster(figure.add_axes((0, 0, 1, 1)), state, LIGHT)
    return figure


def peer(matrix: coo_array) -> Figure:
    figure = Figure(figsize=(5, 5), dpi=100)
    figure.add_axes((0, 0, 1, 1)).spy(matrix, markersize=0.5)
    return figure


def png(figure: Figure) -> None:
    FigureCanvasAgg(figure)
    figure.savefig(io.BytesIO(), format="png")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bodies", type=int, default=1817)
    options.add_argument("--repeat", type=int, default=5)
    chosen = options.parse_args()
    structure = kkt.build(kkt.chain(chosen.bodies)).structure
    state = block_state(kkt.symbolic(kkt.plan(orderings.get("crbm"), structure)))
    own = np.flatnonzero(state.diagonal)
    rows, cols = (np.concatenate([*ends, own]) for ends in ((state.row, state.col), (state.col, state.row)))
    matrix = coo_array((np.ones(len(rows)), (rows, cols)), shape=(state.blocks,) * 2)
    shown = Table(title=f"{len(rows):,} entries, CRBM on a chain of {chosen.bodies} bodies")
    for head in ("what", "seconds", "target"):
        shown.add_column(head, justify="left" if head == "what" else "right")
    for what, task, target in (
        ("density: blocks counted", lambda: density(state), ""),
        ("density raster, drawn", lambda: ours(state), f"{TARGET:g}"),
        ("density raster, as PNG", lambda: png(ours(state)), f"{TARGET:g}"),
        ("matplotlib's spy, drawn", lambda: peer(matrix), ""),
        ("matplotlib's spy, as PNG", lambda: png(peer(matrix)), ""),
    ):
        shown.add_row(what, f"{median(task, chosen.repeat):.3f}", target)
    Console().print(shown)


if __name__ == "__main__":
    main()
