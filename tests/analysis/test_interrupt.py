"""Ctrl-C is heard wherever it comes, and answered by one line."""

import ctypes
import signal
import sys
import time

import pytest

from pivotree.analysis import cli
from pivotree.analysis.cli.interrupt import listening


@pytest.fixture(autouse=True)
def heard():
    """Shells have what runs in the background ignore Ctrl-C; here it is heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@ctypes.CFUNCTYPE(None)
def callback():
    """As LLVM calls Python: what it raises is printed by ctypes, and lost."""
    raise KeyboardInterrupt


def test_what_a_callback_loses_is_raised_again(capsys):
    with listening() as ctrl_c, pytest.raises(KeyboardInterrupt):
        callback()
        for _ in range(1000):  # it comes between two instructions
            time.sleep(0.01)
    assert ctrl_c.pressed
    assert capsys.readouterr().err == ""


def test_nothing_is_raised_after_the_block():
    usual = sys.unraisablehook
    with listening():
        callback()
    time.sleep(0.2)
    assert sys.unraisablehook is usual


def test_what_is_half_built_after_it_is_told_as_an_interruption(monkeypatch, capsys):
    def half(arguments):
        callback()
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(cli, "_main", half)
    assert cli.main(["prove"]) == cli.INTERRUPTED
    assert capsys.readouterr().err == "pivotree: interrupted\n"


def test_other_errors_are_not_taken_for_it(monkeypatch):
    def broken(arguments):
        raise RuntimeError("an error of ours")

    monkeypatch.setattr(cli, "_main", broken)
    with pytest.raises(RuntimeError, match="an error of ours"):
        cli.main(["prove"])
