"""A parsed command run, and what is said where it cannot be."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from pivotree import kkt
from pivotree.kkt.base.errors import LONGEST, sentence


def run(options: argparse.Namespace) -> int:
    """Run a parsed command; a PivotreeError becomes one line and exit 2."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # what overflows is refused or recorded
        warnings.showwarning = _once()
        try:
            code = int(import_module(f".commands.{options.command}", __package__).run(options))
            sys.stdout.flush()  # what a full disk or a closed pipe refuses is told here
            return code
        except kkt.PivotreeError as error:
            file = str(getattr(options, "model", None) or "")
            robot = isinstance(error, kkt.SingularError | kkt.CertificationError) and file not in str(error)
            return refused(kkt.PivotreeError(file, error) if robot and os.path.isfile(file) else error)
        except MemoryError:
            return refused("not enough memory for this model; use a smaller one")
        except OSError as error:
            return full(error)
        except UnicodeEncodeError as error:
            _drop_output()
            return refused(
                f"standard output: {error.encoding} has no {error.object[error.start]!r}; set "
                "PYTHONIOENCODING=utf-8, or write into a file with -o"
            )


def refused(why: object) -> int:
    """One line on standard error; the exit code."""
    with suppress(OSError):  # standard error takes no more either: the exit code says it
        print(f"pivotree: {sentence(why)}", file=sys.stderr)
    return 2


def full(error: OSError) -> int:
    """Standard output, or a file that a library writes, takes no more."""
    _drop_output()
    if isinstance(error, BrokenPipeError):  # the reader of a pipe has seen enough
        return 0
    place = error.filename or "standard output"
    return refused(f"{place}: {error.strerror or error}; see that it can be written")


def _drop_output() -> None:
    """What is still buffered goes nowhere, so that the end of the process is silent."""
    with suppress(OSError, ValueError):  # it is no file of the system, or closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _once() -> Callable[..., None]:
    """Shows each warning as one line, and the same words once in a command."""
    said: set[str] = set()

    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        line = f"pivotree: warning: {sentence(message, 4 * LONGEST)}"
        if line not in said:
            said.add(line)
            with suppress(OSError):
                print(line, file=sys.stderr)

    return show
