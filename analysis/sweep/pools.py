"""Where pieces of work are done: in this process, in others of this machine, on a Dask cluster.

Each gives results as they come, in any sequence, and holds few of them at a time.  A worker that
is killed takes nothing with it: its pieces are done again.
"""

from __future__ import annotations

import logging
import math
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

from pivotree.kkt import PivotreeError

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T], R]

SHORT = 3.0  # [s] of work that other processes would not finish sooner
DEATHS = 3  # of workers, one after another, without any result between them
AHEAD = 4  # pieces handed to a Dask worker's thread in advance
PATIENCE = 15.0  # [s] until a scheduler answers
ASK = 1.0  # [s] between questions which workers there are
SILENT = 30.0  # [s] after which a worker that is not heard of is frozen, or cut off
WORKERLESS = 120.0  # [s] that a cluster may have no worker


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

    from pivotree.kkt.base.processes import deaf, end_with

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
    with client:
        try:
            yield from _from_cluster(client, work, tasks)
        except (KilledWorker, CancelledError, FutureCancelledError, TimeoutError, OSError) as error:
            raise PivotreeError(
                f"scheduler {address}: gave the work up, or is gone ({type(error).__name__}); run "
                "the same command again: what was measured is kept"
            ) from None


def _from_cluster(client: Any, work: Work[T, R], tasks: Iterator[T]) -> Iterator[R]:
    """Results as they come, one for each task.  Raises TimeoutError where the scheduler is silent.

    What a worker has that is no longer heard of is done by others; where it awakes after all, what
    it then has is nobody's.
    """
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    running: dict[Any, T] = {}
    lost: list[T] = []
    workers = _Workers(client)
    seen = time.monotonic()  # when there was a worker

    def hand_over(count: int, among: list[str] | None = None) -> None:
        for _ in range(count):
            task = lost.pop() if lost else next(tasks, None)
            if task is None:
                return
            only = {"workers": among, "allow_other_workers": True} if among else {}
            future = client.submit(work, task, pure=False, **only)
            running[future] = task
            future.add_done_callback(done.put)

    hand_over(AHEAD)
    while running or lost:
        with suppress(queue.Empty):  # long work, or nobody there
            future = done.get(timeout=PATIENCE)
            if future in running:  # else another has its task
                task = running.pop(future)
                try:
                    result = future.result(PATIENCE)
                except TimeoutError:  # its worker is frozen, or the scheduler silent
                    lost.append(task)
                else:
                    yield result
        threads, silent = workers.heard()
        now = time.monotonic()
        seen = now if threads else seen
        if now - seen > WORKERLESS:
            raise PivotreeError(
                f"the Dask cluster had no worker for {WORKERLESS:.0f} s; start some, and run the "
                "same command again: what was measured is kept"
            )
        if silent and threads:
            held = client.sync(client.scheduler.processing, workers=silent, callback_timeout=PATIENCE)
            held = {key for keys in held.values() for key in keys}
            theirs = [future for future in running if future.key in held]
            lost += [running.pop(future) for future in theirs]
            client.cancel(theirs)
        room = AHEAD * sum(threads.values()) - len(running)
        hand_over(max(0 if running else 1, room), [*threads] if silent and threads else None)


class _Workers:
    """Those of a cluster, and which of them the scheduler hears."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.last: dict[str, tuple[float, float]] = {}  # by the scheduler's clock, and by this one
        self.told: set[str] = set()
        self.asked = -math.inf
        self.answer: tuple[dict[str, int], list[str]] = {}, []

    def heard(self) -> tuple[dict[str, int], list[str]]:
        """Threads of the workers that are heard, by address; and the others, told once each."""
        if time.monotonic() - self.asked > ASK:
            self.answer, self.asked = self._asked(), time.monotonic()
        return self.answer

    def _asked(self) -> tuple[dict[str, int], list[str]]:
        there = self.client.sync(self.client.scheduler.identity, callback_timeout=PATIENCE)
        there, now = there["workers"], time.monotonic()
        for address, worker in there.items():
            if self.last.get(address, (None,))[0] != worker["last_seen"]:
                self.last[address] = worker["last_seen"], now
        silent = [address for address in there if now - self.last[address][1] > SILENT]
        for address in set(silent) - self.told:
            warnings.warn(
                f"worker {address} of the Dask cluster has not been heard of for {SILENT:.0f} s "
                "(frozen, or cut off): what it had is given to others, where there are any",
                stacklevel=2,
            )
        self.told |= set(silent)
        return {x: worker["nthreads"] for x, worker in there.items() if x not in silent}, silent
