"""What the pages show runs: every Python block, every command; what cannot is named here."""

import re
import shlex
import shutil

import pytest
from helpers import ROOT
from PIL import Image

from pivotree.analysis.cli import main
from pivotree.analysis.cli.parser import joined, parser

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("*/README.md")),
    *sorted((ROOT / "papers").glob("*/README.md")),
]  # what the lessons show is run by test_lessons, what orders' pages show by test_order_pages
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
NOT_RUN = "# not run by the tests: "  # the first line of a block, and then why
SMALLER = {"n = 1_000_000": "n = 500"}  # the same lines on a tree that a test has time for

# Commands that are only parsed, by how they begin.
PEERS = "needs robots that are not ours: example-robot-data"
LONG = "takes minutes; the tests of the papers run its parts"
ONLY_PARSED = {
    "pivotree guarantee robot:": PEERS,
    "pivotree export robot:": PEERS,
    "pivotree tune robot:panda": PEERS,
    "pivotree compare robot:panda": PEERS,
    "pivotree explore robot.urdf  ": "serves a page until it is stopped",
    "pivotree reproduce": LONG,
    "pivotree prove": LONG,
    "pivotree counts -o docs/counts.md": "takes a minute; the tests of counts hold the page",
    "pivotree report robot.urdf": "draws 1000 states",
    "pivotree simulate": "integrates for a minute",
    "pivotree blame docs/study/worst": "is of the checkout's folder",
    "pivotree compare docs/study/found": "is of the checkout's folder",
}
ROBOT = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>{inertia}</inertial></link>
<link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>{inertia}</inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint></robot>
""".format(inertia='<inertia ixx=".02" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/>')


def python(page):
    return [code for kind, code in FENCE.findall(page.read_text("utf-8")) if kind == "python"]


def commands(page):
    """Lines that begin with the command's name, in fences and in indented code."""
    text = page.read_text("utf-8")
    lines = [line for _, code in FENCE.findall(text) for line in code.splitlines()]
    lines += [line[4:] for line in text.splitlines() if line.startswith("    ")]
    lines = [line.removeprefix(".venv/bin/") for line in lines]
    return [line for line in lines if line.startswith("pivotree ") and "[" not in line]


FOUND = "docs/study/found"  # models that pages name from the root of the repository


def words_of(line):
    return shlex.split(line.split("  #")[0], comments=True)[1:]


def name(page):
    return str(page.relative_to(ROOT))


def to_run(page):
    return [line for line in commands(page) if not line.startswith(tuple(ONLY_PARSED))]


def test_every_block_is_looked_at():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    kinds = {kind for kind, _ in FENCE.findall(text)}
    assert kinds <= {"", "python", "sh", "text", "c", "json", "toml", "bibtex", "latex"}, kinds
    indented = re.findall(r"^    (?:from|import|system|>>>|kkt\.|pt\.) ?.*", text, re.M)
    inside = [line for code in FENCE.findall(text) for line in code[1].splitlines()]
    assert not [line for line in indented if line not in inside], "Python stands in fences"
    skipped = [code for page in PAGES for code in python(page) if code.startswith(NOT_RUN)]
    assert len(skipped) == 2 and all(code.splitlines()[0] > NOT_RUN for code in skipped)
    lines = [line for page in PAGES for line in commands(page)]
    assert all(any(line.startswith(start) for line in lines) for start in ONLY_PARSED)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_command_on_a_page_is_a_command(page):
    for line in commands(page):
        words = words_of(line)
        words = words[: words.index("|")] if "|" in words else words
        try:
            parser().parse_args(joined(words))
        except SystemExit:
            pytest.fail(line)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if python(page)], ids=name)
def test_python_on_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if page.name == "jax.md":
        pytest.importorskip("jax")
    space = {"__name__": "page"}
    for code in python(page):
        if code.startswith(NOT_RUN):
            continue
        for large, small in SMALLER.items():
            code = code.replace(large, small)
        exec(compile(code, page.name, "exec"), space)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if to_run(page)], ids=name)
def test_commands_on_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(ROBOT, encoding="utf-8")
    shutil.copytree(ROOT / FOUND, tmp_path / FOUND)
    for line in to_run(page):
        assert main(words_of(line)) == 0, line


NUMBER = re.compile(r"\|\s*[-−~<≤]?\**`?\d[\d.,e+−-]*")
NAMED = re.compile(r"(?:`|^\s*)(?:pivotree \w+|python \S+\.py|make \w|\S+/\w+\.py\b)|^```python", re.M)
NOT_MEASURED = {("model_file.md", "Model files: `pivotree-model/1` and `/2`"): "fields of the format"}


def tables_without_command(text):
    """Headings of the sections with two lines of numbers or more that no command stands beside.

    What a page or an enclosing section says before its first part holds for its parts.
    """
    found, open_parts = [], []
    parts = re.split(
        r"^(#{1,6}) (.*)$", re.sub(FENCE, lambda f: f[0].replace("\n#", "\n "), text), flags=re.M
    )
    for marks, heading, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        open_parts = [part for part in open_parts if part[0] < len(marks)]
        open_parts.append((len(marks), body))
        numbers = [x for x in body.splitlines() if x.startswith("|") and NUMBER.search(x)]
        if len(numbers) >= 2 and not any(NAMED.search(part) for _, part in open_parts):
            found.append(heading)
    return found


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_numbers_on_a_page_have_the_command_that_prints_them(page):
    left = tables_without_command(page.read_text("utf-8"))
    assert [x for x in left if (page.name, x) not in NOT_MEASURED] == []


def test_a_table_without_a_command_is_found():
    table = "| a | 1 |\n| b | 2 |\n"
    assert tables_without_command(f"# Page\n## Part\n{table}") == ["Part"]
    assert tables_without_command(f"# Page\n`pivotree compare chain:3`\n## Part\n{table}") == []
    assert tables_without_command(f"# Page\n## A\n`make bench`\n## B\n{table}") == ["B"]


PAIR = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'\s*<img\s+alt="[^"]+"\s+src="([^"]+)"[^>]*>\s*</picture>'
)
PAPER = "_tex.png"  # what LaTeX prints, on white paper


def pages_with_pictures():
    folders = [ROOT.glob("*.md"), *((ROOT / folder).rglob("*.md") for folder in ("docs", "papers"))]
    pages = [page for folder in folders for page in sorted(folder)]
    return [page for page in pages if ".png" in page.read_text(encoding="utf-8")]


@pytest.mark.thorough
@pytest.mark.parametrize("page", pages_with_pictures(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_picture_has_a_dark_twin(page):
    """A reader of a dark page meets no white picture, and no name of a file is mistaken."""
    text = page.read_text(encoding="utf-8")
    for dark, light in PAIR.findall(text):
        assert "_dark.".join(light.rsplit(".", 1)) == dark
        grounds = [Image.open(page.parent / file).convert("L").getpixel((0, 0)) for file in (light, dark)]
        assert grounds[0] > 240 and grounds[1] < 40, light
    alone = re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)|<img[^>]+src=\"([^\"]+\.png)", PAIR.sub("", text))
    assert [a or b for a, b in alone if not (a or b).endswith(PAPER)] == []
