"""A numba decorator for functions that only other compiled functions call."""

from __future__ import annotations

from typing import Any

from numba import njit


def leaf(**options: Any) -> Any:
    """A decorator like ``njit``, for a function that Python itself never calls.

    Numba then makes no wrappers for Python and C, and the function compiles in less time. Numba
    takes these options, but its type stubs do not name them.
    """
    return njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)  # type: ignore[call-overload]


def interpreted(function: Any) -> Any:
    """What numba has compiled, as the Python function that it was; with NUMBA_DISABLE_JIT it still is."""
    return getattr(function, "py_func", function)
