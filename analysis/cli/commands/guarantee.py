"""``pivotree guarantee``: digits that orders keep in every state, proved, beside those seen."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from pivotree import kkt

from .shared import items, print_json


def run(options: argparse.Namespace) -> int:
    from ...guarantee.rows import guarantee

    orders = items("--orders", options.orders)
    formats = items("--formats", options.formats)
    floating = True if options.floating else None
    model = kkt.load(options.model, floating, merge_fixed=options.merge_fixed)
    rows = guarantee(model, orders, formats, options.states, options.seed)
    if options.json:
        print_json({"model": options.model, "rows": [row.as_dict() for row in rows]})
    else:
        _print(options.model, rows)
    return 0


def _print(model: str, rows: list[Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from ..table import console

    out = console(sys.stdout, wide=True)
    shown = Table(box=SIMPLE_HEAD, title=escape(f"{model}: decimal digits of every pivot D_k"))
    for head in ("order", "format", "proved, all states", "worst seen", "states", "worst body"):
        shown.add_column(head, no_wrap=True)
    for row in rows:
        shown.add_row(
            row.order, row.format, _down(row.bound.digits), f"{row.seen:.1f}", str(row.states),
            escape(str("" if row.bound.worst is None else row.bound.worst)),
        )  # fmt: skip
    out.print(shown)
    for row in rows:
        if row.bound.why:
            out.print(
                f"{row.order}, {row.format}: nothing is promised: {escape(row.bound.why)}.",
                soft_wrap=True,
            )


def _down(digits: float) -> str:
    """One decimal, never more than was proved."""
    return f"{math.floor(10.0 * digits) / 10.0:.1f}" if math.isfinite(digits) else "all"
