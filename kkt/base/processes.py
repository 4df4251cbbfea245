"""Processes that work for this one: Ctrl-C is this one's, and they end with what they work on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, resource_tracker

WATCH = 0.5  # [s] between looks whether the parent lives


def end_with(parent: int) -> None:
    """This process ends soon after its parent, however that ends: a pool's would wait for it.

    A worker calls it when it starts; from then on it leaves Ctrl-C to its parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # one that is forked has its parent's

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
