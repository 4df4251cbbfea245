"""Counts as cells of a table, for the terminal and for docs/counts.md."""

from __future__ import annotations

from collections.abc import Mapping

from .polynomials import text_of
from .table import SUMS, Count, Crossover

COUNT_HEAD = ("order", "multiplications", "additions", "divisions", "known how")


def count_cells(count: Count) -> tuple[str, ...]:
    """Order, three polynomials, status; square roots only where there are any."""
    name, status = count.order, count.status
    if count.polynomials:
        mul, add, div = (text_of(count.polynomials[kind]) for kind in ("mul", "add", "div"))
        if roots := count.polynomials["sqrt"]:
            status += f"; square roots {text_of(roots)}"
        return name, mul, add, div, status
    law = count.powers
    if law is None:
        return name, "none", "none", "none", status
    texts = [law.text(kind) for kind in ("mul", "add", "div")]
    return name, *texts, f"n = 2^h - 1 only; fitted, h = {law.first} to {law.last}"


CROSSOVER_HEAD = ("", *("multiplications", "additions", "both", "with divisions"))


def crossover_cells(name: str, crossings: Mapping[str, Crossover]) -> tuple[str, ...]:
    """Root and first whole n of each sum."""
    cells = []
    for kind in SUMS:
        found = crossings.get(kind)
        if found is None:
            cells.append("")
        elif found.first is None:
            cells.append("never")
        else:
            root = "" if found.root is None else f"{found.root:.2f}, "
            cells.append(f"{root}from n = {found.first}")
    return name, *cells
