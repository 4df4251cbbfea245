"""What each command of the command line does, one module a command."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from importlib import import_module
from typing import Any

import kkt


def run(options: argparse.Namespace) -> int:
    """Run a parsed command; a PivotreeError becomes one line and exit 2."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # what overflows is refused or recorded
        warnings.showwarning = _show_warning
        try:
            code = int(import_module(f".{options.command}", __name__).run(options))
            if sys.stdout is not None:
                sys.stdout.flush()  # what a full disk or a closed pipe refuses is told here
            return code
        except kkt.PivotreeError as error:
            print(f"pivotree: {' '.join(str(error).split())}", file=sys.stderr)
            return 2
        except MemoryError:
            print("pivotree: not enough memory for this model; use a smaller one", file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader of a pipe has seen enough
            _drop_output()
            return 0
        except OSError as error:
            _drop_output()
            place = error.filename or "standard output"
            print(
                f"pivotree: {place}: {error.strerror}; see that it can be written", file=sys.stderr
            )
            return 2


def _drop_output() -> None:
    """What is still buffered goes nowhere, so that the end of the process is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    print(f"pivotree: warning: {' '.join(str(message).split())}", file=sys.stderr)
