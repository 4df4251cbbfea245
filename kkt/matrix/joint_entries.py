"""What joints' own terms add to equation (4): the block A on the diagonal of qdd, and efforts.

The block is there only where a joint has an entry in it (:mod:`kkt.model.joints`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..model.spatial import Array
from .state import State


def joint_entries(state: State, cast: Callable[[NDArray], Array]) -> tuple[Array, Array]:
    """The right-hand side (N,) of rows qdd, and A (N,), or (0,) where no joint has an entry."""
    tau, terms = cast(state.tau), state.terms
    if terms is None:
        return tau, np.zeros(0)
    tau = terms.effort(tau, state.qd, state.step, cast)
    return tau, terms.diagonal(state.step, cast) if len(own_entries(state)) else np.zeros(0)


def own_entries(state: State) -> NDArray[np.bool_]:
    """(N,) freedoms whose qdd has an entry of its own on the diagonal; (0,) where none has."""
    found = np.zeros(0, dtype=bool) if state.terms is None else state.terms.own(state.step)
    return found if found.any() else np.zeros(0, dtype=bool)


def step_of(implicit: Any) -> float:
    """The step [s] of an implicit build, 0 where there is none; raises ModelError."""
    if implicit is None:
        return 0.0
    try:
        step = float(implicit)
    except (TypeError, ValueError):
        step = np.nan
    if not (np.isfinite(step) and step > 0.0):
        raise ModelError(f"build: implicit is {implicit!r}; give a step in s, above 0, or None")
    return step
