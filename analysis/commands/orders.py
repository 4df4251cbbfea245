"""``pivotree orders``: what orders there are."""

from __future__ import annotations

import argparse
import json
import sys

import orderings


def run(options: argparse.Namespace) -> int:
    rows = [
        (
            name,
            (function.__doc__ or "").strip().splitlines()[0],
            str(getattr(function, "source", "")),
        )
        for name, function in orderings.ORDERS.items()
    ]
    if options.json:
        keys = ("order", "what", "source")
        print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=1))
        return 0
    from ..table import console, orders_table

    console(sys.stdout, wide=True).print(orders_table(rows))
    return 0
