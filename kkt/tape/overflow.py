"""The operation that leaves the range of a fixed-point format, and its exact result."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.fixed import Fixed, OutOfRange
from ..arithmetic.objects import InObjects
from ..matrix.entries import LETTERS, Entries
from ..matrix.system import System
from ..program.owners import run_bodies
from .player import started, watched
from .tape import Tape


def overflow(system: System, tape: Tape, chosen: Fixed, entries: Entries) -> str | None:
    """The first operation whose result is beyond the format's words, in a sentence; or None.

    The tape is read once more, on whole numbers of any length.  ``entries`` are rounded to the
    format already.
    """
    words = Entries(*(_words(chosen, getattr(entries, letter)) for letter in LETTERS))
    v, done = started(tape, words, chosen.word), 0
    try:
        for piece in watched(tape, InObjects(), v, room=1):
            done = piece.at + 1
    except OutOfRange as found:
        beyond = _beyond(chosen, found.exact, abs(found.exact))
        return f"{_where(system, tape, done)}: {found.what} is {beyond}"
    except ArithmeticError:  # a pivot that is zero, which is named as such
        return None
    return None


def _words(chosen: Fixed, values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the format as whole numbers, from whatever type carries them."""
    if values.dtype == object:
        return values
    out = np.empty(values.size, dtype=object)
    out[:] = [chosen.word(value) for value in values.ravel().tolist()]
    return out.reshape(values.shape)


def _where(system: System, tape: Tape, operation: int) -> str:
    instruction = np.searchsorted(tape.first, [operation], side="right") - 1
    step = np.concatenate([chunk.step for chunk in tape.chunks()])[operation : operation + 1]
    body = int(run_bodies(tape.program, system.tree.parent, instruction, step)[0])
    name = f"body {system.tree.names[body]!r}, " if body >= 0 else ""
    return f"{name}step {int(step[0]) + 1}"


def _beyond(chosen: Fixed, exact: Fraction, size: Fraction) -> str:
    whole = math.floor(math.log2(size)) + 2
    mend = f"use at least {whole} bits before the point"
    if whole < chosen.bits:
        mend += f", as in q{whole}.{chosen.bits - whole}"
    return f"{float(exact):.6g}, beyond {chosen.name}, which ends at {chosen.largest:.6g}; {mend}"
