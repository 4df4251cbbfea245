"""Where pieces of work are done: in this process, in others of this machine, on a Dask cluster.

Each gives results as they come, in any sequence, and holds few of them at a time.  A worker that
is killed takes nothing with it: its pieces are done again.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from pivotree.kkt import PivotreeError

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T], R]

SHORT = 3.0  # [s] of work that other processes would not finish sooner
DEATHS = 3  # of workers, one after another, without any result between them
AHEAD = 4  # pieces handed to a Dask worker's thread in advance
PATIENCE = 15.0  # [s] until a scheduler answers
WORKERLESS = 120.0  # [s] until a cluster has a worker


def here(work: Work[T, R], tasks: Iterator[T], seconds: float = float("inf")) -> Iterator[R]:
    """In this process, for so long; what is left stays in ``tasks``."""
    began = time.perf_counter()
    for task in tasks:
        yield work(task)
        if time.perf_counter() - began > seconds:
            return


def processes(work: Work[T, R], tasks: Iterator[T], jobs: int) -> Iterator[R]:
    """In ``jobs`` other processes of this machine.  Raises PivotreeError where they keep dying."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    pending: dict[int, T] = {}
    deaths = 0
    for task in tasks:  # no process starts where nothing is left to do
        tasks = chain([task], tasks)
        break
    else:
        return
    while True:
        try:
            for number, result in _together(work, tasks, pending, jobs):
                del pending[number]
                deaths = 0
                yield result
            return
        except TerminatedWorkerError:
            deaths += 1
            if deaths == DEATHS:
                raise PivotreeError(
                    f"worker processes were killed {DEATHS} times before they had a result, "
                    "perhaps for want of memory; give fewer with --jobs and run the same command "
                    "again: what was measured is kept"
                ) from None
            tasks = chain(list(pending.values()), tasks)
            pending.clear()


def _together(
    work: Work[T, R], tasks: Iterator[T], pending: dict[int, T], jobs: int
) -> Iterator[tuple[int, R]]:
    """Results with the numbers of their tasks, which stand in ``pending`` from hand-over on."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.backend.resource_tracker import ensure_running

    from pivotree.analysis.processes import deaf, end_with

    def calls() -> Iterator[Any]:
        for number, task in enumerate(tasks):
            pending[number] = task
            yield delayed(_numbered)(work, number, task)

    parallel = Parallel(
        n_jobs=jobs,
        backend="loky",
        batch_size=1,
        return_as="generator_unordered",
        initializer=end_with,
        initargs=(os.getpid(),),
    )
    ensure_running()  # which would let SIGINT through where it starts itself
    with deaf():  # Ctrl-C reaches the whole group; the children leave it to this process
        results = parallel(calls())
    try:
        for result in results:  # noqa: UP028 -- yield from would close them by itself
            yield result
    finally:
        with warnings.catch_warnings():  # joblib tells of pieces that are given up: as intended
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def _numbered(work: Work[T, R], number: int, task: T) -> tuple[int, R]:
    return number, work(task)


def cluster(work: Work[T, R], tasks: Iterator[T], address: str) -> Iterator[R]:
    """On the Dask cluster of a scheduler.  Raises PivotreeError where it is gone, or never was."""
    try:
        from distributed import CancelledError, Client
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise PivotreeError(
            "option --scheduler: needs dask.distributed; python -m pip install distributed"
        ) from None
    for name in ("distributed", "distributed.client"):  # its errors are told here, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without certificates
        raise PivotreeError(
            f"option --scheduler: no Dask scheduler answers at {address!r} ({error}); give an "
            "address such as tcp://host:8786"
        ) from None
    try:
        with client:  # which may find the scheduler gone as it closes, too
            yield from _from_cluster(client, work, tasks)
    except TimeoutError:
        raise PivotreeError(
            f"scheduler {address}: had no worker for {WORKERLESS:.0f} s; start some, and run the "
            "same command again: what was measured is kept"
        ) from None
    except (KilledWorker, CancelledError, FutureCancelledError, OSError) as error:
        raise PivotreeError(
            f"scheduler {address}: gave the work up, or is gone ({type(error).__name__}); run "
            "the same command again: what was measured is kept"
        ) from None


def _from_cluster(client: Any, work: Work[T, R], tasks: Iterator[T]) -> Iterator[R]:
    """Results as they come, one for each task; some tasks wait at every thread of a worker.

    What a worker that dies or is frozen had is given to others by Dask (``worker-ttl``).
    """
    from distributed import CancelledError, as_completed

    client.wait_for_workers(1, timeout=WORKERLESS)
    waiting = as_completed(with_results=True)
    while True:
        threads = sum(worker["nthreads"] for worker in client.scheduler_info(-1).get("workers", {}).values())
        for task in islice(tasks, max(1, AHEAD * threads - waiting.count())):
            waiting.add(client.submit(work, task, pure=False))
        if waiting.is_empty():
            return
        _, result = next(waiting)
        if isinstance(result, CancelledError):  # handed over as a result where the scheduler is gone
            raise result
        yield result
