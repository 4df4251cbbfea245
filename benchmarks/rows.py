"""One line of the table: a piece of work, ours and a peer's, and how times are taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 2e-3  # [s] of one measurement: shorter calls are repeated
Task = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """What was done, by whom, in what time, how accurately."""

    work: str
    ours: float | None = None  # [s], or what ``unit`` says
    error: float | None = None
    peer: str = ""
    theirs: float | None = None
    their_error: float | None = None
    ratio: float | None = None  # median over rounds of ours / theirs
    spread: tuple[float, float] | None = None  # quartiles of the ratio, or of ours without a peer
    target: float | None = None  # most that the ratio may be; without a peer, that ours may be
    about: tuple[float, float] | None = None  # value and tolerance, where neither is a bound
    unit: str = "s"
    note: str = ""  # what the peer's call includes, or why there is none
    worst: tuple[float, float] | None = None  # largest errors over states; ``error`` is a median

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none, or nothing was measured."""
        found = self.ours if self.ratio is None else self.ratio
        if found is None or (self.peer and self.ratio is None and self.about is None):
            return None
        if self.about is not None:
            return abs(found - self.about[0]) <= self.about[1]
        return None if self.target is None else found <= self.target


@dataclass(frozen=True)
class Peer:
    """A task that ours is compared with."""

    task: Task | None  # None: not there, and ``note`` says why
    error: float | None = None
    target: float | None = None
    note: str = ""


def in_turn(
    tasks: Mapping[str, Task], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, NDArray[np.float64]]:
    """(rounds,) seconds of one call of each task, all of them in turn after a warm-up.

    The clock is processor time of all threads of the process.
    """
    counts = {}
    for name, task in tasks.items():
        for _ in range(2):
            start = clock()
            task()
            took = max(clock() - start, 1e-7)
            if took > 50 * LEAST:  # warm enough
                break
        counts[name] = math.ceil(LEAST / took)
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            start = clock()
            for _ in range(counts[name]):
                task()
            times[name].append((clock() - start) / counts[name])
    return {name: np.array(t) for name, t in times.items()}


def compared(
    work: str,
    ours: Task,
    peers: Mapping[str, Peer],
    rounds: int,
    *,
    error: float | None = None,
    clock: Callable[[], float] = time.process_time,
) -> list[Row]:
    """A row for each peer, all of them and ours timed in turn."""
    tasks = {"": ours} | {name: peer.task for name, peer in peers.items() if peer.task}
    times = in_turn(tasks, rounds, clock)
    own = float(np.median(times[""]))
    rows = []
    for name, peer in peers.items():
        if name not in times:
            rows.append(Row(work, own, error, name, target=peer.target, note=peer.note))
            continue
        low, middle, high = quartiles(times[""] / times[name])
        rows.append(
            Row(
                work,
                own,
                error,
                name,
                float(np.median(times[name])),
                peer.error,
                middle,
                (low, high),
                peer.target,
                note=peer.note,
            )
        )
    return rows or [alone(work, times[""], error=error)]


def alone(
    work: str,
    values: Any,
    *,
    target: float | None = None,
    error: float | None = None,
    about: tuple[float, float] | None = None,
    unit: str = "s",
    note: str = "",
) -> Row:
    """A row without a peer, from one number or several."""
    low, middle, high = quartiles(values)
    spread = (low, high) if np.size(values) > 1 else None
    return Row(work, middle, error, target=target, spread=spread, about=about, unit=unit, note=note)


def quartiles(values: Any) -> list[float]:
    return np.quantile(np.ravel(values), [0.25, 0.5, 0.75]).tolist()
