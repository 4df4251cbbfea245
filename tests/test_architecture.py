"""The house stands as designed: imports run one way, files stay short, linters are silent."""

import ast
import importlib.util
import subprocess
import sys

import networkx as nx
import pytest
from helpers import ROOT

PACKAGES = ("kkt", "orderings", "analysis", "papers")  # each may import those before it
FILES = {
    package: sorted(p for p in (ROOT / package).rglob("*.py") if "__pycache__" not in p.parts)
    for package in PACKAGES
}
SOURCES = [path for files in FILES.values() for path in files]
LONGEST = 450  # lines


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


def imports(path, everywhere):
    """Modules that a file imports: all of them, or those that loading it loads."""
    waiting = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            if everywhere:
                waiting += node.body
            waiting += node.orelse
            continue
        if not everywhere and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                own = module_of(path).split(".")
                package = own if path.stem == "__init__" else own[:-1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def test_the_packages_are_there():
    assert all(len(files) > 3 for files in FILES.values()) and len(SOURCES) > 40


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package):
    """kkt <- orderings <- analysis <- papers; nothing imports tests or docs."""
    later = {*PACKAGES[PACKAGES.index(package) + 1 :], "tests", "docs", "benchmarks"}
    for path in FILES[package]:
        backward = {name.partition(".")[0] for name in imports(path, True)} & later
        assert not backward, f"{path.relative_to(ROOT)} imports {backward}"


def test_no_import_cycle_when_modules_are_loaded():
    graph = nx.DiGraph()
    for name, path in MODULES.items():
        for target in imports(path, False):
            # a package's __init__ runs first, but re-exports are not what a module needs of it
            if target in MODULES and target != name and MODULES[target].stem != "__init__":
                graph.add_edge(name, target)
    assert graph.number_of_edges() > 50
    cycles = list(nx.simple_cycles(graph))
    assert not cycles, cycles[0]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_are(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert ast.get_docstring(ast.parse(text)), "a module says in one line what it is"


def tool(name, *arguments):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_ruff_check():
    tool("ruff", "check", "--no-cache", *PACKAGES, "tests")


def test_ruff_format():
    tool("ruff", "format", "--check", "--no-cache", *PACKAGES, "tests")


@pytest.mark.slow
def test_mypy(tmp_path):
    tool("mypy", "--cache-dir", str(tmp_path))
