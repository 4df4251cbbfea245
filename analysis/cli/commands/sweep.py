"""``pivotree sweep``: trees x orders x formats x states, resumable."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pivotree import kkt

from . import INTERRUPTED
from .shared import print_json

EVERY = 5.0  # [s] between lines of a log


MOST_JOBS = 1000  # processes of one machine


def run(options: argparse.Namespace) -> int:
    from ...sweep import read_config, sweep

    if options.jobs is not None and not 1 <= options.jobs <= MOST_JOBS:
        raise kkt.PivotreeError(f"option --jobs: is {options.jobs}; give 1 to {MOST_JOBS:,}")
    if options.jobs is not None and options.scheduler is not None:
        raise kkt.PivotreeError("option --jobs: has no say on a cluster; leave it out")
    config = read_config(Path(options.config))
    try:
        with shown() as progress:
            summary = sweep(config, options.jobs, options.scheduler, progress)
    except KeyboardInterrupt:
        print(
            f"pivotree: interrupted; what was measured is in {config.output}.parts, and the same "
            "command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    if options.json:
        print_json(summary.as_dict())
        return 0
    rate = summary.measured / max(summary.seconds, 1e-9)
    print(
        f"{summary.output}: {summary.rows} rows, {summary.measured} measured now in "
        f"{summary.seconds:.1f} s ({rate:.0f} a second), {summary.failed} of them without an answer"
        f"{_marked(summary.marked)}"
    )
    return 0


def _marked(count: int) -> str:
    return f", {count} marked as not to be relied on" if count else ""


@contextmanager
def shown() -> Iterator[Callable[[int, int, int], None]]:
    """Progress on standard error: a bar with the time left, or lines in a log."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Log()
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("so far"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("rows")

        def update(done: int, missing: int, kept: int) -> None:
            there = f"rows ({kept} were there)" if kept else "rows"
            bar.update(task, description=there, completed=done, total=missing)

        yield update


class _Log:
    """A line from time to time, none where the work is short."""

    def __init__(self) -> None:
        self.began = self.told = time.monotonic()

    def __call__(self, done: int, missing: int, kept: int) -> None:
        now = time.monotonic()
        if now - self.told < EVERY or not done or done == missing:
            return
        self.told = now
        left = (now - self.began) / done * (missing - done)
        before = f", {kept} were there" if kept else ""
        print(f"pivotree: {done} of {missing} rows{before}, {left:.0f} s left", file=sys.stderr)
