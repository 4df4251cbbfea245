"""Counts as lines of a table, for the terminal and for docs/counts.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from .blocks import PARTS, VARIABLES, BlockCount
from .polynomials import Polynomial, text_of
from .table import SUMS, Count, Crossover

Lines = list[str]


def wrapped(text: str, width: int = 100) -> str:
    """Paragraphs and list items filled to a width; headings as they are.

    >>> from pivotree.analysis.counts import wrapped
    >>> print(wrapped("one two three", 8))
    one two
    three
    """
    parts: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        items = paragraph.split("\n* ")
        lines = [item if i == 0 else f"* {item}" for i, item in enumerate(items)]
        filled = [
            textwrap.fill(
                " ".join(line.split()),
                width,
                subsequent_indent="  " if line.startswith("* ") else "",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for line in lines
        ]
        parts.append("\n".join(filled))
    return "\n\n".join(parts)


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Lines:
    heads = list(head)
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


COUNT_HEAD = ("order", "multiplications", "additions", "divisions", "known how")


def count_cells(count: Count) -> tuple[str, ...]:
    """Order, three polynomials, status; square roots only where there are any."""
    name, status = count.order, count.status
    if count.polynomials:
        mul, add, div = (count.polynomials[kind].text() for kind in ("mul", "add", "div"))
        if count.polynomials["sqrt"].coefficients:
            status += f"; square roots {count.polynomials['sqrt'].text()}"
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


def block_lines(count: BlockCount) -> Lines:
    """One list item for each kind of operation."""
    lines = [f"**`{count.order}`**", ""]
    for kind, what in (("mul", "multiplications"), ("add", "additions"), ("div", "divisions")):
        text = f"- {what}: {count.text(kind)}"
        for part in PARTS[1:]:
            extra = count.part(kind, part)
            if extra:
                text += f"; {part}: {text_of(extra, VARIABLES)}"
        lines.append(text)
    return [*lines, ""]


def relative(ours: Polynomial, printed: Polynomial) -> str:
    """How far apart two leading coefficients are."""
    if ours.degree != printed.degree:
        return f"degree {ours.degree}, not {printed.degree}"
    ratio = ours.coefficients[-1] / printed.coefficients[-1]
    return f"{100 * float(ratio - 1):+.1f} %"
