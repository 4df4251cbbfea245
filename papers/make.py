"""Make the papers' pages: ``python papers/make.py [PAPER [ITEM ...]]``.

Runs ``pivotree reproduce`` on each item, keeps the PNG files that the paper's README shows, light and
dark, at half their size and in few colours, and writes its rows into the paper's rows.md: printed,
ours, distance, criterion and state.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from PIL import Image

from pivotree.analysis.cli import main
from pivotree.analysis.cli.commands.reproduce import cells
from pivotree.kkt.base import write_whole
from pivotree.papers import PAPERS
from pivotree.papers.paper import items

COLOURS = 24
MARKS = {
    "met": "✓ met",
    "checked": "✓ checked",
    "missed": "✗ missed",
    "refuted": "≠ refuted",
    "open": "? open",
}
MEANING = """\
A row is **✓ met** where ours meets the criterion, **✓ checked** where it does and the paper prints nothing
of it, **✗ missed** where it does not and the paper is not said to be wrong, **≠ refuted** where ours is a
counterexample to the paper's words, and **? open** where the paper prints nothing to hold ours against,
leaves out what it follows from, or says less than what is examined. The distance is
(ours - printed) / |printed|, of several numbers the largest.
"""


def make(paper: str, only: list[str]) -> None:
    """Pictures and rows of these items of a paper, or of all."""
    here = Path(__file__).parent / paper
    (here / "figures").mkdir(exist_ok=True)
    shown = (here / "README.md").read_text(encoding="utf-8")
    page = here / "rows.md"
    known = sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    for item in items(paper, only or None):
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()) as out:
            main(["reproduce", paper, "--item", item.name, "--json", "-o", folder])
            for path in sorted((Path(folder) / paper).glob("*.png")):
                if f"figures/{path.name}" in shown:
                    (here / "figures" / path.name).write_bytes(reduced(path))
        known[item.name] = section(item.says, json.loads(out.getvalue())["rows"])
        order = [one.name for one in items(paper) if one.name in known]
        write_whole(page, whole(paper, {name: known[name] for name in order}))


def whole(paper: str, known: dict[str, str]) -> str:
    """The page: what the states mean, how many rows are in each, and a section an item."""
    text_ = "".join(known.values())
    count = Counter({state: text_.count(f"| {mark} |") for state, mark in MARKS.items()})
    summary = ", ".join(f"{count[state]} {mark}" for state, mark in MARKS.items())
    head = f"# Rows of {paper}\n\n{MEANING}\n{sum(count.values())} rows: {summary}.\n"
    return head + "".join(f"\n## {name}\n\n{part}" for name, part in known.items())


def sections(page: str) -> dict[str, str]:
    """Item -> what stands below its heading."""
    parts = page.split("\n## ")[1:]
    return {part.partition("\n\n")[0]: part.partition("\n\n")[2].rstrip("\n") + "\n" for part in parts}


def section(says: str, rows: list[dict[str, Any]]) -> str:
    lines = [f"{says}.", "", "| | printed | ours | distance | criterion | |", "|---" * 6 + "|"]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row, MARKS)) + " |")
    whys = list(dict.fromkeys(row["why"] for row in rows if row["why"]))
    return "\n".join([*lines, "", *(f"* {why}" for why in whys)]).rstrip("\n") + "\n"


def reduced(path: Path) -> bytes:
    """A PNG file at half its width and height in at most 64 colours: a seventh of the bytes."""
    data = BytesIO()
    image = Image.open(path).convert("RGB").reduce(2)
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    return data.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:2] or PAPERS:
        make(name, sys.argv[2:])
