"""``pivotree report``: one page on a robot, over many random states."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from pivotree import orderings
from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.reading import read_text

from ..progress import progress_shown
from . import INTERRUPTED
from .shared import folder_of, items, print_json, tree_of


def run(options: argparse.Namespace) -> int:
    from ...report.make import Interrupted, check, check_empty, robot_report

    check(options.states, options.seed, options.digits)
    orders = None if options.orders is None else items("--orders", options.orders)
    formats = None if options.formats is None else items("--formats", options.formats)
    for name in orders or ():
        orderings.get(name)
    for name in formats or ():
        get_format(name)
    if options.armature:
        return _least_armature(options, orders or ["crbm"], formats or ["float32"])
    folder = _named(options.model) if options.output is None else folder_of(options.output)
    check_empty(folder)
    try:
        with progress_shown("the matrix", options.states) as progress:
            tree = tree_of(options)
            result = robot_report(
                tree, options.model, orders, formats, states=options.states, seed=options.seed,
                digits=options.digits, folder=folder, processes=None, progress=progress,
            )  # fmt: skip
    except (KeyboardInterrupt, Interrupted):
        kept = _remove_if_empty(folder)
        told = f"what was measured is in {folder}" if kept else "nothing was measured"
        print(f"pivotree: interrupted; {told}", file=sys.stderr)
        return INTERRUPTED
    if options.json:
        print_json(result.as_dict())
    else:
        print("\n".join(result.verdict))
        print(f"{folder / 'report.html'}, report.pdf, report.json, states.csv, worst/")
    return 0 if result.states == options.states else INTERRUPTED


def _least_armature(options: argparse.Namespace, orders: list[str], formats: list[str]) -> int:
    from ...report.armature import STATES, least_armature

    if options.output is not None:
        raise PivotreeError("report --armature: writes nothing; leave -o out")
    tree = tree_of(options)
    found = [
        least_armature(
            tree,
            order,
            format,
            digits=options.digits,
            states=min(options.states, STATES),
            seed=options.seed,
        )
        for order in orders
        for format in formats
    ]
    if options.json:
        print_json([one.as_dict() for one in found])
    else:
        print("\n".join(one.text() for one in found))
    return 0


def _named(model: str) -> Path:
    """A folder of the model's name, here."""
    stem = Path(model).stem if model.endswith((".urdf", ".json")) else model
    return Path(f"report-{re.sub(r'[^A-Za-z0-9_.=-]+', '-', stem).strip('-')}")


def _remove_if_empty(folder: Path) -> bool:
    """Remove a folder that holds a head line at most; whether something is kept."""
    if not folder.is_dir():
        return False
    part = folder / "states.csv.part"
    if part.is_file() and len(read_text(part).splitlines()) <= 1:
        part.unlink()
    try:
        folder.rmdir()
    except OSError:  # it holds something
        return True
    return False
