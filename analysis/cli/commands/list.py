"""``pivotree list``: the algorithm that an order is, as formulas, LaTeX, Python or pseudocode."""

from __future__ import annotations

import argparse
import sys

from pivotree import orderings
from pivotree.kkt.base.files import write_whole

from ..arguments import Parser, add_model, add_order
from ..limits import LISTED, SPARSER, admit
from ..progress import progress_shown
from .shared import file_of, matrix_of, system_of, written

EXAMPLES = ("list chain:4 --order abm", "list robot.urdf --order crbm --style latex -o crbm.tex")


def declare(command: Parser) -> None:
    add_model(command, matrix=True)
    add_order(command, "abm")
    command.add_argument(
        "--style",
        default="text",
        metavar="HOW",
        help="text, latex (an article), python (a numpy script that runs) or pseudocode (loops and "
        "assignments) (text)",
    )
    command.add_argument(
        "--notation", metavar="WHOSE", help="ascher, featherstone or yamane; the usual if not given"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write into this file")


def run(options: argparse.Namespace) -> int:
    from ... import listing

    matrix = matrix_of(options, "style", "notation", "output")
    function = orderings.get(options.order)
    path = None if options.output is None else file_of(options.output)
    with progress_shown() as progress:
        progress(f"reading {options.order} as formulas")
        if matrix is not None:
            admit(options, matrix, {options.order: function}, LISTED, SPARSER)
            text = listing.render(listing.of(matrix, function, options.notation), options.style)
        else:
            system = system_of(options)
            smaller = "use a smaller model of the same kind, such as chain:10"
            admit(options, system, {options.order: function}, LISTED, smaller)
            text = listing.render(listing.of(system, function, options.notation), options.style)
    if path is None:
        sys.stdout.write(text)
    else:
        write_whole(path, text)
        print(written(path))
    return 0
