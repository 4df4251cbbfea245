"""Users' code (orders, kinds of numbers): whatever it raises becomes one sentence.

Arguments of public functions are checked to be of the kinds that their annotations say, and texts
before they serve as names.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from .errors import ModelError, OrderError, PivotreeError

F = TypeVar("F", bound=Callable[..., Any])
LONGEST_NAME = 500  # characters of a name, which stands in labels and tables
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
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
        given = {**dict(zip(signature.parameters, args, strict=False)), **options}
        for name, (types, right, default) in asked.items():  # the first wrong one is reported
            value = given.get(name, default)
            if value is not default and not _is(value, types):
                raise ModelError(function.__name__, f"{name} is {value!r}", f"give {right}")
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


def unfit(name: Hashable) -> str | None:
    """Why a text cannot be a name in every figure, table and file; None for a text that can.

    Control characters end lines and steer terminals; a lone surrogate has no place in UTF-8.  Of a
    tuple its texts are checked.
    """
    text = "".join(_texts(name))
    found = _UNFIT.search(text)
    if found is not None:
        lone = "\ud800" <= found[0] <= "\udfff"
        what = "the lone surrogate" if lone else "the control character"
        return f"holds {what} {found[0]!a}"
    if len(text) > LONGEST_NAME:
        return f"has {len(text):,} characters, more than {LONGEST_NAME}"
    return None


def _texts(name: Any) -> Iterable[str]:
    if isinstance(name, str):
        yield name
    elif isinstance(name, tuple):
        for part in name:
            yield from _texts(part)


_KKT = Path(__file__).parent.parent
_OURS = tuple(f"{folder}{os.sep}" for folder in (_KKT, _KKT.parent / "orderings"))


@contextmanager
def foreign(
    what: str, refusal: type[PivotreeError] = OrderError, through: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Context for a call of a user's code; ``what`` names the code, as in "order 'mine'".

    Anything that the code raises, SystemExit included, becomes a ``refusal``.  KeyboardInterrupt,
    MemoryError, this project's own errors and the exceptions in ``through`` pass unchanged.
    """
    passed: tuple[type[BaseException], ...] = (PivotreeError, KeyboardInterrupt, MemoryError)
    try:
        yield
    except (*passed, *through):
        raise
    except BaseException as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None  # compiled code turns Ctrl-C into another error
        raise refusal(what, f"raises {told(error)}") from error


def told(error: BaseException) -> str:
    """An error's type and text, and the file and line of the user's code that raised it."""
    try:
        says = str(error)
    except BaseException:  # its own __str__ fails
        says = ""
    found = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in found if not frame.filename.startswith(_OURS)]
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{': ' if says else ''}{says}{at}"
