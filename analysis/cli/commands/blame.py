"""``pivotree blame``: which operations, pivots and bodies caused an order's error."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format

from ..arguments import Parser, add_derivatives, add_format, add_json, add_model, add_order
from ..limits import SPARSER, admit, played
from ..progress import progress_shown
from .shared import matrix_of, one_state, print_json, refuse_beside, state_document, system_and_state

if TYPE_CHECKING:
    from rich.table import Table

    from ...rounding.text import Blame

EXAMPLES = (
    "blame example3:m1=1e7.5,case=1",
    "blame robot.urdf --order abm --format bfloat16 --of wrist",
    "blame robot.urdf --as mjx",
    "blame chain:12 --derivatives --of dq",
)


def declare(command: Parser) -> None:
    add_model(command, matrix=True)
    add_order(command, "crbm")
    command.add_argument(
        "--as",
        dest="reading",
        metavar="NAME",
        help="a program's own order in its own frames, and which sum loses digits (pivotree readings)",
    )
    known = "a floating-point format of at most 64 bits: float32, float64, bfloat16, p11"
    add_format(command, "float32", known=known)
    command.add_argument(
        "--of",
        dest="output",
        metavar="BODY",
        help="BODY or BODY[j]: a joint acceleration; with --derivatives a matrix, dq, or an entry, "
        "dq[BODY,BODY]; the worst if not given",
    )
    add_derivatives(command)
    command.add_argument("--top", type=int, default=10, metavar="N", help="culprits to name (10)")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    from ...rounding import blame

    if options.top < 1:
        raise kkt.PivotreeError("option --top", f"is {options.top}", "give at least 1")
    if options.reading is not None:
        return _as_program(options)
    system: kkt.System | kkt.Matrix | None = matrix_of(options, "output", "top")
    function, state = orderings.get(options.order), ""
    with progress_shown() as progress:
        if system is None:
            system, state = system_and_state(options)
            times = played(system, [get_format(options.format)], options.derivatives)
            admit(options, system, {options.order: function}, times)
        else:
            times = played(system, [get_format(options.format)])
            admit(options, system, {options.order: function}, times, SPARSER)
        found = blame(
            system,
            function,
            options.format,
            options.output,
            top=options.top,
            progress=progress,
            quantity="derivatives" if options.derivatives else "qdd",
        )
    found = replace(found, model=options.model)  # as the user calls it
    if options.json:
        told = {} if isinstance(system, kkt.Matrix) else state_document(system, state)
        print_json({**told, **found.as_dict()})
        return 0
    from ...rounding.text import rest
    from ..table import console

    out = console(sys.stdout)
    out.say(found.sentence)
    if found.top:
        out.print(blame_table(found))
    out.say(*rest(found), *([one_state(options.model, state)] if state else []))
    return 0


def _as_program(options: argparse.Namespace) -> int:
    """What a program loses, in a sentence that one could file, and its largest shares."""
    from ... import readings

    others = {x: f"--{x}" for x in ("order", "derivatives", "top")}
    refuse_beside("--as", "says order and output itself", options, **others, output="--of")
    reading = readings.get(options.reading)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        times = played(system, [get_format(options.format)])
        admit(options, system, {reading.order: orderings.get(reading.order)}, times)
        progress(f"{reading.name} in {options.format}")
        found = readings.fault(reading, system, options.format, options.model)
    if options.json:
        print_json({**state_document(system, state), **found.as_dict()})
        return 0
    from ...rounding.text import percent
    from ..table import console, grid

    out = console(sys.stdout)
    out.say(found.sentence)
    rows = [(percent(part.share), part.body, part.what) for part in found.parts]
    out.print(grid("", ("share", "body", "what"), rows, words=("body", "what")))
    out.say(f"Source: {reading.source}.", one_state(options.model, state))
    return 0


def blame_table(b: Blame) -> Table:
    """The top entries, one a line, with shares of the explained error."""
    from ...rounding.text import percent
    from ..table import grid

    return grid(
        "",
        ("share", "formula", "entry", "body", "pivot"),
        (
            (
                percent(c.share),
                c.formula,
                "" if c.entry is None else f"({c.entry[0]},{c.entry[1]})",
                "" if c.body is None else str(c.body),
                c.pivot or "",
            )
            for c in b.top
        ),
        words=("formula", "entry", "body", "pivot"),
        wrapped=("formula", "pivot"),
        caption="share: signed part of the sum of all contributions; opposite ones cancel, so that "
        "one can exceed 100 %",
    )
