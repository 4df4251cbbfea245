"""``pivotree blame``: which operations, pivots and bodies caused an order's error."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format

from ..estimate import admit, derived, eliminated
from ..progress import progress_shown
from .shared import one_state, print_json, state_document, system_and_state


def run(options: argparse.Namespace) -> int:
    from ...rounding import blame

    if options.top < 1:
        raise kkt.PivotreeError(f"option --top: is {options.top}; give at least 1")
    function = orderings.get(options.order)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        plays = [get_format(options.format)]
        takes = derived(plays) if options.derivatives else eliminated(plays)
        admit(options, system, {options.order: function}, takes)
        found = blame(
            system,
            function,
            options.format,
            options.output,
            top=options.top,
            progress=progress,
            quantity="derivatives" if options.derivatives else "qdd",
        )
    found = replace(found, model=options.model)  # as the user calls it
    if options.json:
        print_json({**state_document(system, state), **found.as_dict()})
        return 0
    from ...rounding.text import blame_table, rest
    from ..table import console

    out = console(sys.stdout)
    out.print(found.sentence, soft_wrap=out.wraps, markup=False)
    if found.top:
        out.print(blame_table(found))
    for line in [*rest(found), one_state(options.model, state)]:
        out.print(line, soft_wrap=out.wraps, markup=False)
    return 0
