"""The lessons as pages (prose, code, what it prints, its pictures) and as Jupyter notebooks.

    make lessons
    make lessons FURTHER="swing_up reach"  (needs pip install -e ".[jax,robots]")

The notebooks are kept here; pages of the six lessons and of mpc are made for the site.  The further
ones need extras, and their pages are kept, too.  A lesson is run twice, for light and
for dark pictures; the text must be the same but for times.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import png
from generated import blank
from matplotlib.figure import Figure
from notebooks import notebook
from runner import FURTHER, HERE, LESSONS, MADE, Cell, Control, Text, run, spaced

from pivotree.analysis.explorer import Embedded
from pivotree.kkt.base import write_whole

TIMES = re.compile(r"\d+ s, a Jacobian in \d+ ms")  # no two runs take the same
DPI, COLOURS = 110, 24


def title(path: Path) -> str:
    """The first line of a notebook's docstring, without its full stop."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
    return doc.splitlines()[0].rstrip(".")


def page(path: Path, cells: list[Cell]) -> str:
    """The Markdown of a lesson that has run."""
    about = (
        f"To run it: [for Jupyter]({path.stem}.ipynb), [for marimo]({path.name}) "
        f"(`marimo edit docs/lessons/{path.name}`). [All lessons](README.md)."
    )
    parts: list[str] = []
    count = 0
    for cell in cells:
        if not cell.hidden and cell.source:
            parts.append(f"```python\n{spaced(cell.source)}\n```\n")
        if cell.printed.strip():
            parts.append(f"```text\n{cell.printed.rstrip()}\n```\n")
        if isinstance(cell.output, Figure):
            count += 1
            parts.append(_image(path.stem, count))
        elif isinstance(cell.output, Text):
            text = cell.output.text
            if not parts:  # the heading, and under it where the notebook is
                text = text.replace("\n", f"\n\n{about}\n", 1)
            parts.append(text + "\n")
        elif isinstance(cell.output, Control):
            parts.append(
                f"> {cell.output.label}: {cell.output.value} (here; in the notebook {cell.output.said})\n"
            )
        elif isinstance(cell.output, Embedded):
            parts.append(_play(cell.output.scene))
        elif cell.output is not None:
            parts.append(f"> {cell.output}\n")
    if path in LESSONS:
        parts.append(_links(LESSONS.index(path) + 1))
    return "\n".join(parts)


def _play(scene: int | None) -> str:
    """Where to play with what a lesson is about; the site shows the page itself there."""
    what, place = ("The whole tool", "tool") if scene is None else (f"Scene {scene}", f"scene={scene}")
    return (
        f"> **Play it.** {what} of [the page to play with](../play.md) does this with a click:\n"
        f"> `pivotree explore chain:3 -o page.html`, then open `page.html#{place}`.\n"
    )


def _links(lesson: int) -> str:
    """To the lessons before and after."""
    near = [("before", lesson - 2), ("next", lesson)]
    found = [(how, LESSONS[i]) for how, i in near if 0 <= i < len(LESSONS)]
    return "---\n\n" + " · ".join(f"{how}: [{title(p)}]({p.stem}.md)" for how, p in found) + "\n"


def _image(stem: str, count: int) -> str:
    light, dark = (f"pictures/{stem}_{count}{end}.png" for end in ("", "_dark"))
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img alt="picture {count} of this lesson" src="{light}"></picture>\n'
    )


def write(folder: Path, drawn: bool) -> None:
    """Pages of the lessons and the answers, for the site."""
    from key import answers

    for path in MADE:
        write_page(path, folder, drawn)
    write_whole(folder / "answers.md", answers())
    if not drawn:
        blank(folder)


def write_page(path: Path, folder: Path, drawn: bool) -> list[Cell]:
    """A lesson's page and pictures; its cells, run."""
    cells = run(path)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{path.stem}.md", page(path, cells))
    if drawn:
        dark = run(path, "dark")
        if TIMES.sub("", page(path, dark)) != TIMES.sub("", page(path, cells)):
            raise SystemExit(f"{path.name}: the text depends on the theme")
        for end, some in (("", cells), ("_dark", dark)):
            figures = [cell.output for cell in some if isinstance(cell.output, Figure)]
            for count, figure in enumerate(figures, start=1):
                png.write(figure, folder / "pictures" / f"{path.stem}_{count}{end}.png", DPI, COLOURS)
    return cells


def main(names: list[str]) -> None:
    """Write the notebooks of all lessons that need no extra; or of some further ones, with their pages."""
    for path in [path for path in FURTHER if path.stem in names] or MADE:
        print(path.name, file=sys.stderr, flush=True)
        cells = write_page(path, HERE, drawn=True) if path in FURTHER else run(path)
        write_whole(path.with_suffix(".ipynb"), notebook(path, cells))


if __name__ == "__main__":
    main(sys.argv[1:])
