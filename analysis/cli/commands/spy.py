"""``pivotree spy``: the blocks of the matrix while it is eliminated."""

from __future__ import annotations

import argparse

from pivotree import kkt, orderings

from .shared import file_of, system_of, written


def run(options: argparse.Namespace) -> int:
    from ...figures import save_spy

    function = orderings.get(options.order)
    system = system_of(options)
    symbolic = kkt.symbolic(kkt.plan(function, system.structure))
    steps = symbolic.plan.groups
    if options.step is not None and not 0 <= options.step <= steps:
        raise kkt.OrderError(f"option --step: {options.step} is outside this order's steps; use 0 to {steps}")
    path = file_of(options.output)
    save_spy(symbolic, path, step=options.step, dark=options.dark, zeros=True)
    print(written(path))
    return 0
