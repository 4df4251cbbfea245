"""No search for garbage while a function makes many objects that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
