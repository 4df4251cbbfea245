"""What docstrings show runs, with the output that it shows; every public name shows something."""

import ast
import doctest
import inspect
from importlib import import_module

import numpy as np
import pytest
from helpers import ROOT

import pivotree as pt

PARTS = "check comparison contact counts explorer figures gradients guarantee inertia listing report "
PARTS += "rounding simulation states sweep"
ROOMS = ["pivotree", "pivotree.kkt", "pivotree.kkt.arithmetic", "pivotree.orderings", "pivotree.analysis"]
ROOMS += ["pivotree.papers", *(f"pivotree.analysis.{part}" for part in PARTS.split())]
NEEDS_A_PAGE = {"pivotree.analysis.explorer.widget"}  # a notebook, and somebody who clicks
NEEDS = {  # what an extra of pivotree installs, by the module whose examples ask for it
    "pivotree.kkt.machine.to_jax": "jax",
    "pivotree.kkt.model.mjcf": "mujoco",
    "pivotree.kkt.model.robots": "example_robot_data",
}
PARSER = doctest.DocTestParser()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstrings(path):
    """Name -> docstring, of a file's functions, classes and methods, and of its data."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {"": ast.get_docstring(tree) or ""}

    def walk(body, before):
        for node, after in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[before + node.name] = ast.get_docstring(node) or ""
                walk(node.body, f"{before}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
                first = node.targets[0] if isinstance(node, ast.Assign) else node.target
                for name in ast.unparse(first).strip("()").split(", "):
                    found[before + name] = inspect.cleandoc(str(getattr(after.value, "value", "")))

    walk(tree.body, "")
    return found


def examples():
    """(module, name, docstring) of all that shows an example, once each."""
    for room in ("src/pivotree", "kkt", "orderings", "analysis", "papers"):
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            module = ".".join(parts[1:] if parts[0] == "src" else ("pivotree", *parts))
            if module not in NEEDS_A_PAGE:
                text = path.read_text(encoding="utf-8")
                shown = docstrings(path) if ">>> " in text else {}
                yield from ((module, k, doc) for k, doc in shown.items() if ">>> " in doc)


EXAMPLES = list(examples())
SHOWN = {(module, name) for module, name, _ in EXAMPLES}


def run(module, name, doc):
    """Failures of a docstring's examples, as doctest tells them."""
    space = {"np": np, "pt": pt, **vars(import_module(module)), "__name__": "example"}
    test = PARSER.get_doctest(doc, space, f"{module}.{name}", None, 0)
    told = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append)
    return "".join(told)


def case(module, name, doc):
    """Examples of the heart are run by ``make test``, those of what is built on it with the docs."""
    built = module.startswith(("pivotree.analysis", "pivotree.papers"))
    marks = [pytest.mark.docs] * built + [pytest.mark.peers] * (module in NEEDS)
    marks += [pytest.mark.soak] * (NEEDS.get(module) == "jax")  # compiles for ten seconds
    return pytest.param(module, name, doc, id=f"{module}.{name}".strip("."), marks=marks)


@pytest.mark.parametrize(("module", "name", "doc"), [case(*example) for example in EXAMPLES])
def test_an_example_gives_what_it_shows(module, name, doc, tmp_path, monkeypatch):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module])
    monkeypatch.chdir(tmp_path)
    failed = run(module, name, doc)
    assert not failed, failed


def test_a_wrong_output_is_seen():
    assert "Expected" in run("pivotree", "", ">>> len(pt.chain(3))\n4\n")


def home(value, name):
    """The module and name under which a thing is defined."""
    if inspect.ismodule(value):
        return value.__name__, ""
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__module__, value.__name__
    return None, name  # data has no home of its own


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_an_example(room):
    module = import_module(room)
    data = {name for _, name in SHOWN}
    missing = []
    for name in module.__all__:
        if hasattr(getattr(module, name), "__path__"):
            continue  # a folder, whose names have examples
        where, what = home(getattr(module, name), name)
        if (where, what) not in SHOWN and not (where is None and what in data):
            missing.append(name)
    assert not missing, f"{room}: no example of {missing}"
