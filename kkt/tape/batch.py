"""A tape run on many states at a time, with the results of single runs, bit for bit.

float64, float32, formats of at most 25 bits rounded to nearest, and double-double go through the
operations with a block of states side by side; other formats go state after state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import get_format
from ..arithmetic.binary import Binary
from ..arithmetic.formats import Format, Hardware
from .player import entered, played, signed
from .tape import Tape

LANES, ROOM = 64, 1 << 19  # states of a block, and numbers that it may hold


def answers(
    tape: Tape, chosen: Format, places: NDArray[np.int64], values: NDArray, wanted: NDArray[np.int64]
) -> NDArray:
    """(m, w) values of the signed slots ``wanted`` (w,) after a run on each state.

    ``values`` (m, p) are the entries of (4) in the slots ``places`` (p,), rounded already.
    """
    from ..arithmetic import lanes as many

    m = len(values)
    if m == 1:  # alone is faster without the others' room
        v = played(tape, chosen.runner(tape), entered(tape, chosen, places, values[0]))
        return signed(v, wanted)[None]
    lanes = max(1, min(LANES, ROOM // tape.slots))
    out = np.empty((m, len(wanted)), dtype=chosen.dtype)
    sign, slots = np.sign(wanted)[:, None], np.abs(wanted)
    carrier = get_format("float64") if chosen.kind == "dd" else chosen
    desk = entered(tape, carrier, places, values[:lanes].T)
    low = np.zeros_like(desk) if chosen.kind == "dd" else None
    with np.errstate(all="ignore"):
        for at in range(0, m, lanes):
            block = values[at : at + lanes]
            here, k = slice(at, at + lanes), len(block)
            desk[places, :k] = block.T  # columns beyond the last state repeat earlier ones
            if low is None:
                _run(tape, chosen, desk, k)
                out[here] = (sign * desk[slots, :k]).T
            else:
                low[places] = 0.0
                played(tape, many.Pairs(), (desk, low))
                out.real[here] = (sign * desk[slots, :k]).T
                out.imag[here] = (sign * low[slots, :k]).T
    return out


def _run(tape: Tape, chosen: Format, v: NDArray, states: int) -> None:
    from ..arithmetic import lanes

    if isinstance(chosen, Hardware):
        played(tape, lanes.Native(), v)
    elif isinstance(chosen, Binary) and chosen.rounding == "nearest":
        played(tape, lanes.Nearest(chosen.grid), v)
    else:
        for column in v.T[:states]:
            column[:] = played(tape, chosen.runner(tape), column.copy())
