"""Digits of qdd by where multipliers stand: robots on their feet, in float32.

``python benchmarks/multipliers.py [--fixed] [ROBOT,...]`` prints the table of benchmarks/NOTES.md,
median and worst error over random states against certified solutions; it needs the extra
``robots``.  Bases float, or with ``--fixed`` are held by the world.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from pivotree import kkt
from pivotree.analysis import compare
from pivotree.analysis.figures import MARKERS
from pivotree.analysis.states import draw, ranges_of
from pivotree.papers.sheet import named, panels, shared_legend

ORDERS = ("lambda_first", "lambda_first_abm", "crbm", "abm")
SOFT = ORDERS[:2]  # which have rigid rows last, as crbm and abm do
COMPLIANCES = (1e-2, 1e-4, 1e-6, 1e-8, 0.0)  # [1/kg]
STATES = 8
FULL = 24 * math.log10(2.0)  # digits of float32
APART = 0.09  # of the distance between two compliances: orders stand beside each other

FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "talos": ("left_sole_link", "right_sole_link"),
}


def standing(name: str, fixed: bool = False) -> kkt.System:
    """The robot with all its feet held by sticking contacts, three rows each."""
    tree = kkt.load(f"robot:{name}", floating=not fixed)
    across = np.eye(3)[:2]
    feet = [kkt.contact(foot, (0, 0, 0), tangents=across, name=foot) for foot in FEET[name]]
    return kkt.build(tree, loops=feet)


class Placed(NamedTuple):
    """One order with all rows at one compliance."""

    order: str
    compliance: float
    errors: list[float]  # of qdd, of the states that have an answer, the smallest first
    unanswered: int
    marked: bool  # whether an answer should not be relied on


def placed(system: kkt.System) -> list[Placed]:
    """Errors of orders in random states, contacts holding where they are."""
    ranges, found = ranges_of(kkt.build(system.graph, loops=())), []
    drawn = [draw(ranges, 0, number)[:2] for number in range(STATES)]
    for compliance in COMPLIANCES:
        loops = [replace(x, compliance=np.full(x.rows, compliance)) for x in system.loops]
        orders = [order for order in ORDERS if compliance or order not in SOFT]
        rows = [
            compare(kkt.build(system.graph, q, qd, system.state.tau, loops=loops), orders, ["float32"]).rows
            for q, qd in drawn
        ]
        for order in ORDERS:
            own = [row for some in rows for row in some if row.order == order]
            errors = sorted(row.error for row in own if row.error is not None)
            bad = len(own) - len(errors)
            found.append(Placed(order, compliance, errors, bad, any(row.marked for row in own)))
    return found


def table(found: dict[str, list[Placed]]) -> None:
    """Median / worst, with a star where an answer should not be relied on, and states without one."""
    print("| robot | compliance | " + " | ".join(f"`{order}`" for order in ORDERS) + " |")
    print("|---|---:|" + "---:|" * len(ORDERS))
    for name, some in found.items():
        for compliance in COMPLIANCES:
            cells = [told(p) for p in some if p.compliance == compliance]
            print(f"| {name} | {compliance:g} | {' | '.join(cells)} |")


def told(one: Placed) -> str:
    if not one.errors:
        return f"no answer in {one.unanswered}" if one.unanswered else "needs compliance"
    text = f"{np.median(one.errors):.1e} / {one.errors[-1]:.1e}{' *' * one.marked}"
    return f"{text}; no answer in {one.unanswered}" if one.unanswered else text


CELL = re.compile(r"(?:(\S+) / (\S+)( \*)?)?(?:;? ?no answer in (\d+))?(?:needs compliance)?")


def read() -> dict[str, list[Placed]]:
    """The table of benchmarks/NOTES.md: of the errors, the median and the worst."""
    found: dict[str, list[Placed]] = {}
    notes = (Path(__file__).parent / "NOTES.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| (\w+, \d feet \|.*) \|$", notes, re.M):
        name, compliance, *cells = (cell.strip() for cell in row.split("|"))
        for order, cell in zip(ORDERS, cells, strict=True):
            median, worst, star, bad = CELL.fullmatch(cell).groups()  # type: ignore[union-attr]
            errors = [float(median), float(worst)] if median else []
            found.setdefault(name, []).append(
                Placed(order, float(compliance), errors, int(bad or 0), bool(star))
            )
    return found


def figure(style: str) -> Figure:
    """Of docs/loops.md: a panel a robot, digits of each order, from the median to the worst state.

    A cross at the bottom is an order that leaves some state without an answer; a star, one that has
    answers not to be relied on.
    """
    found = read()
    with panels(style, "double", 3.0, 1, len(found), "y", sharey=True) as (figure, axes, look):
        for ax, (name, some) in zip(axes, found.items(), strict=True):
            for number, order in enumerate(ORDERS):
                line = {"color": look.series[number], "marker": MARKERS[number], "markersize": 4.0}
                aside = APART * (number - (len(ORDERS) - 1) / 2)
                _line(ax, [p for p in some if p.order == order], aside, {**line, "label": look.named(order)})
            ax.axhline(FULL, color=look.ink, linewidth=0.8, linestyle="--")
            ax.set_xticks(range(len(COMPLIANCES)), [f"{c:g}" for c in COMPLIANCES])
            ax.set(xlim=(-0.4, len(COMPLIANCES) - 0.6), ylim=(-0.25, FULL + 0.3))
            named(ax, look, title=name)
        named(axes[0], look, y="correct digits of qdd in float32")
        named(axes[len(found) // 2], look, "compliance, 0 is rigid [1/kg]")
        shared_legend(figure, axes[0], look, loc="outside lower center", ncols=5)
    return figure


def _line(ax: Any, mine: list[Placed], aside: float, line: dict[str, Any]) -> None:
    """The medians of one order, a bar down to its worst state, and where some have no answer."""
    points = []
    for p in mine:
        x = COMPLIANCES.index(p.compliance) + aside
        if p.unanswered:
            ax.plot(x, 0.0, "x", color=line["color"], markersize=5.5, clip_on=False)
        if p.errors:
            median, worst = (min(-math.log10(error), FULL) for error in p.errors)
            points.append((x, median))
            ax.plot([x, x], [median, worst], color=line["color"], linewidth=0.9)
        if p.errors and p.marked:
            ax.plot(x, worst, marker="$*$", color=line["color"], markersize=5, clip_on=False)
    ax.plot(*np.array(points).reshape(-1, 2).T, linewidth=1.1, **line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="?", default=",".join(FEET))
    parser.add_argument("--fixed", action="store_true", help="bases do not float")
    asked = parser.parse_args()
    robots = {name: standing(name, asked.fixed) for name in asked.robots.split(",")}
    table({f"{name}, {len(FEET[name])} feet": placed(system) for name, system in robots.items()})


if __name__ == "__main__":
    main()
