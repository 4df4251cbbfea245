"""Names of number formats, such as float32, tf32, p11e5:zero, q16.16 and mp:50."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.errors import FormatError, close_names
from .binary import MODES, Binary, Fixed
from .formats import Digits, DoubleDouble, Format, Hardware

MAX_DIGITS = 100_000
EXPONENT_BITS = (2, 10)

BINARY = {
    f.name: f
    for f in (
        Binary("float16", 11, -14, 15),
        Binary("bfloat16", 8, -126, 127),
        Binary("tf32", 11, -126, 127),
        # 8-bit formats of the Open Compute Project (2023): e4m3 has no infinities, but more range
        Binary("e4m3", 4, -6, 8, infinite=False, largest=448.0),
        Binary("e5m2", 3, -14, 15),
    )
}
FIXED: dict[str, Format] = {
    "float64": Hardware("float64", np.float64),
    "float32": Hardware("float32", np.float32),
    "dd": DoubleDouble(),
    **{name: Digits(name, "exact") for name in ("exact", "sympy")},
    **BINARY,
}
ALL = (
    f"float64, float32, {', '.join(BINARY)}, pBITS, pBITSeEXPONENT, qINT.FRACTION (fixed point, "
    "as q16.16), dd, exact, sympy, mp:DIGITS or ball:DIGITS; up to 25 bits also with :zero, :up, :down or "
    ":stochastic:SEED, and mixed as in float32+mul=bfloat16 or, by body, float32@torso=float64"
)


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
    point = re.fullmatch(r"q(\d{1,9})\.(\d{1,9})", name)
    if point is not None:
        return Fixed(name, int(point[1]), int(point[2]))
    base, _, suffix = name.partition(":")
    if base in ("mp", "ball"):
        return _digits(name, base, suffix)
    if base == "exact" and suffix:
        raise FormatError(f"format {name!r}: exact fractions are not rounded; use exact")
    found = BINARY.get(base) or _bits(name, base)
    if base == "float32":
        found = Binary("float32", 24)
    if base == "float64" and suffix and suffix != "nearest":
        raise FormatError(
            f"format {name!r}: float64 rounds to nearest only; use at most 25 bits for another "
            "mode, such as float32:up"
        )
    if base == "float64":
        return FIXED[base]
    if found is None:
        raise FormatError(f"format {name!r} is unknown; {_instead(base)}")
    return _in_mode(name, found, suffix) if ":" in name else found


def _mixed(name: str) -> Format:
    """A base and formats of roles, as in float32+mul=bfloat16+D=float64."""
    base, *overrides = name.split("+")
    if not base:
        raise FormatError(f"format {name!r}: has no base; use float32+mul=bfloat16")
    from .mixed import ROLES, Mixed

    told = f"use {base}+mul=bfloat16, with one of the roles {', '.join(ROLES)} each"
    return Mixed(name, read(base), **_parts(name, overrides, ROLES, "role", "", told))


def _by_body(name: str) -> Format:
    """A format and others of bodies, as in float32@torso=float64@hand=p20+add=float32."""
    rest, *others = name.split("@")
    if not rest:
        raise FormatError(f"format {name!r}: has no format before @; use float32@torso=float64")
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
            raise FormatError(f"format {name!r}: {sign + each!r} {wrong}; {told}")
        parts[key] = read(value)
    return parts


def _digits(name: str, kind: str, digits: str) -> Format:
    try:
        asked = int(digits or "50")
    except ValueError:
        asked = 0
    if not 1 <= asked <= MAX_DIGITS:
        raise FormatError(
            f"format {name!r}: {digits!r} is no number of digits; use 1 to {MAX_DIGITS}, as in {kind}:50"
        )
    return Digits(f"{kind}:{asked}", kind, asked)


def _bits(name: str, base: str) -> Binary | None:
    """pBITS or pBITSeEXPONENT: an IEEE 754 format by its bits of significand and exponent."""
    match = re.fullmatch(r"p(\d{1,9})(?:e(\d{1,9}))?", base)
    if match is None:
        return None
    exponent = int(match[2] or 8)
    least, most = EXPONENT_BITS
    if not least <= exponent <= most:
        raise FormatError(f"format {name!r}: {exponent} exponent bits; use {least} to {most}, as in p11e5")
    emax = (1 << (exponent - 1)) - 1
    return Binary(base, int(match[1]), 1 - emax, emax)


def _in_mode(name: str, format: Binary, suffix: str) -> Format:
    mode, _, seed = suffix.partition(":")
    if mode == "nearest" and not seed:
        return FIXED.get(format.name, format)
    if mode not in MODES or (seed and (mode != "stochastic" or not re.fullmatch(r"\d{1,18}", seed))):
        raise FormatError(
            f"format {name!r}: {suffix!r} is no rounding mode; use {format.name}:zero, :up, :down, "
            ":stochastic or :stochastic:SEED with a whole number"
        )
    return replace(format, name=name, rounding=mode, seed=int(seed or 0))


def _instead(base: str) -> str:
    """What to use instead: the nearest names, and a list of all."""
    near = close_names(base.lower(), [*FIXED, "mp", "ball"], 2, 0.6)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{hint}use {ALL}"
