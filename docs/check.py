"""Whether the pages are what the code makes now: ``python docs/check.py [PART ...]`` (``make docs-check``).

Each part makes again what is made, compares it with the file that is kept, and says of what differs
which command mends it.  The site is built once, into build/docs; its links are followed, and where
Chromium is installed its pages are laid out as wide as a phone.  Pictures are not drawn again: that
a picture is there, is used, is small enough and has a dark twin is all that is asked of it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import math
import os
import re
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import generated
import nbformat
from generated import beside
from PIL import Image

from pivotree.analysis.explorer.page import SCENES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HTML = ROOT / "build" / "docs" / "html"
MADE = ROOT / "build" / "made"  # pages that are not kept, with dots for pictures
PAGES = [
    path for some in ("*", "benchmarks/*", "docs/**/*", "papers/**/*") for path in ROOT.glob(f"{some}.md")
]
gc.set_threshold(50_000, 20, 20)  # of many small objects, which stay: a sixth of the time otherwise
README_WORDS = 700  # it is read in three minutes
Complaints = Iterator[str]


def stale(path: Path, fresh: str, command: str, apart: str = "(?!)") -> Complaints:
    """Where a file is not what a command writes, but for the words that a pattern leaves out."""
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = [re.sub(apart, "", text).splitlines() for text in (kept, fresh)]
    if lines[0] != lines[1]:
        longest = max(map(len, lines))
        kept_lines, fresh_lines = (x + [""] * (longest - len(x)) for x in lines)
        k = next(i for i in range(longest) if kept_lines[i] != fresh_lines[i])
        told = f"line {k + 1} is {kept_lines[k]!r} and should be {fresh_lines[k]!r}"
        yield f"{path.relative_to(ROOT)}: {told}: run {command}"


# -- pages that code makes -------------------------------------------------------------------------


def orders() -> Complaints:
    """A page for every order, and the tables of all, are made."""
    generated.orders(MADE / "docs" / "orders", False)
    yield from ()


def gallery() -> Complaints:
    """The page of the gallery is made, from the registry of kinds of figures."""
    generated.gallery(MADE / "docs" / "gallery", False)
    yield from ()


def counts() -> Complaints:
    """Operations as polynomials in the number of links."""
    text = (HERE / "counts.md").read_text(encoding="utf-8")
    with beside(HERE) as load:
        page = load("counts_page")
        found = page.gather()
        page.write(MADE / "docs" / "theory", False, found)
        yield from stale(HERE / "counts.md", page.page(found, text), "make counts-page")
        for sentence in page.unsaid(found, text):
            yield f"docs/counts.md: does not say {sentence!r}"


def study() -> Complaints:
    """Tables of the study and of derivatives, from what was measured."""
    with beside(HERE / "study") as load:
        pictures = load("pictures")
        rows = pictures.read()
        for name, fresh in pictures.pages().items():
            yield from stale(HERE / "study" / name, fresh, "python docs/study/pictures.py")
        page = (HERE / "index.md").read_text(encoding="utf-8")
        for line in pictures.table_orders(rows).splitlines()[2:]:
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            row = f"| {name} | {' | '.join(cell.split()[0] for cell in cells[:3])} |"
            if name in ("`crbm`", "`abm`", "`square_root_abm`") and row not in page:
                yield f"docs/index.md: lacks the row {row}"
    with beside(HERE) as load:
        picture = load("derivatives_picture")
        if picture.page(picture.read()) not in (HERE / "derivatives.md").read_text(encoding="utf-8"):
            yield "docs/derivatives.md: its table is not that of derivatives_float32.csv"


# -- lessons ---------------------------------------------------------------------------------------


def lessons() -> Complaints:
    """Lessons that need no extra run; their pages, notebooks and answers are what they say."""
    with beside(HERE / "lessons") as load:
        runner, key = load("runner"), load("key")
        asked: list[str] = []
        for path in runner.MADE:
            cells = load("make").write_page(path, MADE / "docs" / "lessons", False)
            yield from lesson(path, cells, load)
            texts = [cell.output.text for cell in cells if isinstance(cell.output, runner.Text)]
            asked += re.findall(r"\*\*(\d\.\d)\*\*", "".join(texts))
        answers = key.key()
        if asked != list(dict.fromkeys(answer.number[:3] for answer in answers)):
            yield f"docs/lessons/key.py: its answers are not those to the exercises {asked}"
        for answer in answers:
            if (verdict := answer.verdict()).right is not True:
                yield f"docs/lessons/key.py: the answer to {answer.number} is refused: {verdict}"
    (MADE / "docs" / "lessons" / "answers.md").write_text(key.answers(), encoding="utf-8")
    generated.blank(MADE / "docs" / "lessons")
    story = (ROOT / "analysis/explorer/static/scenes.mjs").read_text(encoding="utf-8")
    titles = re.findall(r"^    title: ", story, re.M)
    if len(titles) != SCENES:
        yield f"analysis/explorer/static/scenes.mjs: holds {len(titles)} scenes, not {SCENES}"
    scenes = re.findall(r'lesson: \["(\w+)", "Lesson (\d)"\]', story)  # the first; others have none
    for scene, (stem, number) in enumerate(scenes, start=1):
        text = (MADE / "docs" / "lessons" / f"{stem}.md").read_text(encoding="utf-8")
        if not stem.startswith(number) or f"then open `page.html#scene={scene}`" not in text:
            yield f"docs/lessons/{stem}.py: does not lead to scene {scene}"


def lesson(path: Path, cells: list[Any], load: Callable[[str], ModuleType]) -> Complaints:
    """One lesson's notebook, whose code prints in plain Python what the lesson does."""
    yield from stale(path.with_suffix(".ipynb"), load("notebooks").notebook(path, cells), "make lessons")
    notebook = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, path.name, "exec"), {"__name__": path.stem})
    if printed.getvalue() != "".join(cell.printed for cell in cells):
        yield f"{path.stem}.ipynb: prints something else than {path.name}"


# Digits that a processor sets, times, and what MJX does where it is installed.
APART = (
    r"(?:to_jax: .*\n)?MJX(?::  | is not installed).*|\d(?:\.\d)?e-\d\d"
    r"|\d+ derivatives: off by \d\.\d(?: mm; compiled in \d+ s, a Jacobian in \d+ ms)?"
)
# What the notebooks beside the lessons print: a number of theirs, and what it stays below.
REACHED = {
    "swing_up": [
        (r"off upright by (\S+), ", 0.03),
        (r"turning at (\S+) rad/s", 0.2),
        (r"gradient and difference quotient: (\S+) apart", 1e-6),
    ],
    "reach": [
        (r"off by (\S+) mm; ", 2.0),
        (r"the joints turn at (\S+) rad/s", 0.02),
        (r"difference quotients: (\S+) apart", 1e-6),
    ],
    "mpc": [
        (r"20 steps, condensing in float32: \S+ operations, (\S+) digits", 2.0),
        (r"60 steps, riccati in float64: (\S+),\S+ operations", 8.0),
    ],
}


def further(stems: tuple[str, ...] = tuple(REACHED)) -> Complaints:
    """The notebooks beside the lessons, two with JAX and a robot, reach what their pages say; minutes."""
    with beside(HERE / "lessons") as load:
        for path in (HERE / "lessons" / f"{stem}.py" for stem in stems):
            cells, command = load("runner").run(path), f"make lessons FURTHER={path.stem}"
            if path in load("runner").FURTHER:
                yield from stale(path.with_suffix(".md"), load("make").page(path, cells), command, APART)
            yield from stale(path.with_suffix(".ipynb"), load("notebooks").notebook(path, cells), command)
            printed = "".join(cell.printed for cell in cells)
            for pattern, bound in REACHED[path.stem]:
                for number in re.findall(pattern, printed) or ["nan"]:
                    if not float(number) < bound:
                        yield f"{path.name}: {pattern} is {number}, not below {bound}"


# -- the site --------------------------------------------------------------------------------------


def site() -> Complaints:
    """The site is built; its links lead somewhere, it needs no network, and it has what is public."""
    with beside(HERE / "site") as load:
        for make, place in generated.MAKERS.values():  # where this part is asked for alone
            if make is generated.pictures or not (MADE / place).exists():
                make(MADE / place, False)
        yield from load("build").build(HTML.parent, MADE)
        yield from load("follow").whole(HTML)


def phone() -> Complaints:
    """No page of the site that was built is wider than a phone, and every slide fits."""
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if binary is None or importlib.util.find_spec("playwright") is None:
        print("         left out: it needs Chromium and playwright")
        return
    from playwright.sync_api import sync_playwright

    with beside(HERE / "site") as load, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox", "--disable-gpu"])
        yield from load("follow").too_wide(browser.new_page(viewport={"width": 390, "height": 844}), HTML)
        yield from load("follow").spilt(browser.new_page(viewport={"width": 1280, "height": 720}), HTML)
        browser.close()


# -- small facts -----------------------------------------------------------------------------------


def slides() -> Complaints:
    """The engine says what the exam's answers say, and the sheet without answers has none."""
    with beside(HERE / "slides") as load:
        exam = load("exam")
        yield from (f"exam.md: answer {k} is wrong" for k, right in enumerate(exam.CHECKS, 1) if not right())
        sheets = [exam.sheet(answers) for answers in (True, False)]
    questions = [re.findall(r"^(\d+)\. \(\d+ points\)", sheet, re.M) for sheet in sheets]
    if questions[0] != questions[1] or len(questions[0]) != len(exam.CHECKS):
        yield f"exam.md: has the questions {questions}, and {len(exam.CHECKS)} checks"
    if re.search(r"^ *>", sheets[1], re.M):
        yield "exam.md: the sheet without answers holds one"


PAIR = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'\s*<img\s+alt="[^"]+"\s+src="([^"]+)"[^>]*>\s*</picture>'
)
LINKED = re.compile(r"\]\((?![a-z]+:)([^)\s#]+)")
ALONE = re.compile(r"!\[[^\]]*\]\(([^)]+\.png)\)|<img[^>]+src=\"([^\"]+\.png)")


def corner(path: Path) -> float:
    """How light a picture's first pixel is, from 0 to 255; nan where there is no picture."""
    if not path.exists():
        return math.nan
    with Image.open(path) as image:
        return float(image.convert("L").getpixel((0, 0)))  # type: ignore[arg-type]


def pictures() -> Complaints:
    """A reader of a dark page meets no white picture; what the site alone shows, docs/generated.py draws."""
    undrawn = set(generated.PICTURES)
    for page in PAGES:
        text, place = page.read_text(encoding="utf-8"), page.relative_to(ROOT)
        for dark, light in PAIR.findall(text):
            named = "_dark.".join(light.rsplit(".", 1)) == dark
            if not (named and corner(page.parent / light) > 240 and corner(page.parent / dark) < 40):
                yield f"{place}: {dark} is not {light} on a dark ground"
        alone = [a or b for a, b in ALONE.findall(PAIR.sub("", text))]
        yield from (f"{place}: {x} has no dark twin" for x in alone)
        drawn = [page.parent / name for name in re.findall(r"<!-- picture (\w+):", text)]
        undrawn -= {str(path.relative_to(HERE)) for path in drawn}
        unknown = [path for path in drawn if str(path.relative_to(HERE)) not in generated.PICTURES]
        yield from (f"{place}: {path.name} is none of PICTURES in docs/generated.py" for path in unknown)
        for link in LINKED.findall(re.sub(r"<!--.*?-->", "", text)) if page.parent.name != "slides" else ():
            if not (page.parent / link).exists():
                yield f"{place}: {link} is not in a checkout"
    yield from (f"docs/generated.py: no page shows the picture {name}" for name in sorted(undrawn))


def facts() -> Complaints:
    """The README is short, every package has its licence, and tests that pages name are there."""
    words = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    if words > README_WORDS:
        yield f"README.md: has {words} words, more than {README_WORDS}"
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = told["project"]["optional-dependencies"] | told["dependency-groups"]
    every = [one for group in (told["project"]["dependencies"], *extras.values()) for one in group]
    needed = {re.split(r"[^\w-]", one)[0] for one in every if isinstance(one, str)}
    listed = set(re.findall(r"([\w-]+) \([^)]+\)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    yield from (f"CONTRIBUTING.md: lists no licence of {name}" for name in sorted(needed - listed))
    for page in PAGES:
        for name in sorted(set(re.findall(r"\btests/[\w/]+\.\w+", page.read_text(encoding="utf-8")))):
            if not (ROOT / name).exists() and name != "tests/soaked.txt":  # made by make soak
                yield f"{page.relative_to(ROOT)}: {name} is not there"


PARTS: dict[str, Callable[[], Complaints]] = {
    part.__name__: part
    for part in (site, phone, facts, pictures, gallery, study, slides, lessons, orders, counts, further)
}
# Two processes take these in turn, the longest first: what makes pages, and then the site of them.
# further is run by tests of peers, beside others.
FIRST = [["counts"], ["orders"], ["lessons"], ["gallery"]]
THEN = [["site", "phone"], ["facts", "pictures", "study", "slides"]]


def check(names: list[str]) -> int:
    """The number of complaints of some parts; each is printed, and the seconds of each part."""
    with beside(ROOT / "tests") as load:  # a lesson and its notebook lower the same programs
        import_module("pivotree.kkt.tape.trace").lower = load("tapes").lowered_once
    found = 0
    for name in names:
        began, used = time.perf_counter(), sum(os.times()[:4])
        complaints = list(PARTS[name]())
        took = f"{time.perf_counter() - began:6.1f} s ({sum(os.times()[:4]) - used:.0f} s of processors)"
        lines = [f"{took}  {name}: {PARTS[name].__doc__}", *(f"    {one}" for one in complaints)]
        print("\n".join(lines), flush=True)
        found += len(complaints)
    return found


if __name__ == "__main__":
    if unknown := [name for name in sys.argv[1:] if name not in PARTS]:
        sys.exit(f"docs/check.py: part {unknown[0]!r} is unknown; use one of {', '.join(PARTS)}")
    if not sys.argv[1:]:
        shutil.rmtree(MADE, ignore_errors=True)
    with ProcessPoolExecutor(2) as pool:
        stages = [[sys.argv[1:]]] if sys.argv[1:] else [FIRST, THEN]
        count = sum(sum(pool.map(check, stage)) for stage in stages)
    if count:
        sys.exit(f"{count} places of the docs are not what the code makes")
