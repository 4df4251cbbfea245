"""Loops that numba compiles: always, or when they have much to do, and keeps where it can write.

Beside them, no search for garbage while a function makes many objects that all stay.
"""

from __future__ import annotations

import gc
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from .errors import PivotreeWarning

INSTALLED = {"site-packages", "dist-packages"}  # folders that an installer fills and clears
USERS = "UserProvidedCacheLocator,UserWideCacheLocator"  # numba's names: NUMBA_CACHE_DIR, the user's cache
_setting = RLock()  # held while numba's setting is another


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """As numba's; where it finds no folder to keep compiled code in, it compiles in every process.

    What it compiles of an installed file is kept in the user's cache folder, and not beside that file,
    where an installer would leave it behind.
    """
    import numba

    if function is None:
        return lambda function: njit(function, cache=cache, **options)
    options = {"no_cfunc_wrapper": True, **options}
    try:
        with _in_users_cache(function):
            made = numba.njit(cache=cache, **options)(function)
        kept: Any = getattr(made, "_cache", None)
        if hasattr(kept, "_load_overload") and hasattr(kept, "_guard_against_spurious_io_errors"):
            kept.load_overload = partial(_load, kept)
        return made
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _not_kept()
        return numba.njit(**options)(function)


def _load(kept: Any, signature: Any, target: Any) -> Any:
    """As numba's ``load_overload``, without all that it would compile with: a quarter of a second."""
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(target)
    with kept._guard_against_spurious_io_errors():
        return kept._load_overload(signature, target)


@cache
def _not_kept() -> None:  # said once in a process: numba makes Python forget what was said
    warnings.warn(
        "no folder can be written in which numba would keep compiled code, so that every run compiles it "
        "again; set NUMBA_CACHE_DIR to a folder that you may write",
        PivotreeWarning,
        stacklevel=3,
    )


@contextmanager
def _in_users_cache(function: Callable[..., Any]) -> Iterator[None]:
    """A block in which numba keeps an installed file's code in the user's cache folder alone.

    Where the user has set in which folders numba looks, that holds; older numba has no such setting.
    """
    import numba

    config: Any = numba.config
    with _setting:
        before = getattr(config, "CACHE_LOCATOR_CLASSES", USERS)
        if before or INSTALLED.isdisjoint(Path(inspect.getfile(function)).parts):
            yield
            return
        try:
            config.CACHE_LOCATOR_CLASSES = USERS
            yield
        finally:
            config.CACHE_LOCATOR_CLASSES = before


class Leaf:
    """A function that numba compiles when compiled code calls it, and that Python interprets."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func: Callable[..., Any] = function
        self.options: dict[str, Any] = options
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        return njit(cache=True, **self.options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:  # by which compiled code calls this one
        return self.compiled._numba_type_

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


class Loop(Leaf):
    """A leaf that is compiled for Python as well, where a call has much to do.

    That is where its arrays have ``few`` entries in all, since to compile takes a second; and where they
    have a fiftieth of it, and compiled code lies on disk.  The results are the same.
    """

    def __init__(self, function: Callable[..., Any], few: int, options: dict[str, Any]) -> None:
        super().__init__(function, options)
        self.few = few

    @cached_property
    def on_disk(self) -> bool:
        """Whether an earlier process has compiled it."""
        folder = getattr(getattr(self.compiled, "stats", None), "cache_path", None)
        name = f"{self.py_func.__name__}-{self.py_func.__code__.co_firstlineno}"
        return folder is not None and any(Path(folder).glob(f"*.{name}.*.nbi"))

    @property
    def ready(self) -> bool:
        """Whether it runs at once: numba is loaded, and nothing is left to compile."""
        return "numba" in sys.modules and self.on_disk

    def __call__(self, *args: Any) -> Any:
        entries = sum(x.size for x in args if isinstance(x, np.ndarray))
        if entries >= self.few or (entries >= self.few / 50 and self.on_disk):
            return self.compiled(*args)
        with np.errstate(all="ignore"):  # as in compiled code
            return self.py_func(*args)


def loop(few: int, **options: Any) -> Callable[[Callable[..., Any]], Loop]:
    """A decorator like ``njit``, for a loop that is interpreted while it has little to do."""
    return lambda function: Loop(function, few, {"no_cfunc_wrapper": True, **options})


def leaf(**options: Any) -> Callable[[Callable[..., Any]], Leaf]:
    """A decorator like ``njit``, for a function that compiled ones call, and Python interprets.

    Numba then makes no wrappers for Python and C, and the function compiles in less time.
    """
    bare = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return lambda function: Leaf(function, bare | options)


def interpreted(function: Any) -> Any:
    """What numba has compiled, as the Python function that it was; with NUMBA_DISABLE_JIT it still is."""
    return getattr(function, "py_func", function)


@contextmanager
def uncollected() -> Iterator[None]:
    """A block, or as ``@uncollected()`` a function, in which Python does not look for cycles of objects.

    It would look again and again through a program's instructions, none of which is garbage: a
    third of the time of a trace.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
