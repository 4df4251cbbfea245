"""Many states measured on all cores, kept as they come."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from pivotree.kkt.base.processes import deaf, end_with, ended
from pivotree.kkt.machine.native import processors

from ..states.measure import Measured, Setup, measure

SHORT = 3.0  # [s] of work that other processes would not finish sooner: they start in about 2 s
SLICE = 0.4  # [s] of work handed to a process at a time
Keep = Callable[[Measured], None]


def gather(setup: Setup, states: Iterable[int], keep: Keep, processes: int | None = None) -> None:
    """Measure states by their numbers, giving each to ``keep`` when it is done.

    ``processes`` None is one for each core that this process may use; the work stays in this
    process where it is short.  Ctrl-C ends it at once; what was kept is whole.
    """
    workers = processors() if processes is None else processes
    numbers = deque(states)
    began, done = time.perf_counter(), 0
    while numbers:
        keep(measure(setup, numbers.popleft()))
        done += 1
        if done == 1:  # it loaded compiled code and says nothing of the others' time
            began = time.perf_counter()
        elif workers > 1 and done == 3:
            each = (time.perf_counter() - began) / 2
            if each * len(numbers) > SHORT:
                _together(setup, numbers, workers - 1, each, keep)


def _together(setup: Setup, numbers: deque[int], others: int, each: float, keep: Keep) -> None:
    """Measure here and in other processes, until ``numbers`` is empty."""
    size = max(1, int(SLICE / max(each, 1e-6)))
    pending: dict[Future[list[Measured]], list[int]] = {}
    pool = ProcessPoolExecutor(others, get_context("spawn"), _begin, (setup, os.getpid()))

    def submit() -> None:
        part = [numbers.popleft() for _ in range(min(size, len(numbers)))]
        pending[pool.submit(_work, part)] = part

    try:
        with ended():
            with deaf():  # Ctrl-C reaches the whole group; the children leave it to this process
                for _ in range(others):
                    submit()
            while numbers or pending:
                while numbers and len(pending) < 2 * others:
                    submit()
                if numbers:
                    keep(measure(setup, numbers.popleft()))
                else:
                    wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                _harvest(pending, keep)
    except BrokenProcessPool:  # one was killed: what it had is done here
        numbers.extend(number for part in pending.values() for number in part)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _harvest(pending: dict[Future[list[Measured]], list[int]], keep: Keep) -> None:
    for future in [future for future in pending if future.done()]:
        results = future.result()
        del pending[future]
        for measured in results:
            keep(measured)


_setups: list[Setup] = []  # of a worker process: set once, when it starts


def _begin(setup: Setup, parent: int) -> None:
    end_with(parent)
    _setups.append(setup)


def _work(numbers: Sequence[int]) -> list[Measured]:
    return [measure(_setups[0], number) for number in numbers]
