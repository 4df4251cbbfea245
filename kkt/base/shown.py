"""How objects are displayed: a line at a prompt; a table, and a small spy plot, in a notebook.

Results with rows print them as a table of text, and give them to pandas.

Plots are written as SVG by hand, since a matrix must be displayed without matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .errors import ModelError, sentence

if TYPE_CHECKING:
    import pandas
    import scipy.sparse as sp

SIDE = 160  # of a picture [px]
LARGEST = 20_000  # unknowns of a matrix that is drawn
CELLS = 80  # across a picture, at most: entries of larger matrices share cells


class Shown:
    """Gives a class its ``repr`` and its display in a notebook, from a few facts."""

    def facts(self) -> Mapping[str, Any]:
        """The facts to show, in order: "name" first, then numbers, each by what it counts; no None."""
        raise NotImplementedError

    def picture(self) -> str:
        """An SVG element that stands beside the table in a notebook; empty for no picture."""
        return ""

    def __repr__(self) -> str:
        facts = {what: value for what, value in self.facts().items() if value is not None}
        name = sentence(facts.pop("name"), 80)
        told = ", ".join(_told(what, value) for what, value in facts.items())
        return f"<{type(self).__name__} {name}: {told}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(what)}</td>"
            f"<td style='text-align:left'>{escape(_written(value))}</td></tr>"
            for what, value in self.facts().items()
            if value is not None
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


def spy(matrix: sp.csc_array, name: str, letters: Iterable[tuple[slice, slice, str]] = ()) -> str:
    """Where a square matrix has entries, as SVG in the colour of the text around it.

    ``letters`` are written over blocks, (rows, columns, letter), where every entry is a cell.
    """
    size = matrix.shape[0]
    cells = min(size, CELLS)
    entries = matrix.tocoo()
    places = np.unique(np.stack([entries.row.astype(np.int64), entries.col]) * cells // max(size, 1), axis=1)
    marks = "".join(f"M{x} {y}h1v1h-1z" for y, x in places.T)
    told = "".join(
        f"<text x='{(j.start + j.stop) / 2}' y='{(i.start + i.stop) / 2}'>{escape(letter)}</text>"
        for i, j, letter in letters
    )
    side, faint = (2 * SIDE, ".2") if told else (SIDE, "1")
    return (
        f"<svg role='img' aria-label='{escape(name, quote=True)}: where the matrix has entries' "
        f"fill='currentColor' width='{side}' height='{side}' viewBox='-.5 -.5 {cells + 1} {cells + 1}'>"
        f"<rect width='{cells}' height='{cells}' fill='none' stroke='currentColor' "
        f"stroke-width='{cells / SIDE:.3f}'/><path d='{marks}' opacity='{faint}'/>"
        f"<g font-size='3' text-anchor='middle' dominant-baseline='central'>{told}</g></svg>"
    )
