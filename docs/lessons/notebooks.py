"""The lessons as Jupyter notebooks: the cells of the marimo files, as make.py writes them.

What marimo alone understands is said in plain Python: a slider is a number to change, a text that
is computed is IPython's Markdown. Outputs are left out: they are made where the notebook runs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from runner import Cell, Control, Text, spaced

CONTROL = re.compile(r"(\w+) = mo\.ui\.")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ABOUT = (
    "Run each cell with Shift and Enter, from the top. On the site (`make site`) the same lesson "
    "is a page to read, with its pictures; [all lessons](README.md)."
)
STYLE = 'style = "light"  # or "dark", as the pictures are to be'


def notebook(path: Path, cells: list[Cell]) -> str:
    """The .ipynb of a lesson that has run, in format 4.5."""
    written: list[dict[str, Any]] = []
    controls: list[str] = []
    for cell in cells:
        found = CONTROL.match(cell.source)
        controls += [found[1]] if found else []
        kind, text = _cell(cell, controls)
        if not written:  # the cell that imports marimo
            text = STYLE
        elif len(written) == 1:  # the heading, and under it how to run
            text = text.replace("\n", f"\n\n{ABOUT.format(stem=path.stem)}\n", 1)
        hidden = {"jupyter": {"source_hidden": True}} if cell.hidden and kind == "code" else {}
        more = {"execution_count": None, "outputs": []} if kind == "code" else {}
        written.append(
            {
                "cell_type": kind,
                "id": f"{path.stem}-{len(written) + 1}",
                "metadata": hidden if written else {},  # how pictures look is there to be changed
                "source": text.splitlines(keepends=True),
                **more,
            }
        )
    heading = written.pop(1)
    whole = {"cells": [heading, *written], "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(cell: Cell, controls: list[str]) -> tuple[str, str]:
    """Its kind in Jupyter, and its text."""
    if isinstance(cell.output, Text) and cell.hidden:
        return "markdown", cell.output.text
    if isinstance(cell.output, Control):
        control = cell.output
        choice = f"{control.label}: {control.said.removeprefix('a slider ')}"
        line = f"{controls[-1]} = {control.value!r}"
        return "code", f"# {choice}. Change it, and run what follows again\n{line}"
    text = spaced(cell.source)
    for name in controls:
        text = re.sub(rf"\b{name}\.value\b", name, text)
    if "mo.md(" in text:
        text = "from IPython.display import Markdown\n\n" + text.replace("mo.md(", "Markdown(")
    return "code", text
