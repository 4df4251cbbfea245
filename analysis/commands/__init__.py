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
            return import_module(f".{options.command}", __name__).run(options)
        except kkt.PivotreeError as error:
            print(f"pivotree: {' '.join(str(error).split())}", file=sys.stderr)
            return 2
        except MemoryError:
            print("pivotree: not enough memory for this model; use a smaller one", file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    print(f"pivotree: warning: {' '.join(str(message).split())}", file=sys.stderr)
