"""The certified answers that number formats are held against, and the digits that are left."""

from __future__ import annotations

import math

from pivotree.kkt import Certified, System, certify
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.tape.tape import Tape

REFERENCE_DIGITS = 30  # proved digits of the answer that float32 and float64 are held against


def reference(system: System, format: Format, tape: Tape | None = None) -> Certified:
    """The certified answer for the data as a format sees them."""
    if not format.from_model:
        digits = max(REFERENCE_DIGITS, int(full_digits(format)) + 10)
        return certify(system, digits, rounded_to=format, tape=tape)
    return certify(system, max(format.digits, REFERENCE_DIGITS) + 10, tape=tape)


def full_digits(format: Format) -> float:
    """Decimal digits of an answer without error: -log10 of the unit roundoff, or those asked."""
    if format.from_model:
        return float(format.digits or REFERENCE_DIGITS)
    return round(-math.log10(format.unit), 2)


def digits_of(error: float | None, format: Format) -> float | None:
    """Decimal digits that an error leaves; an error of 0 keeps all of the format's."""
    if error is None:
        return None
    most = full_digits(format)
    if error == 0.0:
        return most
    kept = max(0.0, round(-math.log10(error), 2))
    return min(kept, most)
