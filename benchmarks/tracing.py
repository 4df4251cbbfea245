"""What tracing and blame cost, as ratios to the same untraced tape in float32.

    python benchmarks/tracing.py [--repeat N]

Everything is repeated in turn and medians of processor time are printed, so that other work on the
machine matters little.  Each run starts from the entries of (4), as a user's does.  "compiled" is
the same operations as straight-line code, translated by numba, on a robot small enough for that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table

from pivotree import kkt, orderings
from pivotree.analysis.rounding import linearised
from pivotree.kkt.arithmetic import floats, get_format
from pivotree.kkt.rounding import observe
from pivotree.kkt.tape import Tape, played, started

FLOAT32 = get_format("float32")
TAPES = (("chain:1500", "abm"), ("random_tree:n=1000,seed=1", "abm"), ("chain:150", "crbm"))
TARGETS = {
    "cancelled + absorbed, by pivot": 2.0,
    "... and by block and body": 2.0,
    "double-double shadow with the first": 10.0,
    "blame": 6.0,
}
SMALL = ("chain:2", "abm")
TOGETHER = 500  # states of the small robot, one after another


def medians(tasks: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Seconds of processor time of each task, all of them in turn."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()  # compiled, and caches are warm
    for _ in range(repeat):
        for name, task in tasks.items():
            start = time.thread_time()
            task()
            times[name].append(time.thread_time() - start)
    return {name: float(np.median(t)) for name, t in times.items()}


def overheads(spec: str, order: str, repeat: int) -> tuple[Tape, dict[str, float]]:
    system = kkt.build(kkt.load(spec, merge_fixed=False))
    tape = kkt.trace(system, orderings.get(order))
    entries = system.entries
    body = next(b for b, d in zip(system.tree.names, system.tree.dof, strict=True) if d)
    slot = int(tape.solution[kkt.Block("qdd", body)][0, 0])

    def untraced() -> None:
        played(tape, FLOAT32.runner(tape), started(tape, entries, FLOAT32))

    return tape, medians(
        {
            "untraced": untraced,
            "cancelled + absorbed, by pivot": lambda: observe(tape, entries, FLOAT32),
            "double-double shadow with the first": lambda: observe(tape, entries, FLOAT32, "dd"),
            "blame": lambda: linearised(tape, entries, FLOAT32).swept({slot: 1.0}, False)[0],
        },
        repeat,
    )


def straight_line(tape: Tape) -> Callable:
    """The tape's operations as one function of v (slots,), each result a local variable."""
    signs = "+-*/"
    lines, named = [], {}
    for chunk in tape.chunks():
        for op, d, a, b in zip(*(c.tolist() for c in chunk[:4]), strict=True):
            x, y = (named.get(s, f"v[{s}]") for s in (a, b))
            name = f"x{len(lines)}"
            lines.append(f"    {name} = {x} {signs[op]} {y}")
            named[d] = name
    slots = sorted({abs(int(s)) for block in tape.solution.values() for s in block.ravel()})
    lines += [f"    v[{s}] = {named[s]}" for s in slots if s in named]
    space: dict[str, object] = {}
    exec("def run(v):\n" + "\n".join(lines), space)
    return njit(error_model="numpy")(space["run"])  # type: ignore[arg-type]


def against_compiled(repeat: int) -> tuple[int, float, float]:
    """Operations, and nanoseconds an operation of the tape's loop and of straight-line code."""
    spec, order = SMALL
    system = kkt.build(kkt.load(spec, merge_fixed=False))
    tape = kkt.trace(system, orderings.get(order))
    (chunk,) = tape.chunks()
    v = np.tile(started(tape, system.entries, FLOAT32), (TOGETHER, 1))
    loop, compiled, none = floats.plain, straight_line(tape), np.empty(0, dtype=v.dtype)

    @njit(error_model="numpy")
    def many_loops(op, dst, a, b, v):
        for k in range(len(v)):
            loop(op, dst, a, b, v[k], none, none, none)

    @njit(error_model="numpy")
    def many_compiled(v):
        for k in range(len(v)):
            compiled(v[k])

    seconds = medians(
        {
            "loop": lambda: many_loops(chunk.op, chunk.dst, chunk.a, chunk.b, v),
            "compiled": lambda: many_compiled(v),
        },
        repeat,
    )
    per = 1e9 / (TOGETHER * tape.length)
    return tape.length, seconds["loop"] * per, seconds["compiled"] * per


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    table = Table(title="Processor time over that of the untraced float32 tape")
    table.add_column("")
    table.add_column("target", justify="right")
    columns = []
    for spec, order in TAPES:
        tape, seconds = overheads(spec, order, repeat)
        table.add_column(f"{spec}\n{order}, {tape.length:,} operations", justify="right")
        columns.append((tape, seconds))
    for name, target in TARGETS.items():
        ratios = [seconds[name] / seconds["untraced"] for _, seconds in columns]
        cells = [f"{r:.2f}" if r <= target else f"[bold]{r:.2f}[/bold]" for r in ratios]
        table.add_row(name, f"{target:g}", *cells)
    per = [f"{1e9 * seconds['untraced'] / tape.length:.2f} ns" for tape, seconds in columns]
    table.add_row("untraced, an operation", "", *per)
    console = Console()
    console.print(table)
    length, loop, compiled = against_compiled(repeat)
    console.print(
        f"The untraced tape against straight-line compiled code, {SMALL[0]}, {SMALL[1]}, "
        f"{length} operations: {loop:.2f} ns against {compiled:.2f} ns an operation, "
        f"a ratio of {loop / compiled:.1f}."
    )


if __name__ == "__main__":
    main()
