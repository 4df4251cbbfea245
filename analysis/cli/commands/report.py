"""``pivotree report``: one page on a robot, over many random states."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pivotree import orderings
from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.reading import read_text

from . import INTERRUPTED
from .shared import folder_of, items, print_json, tree_of

EVERY = 5.0  # [s] between lines of a log


def run(options: argparse.Namespace) -> int:
    from ...report.make import Interrupted, check, check_empty, robot_report

    check(options.states, options.seed, options.digits)
    orders = None if options.orders is None else items("--orders", options.orders)
    formats = None if options.formats is None else items("--formats", options.formats)
    for name in orders or ():
        orderings.get(name)
    for name in formats or ():
        get_format(name)
    if options.armature:
        return _least_armature(options, orders or ["crbm"], formats or ["float32"])
    folder = _named(options.model) if options.output is None else folder_of(options.output)
    check_empty(folder)
    try:
        with shown(options.states) as progress:
            tree = tree_of(options)
            result = robot_report(
                tree, options.model, orders, formats, states=options.states, seed=options.seed,
                digits=options.digits, folder=folder, processes=None, progress=progress,
            )  # fmt: skip
    except (KeyboardInterrupt, Interrupted):
        kept = _remove_if_empty(folder)
        told = f"what was measured is in {folder}" if kept else "nothing was measured"
        print(f"pivotree: interrupted; {told}", file=sys.stderr)
        return INTERRUPTED
    if options.json:
        print_json(result.as_dict())
    else:
        print("\n".join(result.verdict))
        print(f"{folder / 'report.html'}, report.pdf, report.json, states.csv, worst/")
    return 0 if result.states == options.states else INTERRUPTED


def _least_armature(options: argparse.Namespace, orders: list[str], formats: list[str]) -> int:
    from ...report.armature import STATES, least_armature

    if options.output is not None:
        raise PivotreeError("report --armature: writes nothing; leave -o out")
    tree = tree_of(options)
    found = [
        least_armature(
            tree,
            order,
            format,
            digits=options.digits,
            states=min(options.states, STATES),
            seed=options.seed,
        )
        for order in orders
        for format in formats
    ]
    if options.json:
        print_json([one.as_dict() for one in found])
    else:
        print("\n".join(one.text() for one in found))
    return 0


def _named(model: str) -> Path:
    """A folder of the model's name, here."""
    stem = Path(model).stem if model.endswith((".urdf", ".json")) else model
    return Path(f"report-{re.sub(r'[^A-Za-z0-9_.=-]+', '-', stem).strip('-')}")


def _remove_if_empty(folder: Path) -> bool:
    """Remove a folder that holds a head line at most; whether something is kept."""
    if not folder.is_dir():
        return False
    part = folder / "states.csv.part"
    if part.is_file() and len(read_text(part).splitlines()) <= 1:
        part.unlink()
    try:
        folder.rmdir()
    except OSError:  # it holds something
        return True
    return False


@contextmanager
def shown(states: int) -> Iterator[Callable[[str, int | None], None]]:
    """Progress on standard error: a bar with the time left, or lines in a log."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Log(states)
        return
    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("left"), TimeRemainingColumn(), TextColumn("so far"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("the matrix", total=states)

        def update(text: str, done: int | None) -> None:
            bar.update(task, description=text)
            if done is not None:
                bar.update(task, completed=done)

        yield update


class _Log:
    """A line from time to time, none where the work is short."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.first = self.told = 0.0

    def __call__(self, text: str, done: int | None) -> None:
        now = time.monotonic()
        if done is None:
            return
        if done == 1:  # the first state loads compiled code and says nothing of the others
            self.first = self.told = now
        if now - self.told >= EVERY and done < self.states:
            self.told = now
            left = (now - self.first) / max(done - 1, 1) * (self.states - done)
            print(f"pivotree: {done} of {self.states} states, {left:.0f} s left", file=sys.stderr)
