"""Ctrl-C that is heard, wherever it comes: callbacks of compiled code lose what it raises."""

from __future__ import annotations

import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN = 0.05  # [s] after which a Ctrl-C that was lost is raised again


class CtrlC:
    """Whether Ctrl-C was pressed while a command ran, and was lost once or more."""

    def __init__(self) -> None:
        self.pressed = False
        self._timers: list[threading.Timer] = []
        self._usual = sys.unraisablehook

    def unraisable(self, what: Any) -> None:
        """Python's hook for what cannot be raised, as in a callback that LLVM calls by ctypes."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            self.pressed = True
            timer = threading.Timer(AGAIN, interrupt_main)
            self._timers.append(timer)
            timer.start()
        elif not self.pressed:  # later, objects that were built by half say what they lack
            self._usual(what)

    def behind(self, error: BaseException | None) -> bool:
        """Whether an error comes of Ctrl-C: what compiles or imports makes others of it."""
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__cause__ or error.__context__
        self.pressed = self.pressed or error is not None
        return self.pressed

    def forget(self) -> None:
        for timer in self._timers:
            timer.cancel()


@contextmanager
def listening() -> Iterator[CtrlC]:
    """Raise Ctrl-C again where it was lost, until the block ends."""
    ctrl_c, usual = CtrlC(), sys.unraisablehook
    sys.unraisablehook = ctrl_c.unraisable
    try:
        yield ctrl_c
    finally:
        sys.unraisablehook = usual
        ctrl_c.forget()
