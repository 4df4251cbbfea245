"""Where pieces of work are done: in this process, or in others of this machine; and how these end.

Each way gives results as they come, in any sequence, and holds few of them at a time.  A worker that
is killed takes nothing with it: its pieces are done again.  Ctrl-C reaches the parent of workers
alone, and they end when it or its work ends.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, wait
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from pivotree.kkt import PivotreeError

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T], R]

SHORT = 3.0  # [s] of work that other processes would not finish sooner
DEATHS = 3  # of workers, one after another, without any result between them
TAKEN = 1.0  # [s] within which a pool takes up what it is handed
ALONE = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
WATCH = 0.5  # [s] between checks that the parent lives


def here(work: Work[T, R], tasks: Iterator[T], seconds: float = float("inf")) -> Iterator[R]:
    """In this process, for so long; what is left stays in ``tasks``."""
    began = time.perf_counter()
    for task in tasks:
        yield work(task)
        if time.perf_counter() - began > seconds:
            return


def elsewhere(work: Work[T, R], tasks: Iterator[T], jobs: int) -> Iterator[R]:
    """In ``jobs`` other processes of this machine.  Raises PivotreeError where they keep dying."""
    from joblib.externals.loky.backend.resource_tracker import ensure_running
    from joblib.externals.loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError

    deaths, pending = 0, dict[Any, T]()
    while (task := next(tasks, None)) is not None:  # no process starts where nothing is left to do
        tasks = chain([task], tasks)
        ensure_running()  # which would let SIGINT through where it starts itself
        executor = ProcessPoolExecutor(jobs, initializer=end_with, initargs=(os.getpid(),), env=ALONE)
        try:
            for result in _gathered(executor, work, tasks, 2 * jobs, pending):
                deaths = 0
                yield result
        except TerminatedWorkerError:
            deaths += 1
            if deaths == DEATHS:
                raise PivotreeError(
                    "workers",
                    f"processes were killed {DEATHS} times before a result, perhaps for want of memory",
                    "run the same command again, a sweep with fewer --jobs: what it measured is kept",
                ) from None
            tasks = chain(list(pending.values()), tasks)
            pending.clear()
        finally:
            _taken_up(pending)
            executor.shutdown(kill_workers=True)


def _taken_up(pending: dict[Any, T]) -> None:
    """Waits until the pool has taken up all pieces: its thread fails on one that a shutdown takes away."""
    end = time.monotonic() + TAKEN
    for future in filter(None, pending):
        while not (future.running() or future.done()) and time.monotonic() < end:
            time.sleep(0.001)


def _gathered(
    pool: Executor, work: Work[T, R], tasks: Iterator[T], ahead: int, pending: dict[Any, T]
) -> Iterator[R]:
    """Results as they come; tasks without one stand in ``pending``, so many at a time."""
    while True:
        with deaf():  # Ctrl-C reaches the whole group; the children leave it to this process
            for task in islice(tasks, max(0, ahead - len(pending))):
                pending[None] = task  # until it is handed over
                future = pool.submit(work, task)
                pending[future] = pending.pop(None)
        if not pending:
            return
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            result = future.result()
            del pending[future]
            yield result


def end_with(parent: int) -> None:
    """Let this process end soon after its parent, however the parent ends.

    A worker of a pool would otherwise wait for its parent.  It calls this function when it starts,
    and from then on leaves Ctrl-C to its parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked process has its parent's handler

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that start in the block never see SIGINT; this process sees it after the block.

    The signal is held back and not ignored, since an ignored signal is lost.  Windows cannot hold
    it back, so that it is ignored there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hold = getattr(signal, "pthread_sigmask", None)
    if hold is None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        return
    resource_tracker.ensure_running()  # started inside the block, it would let SIGINT through
    mask = hold(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        hold(signal.SIG_SETMASK, mask)
