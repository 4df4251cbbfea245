"""Tables of numbers as a page carries them: every double to its last bit, in fewer letters.

What repeats in every row, up to its sign, is left out, such as half of a symmetric inertia.  The
eight bytes of a double stand apart, since signs and exponents resemble each other from number to
number and a file's compression finds that.  ``packed.mjs`` reads it.
"""

from __future__ import annotations

from base64 import b64encode
from json import dumps
from typing import Any
from zlib import compress

import numpy as np
from numpy.typing import NDArray


def packed(value: Any) -> Any:
    """The same document, lists of floats and lists of such lists packed where that is shorter."""
    if isinstance(value, dict):
        return {key: packed(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    if _floats(value):
        return _shorter(value, {"doubles": _text(np.array(value))})
    if value and all(row == [] or _floats(row) for row in value):
        return _shorter(value, _table(value))
    return [packed(inner) for inner in value]


def _shorter(*forms: Any) -> Any:
    """The form that compresses best: decimals that repeat are short as they are."""
    return min(forms, key=lambda form: len(compress(dumps(form, separators=(",", ":")).encode())))


def _floats(row: Any) -> bool:
    return isinstance(row, list) and bool(row) and all(type(x) is float for x in row)


def _table(rows: list[list[float]]) -> dict[str, Any]:
    lengths = [len(row) for row in rows]
    if len(set(lengths)) > 1:
        return {"doubles": _text(np.concatenate(rows)), "lengths": lengths}
    kept, sources = _folded(np.array(rows))
    return {"doubles": _text(kept.T), "lengths": len(rows), "from": sources}


def _folded(x: NDArray[Any]) -> tuple[NDArray[Any], list[int]]:
    """Columns that are not 0 or, up to a sign, another one; where each comes from, 1-based."""
    kept: list[int] = []
    sources = []
    for j, column in enumerate(x.T):
        alike = (
            sign * at
            for at, other in enumerate(kept, start=1)
            for sign in (1, -1)
            if np.array_equal(column, sign * x[:, other])
        )
        found = 0 if not column.any() else next(alike, None)
        if found is None:
            kept.append(j)
            found = len(kept)
        sources.append(found)
    return x[:, kept], sources


def _text(x: NDArray[Any]) -> str:
    """Doubles, little end first: the last byte of all of them, then the one before, and so on."""
    planes = np.ascontiguousarray(x, "<f8").reshape(-1, 1).view(np.uint8)
    return b64encode(planes.T[::-1].tobytes()).decode()
