"""Many states measured on all cores, kept as they come, and stopped without loss by Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context

from pivotree.kkt.base.processes import deaf, ended
from pivotree.kkt.machine.native import processors

from ..states.measure import Measured, Setup, measure

SHORT = 3.0  # [s] of work that other processes would not finish sooner: they start in about 2 s
SLICE = 0.4  # [s] of work handed to a process at a time
STOPS = (signal.SIGINT, signal.SIGTERM)
STOPPING = b"pivotree: stopping after the states under way; Ctrl-C again stops at once\n"
Keep = Callable[[Measured], None]


def gather(setup: Setup, count: int, keep: Keep, processes: int | None = None) -> bool:
    """Measure states 0 to count - 1, giving each to ``keep``; False where it was stopped.

    ``processes`` None is one for each core that this process may use; the work stays in this
    process where it is short.  SIGINT or SIGTERM ends it after the states under way.
    """
    workers = processors() if processes is None else processes
    numbers = deque(range(count))
    with stop_asked() as stop:
        began = time.perf_counter()
        while numbers and not stop.is_set():
            keep(measure(setup, numbers.popleft()))
            done = count - len(numbers)
            if done == 1:  # it loaded compiled code and says nothing of the others' time
                began = time.perf_counter()
            elif workers > 1 and done == 3:
                each = (time.perf_counter() - began) / 2
                if each * len(numbers) > SHORT:
                    _together(setup, numbers, workers - 1, each, keep, stop)
    return not numbers


@contextmanager
def stop_asked() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or SIGTERM) sets; the second one acts as usual."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in STOPS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def stop(*_: object) -> None:
        asked.set()
        restore()
        with suppress(OSError):  # no print: it may be at work when the signal comes
            os.write(2, STOPPING)

    for number in STOPS:
        signal.signal(number, stop)
    try:
        yield asked
    finally:
        restore()


def _together(
    setup: Setup,
    numbers: deque[int],
    others: int,
    each: float,
    keep: Keep,
    stop: threading.Event,
) -> None:
    """Measure here and in other processes, until ``numbers`` is empty or a stop is asked for."""
    size = max(1, int(SLICE / max(each, 1e-6)))
    pending: dict[Future[list[Measured]], list[int]] = {}
    pool = ProcessPoolExecutor(others, get_context("spawn"), _begin, (setup,))

    def submit() -> None:
        part = [numbers.pop() for _ in range(min(size, len(numbers)))]
        pending[pool.submit(_work, part)] = part

    try:
        with ended():
            with deaf():  # Ctrl-C reaches the whole group; the children leave it to this process
                for _ in range(others):
                    submit()
            while (numbers or pending) and not stop.is_set():
                while numbers and len(pending) < 2 * others:
                    submit()
                if numbers:
                    keep(measure(setup, numbers.popleft()))
                else:
                    wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                _harvest(pending, keep)
            for future in list(pending):  # stopped: what has not begun is left out
                if future.cancel():
                    numbers.extend(pending.pop(future))
            wait(pending)
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


def _begin(setup: Setup) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _setups.append(setup)


def _work(numbers: Sequence[int]) -> list[Measured]:
    return [measure(_setups[0], number) for number in numbers]
