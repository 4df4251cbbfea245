"""Whether recorded bits rank orders as their errors do: the table of docs/rounding.md, robot by robot.

``python docs/study/ranks.py`` measures every order in float32 in some states of every robot (some
minutes), and writes the table.  A state's number is Spearman's: 1 where the orders' bits stand in the
order of their errors, 0 where they say nothing of it.  Two orders whose errors lie closer than a factor
of two count there like any; the last column leaves such pairs out.  What such orders cost a measure is
seen in the errors themselves: how they rank those of the same state, moved a little.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from pivotree import kkt
from pivotree.analysis.comparison import compare
from pivotree.analysis.states import ranges_of, system_at

PAGE = Path(__file__).resolve().parent.parent / "rounding.md"
STATES = 25  # of seed 0
MOVED = 1e-4  # of every number of a state: as much error, but other roundings
ROBOTS = (
    *("example1", "example1:tilt=0.3", "example3:m1=1e5,angle=0.3", "two_link:r=0.002", "rr_arm"),
    *("chain:5", "chain:10", "chain:30", "chain:100", "star:5", "binary:3", "comb:4", "quadruped"),
    *("humanoid", "random_tree:n=12,seed=1,mass_ratio=1e4", "random_tree:n=12,seed=2,mass_ratio=1e6"),
    *("robot:ur5", "robot:panda", "robot:kinova", "robot:talos_arm", "robot:anymal"),
)
HEADS = ("robot", "errors", "bits", "reach", "again", "pairs")
APART = 2.0  # times, that errors of one pair of orders differ at least: less is luck
MEASURES = ("cancelled_bits", "reached_bits")


def rows_of(system: kkt.System, format: str = "float32") -> list[Any]:
    """The rows of all orders that have an answer and an error."""
    return [row for row in compare(system, None, [format]).rows if row.error]


def ranks(rows: list[Any], measure: str) -> float:
    """Spearman's correlation of a measure with the error; 0 where it is the same for all orders."""
    return _alike([getattr(row, measure) or 0.0 for row in rows], [row.error for row in rows])


def ranks_again(rows: list[Any], others: list[Any]) -> float:
    """Spearman's correlation of the errors of two states, of the orders that have both."""
    known = {row.order: row.error for row in others}
    return _alike(*zip(*((row.error, known[row.order]) for row in rows if row.order in known), strict=True))


def _alike(one: Sequence[float], other: Sequence[float]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = spearmanr(one, other)
    return 0.0 if math.isnan(found.statistic) else float(found.statistic)


def pairs_right(each: list[list[Any]], measure: str = "reached_bits") -> float:
    """The share of pairs of orders, their errors in a state APART, that a measure ranks as these."""
    right = [
        getattr(one, measure) > getattr(other, measure)
        for rows in each
        for one in rows
        for other in rows
        if one.error >= APART * other.error
    ]
    return sum(right) / len(right)


def measured(spec: str, states: int = STATES) -> tuple[list[list[Any]], list[list[Any]]]:
    """The rows of each state of a robot, and of that state moved."""
    base, random = kkt.build(kkt.load(spec)), np.random.default_rng(0)
    ranges = ranges_of(base)
    systems = [system_at(base, ranges, 0, number) for number in range(states)]
    moved = (
        base.refresh(*(x * (1.0 + MOVED * random.standard_normal(x.shape)) for x in (s.q, s.qd, s.tau)))
        for s in (system.state for system in systems)
    )
    return list(map(rows_of, systems)), list(map(rows_of, moved))


def line(name: str, each: list[list[Any]], moved: list[list[Any]]) -> list[str]:
    """By how much errors differ, and what the measures say of them, in the middle of the states."""
    spread = median(max(r.error for r in rows) / min(r.error for r in rows) for rows in each)
    said = [f"{median(ranks(rows, measure) for rows in each):.2f}" for measure in MEASURES]
    said += [f"{median(map(ranks_again, each, moved)):.2f}"] if moved else [""]
    said += [f"{100 * pairs_right(each):.0f} %"]
    return [name, f"{spread:,.0f}" if spread < 1e4 else f"{spread:.0e}", *said]


def main() -> None:
    lines, everything = [], []
    for spec in ROBOTS:
        each, moved = measured(spec)
        everything += [row for rows in each for row in rows]
        lines.append(line(f"`{spec}`", each, moved))
        print(*lines[-1], file=sys.stderr, flush=True)
    lines.append(line("all of them together", [everything], []))
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (HEADS, ("---", *["---:"] * 5), *lines))
    text = PAGE.read_text(encoding="utf-8")
    mark = re.compile(r"(<!-- table ranks -->\n).*?(\n<!-- end -->)", re.DOTALL)
    PAGE.write_text(mark.sub(lambda m: f"{m[1]}{table}{m[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
