"""Checks of the fields of a loop; each raises ModelError, one sentence, where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError
from .fields import Floats, checked


def checked_rotation(where: str, field: str, value: ArrayLike) -> Floats:
    """A rotation (3, 3).  Raises ModelError."""
    R = checked(where, field, value, (3, 3))
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{where}: field {field!r} is not a rotation; give R with R R^T = 1 and determinant 1"
        )
    return R


def checked_numbers(where: str, field: str, rows: Any, count: int) -> tuple[int, ...]:
    """Numbers of the rows that are kept, all ``count`` of them for None.  Raises ModelError."""
    kept = tuple(range(count)) if rows is None else rows
    whole = isinstance(kept, Sequence) and all(
        isinstance(r, int | np.integer) and 0 <= r < count for r in kept
    )
    if not whole or not kept or len(set(kept)) < len(kept):
        raise ModelError(f"{where}: field {field!r} is {rows!r}; give some of 0 to {count - 1}, each once")
    return tuple(int(r) for r in kept)


def checked_gains(where: str, value: Any) -> tuple[float, float]:
    """Two numbers a and b of zero or more.  Raises ModelError."""
    a, b = checked(where, "baumgarte", value, (2,)).tolist()
    if min(a, b) < 0.0:
        raise ModelError(f"{where}: field 'baumgarte' is {value}; give zero or more")
    return a, b


def checked_damping(where: str, value: Any) -> tuple[float, float]:
    """One number a of zero or more, as gains (a, 0).  Raises ModelError."""
    a = float(checked(where, "damping", value, ()))
    if a < 0.0:
        raise ModelError(f"{where}: field 'damping' is {a:g}; give zero or more")
    return a, 0.0


def checked_compliance(where: str, value: ArrayLike, rows: int) -> NDArray[np.float64]:
    """(rows,) numbers of zero or more, from one for all rows or one a row.  Raises ModelError."""
    c = np.full(rows, value) if isinstance(value, int | float | np.number) else value
    c = checked(where, "compliance", c, (rows,))
    if (c < 0.0).any():
        raise ModelError(f"{where}: field 'compliance' is {c.min()}; give zero or more")
    return c
