"""How what a person waits for grows with the robot: tracing, lowering and playing, for every order.

    python benchmarks/order_growth.py [--largest N] [--seconds S] [-o FILE.svg]

Processor time of a first answer in float64 on chains of n bodies, the least of three, beside the
operations of the tape.  Both have an exponent: the slope of the line that is closest, in least squares,
to their logarithms over that of n.  An order is as it should be where its time does not grow faster than
its operations; sizes end where one answer takes S seconds.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from pivotree import kkt, orderings
from pivotree.analysis.figures import MARKERS, new_figure, settings, style_axes, theme

FIRST = 50  # bodies of the smallest chain: below it, what does not grow takes most of the time
ROUNDS = 3
ALLOWED = 0.05  # by which the exponent of time may be above that of operations
STAGES = ("trace and lower", "play")


@dataclass(frozen=True)
class Growth:
    """One order over the number of bodies."""

    order: str
    n: list[int]
    seconds: list[list[float]]  # of each size, by STAGES
    operations: list[int]

    @property
    def total(self) -> list[float]:
        return [sum(each) for each in self.seconds]

    def exponent(self, cost: list[float] | list[int]) -> float:
        """Of a cost over n; nan where there is one size alone."""
        return float(np.polyfit(np.log(self.n), np.log(cost), 1)[0]) if self.n[1:] else float("nan")

    @property
    def faster(self) -> bool:
        """Whether time grows no faster than operations."""
        return not self.exponent(self.total) > self.exponent(self.operations) + ALLOWED


def once(order: str, n: int) -> tuple[list[float], int]:
    """Processor time of each stage of a first answer, and the tape's operations."""
    system = kkt.build(kkt.chain(n))
    begin = time.process_time()
    tape = kkt.trace(system, orderings.get(order))
    traced = time.process_time()
    kkt.eliminate(system, tape, "float64", records=False)
    return [traced - begin, time.process_time() - traced], tape.length


def growth(order: str, largest: int, most: float) -> Growth:
    """An order on chains of FIRST bodies, twice as many and so on."""
    found, n = Growth(order, [], [], []), FIRST
    while n <= largest and (not found.n or found.total[-1] < most):
        runs = [once(order, n) for _ in range(ROUNDS)]
        found.n.append(n)
        found.seconds.append(min((seconds for seconds, _ in runs), key=sum))
        found.operations.append(runs[0][1])
        n *= 2
    return found


def draw(found: list[Growth], path: str) -> None:
    """Time over n, an order a line, with the exponents of time and of operations."""
    look = theme()
    with settings():
        figure = new_figure("double", 4.2, look)
        axis = figure.subplots()
        style_axes(axis, look, grid="both")
        for k, one in enumerate(found):
            label = f"{one.order}: {one.exponent(one.total):.2f} ({one.exponent(one.operations):.2f})"
            mark, color = MARKERS[k % len(MARKERS)], look.series[k % len(look.series)]
            axis.loglog(one.n, one.total, color=color, marker=mark, markersize=3, linewidth=1, label=label)
        axis.set_title("trace, lower and play [s]; exponents of time (of operations)", loc="left", fontsize=8)
        axis.set_xlabel("bodies n of a chain")
        axis.legend(frameon=False, fontsize=5.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path, bbox_inches="tight")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=800, help="bodies (800)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one answer, after which no larger (1)")
    parser.add_argument("--order", default="", help="comma-separated; all if not given")
    parser.add_argument("-o", "--output", help="a picture to write")
    options = parser.parse_args()
    table = Table(*("order", "largest n", *(f"{stage} [s]" for stage in STAGES), "time", "operations", ""))
    found = []
    for order in options.order.split(",") if options.order else orderings.names(loops=False):
        once(order, 8)  # what is compiled once
        one = growth(order, options.largest, options.seconds)
        found.append(one)
        stages = [f"{seconds:.3f}" for seconds in one.seconds[-1]]
        exponents = [f"{one.exponent(cost):.2f}" for cost in (one.total, one.operations)]
        table.add_row(
            order, str(one.n[-1]), *stages, *exponents, "" if one.faster else "faster than operations"
        )
    Console().print(table)
    if options.output:
        draw(found, options.output)
    return 0 if all(one.faster for one in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
