"""What the pages show runs: every Python block, every command; what cannot is named here.

What the lessons show and what orders' pages show is run by ``make docs-check``.
"""

import re
import shlex
import shutil
import subprocess
from contextlib import chdir
from importlib.util import find_spec

import numpy as np
import pytest
from helpers import ROOT
from scipy.io import mmwrite
from scipy.sparse import diags_array

from pivotree import kkt, orderings
from pivotree.analysis import gradients, inertia
from pivotree.analysis.cli import main
from pivotree.analysis.cli.parser import parser

pytestmark = pytest.mark.docs
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("*/README.md")),
    *sorted((ROOT / "papers").glob("*/README.md")),
]
SITE = ROOT / ".github" / "workflows" / "site.yml"
FENCE = re.compile(r"^```\{?(\w*)\}?\n(.*?)^```", re.M | re.S)
NOT_RUN = "# not run by the tests: "  # the first line of a block, and then why
SMALLER = {"n = 1_000_000": "n = 100", "kkt.chain(300)": "kkt.chain(60)"}  # lines a test has time for
FOUND = "docs/study/found"  # models that pages name from the root of the repository

# Commands that are only parsed, by how they begin.
PEERS = "needs robots that are not ours: example-robot-data"
LONG = "takes minutes; the tests of the papers run its parts"
ONLY_PARSED = {
    "pivotree guarantee robot:": PEERS,
    "pivotree tune robot:panda": PEERS,
    "pivotree compare robot:panda": PEERS,
    "pivotree explore  ": "serves a page until it is stopped",
    "pivotree explore robot.urdf  ": "serves a page until it is stopped",
    "pivotree check humanoid": "its page is held by a test of the command",
    "pivotree reproduce": LONG,
    "pivotree prove": LONG,
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


def words_of(line):
    return shlex.split(line.split("  #")[0], comments=True)[1:]


def to_run(page):
    return [line for line in commands(page) if not line.startswith(tuple(ONLY_PARSED))]


def name(page):
    return str(page.relative_to(ROOT))


def test_every_block_is_looked_at_and_every_command_is_one():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    kinds = {kind for kind, _ in FENCE.findall(text)}
    known = {"", "python", "py", "sh", "text", "c", "json", "toml", "bibtex", "latex", "math", "toctree"}
    assert kinds <= known, kinds
    indented = re.findall(r"^    (?:from|import|system|>>>|kkt\.|pt\.) ?.*", text, re.M)
    inside = [line for code in FENCE.findall(text) for line in code[1].splitlines()]
    assert not [line for line in indented if line not in inside], "Python stands in fences"
    skipped = [code for page in PAGES for code in python(page) if code.startswith(NOT_RUN)]
    assert len(skipped) == 2 and all(code.splitlines()[0] > NOT_RUN for code in skipped)
    lines = [line for page in PAGES for line in commands(page)]
    assert all(any(line.startswith(start) for line in lines) for start in ONLY_PARSED)
    for line in lines:
        words = words_of(line)
        words = words[: words.index("|")] if "|" in words else words
        try:
            parser().parse_args(words)
        except SystemExit:
            pytest.fail(line)


@pytest.mark.parametrize("page", [page for page in PAGES if to_run(page)], ids=name)
def test_commands_on_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(ROBOT, encoding="utf-8")
    mmwrite("FILE.mtx", diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(5, 5)).tocoo())
    shutil.copytree(ROOT / FOUND, tmp_path / FOUND)
    for line in to_run(page):
        assert main(words_of(line)) == 0, line


@pytest.mark.parametrize("page", [page for page in PAGES if python(page)], ids=name)
def test_python_on_a_page_runs(page, tmp_path, capsys):
    """Where a page says what its program finds, that is asked, too."""
    if page.name == "jax.md":
        pytest.importorskip("jax")
    left = {"__name__": "page"}
    (tmp_path / "robot.urdf").write_text(ROBOT, encoding="utf-8")
    with chdir(tmp_path):
        for code in python(page):
            if code.startswith(NOT_RUN) or ("xarray" in code and find_spec("xarray") is None):
                continue
            for large, small in SMALLER.items():
                code = code.replace(large, small)
            exec(compile(code, page.name, "exec"), left)
    if page.stem in SAID:
        SAID[page.stem](left, capsys.readouterr().out.splitlines())


# -- what pages say of their programs ---------------------------------------------------------------


def page_of(stem):
    return (ROOT / "docs" / f"{stem}.md").read_text(encoding="utf-8")


def table(stem, head):
    """{first cell: others} of the table that starts with a head."""
    text = page_of(stem).split(f"| {head} |", 1)[1].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {first: cells for first, *cells in rows}


def near(told, measured):
    """An error told in one digit; nan is nan or None."""
    if told == "nan":
        return str(measured) in ("None", "nan")
    return 0.3 <= float(measured) / float(told) <= 3.0


def said_of_gradients(left, lines):
    alone, helped = left["alone"], left["helped"]
    assert alone.iterations == pytest.approx(673, rel=0.1)
    assert helped.iterations == 13 and helped.failed is None
    exact = kkt.certify(left["system"], 16)
    assert not left["failed"] and exact.error(left["qdd"]) < 1e-11
    assert left["M"].operations == 685200 and exact.error(left["qdd_by_columns"]) < 1e-8
    trees = {"10": "chain:10", "100": "chain:100", "45": "humanoid"}
    ways = {"none": "none", "crbm": "`crbm` in float32", "abm": "`abm` in float32"}
    ways["abm, coarse"] = "`abm` in bfloat16"
    by_way, by_itself = table("gradients", "preconditioner"), table("gradients", "by itself, float64")
    assert len(lines) == len(trees) * (len(by_way) + len(by_itself))
    for line in lines:
        pattern = r"(\d+) (none|crbm|abm, coarse|abm)(?: (\d+))? (.+)"
        bodies, way, iterations, rest = re.fullmatch(pattern, line).groups()
        column = list(trees).index(bodies)
        if iterations is None:
            assert near(by_itself[f"`{way}`"][column], rest)
        elif (cell := by_way[ways[way]][column]) == "fails":
            assert not rest[0].isdigit()
        else:
            assert float(cell.split(", ")[0]) == pytest.approx(int(iterations), rel=0.1)
            assert near(cell.split(", ")[1], rest)
    for column, spec in enumerate(trees.values()):
        system = kkt.build(kkt.load(spec))
        product = gradients.equation(system, "float64")[2]
        for count in (product, kkt.trace(system, orderings.get("abm")).flops):
            assert str(count) in page_of("gradients").replace(",", "")
        exact = kkt.certify(system, 16, rounded_to="float32")
        for method, cells in table("gradients", "method").items():
            assert method == "1, columns"
            assert int(cells[column]) == inertia.columns(system).operations
            x = np.asarray(inertia.solve(system, "float32"), float)
            assert near(cells[3 + column], exact.error(x))


def said_of_recipes(left, lines):
    lengths = [len([line for line in code.splitlines() if line]) for code in python(ROOT / "docs/recipes.md")]
    assert len(lengths) == 10 and max(lengths) <= 10


SAID = {"gradients": said_of_gradients, "recipes": said_of_recipes}


def test_the_first_link_of_the_readme_works_in_a_checkout():
    first = re.search(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))[1]
    assert first == "docs/play.md" and (ROOT / first).is_file()


def test_the_workflow_puts_online_what_make_site_builds():
    """And the explorer's page names the same folder and the same file."""
    make = re.search(r"^site docs:.*\n\t.*build\.py (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    workflow = SITE.read_text(encoding="utf-8")
    assert "- run: make site\n" in workflow and '- run: .ci/site "$VERSION"' in workflow
    told = (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8")
    assert f"path: {make[1]}/html\n" in SITE.with_name("folder.yml").read_text(encoding="utf-8")
    assert all(f"`.github/workflows/{name}.yml`" in told for name in ("site", "folder"))
    assert f"-d {make[1]}/html`" in told


def test_the_site_of_each_version_stays_and_the_first_page_lists_them(tmp_path):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", *words], check=True)

    origin, here = tmp_path / "origin", tmp_path / "here"
    git("init", "-q", origin)
    git("-C", origin, "commit", "-q", "--allow-empty", "-m", "empty")
    for version in ("v0.9.0", "latest", "v0.10.0", "latest"):
        git("clone", "-q", origin, here)
        (here / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "site", here / ".ci")
        html = here / "build" / "docs" / "html"
        html.mkdir(parents=True)
        (html / "index.html").write_text(version)
        subprocess.run([here / ".ci" / "site", version], check=True)
        git("-C", here, "push", "-q", "origin", "gh-pages")
        pages = here.rename(tmp_path / f"{version} {len(list(tmp_path.iterdir()))}") / "build" / "pages"
    order = ["latest", "v0.10.0", "v0.9.0"]
    assert re.findall(r'href="(.*)/"', (pages / "index.html").read_text()) == order
    assert [(pages / version / "index.html").read_text() for version in order] == order
