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
    rows = [(x.example, _arguments(x), x.what) for x in found if x.source == "gallery"]
    heads = ("example", "arguments", "what it is")
    out.print(grid("Gallery", heads, rows, words=heads, wrapped=heads[1:]))
    if all(x.source == "gallery" for x in found):
        out.print(f"robot:NAME of {PACKAGE}: not installed (pip install '{PACKAGE}')", markup=False)
    for text, floating in (("whose base floats", True), ("on a fixed base", False)):
        names = [x.name for x in found if x.floating is floating]
        if names:
            told = f"robot:NAME of {PACKAGE}, {text} ({len(names)}): {', '.join(names)}"
            out.print(told, markup=False, soft_wrap=out.wraps)
    return 0


def _arguments(model: kkt.Named) -> str:
    """n, joint=revolute, ..., as in a spec."""
    parts = [f"{key}={x}" if x else key for key, x in model.arguments.items()]
    return ", ".join(parts)
