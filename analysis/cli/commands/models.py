"""``pivotree models``: what can be named as a model on this machine, beside files."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from pivotree import kkt
from pivotree.kkt.model.robots import PACKAGE

from ..arguments import Parser, add_json
from .shared import print_json

EXAMPLES = ("models", "models --json")


def declare(command: Parser) -> None:
    add_json(command)


def run(options: argparse.Namespace) -> int:
    found = kkt.named_models()
    if options.json:
        print_json([asdict(model) for model in found])
        return 0
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    gallery = [x for x in found if x.source == "gallery"]
    given = ([f"{key}={value}" if value else key for key, value in x.arguments.items()] for x in gallery)
    rows = [(x.example, ", ".join(parts), x.what) for x, parts in zip(gallery, given, strict=True)]
    heads = ("example", "arguments", "what it is")
    out.print(grid("Gallery", heads, rows, words=heads, wrapped=heads[1:]))
    if len(gallery) == len(found):
        out.say(f"robot:NAME of {PACKAGE}: not installed (pip install '{PACKAGE}')")
    for text, floating in (("whose base floats", True), ("on a fixed base", False)):
        names = [x.name for x in found if x.floating is floating]
        if names:
            told = f"robot:NAME of {PACKAGE}, {text} ({len(names)}): {', '.join(names)}"
            out.say(told)
    return 0
