"""Processes that work for this one: Ctrl-C is this one's, and they end with what they work on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, resource_tracker


@contextmanager
def ended() -> Iterator[None]:
    """Processes that start in the block are ended at once where an error leaves it."""
    before = set(active_children())
    try:
        yield
    except BaseException:
        for child in set(active_children()) - before:
            child.terminate()
        raise


@contextmanager
def deaf() -> Iterator[None]:
    """Processes that start here never see SIGINT; one that comes meanwhile is this process's later.

    It is held back, not ignored: what is ignored is lost.  Windows has no way to hold it back.
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
    resource_tracker.ensure_running()  # which would let SIGINT through where it starts itself
    mask = hold(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        hold(signal.SIG_SETMASK, mask)
