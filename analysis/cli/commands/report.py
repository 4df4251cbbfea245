"""``pivotree report``: one page on a robot, over many random states."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path

from pivotree import orderings
from pivotree.kkt import PivotreeError
from pivotree.kkt.model.load import SUFFIXES

from ..arguments import Parser, add_format, add_json, add_model, add_order
from ..limits import admit, played
from ..progress import progress_shown
from . import INTERRUPTED
from .shared import folder_of, formats_of, orders_of, print_json, system_of_any, tree_of

EXAMPLES = ("report robot.urdf", "report chain:6 --states 100 --digits 4 -o report")


def declare(command: Parser) -> None:
    add_model(command, state=False)
    add_order(command, None, several=True)
    add_format(command, "float64,float32,tf32,bfloat16", several=True)
    command.add_argument("--states", type=int, default=1000, help="how many (1000)")
    command.add_argument("--seed", type=int, default=0, help="of the random states (0)")
    command.add_argument("--digits", type=float, default=3.0, help="that a format must keep (3)")
    add_json(command)
    command.add_argument("-o", "--output", metavar="DIR", help="a new folder; report-MODEL if not")


def run(options: argparse.Namespace) -> int:
    from ...report.make import ORDERS, check_empty, require_numbers, robot_report

    require_numbers(options.states, options.seed, options.digits)
    orders, formats = orders_of(options), formats_of(options)
    folder = _named(options.model) if options.output is None else folder_of(options.output)
    check_empty(folder)
    where = f"the states are kept in {folder}, and the same command goes on from there"
    try:
        with progress_shown("the matrix", options.states) as progress:
            tree = tree_of(options)
            system = system_of_any(tree)
            named = ORDERS if orders is None else orders
            wanted = {name: orderings.get(name) for name in named}
            admit(options, system, wanted, played(system, ()))
            result = robot_report(
                tree,
                options.model,
                orders,
                formats,
                states=options.states,
                seed=options.seed,
                digits=options.digits,
                folder=folder,
                processes=None,
                progress=progress,
            )
    except PivotreeError:
        _remove_if_empty(folder)
        raise
    except KeyboardInterrupt:
        kept = _remove_if_empty(folder)
        print(f"pivotree: interrupted; {where if kept else 'nothing was measured'}", file=sys.stderr)
        return INTERRUPTED
    if options.json:
        print_json(result.as_dict())
    else:
        print("\n".join(result.verdict))
        print(f"{folder / 'report.html'}, report.json, states.csv, worst/")
    return 0


def _named(model: str) -> Path:
    """A folder of the model's name, here."""
    stem = Path(model).stem if Path(model).suffix.lower() in SUFFIXES else model
    return Path(f"report-{re.sub(r'[^A-Za-z0-9_.=-]+', '-', stem).strip('-')}")


def _remove_if_empty(folder: Path) -> bool:
    """Remove a folder that holds nothing; whether something is kept."""
    with suppress(OSError):  # it holds something, or is not there
        folder.rmdir()
    return folder.is_dir()
