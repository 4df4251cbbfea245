"""Names of number formats, such as float32, tf32, p11e5:zero, q16.16 and mp:50."""

from __future__ import annotations

import numpy as np

from ..base.errors import FormatError, close_names
from ..base.reading import read_number
from .formats import Digits, DoubleDouble, Format, Hardware

MAX_DIGITS = 100_000
FIXED: dict[str, Format] = {
    "float64": Hardware("float64", np.float64),
    "float32": Hardware("float32", np.float32),
    "dd": DoubleDouble(),
    **{name: Digits(name, "exact") for name in ("exact", "sympy")},
}


def get_format(name: str | Format) -> Format:
    """The format of a name (docs/formats.md lists them); a format is returned as it is.

    Raises FormatError for an unknown name.

    >>> from pivotree.kkt.arithmetic import get_format
    >>> get_format("float16").unit == 2.0**-11, get_format("mp:50").kind
    (True, 'mp')
    """
    return name if isinstance(name, Format) else read(str(name))


def read(name: str) -> Format:
    """The format of a name; raises FormatError, which says what would be right, for other text."""
    if name in FIXED:
        return FIXED[name]
    if "@" in name or "+" in name:
        from .own import by_body, by_role

        return by_body(name, read) if "@" in name else by_role(name, read)
    base, _, suffix = name.partition(":")
    if base in ("mp", "ball"):
        return _digits(name, base, suffix)
    if base == "exact" and suffix:
        raise FormatError(f"format {name!r}", "exact fractions are not rounded", "use exact")
    if base in ("float64", "float32") and suffix == "nearest":
        return FIXED[base]
    if base == "float64":
        what = "float64 rounds to nearest only"
        raise FormatError(f"format {name!r}", what, "use at most 25 bits for another, such as float32:up")
    from .binary import by_name

    found = by_name(name)
    if found is None:
        raise FormatError(f"format {name!r}", "is unknown", _instead(base))
    return found


def _digits(name: str, kind: str, digits: str) -> Format:
    try:
        asked = read_number(digits or "50", int)
    except ValueError:
        asked = 0
    if not 1 <= asked <= MAX_DIGITS:
        what = f"{digits!r} is no number of digits"
        raise FormatError(f"format {name!r}", what, f"use 1 to {MAX_DIGITS}, as in {kind}:50")
    return Digits(f"{kind}:{asked}", kind, asked)


def _instead(base: str) -> str:
    """What to use instead: the nearest names, and a list of all."""
    from .binary import NAMED

    near = close_names(base.lower(), [*FIXED, *NAMED, "mp", "ball"], 2, 0.6)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"{hint}use float64, float32, {', '.join(NAMED)}, pBITS, pBITSeEXPONENT, qINT.FRACTION (fixed "
        "point, as q16.16), dd, exact, sympy, mp:DIGITS or ball:DIGITS; up to 25 bits also with :zero, :up, "
        ":down or :stochastic:SEED, and mixed as in float32+mul=bfloat16 or, by body, float32@torso=float64"
    )
