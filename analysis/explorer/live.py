"""Live numbers: a process of its own measures, and is ended where it takes too long."""

from __future__ import annotations

import json
import pickle
import queue
import subprocess
import sys
import threading
from collections import OrderedDict
from typing import IO, Any

from pivotree.kkt import System

from .asked import Question, refusal

SECONDS = 20.0  # that one answer may take
STARTING = 60.0  # seconds that the process may take until it is ready
KEPT = 64  # answers that are remembered


class Live:
    """Measures orders of one system; safe to call from several threads, one at a time is served."""

    def __init__(self, system: System, seconds: float = SECONDS) -> None:
        self.system, self.seconds = system, seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._known: OrderedDict[Question, dict[str, Any]] = OrderedDict()
        self._closed = False

    def answer(self, question: Question) -> dict[str, Any]:
        """``error``, ``digits``, ``failed``; never raises.

        Where there are no digits, ``failed`` says why in one sentence.
        """
        if not self._turn.acquire(timeout=self.seconds):
            return refusal("another order is still being measured; ask again")
        try:
            if question not in self._known:
                self._known[question] = self._asked(question)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            return self._known[question]
        except _NoAnswer as error:
            self._stop()
            return refusal(str(error))
        finally:
            self._turn.release()

    def close(self) -> None:
        """End the process; what is being measured is refused."""
        self._closed = True
        self._stop()

    def _asked(self, question: Question) -> dict[str, Any]:
        self._start()
        self._tell(question)
        slow = f"this order takes more than {self.seconds:g} s to measure; it was given up"
        found: dict[str, Any] = self._line(self.seconds, slow)
        return found

    def _start(self) -> None:
        """A process that is ready, the old one where it lives."""
        if self._closed:
            raise _NoAnswer("the explorer has ended")
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lines = queue.SimpleQueue()
        reading = (self._process.stdout, self._lines)
        threading.Thread(target=_read, args=reading, daemon=True).start()
        self._tell(self.system)
        self._line(STARTING, "the process that measures does not start")

    def _tell(self, what: Any) -> None:
        try:
            text = pickle.dumps(what)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise _NoAnswer(f"this system cannot be handed to another process ({error})") from None
        process = self._process
        if process is None or process.stdin is None:
            raise _NoAnswer("the explorer has ended")
        try:
            process.stdin.write(text)
            process.stdin.flush()
        except (OSError, ValueError):
            raise _NoAnswer("the process that measures has ended") from None

    def _line(self, seconds: float, late: str) -> Any:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise _NoAnswer(late) from None
        if not line:
            raise _NoAnswer("the process that measures has ended")
        return json.loads(line)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


class _NoAnswer(Exception):
    """Why the process gave none."""


def _read(source: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Hand on line after line; an empty one says that there are no more."""
    with source:
        for line in source:
            lines.put(line)
    lines.put(b"")
