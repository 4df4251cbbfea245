"""The lessons as pages (prose, code, what it prints, its pictures) and as Jupyter notebooks.

    make lessons        or        python docs/lessons/make.py
    python docs/lessons/make.py swing_up reach  (needs pip install -e ".[jax,robots]")

Every lesson is run twice, for light and for dark pictures; the text must be the same but for times.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from notebooks import notebook
from PIL import Image
from runner import FURTHER, HERE, LESSONS, Cell, Control, Text, run, spaced

from pivotree.analysis.explorer import Embedded
from pivotree.analysis.figures import settings
from pivotree.kkt.base import beside, write_whole

PICTURES = HERE / "pictures"
TIMES = re.compile(r"\d+ s, a Jacobian in \d+ ms")  # no two runs take the same
_DPI, _COLOURS = 110, 48


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


def pictures(stem: str, cells: list[Cell], theme: str) -> None:
    """Every figure of a lesson as a PNG of few colours."""
    figures = [cell.output for cell in cells if isinstance(cell.output, Figure)]
    for count, figure in enumerate(figures, start=1):
        end = "_dark" if theme == "dark" else ""
        _write_png(figure, PICTURES / f"{stem}_{count}{end}.png")


def _write_png(figure: Figure, path: Path) -> None:
    with settings():
        figure.set_dpi(_DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())
    data = io.BytesIO()
    image = Image.fromarray(pixels).convert("RGB")
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    with beside(path) as part:
        part.write_bytes(data.getvalue())


def main() -> None:
    from key import answers

    PICTURES.mkdir(exist_ok=True)
    chosen = [path for path in FURTHER if path.stem in sys.argv[1:]] or LESSONS
    for path in chosen:
        for old in PICTURES.glob(f"{path.stem}_*.png"):
            old.unlink()
        print(path.name, file=sys.stderr, flush=True)
        texts = []
        for theme in ("light", "dark"):
            cells = run(path, theme)
            pictures(path.stem, cells, theme)
            texts.append(page(path, cells))
        if TIMES.sub("", texts[0]) != TIMES.sub("", texts[1]):
            raise SystemExit(f"{path.name}: the text depends on the theme")
        write_whole(path.with_suffix(".md"), texts[0])
        write_whole(path.with_suffix(".ipynb"), notebook(path, cells))
    if chosen is LESSONS:
        write_whole(HERE / "answers.md", answers())


if __name__ == "__main__":
    main()
