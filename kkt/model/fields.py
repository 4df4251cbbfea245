"""Checks of the names and numbers that a user gives a body, a loop or a tree."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..base.foreign import unfit

Floats = NDArray[np.float64]
NONE: Mapping[str, str] = MappingProxyType({})  # packages or arguments that nobody has given
_TRUTHS = np.dtype(np.bool_)


def check_names(names: Iterable[Hashable], what: str = "body") -> None:
    """Raise ModelError for a name that no figure, table or file could show as it is."""
    for name in names:
        if why := unfit(name):
            raise ModelError(f"{what} {name!r}", f"field 'name' {why}", "give another name")


def require_name(name: object, what: str = "body") -> None:
    """Raise ModelError for a name that is None or cannot be a key of a mapping."""
    try:
        hash(name)
    except TypeError:
        name = None
    if name is None:
        raise ModelError(what, "None and lists are no names", "give a text")


def checked(
    owner: Any, field: str, value: Any, shape: tuple[int, ...], wanted: str = "", least: float = -np.inf
) -> Floats:
    """One attribute as a float array of the given shape, of ``least``, which is 0, or more.

    Raises ModelError, one sentence, which begins with ``owner``, if there is one, and says what is
    ``wanted``.
    """
    what = f"field {field!r}"
    wanted = wanted or _shape_text(shape) + ", zero or more" * (least == 0.0)
    if value is None:
        raise ModelError(owner, f"{what} is missing", f"give {wanted}")
    if odd := odd_in(value):
        raise ModelError(owner, f"{what} is {value!r}, and {odd} is no number", f"give {wanted}")
    try:
        if np.asarray(value).dtype.kind in "cmMV" or np.ma.is_masked(value):
            raise TypeError  # numpy would convert these to other numbers without a word
        array = np.array(value, dtype=float)
    except OverflowError:
        raise ModelError(owner, f"{what} holds a number beyond 1.8e308", "give finite numbers") from None
    except (TypeError, ValueError):
        raise ModelError(owner, f"{what} is {value!r}", f"give {wanted}") from None
    if array.shape != shape:
        raise ModelError(owner, f"{what} has shape {array.shape}", f"give {wanted}")
    right = np.isfinite(array) if least == -np.inf else np.isfinite(array) & (array >= least)
    if not right.all():
        told = wanted if least == 0.0 else "finite numbers"
        raise ModelError(owner, f"{what} holds {array[~right].flat[0]}", f"give {told}")
    return array


def checked_columns(owner: Any, field: str, value: Any, rows: int, wanted: str = "") -> Floats:
    """One attribute as a matrix (rows, m) of any number of independent columns.  Raises ModelError."""
    shape = shape_of(value)
    found = checked(owner, field, value, (rows, shape[-1] if len(shape) == 2 else 1), wanted)
    rank, count = np.linalg.matrix_rank(found) if found.size else 0, found.shape[1]
    if rank < count:
        what = f"field {field!r} has rank {rank} and {count} columns"
        raise ModelError(owner, what, "give columns that do not depend on each other")
    return found


def odd_in(value: Any) -> str:
    """What a value is or holds that numpy would take for a number: a text, or True, which is 1 there."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(odd_in, value)), "")
    if isinstance(value, bool) or getattr(value, "dtype", None) is _TRUTHS:
        return "a truth value"
    return "a text" if isinstance(value, str) else ""


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array; () for what has none, such as rows of different lengths."""
    try:
        return np.shape(value)
    except ValueError:
        return ()


def _shape_text(shape: tuple[int, ...]) -> str:
    if shape in ((), (1,)):
        return "a list of one number" if shape else "a number"
    return f"{' x '.join(map(str, shape))} numbers"


def stacked(
    names: tuple[Hashable, ...],
    data: list[dict[str, Any]],
    field: str,
    shape: tuple[int, ...],
    default: Floats | None,
) -> Floats:
    """One attribute of every body, as an array (n, *shape).  Raises ModelError as checked does."""
    values = [d.get(field, default) for d in data]
    try:  # one conversion for the whole tree; only a failure looks at bodies one by one
        array = np.array(values, dtype=float)
        whole = array.shape == (len(names), *shape) and bool(np.isfinite(array).all())
        if whole and not any(map(odd_in, values)):
            return array
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array([checked(f"body {n!r}", field, v, shape) for n, v in zip(names, values, strict=True)])
