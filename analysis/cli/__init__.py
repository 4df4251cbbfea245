"""The command line: what ``pivotree --help`` lists.

Exit 0 done; 1 a comparison in which no order gave an answer, a motion that no order went through, a
proof that failed, or a criterion of a paper that is missed; 2 bad input, with one line on standard
error; 130 interrupted by Ctrl-C.  Results go to standard output, with --json one document and
nothing else; refusals, warnings and signs of life to standard error.
Everything heavy is imported by the command that needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from .commands import INTERRUPTED

if TYPE_CHECKING:
    import argparse

OBJECTS = 2_000_000  # that are made before Python looks for cycles among them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        from .interrupt import listening

        with listening() as ctrl_c:
            try:
                return _main(arguments)
            except BaseException as error:  # also while this project is still being imported
                if not ctrl_c.behind(error):
                    raise
    except KeyboardInterrupt:  # before or after anything listens
        pass
    with suppress(OSError):
        print("pivotree: interrupted", file=sys.stderr)
    return INTERRUPTED


def command() -> int:
    """``pivotree`` as a process: a Ctrl-C that comes when all is said changes no exit code.

    Python looks for cycles of objects seldom, and not at the end, where it would look at all that was
    made: half a second of every command.  Matrices are small here: BLAS's threads would but wait.
    Numba would load coverage.py wherever it is installed, to tell it of compiled lines.
    """
    import gc
    import signal

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(OBJECTS, 20, 100)
    sys.modules.setdefault("coverage", cast(Any, None))  # which is loaded already where it measures
    try:
        code = main()
    finally:  # argparse leaves by SystemExit where it has told its help
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()
    if code == INTERRUPTED:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End at once: to free all that was built would take Python half a second more."""
    import atexit

    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(code)


def _main(arguments: Sequence[str] | None) -> int:
    from .parser import COMMANDS, parser

    for name in ("stdout", "stderr"):  # closed by the one who calls: nobody reads it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    top = parser("")
    texts = sys.argv[1:] if arguments is None else list(arguments)
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:  # a file's name may be any bytes, of which Python makes these
            top.error(f"argument {text!r} is not text in UTF-8")
        if text.startswith("-") and text.endswith("=--"):  # argparse makes an empty list of it
            top.error(f"argument {text!r} ends in '--', which is no value")
    given = [text for text in texts if text != "--yes"]  # which may stand anywhere
    options = parser(next((x for x in given[:1] if x in COMMANDS), "")).parse_args(given)
    options.yes = "--yes" in texts
    if options.version or options.command is None:
        return _told(top, options.version)
    from .running import run

    return run(options)


def _told(top: argparse.ArgumentParser, version: bool) -> int:
    """The version or the help, without what commands need."""
    from importlib.metadata import version as version_of

    if not version:
        top.print_help()
        return 0
    try:
        print(version_of("pivotree"), flush=True)
    except OSError as error:
        from .running import full

        return full(error)
    return 0
