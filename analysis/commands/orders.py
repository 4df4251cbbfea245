"""``pivotree orders``: what orders there are."""

from __future__ import annotations

import argparse
import json
import sys

from pivotree import orderings


def run(options: argparse.Namespace) -> int:
    rows = [
        (
            name,
            (function.__doc__ or "").strip().splitlines()[0],
            str(getattr(function, "source", "")),
        )
        for name, function in orderings.ORDERS.items()
    ]
    also = {name: [a for a, alias in orderings.ALIASES.items() if alias.order == name]
            for name in orderings.ORDERS}  # fmt: skip
    if options.json:
        documents = []
        for name, what, source in rows:
            others = [{"name": a, **vars(orderings.ALIASES[a])} for a in also[name]]
            documents.append({"order": name, "what": what, "source": source, "also": others})
        print(json.dumps(documents, indent=1))
        return 0
    for i, (name, what, source) in enumerate(rows):
        told = "; ".join(f"{a} ({orderings.ALIASES[a].source})" for a in also[name])
        rows[i] = (name, f"{what} Also: {told}." if told else what, source)
    from ..table import console, orders_table

    console(sys.stdout, wide=True).print(orders_table(rows))
    return 0
