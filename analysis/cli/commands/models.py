"""``pivotree models``: what can be named as a model on this machine, beside files."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from pivotree import kkt
from pivotree.kkt.model.load import SOURCES

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
    for package, installed_by in SOURCES.items():
        if installed_by is None:
            continue
        robots = [x for x in found if x.source == package]
        if not robots:
            told = f"robot:NAME of {package}: not installed (pip install '{installed_by}')"
            out.print(told, markup=False)
            continue
        for text, floating in (
            ("whose base floats", True),
            ("on a fixed base", False),
            ("in MuJoCo's format, whose own joints say whether it floats", None),
        ):
            names = [x.name for x in robots if x.floating is floating]
            if names:
                told = f"robot:NAME of {package}, {text} ({len(names)}): {', '.join(names)}"
                out.print(told, markup=False, soft_wrap=out.wraps)
    return 0


def _arguments(model: kkt.Named) -> str:
    """n, joint=revolute, ..., as in a spec."""
    parts = [f"{key}={x}" if x else key for key, x in model.arguments.items()]
    return ", ".join(parts)
