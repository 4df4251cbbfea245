"""Files say what they are and stay short, functions too; the check of imports sees what it forbids."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache

import networkx as nx
import pytest
from helpers import ROOT

from pivotree.kkt.base import errors

PACKAGES = ("kkt", "orderings", "analysis", "papers")
REFUSALS = {name for name, one in vars(errors).items() if isinstance(one, type) and "Error" in name}
READERS = {"reading", "xml", "urdf", "mjcf", "modelfile", "blocks", "graphs"}
LONGEST = 700  # lines of a file
LONGEST_FUNCTION = 60  # lines but its docstring
MOST_PARAMETERS = 10

# Functions that are longer, each with how long it may be: none may grow, and none may be added.
LONGER = {"kkt/machine/kernel.py:compile": 83}
# Functions of more parameters, each with how many.  They are asked by users, who name what they
# give: every keyword has its shape, unit and default in the signature, which help(), the reader of
# loops' files and the test of docstrings read; a record would hide them.
ASKED_BY_NAME = {
    "kkt/model/tree.py:add_body": 16,
    "kkt/model/loops.py:cut_joint": 13,
    "analysis/simulation/run.py:simulate": 12,
    "kkt/scale/arrays.py:tree_from_arrays": 11,
    "kkt/machine/kernel.py:compile": 11,
}


def files(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(*folders):
    """Where each function stands, and its definition; expressions are not walked."""
    for path in files(*folders):
        rest = [parsed(path)]
        while rest:
            node = rest.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT).as_posix()}:{node.name}", node
            rest += [x for x in ast.iter_child_nodes(node) if isinstance(x, ast.stmt | ast.excepthandler)]


def test_files_are_short_and_say_what_they_are():
    everywhere = files(*PACKAGES, "src/pivotree", "tests", "docs", "benchmarks")
    long = [p for p in everywhere if len(p.read_text(encoding="utf-8").splitlines()) > LONGEST]
    silent = [p for p in files(*PACKAGES) if not ast.get_docstring(parsed(p))]
    assert not long and not silent and len(everywhere) > 500


def test_functions_are_short():
    found = {}
    for place, node in functions(*PACKAGES, "tests", "docs", "benchmarks"):
        told = ast.get_docstring(node, clean=False) or ""
        lines = node.end_lineno - node.lineno + 1 - len(told.splitlines())
        if lines > LONGEST_FUNCTION:
            found[place] = lines
    assert {place for place in found if found[place] > LONGER.get(place, 0)} == set()
    assert LONGER.keys() <= found.keys(), "those that are short now leave the list"


def test_functions_take_few_parameters():
    found = {}
    for place, node in functions(*PACKAGES):
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        count = len([a for a in given if a.arg not in ("self", "cls")])
        if count > MOST_PARAMETERS:
            found[place] = count
    assert found == ASKED_BY_NAME


def test_a_refusal_gives_its_parts_apart():
    """``raise ModelError(subject, what is wrong, remedy)``; who calls a reader names the first."""
    calls = [(p.name, x) for p in files(*PACKAGES) for x in ast.walk(parsed(p)) if isinstance(x, ast.Call)]
    ours = [(name, x.args) for name, x in calls if ast.unparse(x.func).rpartition(".")[2] in REFUSALS]
    alone = {name for name, x in ours if len(x) == 1 and isinstance(x[0], ast.Constant | ast.JoinedStr)}
    assert {name[:-3] for name in alone} == READERS and len(ours) > 500


def test_every_room_is_told():
    """ARCHITECTURE.md names every folder of kkt, and every package."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [p.parent.name for p in (ROOT / "kkt").glob("*/__init__.py")]
    assert all(f"`kkt/{room}`" in page for room in rooms)
    assert all(f"`{package}" in page for package in PACKAGES)


def test_whoever_compares_orders_loads_no_optional_room():
    needed = "cli|comparison|rounding|study$"
    optional = rf"pivotree.kkt.(machine|scale|theorem)\b|pivotree.analysis.(?!{needed})\w+"
    code = (
        "import re, sys; from pivotree.analysis.cli import main; main(['compare', 'chain:3']);"
        f"print('LOADED', *[name for name in sys.modules if re.match({optional!r}, name)])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


NAMED = re.compile(
    r"(?<![\w/.-])(?:kkt|orderings|analysis|papers|tests|docs|benchmarks)/[\w./-]*\w\.(?:py|mjs|md|toml|css)\b"
)


def test_files_that_are_named_are_there():
    """In comments, headers, docstrings and pages, of Python and of the explorer's page."""
    told = [*files(*PACKAGES, "docs", "benchmarks"), *(ROOT / "analysis").rglob("*.mjs")]
    told += [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "papers").rglob("*.md")]
    found = {(path, name) for path in told for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 100
    assert {(str(path), name) for path, name in found if not (ROOT / name).exists()} == set()


@pytest.fixture
def drawing(tmp_path, monkeypatch):
    """docs/architecture.py, on a house of its own."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    monkeypatch.delitem(sys.modules, "architecture", raising=False)  # what it keeps is of another house
    module = importlib.import_module("architecture")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    modules = "kkt/model/gallery kkt/matrix/system orderings/__init__ orderings/abm analysis/gradients"
    for name in modules.split():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return module


def test_lazy_and_typed_imports_are_seen(drawing, tmp_path):
    text = """
import pivotree.kkt.matrix.system
from pivotree import orderings
from .model import gallery
if TYPE_CHECKING:
    from pivotree.analysis.gradients import Descent
def lazy():
    if deep:
        from .matrix.state import State
"""
    (tmp_path / "kkt/one.py").write_text(text)
    wanted = {"kkt.matrix.system", "kkt.model.gallery", "kkt.matrix.state", "orderings", "analysis.gradients"}
    assert drawing.imports(tmp_path / "kkt/one.py") == wanted


def test_imports_upwards_circles_and_an_old_picture_are_told(drawing, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/architecture.svg").write_text(drawing.drawn(drawing.house()))
    assert list(drawing.faults()) == []
    (tmp_path / "kkt/model/gallery.py").write_text("from ..matrix import system\n")
    (tmp_path / "kkt/matrix/system.py").write_text("def lazy():\n    from ..model import gallery\n")
    (tmp_path / "orderings/abm.py").write_text("import pivotree.analysis.gradients\n")
    (tmp_path / "kkt/scale").mkdir()
    (tmp_path / "kkt/scale/large.py").write_text("")
    (tmp_path / "orderings/__init__.py").write_text("def lazy():\n    from pivotree.kkt.scale import large\n")
    drawing.imports.cache_clear()
    drawing.sources.cache_clear()
    told = list(drawing.faults())
    assert told == [
        "orderings/__init__.py imports kkt.scale.large, which is optional",
        "orderings/abm.py imports analysis.gradients, which stands above it",
        "imports of modules close a circle: kkt.matrix.system, kkt.model.gallery",
        "imports of rooms close a circle: kkt.matrix, kkt.model",
        "docs/architecture.svg is of another house: run python docs/architecture.py",
    ]
    assert not nx.is_directed_acyclic_graph(drawing.house())
