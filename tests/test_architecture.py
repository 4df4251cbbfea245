"""The house stands as designed: imports run one way, files stay short, linters are silent.

An import counts wherever it stands: at the top of a file, inside a function, under TYPE_CHECKING.
"""

import ast
import importlib.util
import subprocess
import sys
from functools import cache

import networkx as nx
import pytest
from helpers import ROOT

PACKAGES = ("kkt", "orderings", "analysis", "papers")  # each may import those before it
FILES = {
    package: sorted(p for p in (ROOT / package).rglob("*.py") if "__pycache__" not in p.parts)
    for package in PACKAGES
}
SOURCES = [path for files in FILES.values() for path in files]
LONGEST = 700  # lines

# Imports that close a circle of modules, and imports that close a circle of rooms (folders, and
# files that stand beside them).  A circle that is cut leaves this list; none may be added.
BACK_IN_MODULES: set[tuple[str, str]] = set()
BACK_IN_ROOMS: set[tuple[str, str]] = set()


def _drawing():
    """docs/architecture.py, which walks over the imports for the page that shows them."""
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs/architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


drawing = _drawing()
MODULES = drawing.sources()


def room_of(module):
    """The folder of a package that a module lies in, or the module, if it lies in none."""
    parts = module.split(".")
    return ".".join(parts[:2]) if (ROOT / parts[0] / "".join(parts[1:2])).is_dir() else module


@cache
def imports(path):
    """Modules that a file imports, each by its full name without ``pivotree.``."""
    return frozenset(drawing.imports(path, MODULES))


def graph_of(named):
    """Who imports whom, of modules or of rooms."""
    graph = nx.DiGraph()
    for module, path in MODULES.items():
        for target in imports(path):
            one, other = named(module), named(target)
            if target in MODULES and one != other:
                graph.add_edge(one, other)
    return graph


def test_the_packages_are_there():
    assert all(len(files) > 3 for files in FILES.values()) and len(SOURCES) > 40


@pytest.mark.thorough
@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package):
    """kkt <- orderings <- analysis <- papers; nothing imports the facade, tests or docs."""
    later = {*PACKAGES[PACKAGES.index(package) + 1 :], "pivotree", "tests", "docs", "benchmarks"}
    for path in FILES[package]:
        backward = {name.partition(".")[0] for name in imports(path)} & later
        assert not backward, f"{path.relative_to(ROOT)} imports {backward}"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "named,back", [(str, BACK_IN_MODULES), (room_of, BACK_IN_ROOMS)], ids=["modules", "rooms"]
)
def test_imports_close_no_circle(named, back):
    graph = graph_of(named)
    assert graph.number_of_edges() > 50
    circles = [c for c in nx.strongly_connected_components(graph) if len(c) > 1]
    cut = {edge for edge in back if not any(set(edge) <= circle for circle in circles)}
    assert not cut, f"these close no circle any more, strike them out: {sorted(cut)}"
    graph.remove_edges_from(back)
    assert nx.is_directed_acyclic_graph(graph), nx.find_cycle(graph)


def test_lazy_and_typed_imports_are_seen(tmp_path, monkeypatch):
    """The walk itself, on a file that imports in every way."""
    text = """
import pivotree.kkt.model.tree
from pivotree import orderings
from pivotree.analysis import inertia
from .matrix.system import System
if TYPE_CHECKING:
    from .matrix.state import State
def lazy():
    if deep:
        from .model import gallery
"""
    (tmp_path / "kkt").mkdir()
    path = tmp_path / "kkt" / "one.py"
    path.write_text(text)
    monkeypatch.setattr(drawing, "ROOT", tmp_path)
    wanted = {"model.tree", "matrix.system", "matrix.state", "model.gallery"}
    assert imports(path) == {f"kkt.{name}" for name in wanted} | {"orderings", "analysis.inertia"}


@pytest.mark.thorough
@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_are(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert ast.get_docstring(ast.parse(text)), "a module says in one line what it is"


def test_other_files_are_short_too():
    files = [
        p for folder in ("src/pivotree", "tests", "docs", "benchmarks") for p in (ROOT / folder).rglob("*.py")
    ]
    long = [p for p in files if len(p.read_text(encoding="utf-8").splitlines()) > LONGEST]
    assert len(files) > 200 and not long


# Functions of more than ten parameters, each with how many.  They are asked by users, who name what
# they give: every keyword has its shape, unit and default in the signature, which help(), the
# reader of loops' files and the test of docstrings read; a record would hide them.
MOST_PARAMETERS = 10
ASKED_BY_NAME = {
    "kkt/model/tree.py:add_body": 16,
    "kkt/model/loops.py:cut_joint": 13,
    "kkt/solution/joining.py:joined": 12,
    "analysis/simulation/run.py:simulate": 12,
    "kkt/model/arrays.py:tree_from_arrays": 11,
    "kkt/machine/kernel.py:compile": 11,
    "analysis/report/make.py:robot_report": 11,
}


@pytest.mark.thorough
def test_functions_take_few_parameters():
    """At most ten; those that take more are named above, and none may be added."""
    found = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                count = len([a for a in given if a.arg not in ("self", "cls")])
                if count > MOST_PARAMETERS:
                    found[f"{path.relative_to(ROOT).as_posix()}:{node.name}"] = count
    assert found == ASKED_BY_NAME


def tool(name, *arguments):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([sys.executable, "-m", name, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.thorough
def test_ruff_check():
    tool("ruff", "check", "--no-cache", *PACKAGES, "tests")


@pytest.mark.thorough
def test_ruff_format():
    tool("ruff", "format", "--check", "--no-cache", *PACKAGES, "tests")


@pytest.mark.slow
def test_mypy(tmp_path):
    """On the package as an editable install has it."""
    tool("mypy", "--cache-dir", str(tmp_path / "cache"))


@pytest.mark.thorough
def test_the_drawing_of_the_rooms_is_current():
    """docs/architecture.svg is what the imports say; the rooms have no circle."""
    house = drawing.house()
    assert nx.is_directed_acyclic_graph(house) and len(house) > 25
    kept = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
    assert kept == drawing.drawn(house), "run python docs/architecture.py"


def test_every_room_is_told():
    """ARCHITECTURE.md names every folder of kkt, and every package."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [p.parent.name for p in (ROOT / "kkt").glob("*/__init__.py")]
    assert all(f"`kkt/{room}`" in page for room in rooms)
    assert all(f"`{package}" in page for package in PACKAGES)
