"""Whether the site that is built is whole: its links, its reference, and how wide its pages are.

``python docs/check.py site phone`` asks; nothing here builds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from build import ROOT, public

TAUGHT = {f"scene={k}" for k in range(1, 6)} | {"tool"}  # of the explorer, each in a lesson
PLACES = sorted(TAUGHT | {"scene=6", "scene=7", "order=crbm@2"})
# what reaches beyond the right edge, unless it stands in something that scrolls or hides it
WIDE = """() => {
  const kept = (e) => {
    for (let a = e; a && a !== document.body; a = a.parentElement) {
      const { overflowX, position } = getComputedStyle(a);
      if ((a !== e && overflowX !== "visible") || position === "fixed") return true;
    }
    return false;
  };
  const said = [];
  for (const e of document.body.querySelectorAll("*")) {
    const { width, height, right } = e.getBoundingClientRect();
    if (width && height && right > innerWidth + 1 && !kept(e))
      said.push(`${e.tagName} to ${Math.round(right)} px: ${e.textContent.trim().slice(0, 40)}`);
  }
  return said.slice(0, 3);
}"""
# what reaches beyond the slide that is shown
SPILT = """() => {
  const slide = document.querySelector("section.now"), box = slide.getBoundingClientRect();
  return [...slide.children].filter((c) => {
    const { bottom, right } = c.getBoundingClientRect();
    return bottom > box.bottom + 1 || right > box.right + 1;
  }).map((c) => `${c.tagName} ${c.className}`);
}"""


# most tags of a listing: they colour a word, and lead nowhere
COLOURED = re.compile(r'<span(?: class="[^"]*")?>|</span>')


class Links(HTMLParser):
    """What a page points to, what it loads, and the places in it that others may point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.to: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(COLOURED.sub("", path.read_text(encoding="utf-8")))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.ids |= {value for key in ("id", "name") if (value := found.get(key))}
        links = [value for key in ("href", "src") if (value := found.get(key))]
        self.to += links
        self.loaded += links if tag in ("script", "link", "img", "source", "iframe") else []


def whole(html: Path) -> Iterator[str]:
    """Dead links, what would need a network, and what the reference and the lessons leave out."""
    pages = {path.resolve(): Links(path) for path in html.rglob("*.html") if "play" not in path.parts}
    for path, page in sorted(pages.items()):
        place = path.relative_to(html.resolve())
        yield from (f"{place}: {link} leads nowhere" for link in dead(path, page, pages))
        for link in page.loaded:
            if urlsplit(link).scheme in ("http", "https"):
                yield f"{place}: loads {link}"
    for module, names in public().items():
        told = pages[html.resolve() / "docs" / "reference" / f"{module.replace('.', '_')}.html"].ids
        yield from (f"reference: leaves out {module}.{x}" for x in names if f"{module}.{x}" not in told)
    yield from unlisted()
    lessons = sorted((html / "docs" / "lessons").glob("[1-6]_*.html"))
    texts = "".join(path.read_text(encoding="utf-8") for path in lessons)
    shown = set(re.findall(r'<iframe src="../../play/chain_3.html#(\S+?)"', texts))
    if shown != TAUGHT:
        yield f"lessons: show {sorted(shown)} of the explorer, not {sorted(TAUGHT)}"
    if '"lessons":"../docs/lessons/"' not in (html / "play" / "chain_3.html").read_text(encoding="utf-8"):
        yield "play/chain_3.html: does not lead to the lessons"


@cache
def target_of(folder: Path, link: str) -> Path | None:
    """The file that a link of a page in this folder leads to; pages of a folder share most of theirs."""
    target = (folder / unquote(link)).resolve()
    return target if target.exists() else None


def dead(path: Path, page: Links, pages: dict[Path, Links]) -> Iterator[str]:
    """Links of a page that lead to no file, or to no place of one of the pages."""
    for link in page.to:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = target_of(path.parent, parts.path) if parts.path else path
        anchor, inside = unquote(parts.fragment), pages.get(target) if target else None
        # a page of source leads back to a name that is told under another package; a scene is no element
        asked = anchor and inside is not None and "_modules" not in path.parts and anchor not in PLACES
        if target is None or (asked and anchor not in inside.ids):
            yield link


def unlisted() -> Iterator[str]:
    """Names that the code exports and the reference does not know: every ``__all__`` that a file has."""
    things = {id(getattr(import_module(module), x)) for module, names in public().items() for x in names}
    faces = [ROOT / room / "__init__.py" for room in ("kkt", "orderings", "papers")]
    rooms = [*(ROOT / "analysis").glob("*/__init__.py"), *(ROOT / "analysis").glob("[a-z]*.py")]
    for face in [*faces, *sorted(rooms)]:
        parts = ("pivotree", *face.relative_to(ROOT).with_suffix("").parts)
        module = import_module(".".join(parts).removesuffix(".__init__"))
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and id(thing) not in things:
                yield f"docs/site/build.py: its reference leaves out {module.__name__}.{name}"


def too_wide(page: Any, html: Path) -> Iterator[str]:
    """What reaches beyond the right edge of a page, on the site and in the scenes of the explorer."""
    apart = {"_modules", "slides", "play"}  # listings of code; slides turn; below
    paths = [path for path in sorted(html.rglob("*.html")) if not apart & set(path.parts)]
    page.route("**/play/*.html", lambda route: route.abort())  # frames of the explorer
    for path in paths:
        page.goto(path.as_uri())
        yield from (f"{path.relative_to(html)}: {said}" for said in page.evaluate(WIDE))
    page.unroute("**/play/*.html")
    for path in sorted((html / "play").glob("*.html")):
        for place in PLACES:
            page.goto("about:blank")
            page.goto(f"{path.as_uri()}#{place}")
            page.locator(".grid svg >> visible=true").first.wait_for()
            yield from (f"{path.name}#{place}: {said}" for said in page.evaluate(WIDE))


def spilt(page: Any, html: Path) -> Iterator[str]:
    """What reaches beyond a slide of the longer lecture; slides that its PDF lacks."""
    deck = html / "slides" / "lecture_90.html"
    slides = deck.read_text(encoding="utf-8").count("<section>")
    page.goto(deck.as_uri())
    for k in range(1, slides + 1):
        yield from (f"slide {k}: {said} does not fit" for said in page.evaluate(SPILT))
        page.keyboard.press("PageDown")
    if (last := page.evaluate("location.hash")) != f"#{slides}":
        yield f"{deck.name}: its last slide is {last}, not #{slides}"
    if len(re.findall(rb"/Type\s*/Page[^s]", deck.with_suffix(".pdf").read_bytes())) != slides:
        yield f"{deck.stem}.pdf: has not {slides} pages"
