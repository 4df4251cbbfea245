"""How objects are displayed: a line at a prompt; a table in a notebook.

Results with rows print them as a table of text, and give them to pandas.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from .errors import ModelError, sentence

if TYPE_CHECKING:
    import pandas


class Shown:
    """Gives a class its ``repr`` and its display in a notebook, from a few facts."""

    def facts(self) -> Mapping[str, Any]:
        """The facts to show, in order: "name" first, then numbers, each by what it counts."""
        raise NotImplementedError

    def picture(self) -> str:
        """An SVG element that stands beside the table in a notebook; empty for no picture."""
        return ""

    def __repr__(self) -> str:
        facts = dict(self.facts())
        name = sentence(facts.pop("name"), 80)
        told = ", ".join(_told(what, value) for what, value in facts.items())
        return f"<{type(self).__name__} {name}: {told}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(what)}</td>"
            f"<td style='text-align:left'>{escape(_written(value))}</td></tr>"
            for what, value in self.facts().items()
        )
        table = f"<table><caption>{type(self).__name__}</caption>{rows}</table>"
        return f"<div style='display:flex;gap:1em;align-items:center'>{table}{self.picture()}</div>"


class Tabled(Shown):
    """A result with rows: ``print`` shows them as a table, notebooks too, and pandas takes them."""

    shown: ClassVar[tuple[str, ...]]  # columns that are displayed, in order

    def records(self) -> list[dict[str, Any]]:
        """The rows, each as {column: value}, with all columns; they are those of the JSON document."""
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas.  Raises ModelError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ModelError("to_frame", "pandas is not installed", "python -m pip install pandas") from None
        return pandas.DataFrame(self.records())

    def _cells(self) -> list[list[str]]:
        """What is displayed: names of columns, then rows; a column without any value is left out."""
        rows = self.records()
        named = [name for name in self.shown if any(row.get(name) is not None for row in rows)]
        values = [[_cell(row.get(name)) for name in named] for row in rows]
        return [named, *values]

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([repr(self), *lines])

    def _repr_html_(self) -> str:
        head, *rows = [[escape(cell) for cell in row] for row in self._cells()]
        lines = [f"<tr><th>{'</th><th>'.join(head)}</th></tr>"]
        lines += [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows]
        return f"<table><caption>{escape(repr(self))}</caption>{''.join(lines)}</table>"


def _told(what: str, value: Any) -> str:
    return f"{_written(value)} {what}" if isinstance(value, int) else f"{what} {_written(value)}"


def _cell(value: Any) -> str:
    """A value of a table: digits and errors with three figures, nothing for None."""
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else _written(value)


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2g}"
    return f"{value:,}" if isinstance(value, int) else sentence(value, 120)
