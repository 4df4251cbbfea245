"""The site: what it links to is there, what is public is in it, and it needs no network."""

import inspect
import re
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from helpers import ROOT

SITE = ROOT / "docs" / "site"
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


def built():
    """The module that builds the site; docs is no package."""
    found = spec_from_file_location("site_build", SITE / "build.py")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_build_that_is_ended_leaves_the_old_site(tmp_path, monkeypatch):
    build, old = built(), tmp_path / "html" / "old.html"
    old.parent.mkdir()
    old.write_text("old")

    def half(folder):
        (folder / "html").mkdir()
        (folder / "html" / "new.html").write_text("new")
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "built", half)
    with pytest.raises(KeyboardInterrupt):
        build.build(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [old]


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_the_reference_has_all_that_is_public():
    """Every folder and module of analysis that has an ``__all__``, found by reading the files."""
    told = built().public()
    public = {"pivotree.kkt", "pivotree.orderings", "pivotree.papers"}
    for path in sorted((ROOT / "analysis").glob("*")):
        face = path / "__init__.py" if path.is_dir() else path
        if face.exists() and face.name != "__main__.py" and "\n__all__ = [" in face.read_text():
            public.add(".".join(("pivotree", *path.relative_to(ROOT).with_suffix("").parts)))
    public.discard("pivotree.analysis.__init__")
    assert len(public) == 18
    things = {id(getattr(import_module(m), name)) for m, names in told.items() for name in names}
    for module in public:
        loaded = import_module(module)
        for name in loaded.__all__:
            thing = getattr(loaded, name)
            assert inspect.ismodule(thing) or id(thing) in things, f"{module}.{name}"


class Links(HTMLParser):
    """What a page points to, and the places in it that others may point to."""

    def __init__(self, path):
        super().__init__()
        self.to, self.ids = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        self.to += [found[key] for key in ("href", "src") if found.get(key)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    build = built()
    assert build.build(folder) == []
    return build, folder / "html"


@pytest.mark.slow
def test_no_link_of_the_site_is_dead(site):
    _, html = site
    pages = {path.resolve(): Links(path) for path in html.rglob("*.html") if "play" not in path.parts}
    assert len(pages) > 60
    dead = []
    for path, page in pages.items():
        for link in page.to:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("https", "mailto", "data"), (path, link)
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            inside = pages.get(target)
            anchor = unquote(parts.fragment)
            missing = inside is not None and anchor and anchor not in inside.ids
            # a page of source leads back to a name that is told under another package
            if not target.exists() or (missing and "_modules" not in path.parts):
                dead.append(f"{path.relative_to(html)}: {link}")
    assert not dead, "\n".join(sorted(set(dead)))


@pytest.mark.slow
def test_every_public_name_is_in_the_reference_and_found_by_search(site):
    build, html = site
    for module, names in build.public().items():
        page = Links(html / "docs" / "reference" / f"{module.replace('.', '_')}.html")
        assert {f"{module}.{name}" for name in names} <= page.ids, module
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    assert "inverse_dynamics" in index and "pivotree.kkt" in index


@pytest.mark.slow
def test_the_site_needs_no_network(site):
    _, html = site
    for path in html.rglob("*.html"):
        for link in re.findall(
            r'<(?:script|link|img|source)[^>]*?(?:src|href)="(http[^"]*)', path.read_text()
        ):
            pytest.fail(f"{path}: {link}")
    assert (html / "play" / "chain_3.html").stat().st_size > 50_000
    assert 'src="../play/chain_3.html"' in (html / "docs" / "play.html").read_text()
    assert "@media print" in (html / "_static" / "site.css").read_text()
    elsewhere = (html.parent / "links_elsewhere.txt").read_text().split()
    assert len(elsewhere) > 20 and all(link.startswith("https://") for link in elsewhere)


@pytest.mark.slow
def test_lessons_and_the_page_to_play_with_know_each_other(site):
    _, html = site
    play = (html / "play" / "chain_3.html").read_text(encoding="utf-8")
    assert '"lessons":"../docs/lessons/"' in play
    shown = set()
    for path in sorted((html / "docs" / "lessons").glob("[1-6]_*.html")):
        text = path.read_text(encoding="utf-8")
        shown |= set(re.findall(r'<iframe src="../../play/chain_3.html#(\S+?)"', text))
        assert "<code>page.html" not in text and path.name[:-5] in play + "6_your_order"
    assert shown == {f"scene={k}" for k in range(1, 6)} | {"tool"}


def test_the_command_line_page_is_the_parsers():
    text = built().commands()
    for name in ("compare", "solve", "export"):
        assert f"## pivotree {name}\n" in text
    assert Path(SITE / "conf.py").exists() and "--random SEED" in text


@pytest.fixture(scope="module")
def phone(chromium):
    """A page of Chromium that is 390 pixels wide."""
    return chromium.new_page(viewport={"width": 390, "height": 844})


def test_what_is_too_wide_is_found(phone):
    scrolls = '<pre style="overflow: auto"><div style="width: 900px">scrolls</div></pre>'
    phone.set_content(f'<div style="width: 500px">wide</div>{scrolls}')
    assert phone.evaluate(WIDE) == ["DIV to 508 px: wide"]


@pytest.mark.slow
def test_no_page_of_the_site_or_of_the_explorer_is_wider_than_a_phone(site, phone):
    _, html = site
    apart = {"_modules", "slides", "play"}  # listings of code; slides turn; below
    pages = [p for p in sorted(html.rglob("*.html")) if not apart & set(p.parts)]
    pages.remove(html / "index.html")  # leads on to docs/index.html
    assert len(pages) > 60
    phone.route("**/play/*.html", lambda route: route.abort())  # frames of the explorer
    wide = {}
    for page in pages:
        phone.goto(page.as_uri())
        if found := phone.evaluate(WIDE):
            wide[page.relative_to(html).as_posix()] = found
    phone.unroute("**/play/*.html")
    for page in sorted((html / "play").glob("*.html")):
        for place in (*(f"scene={k}" for k in range(1, 6)), "tool", "order=crbm@2"):
            phone.goto("about:blank")
            phone.goto(f"{page.as_uri()}#{place}")
            phone.locator(".grid svg >> visible=true").first.wait_for()
            if found := phone.evaluate(WIDE):
                wide[f"{page.name}#{place}"] = found
    assert wide == {}
