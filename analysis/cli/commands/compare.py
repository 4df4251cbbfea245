"""``pivotree compare``: the main job."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from .shared import (
    folder_of,
    items,
    print_json,
    progress_shown,
    refinement,
    system_of,
)


def run(options: argparse.Namespace) -> int:
    from ...comparison import compare as compare_orders

    folder = None if options.output is None else folder_of(options.output)
    names = None if options.orders is None else items("--orders", options.orders)
    corrections = refinement(options)
    with progress_shown() as progress:
        system = system_of(options)
        result = compare_orders(
            system,
            names,
            items("--formats", options.formats),
            refine=corrections,
            residual=options.residual,
            progress=progress,
        )
        result = replace(result, model=options.model)  # as the user calls it
        if folder is not None:
            from ...figures import write_all

            progress("figures")
            files = write_all(result, folder)
    code = 0 if any(row.error is not None for row in result.rows) else 1
    if options.json:
        print_json(result.as_dict())
        return code
    from ..table import comparison_tables, console

    out = console(sys.stdout)
    for table in comparison_tables(result, out.width):
        out.print(table)
    out.print(result.verdict, soft_wrap=True, markup=False)
    if folder is not None:
        out.print(f"{len(files)} figures in {folder}", soft_wrap=True, markup=False)
    return code
