"""The record of an integration: counts, steps and states, one for each start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """One integration; t in s.

    >>> from pivotree.analysis.simulation import Integration, simulate
    >>> (record,) = simulate(pt.chain(2), integration=Integration(seconds=0.1)).records
    >>> record.failed is None and len(record.t) == record.accepted + 1
    True
    """

    evaluations: int  # of the accelerations
    accepted: int  # steps
    rejected: int  # tries
    t: Floats  # (k,) where states are kept
    y: Floats  # (k, states)
    step_t: Floats  # (s,) starts of the accepted steps, where they are kept
    step: Floats  # (s,) their lengths
    failed: str | None = None  # why it ended early
    # (s,) of each accepted step, where the integrator tells them
    tries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def reached(self) -> float:
        """The last time that was reached [s]."""
        return float(self.t[-1])


class Keeper:
    """One start that is under way: its accepted steps, and the states after them.

    >>> from pivotree.analysis.simulation import Keeper
    >>> start = Keeper(np.array([1.0]))
    >>> start.keep(0.0, 0.1, 1, 0.1, np.array([0.9]))
    >>> start.record(evaluations=6, rejected=0).t
    array([0. , 0.1])
    """

    def __init__(self, y: NDArray[Any]) -> None:
        self.states: list[tuple[float, NDArray[Any]]] = [(0.0, y.copy())]
        self.steps: list[tuple[float, float, int]] = []  # start, length, tries
        self.failed: str | None = None

    def keep(self, start: float, h: float, tries: int, t: float, y: NDArray[Any]) -> None:
        """An accepted step of length h, and the state y at its end t."""
        self.steps.append((start, h, tries))
        self.states.append((t, y.copy()))

    def record(self, evaluations: int, rejected: int) -> Record:
        return Record(
            evaluations,
            len(self.steps),
            rejected,
            np.array([t for t, _ in self.states]),
            np.array([y for _, y in self.states], dtype=np.float64),
            np.array([start for start, *_ in self.steps]),
            np.array([h for _, h, _ in self.steps]),
            self.failed,
            np.array([tries for *_, tries in self.steps], dtype=np.int64),
        )
