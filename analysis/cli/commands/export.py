"""``pivotree export``: an order on a robot as one portable C file and its header."""

from __future__ import annotations

import argparse
import sys

from pivotree import kkt, orderings

from .shared import file_of, items, progress_shown


def run(options: argparse.Namespace) -> int:
    order, outputs = orderings.get(options.order), items("--outputs", options.outputs)
    path = file_of(options.output)
    tree = kkt.load(
        options.model, floating=True if options.floating else None, merge_fixed=options.merge_fixed
    )
    tree.graph["name"] = tree.graph.get("name") or options.model
    inputs = ("wrench",) if options.wrench else ()
    with progress_shown() as progress:
        progress(f"compiling {options.order} in {options.format}")
        kernel = kkt.compile(tree, order, options.format, outputs=outputs, inputs=inputs)
        progress(f"writing {path}")
        written = kernel.export_c(path, options.name)
    told = ", ".join(f"{count:,} {kind}" for kind, count in kernel.operations.items() if count)
    sys.stdout.write(f"{written[0]}, {written[1]}: {told}\n")
    return 0
