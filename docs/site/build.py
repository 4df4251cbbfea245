"""Build the site: ``python docs/site/build.py [FOLDER]`` (``make site``).

The pages are the Markdown of the repository, mirrored with what they link to, and those that
docs/generated.py makes: orders, gallery, lessons, long tables. Three kinds of page are written here from
the code, so that they cannot fall behind it: the command line, the names that the packages export,
and the page to play with. Sphinx turns all of it into FOLDER/html, whose first page is home.html:
static files with a search that needs no server; FOLDER/links_elsewhere.txt lists the links that leave
it, which nothing here can follow. Raises SystemExit where a link, a picture or a page is missing.

All is made in a hidden folder, whose html then takes the place of the old one: a build that is
ended leaves that one whole, and the next clears its hidden folder away.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pivotree.analysis.cli.commands import INTERRUPTED
from pivotree.analysis.cli.interrupt import listening
from pivotree.kkt.base.files import clear_parts, made, part_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MADE = ROOT / "docs" / "generated.py"
NAMES = ("orders", "counts", "gallery", "lessons", "pictures")  # of its makers, the longest first
FACADES = ("pivotree.kkt", "pivotree.kkt.arithmetic", "pivotree", "pivotree.orderings", "pivotree.analysis")
ROOMS = (
    "check",
    "comparison",
    "contact",
    "counts",
    "explorer",
    "figures",
    "gradients",
    "guarantee",
    "inertia",
    "listing",
    "proofs",
    "readings",
    "report",
    "rounding",
    "simulation",
    "states",
    "sweep",
)
WRITTEN = ("*", "benchmarks/*", "docs/**/*", "papers/**/*")  # where pages stand
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
# the explorables of the site, and what each is for
EXPLORED = {
    "chain:3": "Seven scenes from the first number to ABM, and then every order on three links.",
    "example3": "Two sliders, a mass and an angle to move: digits that some orders lose and others keep.",
    "chain:10": "Ten links in a row: the composite rigid body method fills 90 blocks, ABM fills nine.",
    "binary:3": "Every body carries two: limbs that are siblings may go in any sequence.",
    "star:6": "A hub and six leaves. Eliminate the hub first, and every leaf meets every other.",
    "comb:5": "A chain whose bodies have a tooth each: the teeth go first and fill nothing of each other.",
    "example1": "A long heavy link on a short light one: CRBM keeps three digits in float32, ABM all seven.",
    "example2": "Two sliders on one line: CRBM's last pivot is zero in float32, where 1 is right.",
    "rr_arm": "The planar arm of Pasic, Williams and Hui: small enough to compute by hand.",
    "quadruped": "A robot with four legs. The order begins at its feet; or does it?",
    "quadruped:feet=4": "The same robot on its feet: each contact is a row, whose multiplier is a block.",
    "humanoid": "45 bodies, three fingers on each hand: fold a limb to one block, or read the loops.",
    "four_bar": "A closed loop: its multiplier is one more block. When may it go?",
    "stewart": "A platform on six legs: five of them close loops.",
    "delta": "Three arms, six rods and one platform, which the loops keep level.",
    "gripper": "Two fingers that parallelograms keep upright: small loops, one beside the other.",
}
# what a lesson says of the page where it cannot show it, by the lessons' make.py
PLAYED = re.compile(r"^> \*\*Play it\.\*\* .*\n> .*`page\.html#(?P<place>[a-z=0-9]+)`\.$", re.M)


# a process of the build ends when the build does, and so do those that it forks
CHILD = """import os, runpy, sys
from pivotree.analysis.processes import end_with
end_with(int(sys.argv[1]))
os.register_at_fork(after_in_child=lambda: end_with(os.getppid()))
_, _, name, *sys.argv[1:] = sys.argv
sys.path[0] = os.path.dirname(name)
(runpy.run_path if name.endswith(".py") else runpy.run_module)(name, run_name="__main__")
"""


def build(folder: Path, made_pages: Path | None = None) -> list[str]:
    """Write the site into ``folder``/html; the warnings that name something missing.

    What docs/generated.py makes is made, or taken from the folder that has it.
    """
    html = made(folder).resolve() / "html"
    clear_parts(html)
    aside = part_of(html)
    old = aside / "old"
    aside.mkdir()
    try:
        missing = built(aside, made_pages)
        if html.exists():
            html.rename(old)
        for name in ("html", "links_elsewhere.txt"):
            (aside / name).rename(folder / name)
    finally:
        if old.exists() and not html.exists():  # ended between the two
            old.rename(html)
        shutil.rmtree(aside, ignore_errors=True)
    return missing


def built(folder: Path, made_pages: Path | None) -> list[str]:
    """Write the site, and what it is made of, into an empty folder."""
    source, html, extra = folder / "source", folder / "html", folder / "extra"
    if made_pages is None:
        made_pages = folder / "made"
        with ExitStack() as stack:
            makers = [stack.enter_context(child(MADE, made_pages, name)) for name in NAMES]
            finish(makers)
    pages: dict[Path, Path] = {}  # by its place on the site; one that is made is whole
    for root in (ROOT, made_pages):
        found = [page for some in WRITTEN for page in root.glob(f"{some}.md")]
        found = [page for page in found if page.parent.name not in ("paper", "slides")]
        pages |= {page.relative_to(root): page for page in found}
    for place in pages:
        mirror(place, pages, made_pages, source)
    elsewhere = {to for page in pages.values() for to in ELSEWHERE.findall(page.read_text("utf-8"))}
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
            finish([pages_made, slides])
    (html / "index.html").write_text(home(), encoding="utf-8")
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


def finish(children: list[subprocess.Popen[str]]) -> None:
    """Wait for children; what the first that failed says ends the build."""
    told = [one.communicate()[1] for one in children]
    for one, text in zip(children, told, strict=True):
        if one.returncode:
            raise SystemExit(text)


# a file of slides, which is nowhere but on the site and where make slides writes it
SLIDES = re.compile(r"`build/slides/(\w+\.html)`")


IN_CHECKOUT = re.compile(r"<!-- checkout -->.*?<!-- end -->\n*", re.S)
ON_SITE = re.compile(r"<!-- site (.*?) -->", re.S)  # words that lead to what is made
DRAWN = re.compile(r"<!-- picture (\w+): (.*?) -->", re.S)  # shown on the site alone


def mirror(place: Path, pages: dict[Path, Path], made_pages: Path, source: Path) -> None:
    """One Markdown page, and the files that it shows or links to, under their own paths."""
    read = pages[place].read_text(encoding="utf-8")
    text = PICTURE.sub(_both, ON_SITE.sub(r"\1", IN_CHECKOUT.sub("", read)))
    text = DRAWN.sub(r"![\2](\1.png){.only-light}\n![\2](\1_dark.png){.only-dark}", text)

    def linked(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        to = Path(os.path.normpath(place.parent / target))
        found = next((root / to for root in (made_pages, ROOT) if (root / to).exists()), ROOT / to)
        if to / "README.md" in pages:
            target = f"{target.rstrip('/')}/README.md"
        elif to.suffix == ".ipynb" and to.with_suffix(".md") in pages and to.stem != place.stem:
            target = f"{target.removesuffix('.ipynb')}.md"  # a lesson is a page there
        elif found.is_file() and to.suffix != ".md" and ".." not in to.parts:
            (source / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, source / to)
        return f"{before}{target}{anchor or ''}{after}"

    written = source / place
    written.parent.mkdir(parents=True, exist_ok=True)
    text = SLIDES.sub(r'<a href="../../slides/\1">\1</a>', PLAYED.sub(_played, text))
    text = LINK.sub(linked, text)
    beside = sorted(other.stem for other in pages if other.parent == place.parent and other != place)
    if place.name == "README.md" and place.parent != Path() and beside:  # the pages of a folder
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
        lines += ["    import pivotree as pt", "", *overview(loaded, names)]
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


def overview(module: ModuleType, names: list[str]) -> Iterator[str]:
    """A line for each name of a package, under the room that defines it."""
    rooms: dict[str, list[str]] = {}
    for name in names:
        of = (getattr(getattr(module, name), "__module__", "") or "").split(".")
        room = ".".join(of[: module.__name__.count(".") + 2]) if of[0] == "pivotree" else ""
        rooms.setdefault(room, []).append(name)
    for room, some in sorted(rooms.items(), key=lambda item: (item[0].endswith(".base"), item[0])):
        told = inspect.getdoc(import_module(room)) if room else "Tables and constants."
        yield from (f"**{_plain(told)}**", "", ".. list-table::", "   :widths: 30 70", "")
        for name in some:
            thing = getattr(module, name)
            own = inspect.getdoc(thing) if inspect.isclass(thing) or callable(thing) else ""
            yield from (f"   * - :obj:`{name} <{module.__name__}.{name}>`", f"     - {_plain(own)}")
        yield ""


def _plain(text: str | None) -> str:
    """The first sentence of a docstring, in which stars and bars are letters."""
    first = " ".join((text or "").partition("\n\n")[0].split())
    sentence = re.sub(r"(?::\w+:)?`+", "", re.split(r"(?<=[.:]) (?=[A-Z])", first)[0])
    return re.sub(r"([*|_])", r"\\\1", sentence) or "\\"


def home() -> str:
    """The first page of the site: a scene, and where to go from there."""
    picture = '<img src="play/{0}.svg" alt="" loading="lazy">'
    card = f'<a class="card" href="play/{{0}}.html">{picture}<b>{{1}}</b><span>{{2}}</span></a>'
    cards = [card.format(page_of(model), model, what) for model, what in EXPLORED.items()]
    page = (HERE / "home.html").read_text(encoding="utf-8")
    return page.replace("<!-- explorables -->", "\n".join(cards))


def page_of(model: str) -> str:
    """The name of a model's files."""
    return re.sub(r"\W", "_", model)


def playground(extra: Path) -> None:
    """The explorer as single files, for robots that need none of ours, and a picture of each matrix."""
    from pivotree import kkt
    from pivotree.analysis.explorer import explorer_data, write_page
    from pivotree.analysis.figures import KINDS, Request, write

    (extra / "play").mkdir(parents=True)
    for model in EXPLORED:
        system = kkt.build(kkt.load(model))
        write(KINDS["spy"], Request(system, ("abm",), None), extra / "play" / f"{page_of(model)}.svg")
        data = explorer_data(system, model, None, ["float64", "float32"])
        data["story"] = data["story"] | {"lessons": "../docs/lessons/"}
        write_page(data, extra / "play" / f"{page_of(model)}.html")


def main() -> None:
    words = argparse.ArgumentParser(description="Build the site: static files, for a server or a disk.")
    words.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/docs", help="build/docs if not")
    place = words.parse_args().folder
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
