"""Ctrl-C and SIGTERM, heard wherever they come: callbacks of compiled code lose what they raise."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# what a process does by itself
USUAL: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
AGAIN = 0.05  # [s] after which a Ctrl-C that was lost is raised again


class CtrlC:
    """Whether Ctrl-C was pressed while a command ran, and was lost once or more."""

    def __init__(self) -> None:
        self.pressed: bool = False
        self.ended: bool = False  # by SIGTERM, which cleans up as Ctrl-C does
        self._timers: list[threading.Timer] = []
        self._usual = sys.unraisablehook

    def heard(self, number: int, frame: FrameType | None) -> None:
        """The handler: imports of compiled code make another error of what it raises."""
        self.pressed = True
        self.ended = self.ended or number == signal.SIGTERM
        signal.default_int_handler(number, frame)

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
    """Raise Ctrl-C again where it was lost, until the block ends; SIGTERM ends the process then."""
    ctrl_c, usual = CtrlC(), sys.unraisablehook
    sys.unraisablehook = ctrl_c.unraisable
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in USUAL} if main else {}
    hears = [number for number, handler in before.items() if handler is USUAL[number]]
    for number in hears:
        signal.signal(number, ctrl_c.heard)
    try:
        yield ctrl_c
    finally:
        for number in hears:
            signal.signal(number, USUAL[number])
        sys.unraisablehook = usual
        ctrl_c.forget()
        if ctrl_c.ended:
            signal.raise_signal(signal.SIGTERM)
