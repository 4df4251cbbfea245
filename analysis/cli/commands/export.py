"""``pivotree export``: an order on a robot as a portable C file and its header, or as CUDA."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import networkx as nx

from pivotree import kkt, orderings

from ..estimate import admit
from ..progress import progress_shown
from .shared import file_of, items, system_of_any, tree_of, written


def run(options: argparse.Namespace) -> int:
    from ...guarantee.fixed import bits_of

    order, outputs = orderings.get(options.order), items("--outputs", options.outputs)
    path = file_of(options.output)
    tree = tree_of(options)
    system = system_of_any(tree)
    admit(options, system, {options.order: order})
    inputs = ("wrench",) if options.wrench else ()
    bits = bits_of(options.format)
    if bits is not None:
        return _in_words(options, tree, order, bits, outputs, path)
    with progress_shown() as progress:
        progress(f"compiling {options.order} in {options.format}")
        kernel = kkt.compile(system, order, options.format, outputs=outputs, inputs=inputs)
        progress(f"writing {path}")
        files = (
            [kernel.export_cuda(path, options.name)]
            if options.cuda
            else [*kernel.export_c(path, options.name)]
        )
    told = ", ".join(f"{count:,} {kind}" for kind, count in kernel.operations.items() if count)
    sys.stdout.write(f"{', '.join(map(written, files))}: {told}\n")
    return 0


def _in_words(
    options: argparse.Namespace, tree: nx.DiGraph, order: Any, bits: int, outputs: list[str], path: Path
) -> int:
    """Whole numbers alone, with binary points that are proved."""
    if options.cuda or options.wrench or outputs != ["qdd"]:
        raise kkt.FormatError(
            f"export: a file in {options.format} has qdd as its only output and takes no wrenches; "
            "leave out --outputs, --wrench and --cuda, or use float32"
        )
    found = kkt.fixed_point(tree, order, bits)
    files = kkt.export_fixed(found, path, options.name)
    assert found.words is not None
    told = f"{len(found.words.op):,} operations on words of {bits} bits, none of which overflows"
    sys.stdout.write(f"{', '.join(map(written, files))}: {told}\n")
    return 0
