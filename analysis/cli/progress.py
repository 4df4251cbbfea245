"""What long work says of itself on standard error: a bar on a terminal, some lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

EVERY = 10.0  # [s] between lines of a log
SIGN = "pivotree: ... "  # how such a line begins

# (text, done=None, total=None): what is being done, and how many of how many parts are done
Progress = Callable[..., None]


@contextmanager
def progress_shown(text: str = "building the matrix", total: int | None = None) -> Iterator[Progress]:
    """A function that is told what is being done, and how many of how many parts are."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        with _compiling(_Log(total)) as log:
            yield log
        return
    from rich import progress as rich

    parts = rich.BarColumn(), rich.MofNCompleteColumn(), rich.TextColumn("left"), rich.TimeRemainingColumn()
    columns = (
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}", markup=False),
        *(() if total is None else (*parts, rich.TextColumn("so far"))),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(text, total=total)

        def told(text: str, done: float | None = None, total: int | None = None) -> None:
            bar.update(task, description=text, completed=done, total=total)

        with _compiling(told) as telling:
            yield telling


@contextmanager
def _compiling(told: Progress) -> Iterator[Progress]:
    """``told``, which also hears when numba compiles: only first runs do, and they take longer."""
    last = ""

    def telling(text: str, done: float | None = None, total: int | None = None) -> None:
        nonlocal last
        if not last and "numba" in sys.modules:  # which no refusal loads
            stack.enter_context(_heard(lambda: told(f"{last} (compiling, once)")))
        last = text
        told(text, done, total)

    with ExitStack() as stack:
        yield telling


def _heard(starts: Callable[[], None]) -> AbstractContextManager[object]:
    from numba.core import event

    calls = {"on_start": lambda *_: starts(), "on_end": lambda *_: None}
    return event.install_listener("numba:compile", type("Heard", (event.Listener,), calls)())


class _Log:
    """A line where ``EVERY`` seconds have gone by since the last: none where the work is short."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.began = self.told = time.monotonic()
        # when the first part was done: it loads compiled code, and says nothing of the others
        self.first: tuple[float, float] | None = None

    def __call__(self, text: str, done: float | None = None, total: int | None = None) -> None:
        now = time.monotonic()
        total = self.total if total is None else total
        if done and self.first is None:
            self.first = now, done
        if now - self.told < EVERY or (done is not None and done == total):
            return
        self.told = now
        told = f"{SIGN}{text}: {int(done)} of {total}" if done and total else f"{SIGN}{text}"
        left = f"{now - self.began:.0f} s so far"
        if done and total and self.first and done > self.first[1]:
            more = (now - self.first[0]) / (done - self.first[1]) * (total - done)
            left = f"{more:.0f} s left" if more < 1e6 else left
        print(f"{told}, {left}", file=sys.stderr, flush=True)
