"""Digits of gradients in float32: ``python docs/derivatives_picture.py`` prints their table.

``--measure ur5,panda`` measures these columns anew, with the extra ``robots``, and ``--measure
all`` all: docs/derivatives_float32.csv has, for each model, order and matrix, correct digits
in the median and in the worst of 30 random states of seed 0, and for the trees of the study's
worst cases in the state that each brings.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Iterable
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pivotree import kkt, orderings
from pivotree.analysis.comparison import compare_derivatives
from pivotree.analysis.states import ranges_of, system_at
from pivotree.papers.sheet import panels

HERE = Path(__file__).parent
TABLE = HERE / "derivatives_float32.csv"
STATES, FORMAT, MOST = 30, "float32", 7.22  # digits that the format holds
HEAD = ("model", "order", "states", "matrix", "median", "worst")
MODELS = {  # as a column is called: the model, and whether it floats
    "ur5": ("robot:ur5", False),
    "panda": ("robot:panda", False),
    "anymal": ("robot:anymal", True),
    "talos": ("robot:talos", True),
    "quadruped": ("quadruped", False),
    "humanoid": ("humanoid", False),
    "chain:12": ("chain:12", False),
    "chain:30": ("chain:30", False),
    "masses 1 to 1e4": ("random_tree:n=8,seed=1,mass_ratio=1e4", False),
}
MATRICES = ("dq", "dqd", "dtau")
SHOWN = ("abm", "joseph_abm", "crbm", "virtual_work")
STUDY = "worst of the study"
ALL = "all"  # of dq, dqd and dtau, the one with the fewest digits
Table = dict[tuple[str, str, str], tuple[float, float]]  # by model, order and matrix


def measured(name: str) -> list[tuple]:
    """Every order on one model in random states."""
    spec, floats = MODELS[name]
    tree = kkt.load(spec, floating=True if floats else None)
    base = kkt.build(tree)
    ranges = ranges_of(base)
    return rows_of(name, (system_at(base, ranges, 0, number) for number in range(STATES)))


def of_the_study() -> list[tuple]:
    """Every order on the trees on which some order did worst, each in its own state."""
    files = sorted([*(HERE / "study/worst").glob("*.json"), *(HERE / "study/found").glob("*.json")])
    return rows_of(STUDY, (kkt.build(kkt.load(str(file))) for file in files))


def rows_of(name: str, systems: Iterable[kkt.System]) -> list[tuple]:
    """Digits of every order in these states, median and worst."""
    kept: dict[tuple[str, str], list[float]] = {}
    for system in systems:
        for row in compare_derivatives(system, None, [FORMAT]):
            if row.order == "data alone" or "rotations" in (row.refused or ""):
                continue
            own = {name: row.digits.get(name) or 0.0 for name in ("qdd", *MATRICES)}
            for matrix, digits in {**own, ALL: min(own[name] for name in MATRICES)}.items():
                kept.setdefault((row.order, matrix), []).append(digits)
    return [
        (name, order, len(own), matrix, round(statistics.median_low(own), 3), round(min(own), 3))
        for (order, matrix), own in kept.items()
    ]


def measure(names: list[str]) -> None:
    """Rows of these models take the place of what the table had of them, model after model."""
    for name in names:
        rows = of_the_study() if name == STUDY else measured(name)
        with open(TABLE, encoding="utf-8", newline="") if TABLE.exists() else StringIO() as file:
            kept = [row for row in csv.reader(file) if row[0] not in (name, HEAD[0])]
        every = [*kept, *(list(map(str, row)) for row in rows)]
        place = [*MODELS, STUDY]
        with open(TABLE, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(HEAD)
            table.writerows(sorted(every, key=lambda row: place.index(row[0])))


def read() -> Table:
    with open(TABLE, encoding="utf-8", newline="") as file:
        return {
            (row["model"], row["order"], row["matrix"]): (float(row["median"]), float(row["worst"]))
            for row in csv.DictReader(file)
        }


def page(table: Table) -> str:
    """The table of docs/derivatives.md: digits in the median and at worst."""
    lines = []
    for model in dict.fromkeys(model for model, _, _ in table):
        cells = " | ".join("{:.1f}, {:.1f}".format(*table[model, order, ALL]) for order in SHOWN)
        lines.append(f"| {model} | {cells} |")
    return "\n".join(lines)


def draw(table: Table, style: str) -> Figure:
    """Orders by models: the colour is what the worst state loses, the numbers median and worst."""
    models = list(dict.fromkeys(model for model, _, _ in table))
    orders = [x for x in orderings.names() if any((m, x, ALL) in table for m in models)]
    orders.sort(key=lambda x: -sum(table.get((m, x, ALL), (0.0, 0.0))[1] for m in models))
    with panels(style, "double", 0.31 * len(orders) + 1.0, grid="") as (figure, ax, look):
        page, full = (np.array(to_rgb(x)) for x in (look.page, look.series[1]))
        for (i, order), (j, model) in product(enumerate(orders), enumerate(models)):
            if (model, order, ALL) not in table:
                continue
            median, worst = table[model, order, ALL]
            share = min(1.0, (MOST - worst) / MOST)
            colour = page + share * (full - page)
            ax.add_patch(Rectangle((j - 0.48, i - 0.46), 0.96, 0.92, color=colour, linewidth=0))
            ink = "#000000" if colour @ (0.2126, 0.7152, 0.0722) > 0.45 else "#FFFFFF"
            ax.text(j, i - 0.12, f"{median:.1f}", ha="center", va="center", color=ink, fontsize=8)
            ax.text(j, i + 0.26, f"{worst:.1f}", ha="center", va="center", color=ink, fontsize=6)
        ax.set_xlim(-0.5, len(models) - 0.5)
        ax.set_ylim(len(orders) - 0.5, -0.5)
        ax.set_xticks(range(len(models)), models, rotation=30, ha="left", fontsize=8)
        ax.xaxis.tick_top()
        ax.set_yticks(range(len(orders)), orders, fontsize=8)
        ax.tick_params(length=0, colors=look.ink)
        for side in ax.spines.values():
            side.set_visible(False)
    return figure


def figure(style: str) -> Figure:
    """Of docs/derivatives.md, on the site."""
    return draw(read(), style)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measure", metavar="MODELS", help="measure first; all, or names")
    if names := parser.parse_args().measure:
        measure([*MODELS, STUDY] if names == "all" else names.split(","))
    print(page(read()))


if __name__ == "__main__":
    main()
