"""Build the documentation site: ``python docs/site/build.py [FOLDER]`` (``make docs``).

The pages are the Markdown of the repository, mirrored with what they link to.
Three kinds of page are written here from the code, so that they cannot fall behind it: the command
line, the names that the packages export, and the page to play with. Sphinx turns all of it into
FOLDER/html: static files with a search that needs no server; FOLDER/links_elsewhere.txt lists the
links that leave it, which nothing here can follow. Raises SystemExit where a link, a
picture or a page is missing.

All is made in a hidden folder, whose html then takes the place of the old one: a build that is
ended leaves that one whole, and the next clears its hidden folder away.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from pivotree.analysis.cli.commands import INTERRUPTED
from pivotree.analysis.cli.interrupt import listening
from pivotree.kkt.base.files import clear_parts, made, part_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FACADES = ("pivotree.kkt", "pivotree.kkt.arithmetic", "pivotree", "pivotree.orderings", "pivotree.analysis")
ROOMS = (
    "cheapest",
    "comparison",
    "complements",
    "contact",
    "counts",
    "explorer",
    "figures",
    "gradients",
    "guarantee",
    "inertia",
    "listing",
    "report",
    "rounding",
    "simulation",
    "states",
    "sweep",
)
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
ELSEWHERE = re.compile(r"\]\((https?://[^)\s]+)\)")
PICTURE = re.compile(
    r'<picture>\s*<source[^>]*?srcset="(?P<dark>[^"]+)"[^>]*>\s*'
    r'<img(?=[^>]*?src="(?P<light>[^"]+)")(?=[^>]*?alt="(?P<alt>[^"]*)")[^>]*>\s*</picture>',
    re.S,
)
WRONG = re.compile(
    r"xref_missing|not readable|unknown document|nonexisting document|isn't included"
    r"|undefined label|download file|toctree contains"
)
EXPLORED = ("chain:3", "quadruped")
# what a lesson says of the page where it cannot show it, by the lessons' make.py
PLAYED = re.compile(r"^> \*\*Play it\.\*\* .*\n> .*`page\.html#(?P<place>[a-z=0-9]+)`\.$", re.M)


# a process of the build ends when the build does, and so do those that it forks
CHILD = """import os, runpy, sys
from pivotree.kkt.base.processes import end_with
end_with(int(sys.argv[1]))
os.register_at_fork(after_in_child=lambda: end_with(os.getppid()))
_, _, name, *sys.argv[1:] = sys.argv
sys.path[0] = os.path.dirname(name)
(runpy.run_path if name.endswith(".py") else runpy.run_module)(name, run_name="__main__")
"""


def build(folder: Path) -> list[str]:
    """Write the site into ``folder``/html; the warnings that name something missing."""
    html = made(folder).resolve() / "html"
    clear_parts(html)
    aside = part_of(html)
    old = aside / "old"
    aside.mkdir()
    try:
        missing = built(aside)
        if html.exists():
            html.rename(old)
        for name in ("html", "links_elsewhere.txt"):
            (aside / name).rename(folder / name)
    finally:
        if old.exists() and not html.exists():  # ended between the two
            old.rename(html)
        shutil.rmtree(aside, ignore_errors=True)
    return missing


def built(folder: Path) -> list[str]:
    """Write the site, and what it is made of, into an empty folder."""
    source, html, extra = folder / "source", folder / "html", folder / "extra"
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("papers/**/*.md")]
    pages = [page for page in pages if page.parent != ROOT / "docs" / "slides"]  # made by make.py
    for page in pages:
        mirror(page, source)
    elsewhere = {to for page in pages for to in ELSEWHERE.findall(page.read_text("utf-8"))}
    (folder / "links_elsewhere.txt").write_text("\n".join(sorted(elsewhere)) + "\n", "utf-8")
    index = source / "docs" / "index.md"
    text = index.read_text(encoding="utf-8")
    more = [p.stem for p in sorted((ROOT / "docs").glob("*.md")) if f"\n{p.stem}\n" not in text]
    more.remove("index")
    if more:  # pages that nobody has put into a chapter yet
        text += "\n```{toctree}\n:hidden:\n:caption: More\n" + "\n".join(more) + "\n```\n"
        index.write_text(text, encoding="utf-8")
    reference = source / "docs" / "reference"
    reference.mkdir()
    (reference / "commands.md").write_text(commands(), encoding="utf-8")
    (reference / "api.rst").write_text(api(reference), encoding="utf-8")
    shutil.copyfile(HERE / "conf.py", source / "conf.py")
    (source / "_static").mkdir()
    shutil.copyfile(HERE / "site.css", source / "_static" / "site.css")
    embed(source / "docs" / "play.md")
    log = folder / "warnings.txt"
    sphinx = ["sphinx", "-b", "html", "-q", "-j", "auto", "-w", log, "-d", folder / "doctrees", source, html]
    with child(ROOT / "docs" / "slides" / "make.py", html / "slides") as slides:  # beside the pages
        playground(extra)
        with child(*sphinx) as pages_made:
            told = [one.communicate()[1] for one in (pages_made, slides)]
    if pages_made.returncode or slides.returncode:
        raise SystemExit(told[0] if pages_made.returncode else told[1])
    (html / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>Pivotree</title>'
        '<meta http-equiv="refresh" content="0; url=docs/index.html">'
        '<a href="docs/index.html">Pivotree</a>\n',
        encoding="utf-8",
    )
    lines = log.read_text(encoding="utf-8").replace(f"{source}{os.sep}", "").splitlines()
    return [line for line in lines if WRONG.search(line)]


@contextmanager
def child(*words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a module or a file; it ends with all of its own where the block fails."""
    posix = os.name == "posix"
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(os.getpid()), *map(str, words)],
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0 if posix else None,
    )
    try:
        yield process
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL) if posix else process.kill()
        process.wait()
        raise


# a file of slides, which is nowhere but on the site and where make slides writes it
SLIDES = re.compile(r"`build/slides/(\w+\.html)`")


def mirror(page: Path, source: Path) -> None:
    """One Markdown page, and the files that it shows or links to, under their own paths."""
    text = PICTURE.sub(_both, page.read_text(encoding="utf-8"))

    def linked(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        found = (page.parent / target).resolve()
        if found.is_dir() and (found / "README.md").exists():
            target, found = f"{target.rstrip('/')}/README.md", found / "README.md"
        if found.is_file() and found.suffix != ".md" and found.is_relative_to(ROOT):
            copy = source / found.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, copy)
        return f"{before}{target}{anchor or ''}{after}"

    written = source / page.relative_to(ROOT)
    written.parent.mkdir(parents=True, exist_ok=True)
    text = SLIDES.sub(r'<a href="../../slides/\1">\1</a>', PLAYED.sub(_played, text))
    text = LINK.sub(linked, text)
    beside = sorted(other.stem for other in page.parent.glob("*.md") if other != page)
    if page.name == "README.md" and page.parent != ROOT and beside:  # the pages of a folder
        text += "\n```{toctree}\n:hidden:\n" + "\n".join(beside) + "\n```\n"
    written.write_text(text, encoding="utf-8")


def embed(page: Path) -> None:
    """The page to play with in the place of its picture, which a file has to do with."""
    text = page.read_text(encoding="utf-8")
    start, end = text.index("!["), text.rindex("{.only-dark}") + len("{.only-dark}")
    frame = """<iframe class="play" src="../play/chain_3.html" title="The explorer"></iframe>

<p>In a window of its own: <a href="../play/chain_3.html">a chain of three links</a> ·
<a href="../play/quadruped.html">a quadruped</a></p>"""
    page.write_text(f"{text[:start]}{frame}{text[end:]}", encoding="utf-8")


def _both(match: re.Match[str]) -> str:
    """A picture for light pages and one for dark ones, as the theme's switch asks."""
    alt = match["alt"]
    return f"![{alt}]({match['light']}){{.only-light}}\n![{alt}]({match['dark']}){{.only-dark}}"


def _played(match: re.Match[str]) -> str:
    """The page to play with inside a lesson, at its scene."""
    page = f"../../play/chain_3.html#{match['place']}"
    return (
        f'<p><b>Play it</b>, here or <a href="{page}">on a page of its own</a>:</p>\n'
        f'<iframe src="{page}" title="The explorer" loading="lazy" style="width: 100%; '
        'height: 800px; border: 1px solid #8888; border-radius: 6px"></iframe>\n'
    )


def commands() -> str:
    """The page of the command line, from its own parser."""
    import os

    os.environ["COLUMNS"] = "88"
    from pivotree.analysis.cli.parser import parser

    top = parser()
    choices = next(a.choices for a in top._actions if isinstance(a.choices, dict))
    parts = ["# The command line\n", f"```text\n{top.format_help()}```\n"]
    for name, command in choices.items():
        parts.append(f"## pivotree {name}\n\n```text\n{command.format_help()}```\n")
    return "\n".join(parts)


def public() -> dict[str, list[str]]:
    """Module -> every name that it exports; a name stands where it is met first."""
    found: dict[str, list[str]] = {}
    seen: set[tuple[str, int]] = set()
    rooms = (f"pivotree.analysis.{room}" for room in ROOMS)
    for module in (*FACADES, *rooms, "pivotree.papers"):
        loaded = import_module(module)
        found[module] = []
        for name in sorted(loaded.__all__):
            thing = getattr(loaded, name)
            if inspect.ismodule(thing) or (name, id(thing)) in seen:
                continue
            seen.add((name, id(thing)))
            found[module].append(name)
    return {module: names for module, names in found.items() if names}


def api(folder: Path) -> str:
    """A page for each package, from its docstrings; and the page that lists them."""
    entries = []
    for module, names in public().items():
        loaded = import_module(module)
        lines = [module, "=" * len(module), "", f".. currentmodule:: {module}", ""]
        lines += ["Examples run after these two lines::", "", "    import numpy as np"]
        lines += ["    import pivotree as pt", ""]
        for name in names:
            thing = getattr(loaded, name)
            kind = "data"
            if inspect.isclass(thing):
                kind = "exception" if issubclass(thing, BaseException) else "class"
            elif callable(thing):
                kind = "function"
            lines += [f".. auto{kind}:: {name}"]
            lines += ["   :no-members:"] if kind == "exception" else []
            lines += ["   :no-value:"] if kind == "data" else []
            lines += [""]
        file = module.replace(".", "_")
        (folder / f"{file}.rst").write_text("\n".join(lines), encoding="utf-8")
        entries.append(f"   {file}")
    return "\n".join(
        [
            "Python",
            "======",
            "",
            "Every name that the packages export, from its docstring.",
            "",
            ".. toctree::",
            "   :maxdepth: 2",
            "",
            *entries,
            "",
        ]
    )


def playground(extra: Path) -> None:
    """The explorer as single files, for robots that need none of ours."""
    from pivotree import kkt
    from pivotree.analysis.explorer import explorer_data, write_page

    (extra / "play").mkdir(parents=True)
    for model in EXPLORED:
        system = kkt.build(kkt.load(model))
        data = explorer_data(system, model, None, ["float64", "float32"])
        data["story"] = data["story"] | {"lessons": "../docs/lessons/"}
        write_page(data, extra / "play" / f"{model.replace(':', '_')}.html")


def main() -> None:
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    with listening() as ctrl_c:  # SIGTERM, too, ends what was begun
        try:
            missing = build(place)
        except BaseException as error:
            if not ctrl_c.behind(error):
                raise
            print("pivotree: interrupted", file=sys.stderr)
            sys.exit(INTERRUPTED)
    if missing:
        sys.exit("\n".join([*missing, f"{len(missing)} links or pictures lead nowhere"]))
    print(f"{place / 'html' / 'index.html'}: open it in a browser; no server is needed")


if __name__ == "__main__":
    main()
