"""Slides of two lectures and an exam sheet: ``python docs/slides/make.py [FOLDER]``.

lecture.md is the source of both lectures (``make slides``): slides stand between lines of ---, and
those that begin with <!-- 90 --> belong to the longer one.  ``{{...}}`` is a number of facts.py,
asked of the engine; a picture whose address is KIND MODEL [ORDERS] [STEP] is a figure of that kind,
and one whose address is scene N that scene of the explorer, live.  <!-- note 3: ... --> is what the
speaker says, in so many minutes.  Written are HTML files that need no more than explorer.html beside
them, and the same as PDF where Chromium is installed.
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import subprocess
import tempfile
from functools import cache
from html import escape
from pathlib import Path

import exam
import facts
from markdown_it import MarkdownIt

from pivotree import orderings
from pivotree.analysis.explorer import explorer_data, write_page
from pivotree.analysis.figures import KINDS, Request, caption, write

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIGURE = re.compile(r"^!\[(?P<alt>[^\]]+)\]\((?P<what>[^)]+)\)$", re.M)
NUMBER = re.compile(r"\{\{(.+?)\}\}")
SCENE = re.compile(r"^!\[(?P<alt>[^\]]+)\]\(scene (?P<number>\d)\)$", re.M)
NOTE = re.compile(r"^<!-- note (?P<minutes>\d+): (?P<text>.*?) -->$", re.M | re.S)
MARK = "<!-- 90 -->"
EXPLORED = "chain:3"
SPACE = {name: getattr(facts, name) for name in dir(facts) if not name.startswith("_")}


def build(folder: Path) -> list[Path]:
    """Write both lectures and both sheets into a folder; the files, PDFs last."""
    folder.mkdir(parents=True, exist_ok=True)
    source = (HERE / "lecture.md").read_text(encoding="utf-8")
    slides = [text.strip() for text in re.split(r"^---$", source, flags=re.M)]
    pages = {
        "lecture_45": deck([s for s in slides if not s.startswith(MARK)]),
        "lecture_90": deck(slides),
        "exam": sheet(answers=False),
        "exam_answers": sheet(answers=True),
    }
    files = [folder / "explorer.html"]
    write_page(explorer_data(facts.system(EXPLORED), EXPLORED), files[0])
    for name, text in pages.items():
        files.append(folder / f"{name}.html")
        files[-1].write_text(text, encoding="utf-8")
    return files + [pdf for file in files[1:] if (pdf := printed(file)) is not None]


def deck(slides: list[str]) -> str:
    """One page of HTML that turns slides."""
    sections = []
    for k, text in enumerate(slides, 1):
        body = shown(text.removeprefix(MARK).strip())
        place = f'<span class="place">{k} / {len(slides)}</span>' if k > 1 else ""
        sections.append(f"<section>{body}{place}</section>")
    script = (HERE / "deck.js").read_text(encoding="utf-8")
    return _page("deck.css", "\n".join(sections), f"<script>{script}</script>")


def sheet(answers: bool) -> str:
    """The exam on paper."""
    return _page("sheet.css", MarkdownIt("commonmark", {"html": True}).render(exam.sheet(answers)))


def _page(style: str, body: str, more: str = "") -> str:
    css = (HERE / style).read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Pivotree</title>'
        f"<style>{css}</style><body>{body}{more}</body></html>\n"
    )


@cache
def shown(text: str) -> str:
    """A slide as HTML, its numbers asked of the engine and its figures drawn; both lectures share it."""
    text = NUMBER.sub(lambda match: str(eval(match[1], {**SPACE, "orderings": orderings})), text)
    text = NOTE.sub(r'<aside class="note" data-minutes="\g<minutes>">\g<text></aside>', text)
    frame = r'<iframe title="\g<alt>" src="explorer.html#scene=\g<number>"></iframe>'
    text = SCENE.sub(f'<div class="figure live">{frame}</div>', text)
    text = FIGURE.sub(lambda match: figure(match["alt"], match["what"]), text)
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(text)


def figure(alt: str, what: str) -> str:
    """A figure of a kind, inside the page as SVG."""
    kind, model, *rest = what.split()
    step = next((int(item) for item in rest if item.isdigit()), None)
    orders = next((tuple(item.split(",")) for item in rest if not item.isdigit()), ())
    width = "single" if kind == "spy" else "double"  # letters of one picture are read from the last row
    request = Request(facts.system(model), orders, step, width=width)
    with tempfile.TemporaryDirectory() as place:
        svg = write(KINDS[kind], request, Path(place) / "figure.svg").read_bytes()
    told = escape(f"{alt}. {caption(KINDS[kind], request)}", quote=True)
    data = base64.b64encode(svg).decode()
    width, height = (float(re.search(rb' %s="([0-9.]+)' % side, svg)[1]) for side in (b"width", b"height"))
    shape = "figure square" if width < 1.35 * height else "figure"
    return f'<div class="{shape}"><img alt="{told}" src="data:image/svg+xml;base64,{data}"></div>'


def printed(file: Path) -> Path | None:
    """The page as PDF, where Chromium is installed."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    pdf = file.with_suffix(".pdf")
    # some seconds pass for the page, in which its live scenes are drawn
    switches = "--headless --no-sandbox --disable-gpu --no-pdf-header-footer --virtual-time-budget=4000"
    asked = [chromium, *switches.split(), f"--print-to-pdf={pdf}", f"{file.resolve().as_uri()}#all"]
    subprocess.run(asked, check=True, capture_output=True, timeout=120)
    return pdf


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Write the slides and the exam.")
    words.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "build/slides", help="build/slides if not"
    )
    for written in build(words.parse_args().folder):
        print(f"{written} ({written.stat().st_size / 1000:,.0f} kB)")
