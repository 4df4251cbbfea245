"""Compiled functions that only compiled functions call."""

from __future__ import annotations

from typing import Any

from numba import njit


def leaf(**options: Any) -> Any:
    """A decorator as ``njit``, for a function that Python itself never calls.

    Without the two wrappers, one for Python and one for C, it compiles in less time. Numba takes
    these options, but its type stubs do not name them.
    """
    return njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)  # type: ignore[call-overload]
