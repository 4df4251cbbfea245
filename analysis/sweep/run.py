"""A sweep from its configuration: what is missing is measured, kept, and put together."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from pivotree.kkt.base.reading import read_text
from pivotree.kkt.base.shown import Tabled

from .. import processes
from .config import Config
from .measure import Row, Task, measure, positions, tasks
from .store import Store

Progress = Callable[[int, int, int], None]  # rows measured now, to be measured, there before
DISPLAYED = 20  # rows of a table that are printed


@dataclass(frozen=True, repr=False)
class Summary(Tabled):
    """What a run of a sweep did; ``to_frame()`` reads the table that it wrote."""

    output: str
    rows: int  # of the sweep
    kept: int  # that were there before
    measured: int  # in this run
    failed: int  # of these, cases without an answer; 0 where no column says so
    marked: int  # of these, answers that should not be relied on; 0 where no column says so
    seconds: float
    shown: ClassVar[tuple[str, ...]] = ("model", "order", "format", "state", "digits", "marked", "failed_at")

    def facts(self) -> dict[str, Any]:
        counts = {"rows": self.rows, "measured now": self.measured, "without an answer": self.failed}
        return {"name": self.output} | counts | {"marked": self.marked}

    def records(self) -> list[dict[str, Any]]:
        """The rows of the table, numbers as numbers and None for what is empty."""
        lines = read_text(self.output).splitlines(keepends=True)
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]

    def _cells(self) -> list[list[str]]:
        return super()._cells()[: DISPLAYED + 1]


def _value(text: str) -> int | float | str | None:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text or None


def sweep(
    config: Config, jobs: int | None = None, progress: Progress = lambda done, missing, kept: None
) -> Summary:
    """Measure the cases that the output does not hold yet, and write the table.

    ``jobs`` processes work, one for each core where it is None (and this one alone where the work
    is short).  A run that is killed is taken up by the next one.  Time grows with the rows, and with
    the operations of each order, which is traced once for a model.  Raises PivotreeError, one
    sentence, for a file that cannot be written.

    >>> from pathlib import Path
    >>> from pivotree.analysis.sweep import read_config, sweep
    >>> lines = ['output = "s.csv"', 'models = ["chain:3"]', 'orders = ["crbm", "abm"]', "[states]"]
    >>> _ = Path("sweep.toml").write_text("\\n".join([*lines, "number = 5"]))
    >>> summary = sweep(read_config(Path("sweep.toml")), jobs=1)
    >>> summary.measured, summary.failed
    (20, 0)
    >>> print(sweep(read_config(Path("sweep.toml")), jobs=1))  # a second run finds them done
    <Summary s.csv: 20 rows, 0 measured now, 0 without an answer, 0 marked>
    model    order  format   state  digits
    chain:3  crbm   float32  0      5.9
    ...
    """
    began = time.perf_counter()
    told = dict.fromkeys(("failed_at", "marked"), 0)
    places = {name: i for i, name in enumerate(config.settings.columns) if name in told}
    measured = 0
    with Store(config.output, config.settings.columns) as store:
        at = positions(config)
        missing = sum(key not in store.done for key in at)
        kept = len(at) - missing
        del at  # a large sweep does not need it while it runs
        progress(0, missing, kept)
        for rows in results(tasks(config, store.done), jobs):
            store.add(rows)
            measured += len(rows)
            for name, i in places.items():
                told[name] += sum(row[i] is not None for row in rows)
            progress(measured, missing, kept)
        store.finish(positions(config))
    seconds = time.perf_counter() - began
    return Summary(
        str(config.output), missing + kept, kept, measured, told["failed_at"], told["marked"], seconds
    )


def results(work: Iterator[Task], jobs: int | None) -> Iterator[list[Row]]:
    """The rows of each piece of work, as they come."""
    if jobs is not None:
        return processes.here(measure, work) if jobs == 1 else processes.elsewhere(measure, work, jobs)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if processors == 1:
        return processes.here(measure, work)
    return chain(
        processes.here(measure, work, processes.SHORT), processes.elsewhere(measure, work, processors)
    )
