"""``pivotree readings``: programs whose forward dynamics ``compare --as`` can predict."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from ..arguments import Parser, add_json
from .shared import print_json

EXAMPLES = ("readings", "readings --json")


def declare(command: Parser) -> None:
    add_json(command)


def run(options: argparse.Namespace) -> int:
    from ...readings import readings

    found = readings().values()
    if options.json:
        print_json([asdict(reading) for reading in found])
        return 0
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    rows = [
        (x.name, f"{x.program} {x.version}", x.order, x.frames, x.symmetry, x.says, x.source) for x in found
    ]
    heads = ("name", "program", "order", "frames", "symmetry", "what it does", "source")
    out.print(grid("Readings", heads, rows, words=heads, wrapped=heads[1:]))
    return 0
