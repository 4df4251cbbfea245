"""``pivotree list``: the algorithm that an order is, as formulas, LaTeX, Python or pseudocode."""

from __future__ import annotations

import argparse
import sys

from pivotree import orderings
from pivotree.kkt.base.files import write_whole

from ..estimate import admit, listed
from ..progress import progress_shown
from .shared import file_of, system_of, written


def run(options: argparse.Namespace) -> int:
    from ... import listing

    function = orderings.get(options.order)
    path = None if options.output is None else file_of(options.output)
    with progress_shown() as progress:
        system = system_of(options)
        smaller = "use a smaller model of the same kind, such as chain:10"
        admit(options, system, {options.order: function}, listed(options.derivatives), smaller=smaller)
        progress(f"reading {options.order} as formulas")
        told = listing.of(system, function, options.notation, options.derivatives)
        text = listing.render(told, options.style or "text")
    if path is None:
        sys.stdout.write(text)
    else:
        write_whole(path, text)
        print(written(path))
    return 0
