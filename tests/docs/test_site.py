"""The documentation: what it shows runs, what it links to is there, what is public is in it."""

import re
import shlex
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from helpers import ROOT

from pivotree.analysis.cli import main
from pivotree.analysis.cli.arguments import joined, parser

SITE = ROOT / "docs" / "site"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [ROOT / "docs" / name for name in ("tutorial.md", "howto.md")]


def built():
    """The module that builds the site; docs is no package."""
    found = spec_from_file_location("site_build", SITE / "build.py")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def blocks(page, language):
    return [code for kind, code in FENCE.findall(page.read_text()) if kind == language]


def command_lines(page):
    """Lines that begin with the command's name, in fences and in indented code."""
    text = page.read_text()
    lines = [line for _, code in FENCE.findall(text) for line in code.splitlines()]
    lines += [line[4:] for line in text.splitlines() if line.startswith("    ")]
    lines = [line.removeprefix(".venv/bin/") for line in lines]
    return [line for line in lines if line.startswith("pivotree ") and "[" not in line]


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text().split()) <= 700


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_pages_are_commands(page):
    for line in command_lines(page):
        words = shlex.split(line, comments=True)[1:]
        words = words[: words.index("|")] if "|" in words else words
        try:
            parser().parse_args(joined(words))
        except SystemExit:
            pytest.fail(line)


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", *RUN], ids=lambda page: page.name)
def test_python_on_pages_runs(page, capsys):
    space = {"__name__": "page"}
    code = blocks(page, "python")
    assert code
    for block in code:
        exec(compile(block, page.name, "exec"), space)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_commands_of_the_tutorial_and_the_how_to_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(lines) > 3
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0, line


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
    pages = {
        path.resolve(): Links(path) for path in html.rglob("*.html") if "play" not in path.parts
    }
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


def test_the_command_line_page_is_the_parsers():
    text = built().commands()
    for name in ("compare", "solve", "export"):
        assert f"## pivotree {name}\n" in text
    assert Path(SITE / "conf.py").exists() and "--random SEED" in text
