"""What an integration leaves behind: counts, steps and states, one for each start."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """One integration; t in s."""

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
