"""Tables for the terminal."""

from __future__ import annotations

from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .comparison import Comparison
from .row import Row


def console(file: IO[str], wide: bool = False) -> Console:
    """A console that does not squeeze tables when the output is not a terminal."""
    made = Console(file=file, highlight=False, emoji=False)  # chain:100 is no :100:
    if not made.is_terminal or (wide and made.width < 100):
        made.width = max(made.width, 132)
    return made


def comparison_table(comparison: Comparison, width: int) -> Table:
    """One line an order; error, digits and, where the terminal is wide, bits of each format."""
    formats = list(dict.fromkeys(row.format for row in comparison.rows))
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"{escape(comparison.model)}: {comparison.bodies} bodies, "
        f"{comparison.dof} degrees of freedom",
        caption="fill: blocks and entries of one triangle; error: max |qdd - exact| / max |exact|; "
        "lost: digits beyond those that the condition number forces; "
        "bits: most cancelled / absorbed in one addition" + _conditions(comparison),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("order", no_wrap=True)
    bits = width >= 66 + 32 * len(formats)
    for heading in ("fill", "entries", "flops", "height"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in formats:
        table.add_column(name, justify="right", no_wrap=True)
        table.add_column("digits", justify="right", no_wrap=True)
        table.add_column("lost", justify="right", no_wrap=True)
        if bits:
            table.add_column("bits", justify="right", no_wrap=True)
    for order in dict.fromkeys(row.order for row in comparison.rows):
        rows = {row.format: row for row in comparison.rows if row.order == order}
        first = next(iter(rows.values()))
        cells = [escape(order), *(_number(x) for x in _costs(first))]
        for name in formats:
            cells += _format_cells(rows.get(name))[: 4 if bits else 3]
        table.add_row(*cells)
    return table


def _conditions(comparison: Comparison) -> str:
    """The condition numbers, where they are known."""
    if comparison.kappa is None or comparison.kappa_inertia is None:
        return ""
    return (
        f"; condition number of qdd {comparison.kappa:.2g}, "
        f"of the joint-space inertia {comparison.kappa_inertia:.2g}"
    )


def _costs(row: Row) -> tuple[int | None, ...]:
    return row.fill_blocks, row.fill_entries, row.flops, row.height


def _format_cells(row: Row | None) -> list[str]:
    if row is None or row.error is None:
        return ["[bold]failed[/bold]", "–", "–", "–"]
    digits = row.digits or 0.0
    style = "bold " if digits < 3.0 else ""
    bits = "–" if row.cancelled_bits is None else f"{row.cancelled_bits}/{row.absorbed_bits:.0f}"
    text = f"{row.error:.1e}"
    lost = "–" if row.lost_by_order is None else f"{row.lost_by_order:.1f}"
    return [f"[{style}]{text}[/]" if style else text, f"{digits:.1f}", lost, bits]


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:,}"


def orders_table(rows: list[tuple[str, str, str]]) -> Table:
    """Registered orders: name, what it is, source."""
    table = Table(title="Orders", title_justify="left")
    table.add_column("order", no_wrap=True)
    table.add_column("what it does")
    table.add_column("source")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
