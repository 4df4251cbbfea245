"""Names of number formats, such as float32, tf32, p11e5:zero, q16.16 and mp:50."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.errors import FormatError, close_names
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
    if "@" in name:
        return _by_body(name)
    if "+" in name:
        return _mixed(name)
    base, _, suffix = name.partition(":")
    if base in ("mp", "ball"):
        return _digits(name, base, suffix)
    if base == "exact" and suffix:
        raise FormatError(f"format {name!r}", "exact fractions are not rounded", "use exact")
    if base in ("float64", "float32") and suffix == "nearest":
        return FIXED[base]
    if base == "float64":
        raise FormatError(
            f"format {name!r}",
            "float64 rounds to nearest only",
            "use at most 25 bits for another mode, such as float32:up",
        )
    from .binary import by_name

    found = by_name(name)
    if found is None:
        raise FormatError(f"format {name!r} is unknown", remedy=_instead(base))
    return found


def _mixed(name: str) -> Format:
    """A base and formats of roles, as in float32+mul=bfloat16+D=float64."""
    base, *overrides = name.split("+")
    if not base:
        raise FormatError(f"format {name!r}", "has no base", "use float32+mul=bfloat16")
    from .mixed import ROLES, Mixed

    told = f"use {base}+mul=bfloat16, with one of the roles {', '.join(ROLES)} each"
    return Mixed(name, read(base), **_parts(name, overrides, ROLES, "role", "", told))


def _by_body(name: str) -> Format:
    """A format and others of bodies, as in float32@torso=float64@hand=p20+add=float32."""
    rest, *others = name.split("@")
    if not rest:
        raise FormatError(f"format {name!r}", "has no format before @", "use float32@torso=float64")
    bodies = tuple(_parts(name, others, None, "body", "@", f"use {rest}@torso=float64, once a body").items())
    from .mixed import Mixed

    default = read(rest)
    if isinstance(default, Mixed):
        return replace(default, name=name, bodies=bodies)
    return Mixed(name, default, bodies=bodies)


def _parts(
    name: str, given: list[str], known: Sequence[str] | None, what: str, sign: str, told: str
) -> dict[str, Any]:
    """Formats by role or by body, as ``given`` has them: mul=bfloat16; ``known`` are all there are."""
    parts: dict[str, Any] = {}
    for each in given:
        key, _, value = each.partition("=")
        if not key or not value or key in parts or (known is not None and key not in known):
            wrong = "is given twice" if key in parts else f"is no {what} and format"
            raise FormatError(f"format {name!r}", f"{sign + each!r} {wrong}", told)
        parts[key] = read(value)
    return parts


def _digits(name: str, kind: str, digits: str) -> Format:
    try:
        asked = int(digits or "50")
    except ValueError:
        asked = 0
    if not 1 <= asked <= MAX_DIGITS:
        raise FormatError(
            f"format {name!r}",
            f"{digits!r} is no number of digits",
            f"use 1 to {MAX_DIGITS}, as in {kind}:50",
        )
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
