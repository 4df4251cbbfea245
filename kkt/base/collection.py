"""No search for garbage while a function makes many objects that all stay."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uncollected(function: Callable[P, R]) -> Callable[P, R]:
    """A function during which Python does not look for cycles of objects.

    It would look again and again through a program's instructions, none of which is garbage: a
    third of the time of a trace.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        looked = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if looked:
                gc.enable()

    return run
