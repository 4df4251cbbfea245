"""Docs, papers, benchmarks and the README ask rooms through their faces: what a folder exports."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys

import pytest
from helpers import ROOT

HEAVY = {"matplotlib", "networkx", "numba", "scipy", "sympy"}  # packages, a tenth of a second each
FOLDERS = ("docs", "papers", "benchmarks")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
WRITTEN = [ROOT / "README.md", *(path for path in FILES if path.suffix in (".py", ".md"))]

# (file, module): why it goes past the face of a room
INSIDE = {
    ("docs/explorer.md", "analysis.explorer.widget"): "loads anywidget, an extra",
    ("docs/check.py", "analysis.explorer.page"): "counts the scenes",
    ("docs/study/facts.py", "kkt.solution.conditioning"): "the face's conditioning is the function",
    ("docs/study/measure.py", "kkt.solution.conditioning"): "likewise",
    ("papers/proved.py", "analysis.proofs.prove"): "loads every source of statements",
    ("papers/paper.py", "kkt.base.reading"): "settings are numbers as options are",
    ("docs/site/build.py", "analysis.cli.parser"): "its page of options is the parser's own",
    ("docs/site/build.py", "analysis.cli.interrupt"): "it hears Ctrl-C as the commands do",
    ("docs/site/build.py", "kkt.base.files"): "its pages come whole, as all files do",
    ("papers/make.py", "analysis.cli.commands.reproduce"): "the page is what the command prints",
    ("papers/ascher1996/pictures.py", "analysis.simulation.picture"): "loads matplotlib",
    ("docs/slides/facts.py", "analysis.symbols"): "letters are those of the one table",
    ("docs/counts_page.py", "analysis.counts.table"): "its tables are those of the command",
    ("docs/counts_kernels.py", "analysis.counts.polynomials"): "counts of this page alone",
    ("docs/counts_kernels.py", "analysis.counts.proof"): "likewise",
    ("docs/counts_page.py", "papers.cloutier1995.pictures"): "the picture is the paper's",
    ("docs/pictures.py", "analysis.simulation.picture"): "loads matplotlib",
    ("docs/pictures.py", "analysis.report.page"): "likewise",
    ("docs/counts_before.py", "kkt.matrix.entries"): "it runs these formulas",
    ("docs/counts_before.py", "kkt.model.spatial"): "likewise",
    ("docs/counts_trees.py", "analysis.counts.counting"): "counts of this page alone",
    ("docs/counts_trees.py", "analysis.counts.polynomials"): "likewise",
    ("papers/ascher1996/structure.py", "kkt.program.readers"): "what remains between two steps",
    ("docs/contact.md", "papers.cloutier1995"): "programs that one paper alone needs",
    ("papers/cloutier1995/floor.py", "analysis.simulation.motion"): "a floor's motion is a robot's",
    ("papers/cloutier1995/floor.py", "analysis.simulation.integration"): "its springs likewise",
    ("papers/cloutier1995/floor.py", "kkt.base.errors"): "names the nearest body",
    ("papers/cloutier1995/complements.py", "kkt.model"): "products with skew matrices",
    ("papers/cloutier1995/complements.py", "analysis.inertia"): "triangles that round by themselves",
    ("papers/ascher1996/table2.py", "analysis.inertia"): "products that round alike",
    ("papers/cloutier1995/floor.py", "kkt.model"): "points are given as loops' are",
    ("benchmarks/tracing.py", "kkt.arithmetic"): "times the compiled loop alone",
    ("benchmarks/peers.py", "kkt.matrix.configuration"): "times kernels by their configuration",
    ("benchmarks/exact.py", "kkt.machine"): "runs a kernel's program in exact numbers",
    ("benchmarks/exact.py", "kkt.matrix.configuration"): "likewise",
}
DRAWS = "papers.sheet"  # the one helper of panels, names and legends, for all


def asked(path):
    """(module, name) of everything that a file imports from a package of ours."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        lines = re.findall(r"^ *(from pivotree[\w.]* import [^#\n(]+)", text, re.M)
        text = "\n".join(lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pivotree."):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.startswith("pivotree."))


def allowed(path, module):
    inner, file = module.removeprefix("pivotree."), os.path.relpath(path, ROOT)
    return inner == DRAWS or any(f == file and (inner == m or inner.startswith(f"{m}.")) for f, m in INSIDE)


def outside(path):
    """Imports that no face exports, but for those that are allowed, and a paper's own."""
    for module, name in asked(path):
        own = module.startswith("pivotree.papers") and path.is_relative_to(ROOT / "papers")
        if own or allowed(path, module):
            continue
        face, (above, _, last) = importlib.import_module(module), module.rpartition(".")
        beside = getattr(importlib.import_module(above), "__all__", ())
        if not hasattr(face, "__path__") and last not in beside:
            yield f"{module} is no face of a room"
        elif name not in getattr(face, "__all__", dir(face)) and not room(module, name):
            yield f"{module} does not export {name}"


def room(module, name):
    """Whether the name is that of a folder, which has a face of its own."""
    found = importlib.util.find_spec(f"{module}.{name}")
    return found is not None and bool(found.submodule_search_locations)


@pytest.mark.docs
def test_rooms_are_asked_through_their_faces():
    found = {str(path.relative_to(ROOT)): list(outside(path)) for path in WRITTEN}
    assert {file: told for file, told in found.items() if told} == {}
    assert len(found) > 200


@pytest.mark.docs
def test_what_is_allowed_is_needed():
    needed = {
        entry
        for entry in INSIDE
        for module, _ in asked(ROOT / entry[0])
        if f"{module}.".startswith(f"pivotree.{entry[1]}.")
    }
    assert needed == set(INSIDE)


@pytest.mark.parametrize(
    "line",
    [
        "from pivotree.kkt.tape.player import enter",
        "import pivotree.kkt.tape.player",
        "from pivotree.kkt.tape import player",
        "def f():\n    from pivotree.analysis.figures.style import theme",
    ],
)
def test_an_inner_room_is_seen(line, tmp_path):
    (tmp_path / "mine.py").write_text(line)
    assert len(list(outside(tmp_path / "mine.py"))) == 1


STUBS = [
    ROOT / "src/pivotree/__init__.pyi",
    *(path for room in ("analysis", "kkt", "orderings", "papers") for path in (ROOT / room).rglob("*.pyi")),
]


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_lazy_face_loads_what_its_stub_says(path):
    """What type checkers read of a package is what it has, and what a star imports."""
    name = ".".join(path.parent.relative_to(ROOT).parts).removeprefix("src.")
    name = name if name == "pivotree" else f"pivotree.{name}"
    face, told = importlib.import_module(name), set()
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.ImportFrom):
            assert name == "pivotree" and ast.unparse(node) == "__version__: str"
            continue
        for alias in node.names:
            whole = f"{name}.{node.module}" if node.module else f"{name}.{alias.name}"
            module = importlib.import_module(whole)
            if alias.name == "*":
                assert whole == "pivotree.kkt"
                told |= set(module.__all__)
                continue
            assert alias.asname == alias.name, "type checkers see no other name of a stub"
            assert getattr(face, alias.name) is (getattr(module, alias.name) if node.module else module)
            assert vars(face)[alias.name] is getattr(face, alias.name), "loaded once"
            told.add(alias.name)
    assert set(face.__all__) == told <= set(dir(face))
    with pytest.raises(AttributeError, match=f"No {name} attribute no_such_name"):
        _ = face.no_such_name


def test_the_faces_are_lazy():
    """What an import loads, what refused names load, and a robot, which needs its tree."""
    assert len(STUBS) > 5
    code = f"""
import sys
def loaded(): return {HEAVY} & {{*sys.modules}}
import pivotree.kkt, pivotree.analysis, pivotree.orderings
from pivotree.analysis.cli import main
assert not loaded()
assert main(["compare", "nosuchrobot"]) == 2 and not loaded()
assert main(["compare", "chain:3", "--orders", "nosuch"]) == 2 and not loaded()
pivotree.chain(3)
assert "networkx" in loaded()
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
