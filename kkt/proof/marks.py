"""What is said of many answers at a time, by the rule of :mod:`..tape.trust`.

Answers whose error against a reference and whose backward error are within half of their format's
digits are not looked at again.  Of the others the pivots run once more, in twice the digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format
from ..tape.tape import Tape
from ..tape.trust import bound, mark
from .longer import Longer
from .soundness import named

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Said(NamedTuple):
    """Of one answer."""

    failed_at: str | None = None  # why there is none: a pivot is zero for the format
    marked: str | None = None  # why it should not be relied on


def said(
    tape: Tape,
    chosen: Format,
    errors: Floats,
    left: Floats,
    pivots: NDArray,
    longer: Callable[[Rows], NDArray],
) -> list[Said]:
    """Of each of m answers of a tape in a format of floats.

    ``errors`` (m,) are those of qdd, ``left`` (m,) normwise backward errors in (4), ``pivots``
    (m, P) those of ``tape.pivot_places``; ``longer`` gives them in twice the digits for the answers
    that are named to it, pairs high + low i of double-double among them.
    """
    most = bound(chosen.unit)
    found = [Said()] * len(errors)
    doubtful = np.flatnonzero(~((errors <= most) & (left <= most)))
    if not len(doubtful):
        return found
    for i, exact in zip(doubtful.tolist(), longer(doubtful), strict=True):
        pairs = np.asarray(exact.real, dtype=float), np.asarray(exact.imag, dtype=float)
        lost = Longer(pairs, None).against(tape, blocks_of(tape, pivots[i]), chosen)
        if lost is not None and lost.zero and (lost.nothing or not errors[i] <= most):
            why = f"{named(tape, chosen, lost)}; use another order or a longer format"
            found[i] = Said(failed_at=why)
        else:
            found[i] = Said(marked=mark(errors[i], left[i], chosen.name, chosen.unit))
    return found


def blocks_of(tape: Tape, pivots: NDArray) -> dict[int, NDArray]:
    """Pivots (P,) of ``tape.pivot_places`` by their records."""
    ends = np.cumsum([tape.pivots[i].size for i in tape.pivot_places[0]])
    return dict(zip(tape.pivot_places[0], np.split(pivots, ends[:-1]), strict=False))
