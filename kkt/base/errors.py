"""What can be wrong with the input, as one sentence each.

Every error that a user can cause derives from :class:`PivotreeError`; its text names the file,
the body or joint, the field, what is wrong and what would be right.  The command line prints
that text and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .text import sentence


class PivotreeError(Exception):
    """Base of all errors that the input causes; its text is one line of bounded length."""

    def __init__(self, text: object = "") -> None:
        super().__init__(sentence(text))


class ModelError(PivotreeError, ValueError):
    """A tree, robot file, model file or state that is not a tree of rigid bodies."""


class OrderError(PivotreeError, ValueError):
    """An order that is unknown, incomplete, or cannot be pivoted on in this structure."""


class LoopError(OrderError):
    """An order, or a reader of programs, that takes trees only met a closed loop or a contact."""


class ArmatureError(OrderError):
    """An order, or a reader, met joints with terms of their own that it does not know."""


class UnreadableError(PivotreeError):
    """A file that cannot be read, or does not hold what it should: the why of a sentence."""


class SingularError(PivotreeError, ArithmeticError):
    """A pivot became zero, indefinite or not a number while eliminating."""


class CertificationError(PivotreeError, ArithmeticError):
    """No ball arithmetic precision within reach certifies the asked digits."""


class FormatError(PivotreeError, ValueError):
    """An unknown number format, or a file format or place that cannot be written."""


class SizeError(PivotreeError, MemoryError):
    """A trace that would not fit in memory."""


def nearest(word: str, names: Iterable[str]) -> str:
    """'did you mean a or b?' where names come near the word, else the list of them all."""
    known = sorted(names)
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.55)
    return f"did you mean {' or '.join(close)}?" if close else f"use one of {', '.join(known)}"
