"""``pivotree check``: whether a robot keeps its digits in a format, and what would mend it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from pivotree import kkt, orderings

from ..arguments import Parser, add_format, add_json, add_model, add_state
from ..limits import admit
from ..progress import progress_shown
from .shared import file_of, print_json, system_in_state, tree_of

EXAMPLES = ("check robot.urdf", "check robot:ur5 --float32 --digits 5", "check humanoid -o page.md")

TIMES = 30.0  # that an order is played in many states at a time, as in one


def declare(command: Parser) -> None:
    add_model(command, state=False, loops=False)
    add_state(command, "one column is of it; without these options it is the model's own")
    add_format(command, "float32", known="float64, float32, bfloat16 and others of fixed precision")
    command.add_argument("--float32", dest="format", nargs=0, const="float32", help="the usual")
    command.add_argument("--digits", type=float, default=3.0, help="of accelerations that are needed (3)")
    command.add_argument("--states", type=int, default=200, help="random ones that are tried (200)")
    add_json(command)
    command.add_argument("-o", "--output", metavar="FILE.md", help="the page; FILE.json beside: worst state")


def run(options: argparse.Namespace) -> int:
    from ...check import check
    from ...check.make import ORDERS
    from ...check.words import WORDS, Command, Table, markdown, page

    file = None if options.output is None else file_of(options.output, "page", (".md",))
    beside = None if file is None else file.with_suffix(".json")
    if beside is not None and beside.exists():
        read = (options.model, *(options.state or ()))
        if any(Path(name).exists() and beside.samefile(name) for name in read):
            what = f"the worst state would replace {beside}"
            raise kkt.PivotreeError("option -o", what, "give the page another name")
    with progress_shown() as progress:
        tree = tree_of(options)
        from ..state import SCHEMA

        system, state = system_in_state(tree, options)
        wanted = {name: orderings.get(name) for name in ORDERS}
        admit(options, system, wanted, TIMES, "use a smaller model, or pivotree report --order abm")
        called = shlex.join([options.model, *(x for how in options.urdf or () for x in ("--urdf", how))])
        asked = {"digits": options.digits, "states": options.states, "system": system}
        found = check(tree, called, options.format, **asked, progress=progress)
    if file is not None and beside is not None:
        from pivotree.kkt.base.files import write_whole

        write_whole(file, markdown(page(found, state, str(beside))))
        write_whole(beside, json.dumps({"schema": SCHEMA, **found.worst_state}, indent=1) + "\n")
    if options.json:
        print_json(found.as_dict() | {"state": state})
        return 0
    from ..table import console, grid

    out = console(sys.stdout)
    for part in page(found, state, None if beside is None else str(beside)):
        if isinstance(part, Table):
            out.print(grid("", part.heads, part.rows, words=WORDS, wrapped=WORDS))
        else:
            text = f"  {part.text}" if isinstance(part, Command) else part
            out.print(text, soft_wrap=out.wraps or isinstance(part, Command), markup=False)
    return 0
