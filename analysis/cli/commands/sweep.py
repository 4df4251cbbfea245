"""``pivotree sweep``: trees x orders x formats x states, resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pivotree import kkt

from ..arguments import Parser, add_json
from ..progress import progress_shown
from . import INTERRUPTED
from .shared import print_json

MOST_JOBS = 1000  # processes of one machine


EXAMPLES = ("sweep study.toml", "sweep study.toml --jobs 8")


def declare(command: Parser) -> None:
    command.add_argument("config", metavar="CONFIG", help="a .toml file: docs/sweep.md")
    command.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="processes; one for each core if not given"
    )
    add_json(command)


def run(options: argparse.Namespace) -> int:
    from ...sweep import read_config, sweep

    if options.jobs is not None and not 1 <= options.jobs <= MOST_JOBS:
        raise kkt.PivotreeError("option --jobs", f"is {options.jobs}", f"give 1 to {MOST_JOBS:,}")
    config = read_config(Path(options.config))
    try:
        with progress_shown("rows", 0) as progress:

            def told(done: int, missing: int, kept: int) -> None:
                progress(f"rows ({kept} were there)" if kept else "rows", done, missing)

            summary = sweep(config, options.jobs, told)
    except KeyboardInterrupt:
        print(
            f"pivotree: interrupted; what was measured is in {config.output}.parts, and the same "
            "command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    if options.json:
        print_json(vars(summary))
        return 0
    marked = f", {summary.marked} marked as not to be relied on" if summary.marked else ""
    rate = summary.measured / max(summary.seconds, 1e-9)
    print(
        f"{summary.output}: {summary.rows} rows, {summary.measured} measured now in "
        f"{summary.seconds:.1f} s ({rate:.0f} a second), {summary.failed} of them without an answer"
        f"{marked}"
    )
    return 0
