"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ..comparison import Comparison, Gradients, Row

GAP = 3  # between two columns
COSTS = 45  # width of fill, entries, operations and height
BITS = (
    "; bits: leading bits that one addition cancels at most, and trailing bits that it rounds away at "
    "most; reach: bits at the end of qdd that rounding takes, by what is cancelled after it; they rank "
    "orders as errors do"
)
STAR = "; *: fewer than half of the format's digits"
WIDTHS = {3: 24, 5: 40}  # of a format with so many columns


def counted(composites: str, choice: bool = False) -> str:
    """What the operations of an order are; with ``choice``, what an option makes of them."""
    blocks, ten = "as 6 x 6 blocks", "as ten numbers"
    own, name, other = (blocks, "rigid", ten) if composites == "general" else (ten, "general", blocks)
    told = f" (--composites {name}: {other})" if choice else ""
    return f"from the entries of (4) to qdd, composite inertias {own}{told}"


def in_kernel(composites: str) -> str:
    """What the operations of compiled code are, which forms composites as the order says."""
    formed = "ten numbers" if composites in ("rigid", "centre") else "6 x 6 blocks"
    return (
        "from joint positions, rates and efforts, poses and bias with them, what several entries have in "
        f"common formed once, composite inertias as {formed}"
    )


class _Console(Console):
    wraps = False  # whether lines of text are left to whoever shows them

    def say(self, *lines: str) -> None:
        """Lines of text as they are, whatever brackets they hold."""
        for line in lines:
            self.print(line, soft_wrap=self.wraps, markup=False)

    def on_broken_pipe(self) -> None:
        """A reader that has seen enough is no failure: left to whoever started the command."""
        raise BrokenPipeError


def console(file: IO[str], wide: bool = False) -> _Console:
    """A console that does not squeeze tables when the output is not a terminal."""
    made = _Console(file=file, highlight=False, emoji=False)  # chain:100 is no :100:
    if not made.is_terminal or (wide and made.width < 100):
        made.width = max(made.width, 132)
    # a pipe gets whole lines; a terminal whole words, unless the console is wider than it
    made.wraps = wide or not made.is_terminal
    return made


def grid(
    title: str,
    heads: Iterable[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    words: Container[str] = (),
    wrapped: Container[str] = (),
    caption: str = "",
) -> Table:
    """Lines under headings: the one table of all commands.

    Columns are numbers, at the right, but for those of ``words``; none is broken but those that are
    ``wrapped``, and what is no Text is printed as it is, whatever brackets it holds.
    """
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=escape(title) or None,
        title_justify="left",
        caption=escape(caption) or None,
        caption_justify="left",
    )
    for head in heads:
        justify: Any = "left" if head in words else "right"
        table.add_column(escape(head), justify=justify, no_wrap=head not in wrapped)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else escape(cell) for cell in row))
    return table


def comparison_tables(comparison: Comparison, width: int, bits: bool = False) -> list[Table]:
    """One line an order; error, digits and, where they are asked for, bits of each format.

    Formats that find no room beside the costs or the others follow in another table.
    """
    robot = comparison.counted[0] == "bodies"
    orders = list(dict.fromkeys(row.order for row in comparison.rows))
    formats = list(dict.fromkeys(row.format for row in comparison.rows))
    shown = 5 if bits else 3 if robot else 2
    taken = max(len(order) for order in ("order", *orders)) + GAP
    groups: list[list[str]] = [[]]
    room = width - taken - COSTS
    for name in formats:
        need = max(len(name), 7) + GAP + (WIDTHS[max(shown, 3)] - 8)
        if need > room and (groups[-1] or len(groups) == 1):
            groups.append([])
            room = width - taken
        groups[-1].append(name)
        room -= need
    tables = [
        _table(comparison, orders, group, shown, costs=number == 0) for number, group in enumerate(groups)
    ]
    first = tables[0]
    first.title = escape(f"{comparison.model}: {_sizes(comparison)}")
    first.caption = (
        "fill: blocks off the diagonal, of one triangle, that were zero in the matrix and become "
        f"nonzero{', in random orders at most so many' * robot}; entries: numbers in them; operations: "
        "additions, multiplications, divisions and roots "
        + (counted(comparison.composites, choice=True) if robot else "from A and b to x")
        + "; both triangles: as 6 x 6 blocks" * any("both triangles" in order for order in orders)
        + "; height: pivots that wait for each other; under a format's name the error, "
        f"max |{'qdd' if robot else 'x'} - exact| / max |exact|, where exact is the answer for "
        f"{comparison.data}; digits: how many are right against it"
        + "; lost: those beyond what the condition number forces" * robot
        + BITS * bits
        + _conditions(comparison)
        + _marks(comparison)
    )
    return tables


def _sizes(comparison: Comparison) -> str:
    """Of how many bodies and freedoms a robot is, or of how many blocks and unknowns a matrix."""
    of_matrix = ("block", "blocks"), ("unknown", "unknowns")
    of_robot = ("body", "bodies"), ("degree of freedom", "degrees of freedom")
    names = of_robot if comparison.counted[0] == "bodies" else of_matrix
    counts = zip((comparison.bodies, comparison.dof), names, strict=True)
    return ", ".join(f"{n} {told[n != 1]}" for n, told in counts)


def _table(comparison: Comparison, orders: list[str], formats: list[str], shown: int, costs: bool) -> Table:
    """The lines of some formats; beside the first of them, costs, which depend on none."""
    heads = ["order", *(["fill", "entries", "operations", "height"] if costs else [])]
    for name in formats:
        heads += [name, "digits", "lost", "bits", "reach"][:shown]

    def cells(order: str) -> Iterator[str | Text]:
        rows = {row.format: row for row in comparison.rows if row.order == order}
        yield order
        if costs:
            # costs do not depend on the format, but one that has no answer may not know them
            row = max(rows.values(), key=lambda row: row.fill_blocks is not None)
            yield from map(_number, (row.fill_blocks, row.fill_entries, row.flops, row.height))
        for name in formats:
            yield from _format_cells(rows.get(name))[:shown]

    return grid("", heads, map(cells, orders), words=("order",))


def _conditions(comparison: Comparison) -> str:
    """The condition numbers, where they are known."""
    if comparison.kappa is None or comparison.kappa_inertia is None:
        return ""
    return (
        f"; condition number of qdd {comparison.kappa:.2g}, "
        f"of the joint-space inertia {comparison.kappa_inertia:.2g}"
    )


def _marks(comparison: Comparison) -> str:
    """What the star beside an error says, where there is one."""
    if not any(row.marked for row in comparison.rows):
        return ""
    return f"{STAR}, by the error or by what (4) leaves"


def _format_cells(row: Row | None) -> list[str | Text]:
    if row is None:  # not asked for: what is no float is not refined
        return ["–"] * 5
    if row.error is None:
        return [Text("failed", "bold"), *["–"] * 4]
    digits = row.digits or 0.0
    bits = "–" if row.cancelled_bits is None else f"{row.cancelled_bits}/{row.absorbed_bits:.0f}"
    reach = "–" if row.reached_bits is None else f"{row.reached_bits:.1f}"
    text = f"{row.error:.1e}{'*' if row.marked else ''}"
    lost = "–" if row.lost_by_order is None else f"{row.lost_by_order:.1f}"
    error = Text(text, "bold") if digits < 3.0 else text
    return [error, f"{digits:.1f}", lost, bits, reach]


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:,}"


def derivatives_table(model: str, rows: Sequence[Gradients]) -> Table:
    """Digits of qdd and of its derivatives, one order in one format a line."""
    from ..comparison.gradients import FIELDS

    def cells(row: Gradients) -> Iterator[str]:
        yield from (row.order, f"{row.format}{'*' if row.marked else ''}", _number(row.operations))
        if row.refused is None:
            yield from (f"{row.digits[name] or 0.0:.1f}" for name in FIELDS)
        else:
            yield from ("none", *("" for _ in FIELDS[1:]))

    return grid(
        f"{model}: correct digits of qdd and of its derivatives",
        ("order", "format", "operations", *FIELDS),
        map(cells, rows),
        words=("order", "format"),
        caption="of the largest entry of each, against 50 proved digits for the data as rounded to "
        "the format, so that the arithmetic alone is judged; data alone: what rounding the data "
        "leaves, whatever the order; operations: of all of them together"
        + STAR
        * any(row.marked for row in rows),
    )
