"""Worker processes: Ctrl-C reaches their parent alone, and they end when it or its work ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, resource_tracker

WATCH = 0.5  # [s] between checks that the parent lives


def end_with(parent: int) -> None:
    """Let this process end soon after its parent, however the parent ends.

    A worker of a pool would otherwise wait for its parent.  It calls this function when it starts,
    and from then on leaves Ctrl-C to its parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a forked process has its parent's handler

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def ended() -> Iterator[None]:
    """End the processes that start in the block at once, where an error leaves the block."""
    before = set(active_children())
    try:
        yield
    except BaseException:
        for child in set(active_children()) - before:
            child.terminate()
        raise


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that start in the block never see SIGINT; this process sees it after the block.

    The signal is held back and not ignored, since an ignored signal is lost.  Windows cannot hold
    it back, so that it is ignored there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hold = getattr(signal, "pthread_sigmask", None)
    if hold is None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
        return
    resource_tracker.ensure_running()  # started inside the block, it would let SIGINT through
    mask = hold(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        hold(signal.SIG_SETMASK, mask)
