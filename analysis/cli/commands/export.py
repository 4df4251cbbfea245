"""``pivotree export``: an order on a robot as a portable C file and its header, or as CUDA."""

from __future__ import annotations

import argparse
import sys

from pivotree import kkt, orderings

from ..estimate import admit
from ..progress import progress_shown
from .shared import file_of, items, system_of_any, tree_of, written


def run(options: argparse.Namespace) -> int:
    order, outputs = orderings.get(options.order), items("--outputs", options.outputs)
    path = file_of(options.output)
    if options.format not in ("float64", "float32"):  # before anything is compiled
        language = "CUDA" if options.cuda else "C"
        raise kkt.FormatError(
            f"option --format: {language} has no {options.format!r}; use float64 or float32"
        )
    system = system_of_any(tree_of(options))
    admit(options, system, {options.order: order})
    inputs = ("wrench",) if options.wrench else ()
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
