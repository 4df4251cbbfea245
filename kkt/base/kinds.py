"""A check that arguments of public functions are of the kinds that their annotations say."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar

from .errors import ModelError

F = TypeVar("F", bound=Callable[..., Any])
_PATH = ((str, os.PathLike), "a path, as text")
_KINDS: dict[str, tuple[Any, str]] = {  # by annotation, as text
    "int": (Integral, "a whole number"),
    "float": (Real, "a finite number"),
    "str": (str, "a text"),
    "str | os.PathLike[str]": _PATH,
    "str | Path": _PATH,
}


def of_kind(function: F) -> F:
    """A decorator that checks arguments which are annotated as a number, a text or a path.

    The ModelError for a wrong one names the function and the argument.  The function itself checks
    arguments with other annotations, and whether a number is in its range.
    """
    signature = inspect.signature(function)
    asked = {
        name: (*_KINDS[kind], parameter.default)
        for name, parameter in signature.parameters.items()
        if (kind := str(parameter.annotation).removesuffix(" | None")) in _KINDS
    }

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        try:
            given = signature.bind(*args, **options).arguments
        except TypeError:  # a wrong set of arguments: Python's own words name the function
            return function(*args, **options)
        for name, (types, right, default) in asked.items():  # the first wrong one is reported
            value = given.get(name, default)
            if value is not default and not _is(value, types):
                raise ModelError(f"{function.__name__}: {name} is {value!r}; give {right}")
        return function(*args, **options)

    return checked  # type: ignore[return-value]


def is_number(value: object) -> bool:
    """Whether a value is a finite real number that float64 holds, and neither True nor False."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: object, least: float, most: float = math.inf) -> bool:
    """Whether a value is an int from ``least`` to ``most``, and neither True nor False."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is(value: Any, types: Any) -> bool:
    if getattr(value, "ndim", None) == 0:  # a number in an array without axes
        value = value.item()
    if types is Real:
        return is_number(value)
    return isinstance(value, types) and not isinstance(value, bool)
