"""The command line: ``pivotree compare``, ``solve``, ``spy``, ``figure``, ``blame``, ``export``,
``report``, ``guarantee``, ``list``, ``counts``, ``prove``, ``explore``, ``simulate``,
``sweep``, ``tune``, ``reproduce``, ``orders``, ``models``.

Exit 0 done; 1 a comparison in which no order gave an answer, a proof that failed, or a criterion
of a paper that is missed; 2 bad input, with one line on standard error; 130 interrupted by Ctrl-C.
Everything heavy is imported by the command that needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

from .arguments import joined, parser
from .commands import INTERRUPTED

SURROGATE = re.compile("[\ud800-\udfff]")  # what Python makes of bytes that are no UTF-8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    for name in ("stdout", "stderr"):  # closed by the one who calls: nobody reads it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    top = parser()
    texts = sys.argv[1:] if arguments is None else list(arguments)
    for text in texts:  # a file's name may be any bytes
        if SURROGATE.search(text):
            top.error(f"argument {text!r} is not text in UTF-8")
    options = top.parse_args(joined(texts))
    try:
        if options.version or options.command is None:
            return _told(top, options.version)
        from .running import run

        return run(options)
    except BaseException as error:
        if not _interrupted(error):
            raise
        print("pivotree: interrupted", file=sys.stderr)
        return INTERRUPTED


def _told(top: argparse.ArgumentParser, version: bool) -> int:
    """The version or the help, without what commands need."""
    from importlib.metadata import version as version_of

    try:
        print(version_of("pivotree") if version else top.format_help(), flush=True)
    except OSError as error:
        from .running import full

        return full(error)
    return 0


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: compiled code and half imported modules make others of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
