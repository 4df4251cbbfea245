"""What is public says what it takes: each array its shape and unit, each exception by its name.

What docstrings refer to is there: a module, a class or a function of that name.
"""

import builtins
import inspect
import pkgutil
import re
import sys

import pytest
from helpers import ROOT

import pivotree as pt

ARRAY = re.compile(r"Array|Floats|Sequence\[float")
FUNCTIONS = {
    f"{room.__name__}.{name}": getattr(room, name)
    for room in (pt.kkt, pt.orderings, pt.analysis)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
}
SIZE = r"\((?:[^()]*\b(?:N|n|B|t|m|r|2|3|6)\b[^()]*)\)"  # (N,), (n, 6), (3, 3)
SOURCE = re.compile(r"\b(?:19|20)\d\d\b|docs/[\w/]+\.md|equations? \(|eqs? \(|\(4\)")
# models, files and names are nobody's method
NAMES = (
    "order add_body new_tree load from_spec default_state tree_from_arrays compile_tree find_robot "
    "chain binary comb star random_tree humanoid quadruped four_bar gripper delta stewart "
    "read_model write_model read_loops read_urdf read_mjcf named_models get names factored"
)
OURS = set(NAMES.split())
# directions, rotations, indices: numbers that have no unit
NO_UNIT = ("R", "R_second", "axis", "normal", "tangents", "parent", "kind", "body", "group")


def text_of(function):
    """The docstring on one line, without its examples."""
    return " ".join((inspect.getdoc(function) or "").partition("\n>>>")[0].split())


def lacks(function):
    """What the docstring of a function does not say."""
    text, signature = text_of(function), inspect.signature(function)
    found = []
    raised = re.findall(r"\b([A-Z]\w*(?:Error|Warning|Interrupt))\b", text)
    naming = r"[Rr]aises (?:nothing|(?::class:`kkt\.)?\w+(?:Error|Interrupt))"
    if signature.parameters and not re.search(naming, text):
        found.append("what it raises, by name")
    found += [f"{name} is no exception" for name in raised if not is_exception(name)]
    arrays = [p for p, v in signature.parameters.items() if ARRAY.search(str(v.annotation))]
    for name in arrays:
        # its shape, before any other parenthesis, unit, or end of the clause; then its unit
        said = re.search(rf"``{name}``[^.;()\[]{{0,70}}{SIZE}((?:\[[^\]]*\]|[^.;])*)", text)
        if said is None:
            found.append(f"the shape of {name}")
        elif name not in NO_UNIT and not re.search(r"\[[^\]]+\]", said[1]):
            found.append(f"the unit of {name}")
    if ARRAY.search(str(signature.return_annotation)):
        found += [] if re.search(SIZE, text) else ["the shape of what it returns"]
        found += [] if re.search(r"\[[^\]]+\]", text) else ["the unit of what it returns"]
    return found


def is_exception(name):
    there = getattr(pt.kkt, name, None) or getattr(builtins, name, None)
    return inspect.isclass(there) and issubclass(there, BaseException)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_and_raises(name):
    assert text_of(FUNCTIONS[name]) and lacks(FUNCTIONS[name]) == []


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.rpartition(".")[2] not in OURS])
def test_a_public_method_names_its_source(name):
    """The function or its file says a paper with its year, an equation, or a page of docs."""
    module = sys.modules[FUNCTIONS[name].__module__]
    assert SOURCE.search(f"{text_of(FUNCTIONS[name])} {module.__doc__}")


def test_what_is_left_out_is_found():
    """The walk itself, on a function that says too little."""

    def told(q: "ArrayLike", mass: "ArrayLike"):  # noqa: F821
        """Something of ``q`` (N,) and ``mass`` [kg].  Raises NoSuchError."""

    assert len(FUNCTIONS) > 50
    assert lacks(told) == ["NoSuchError is no exception", "the shape of mass"]

    def silent(q: "ArrayLike") -> "NDArray":  # noqa: F821
        """Something of ``q`` (N,); (3, 3) comes back."""

    assert lacks(silent) == ["what it raises, by name", "the unit of q", "the unit of what it returns"]


# -- references ------------------------------------------------------------------------------------

ROOMS = ("kkt", "orderings", "analysis", "papers")
REFERENCE = re.compile(r":(?:mod|class|func|data|attr):`~?([^`<]+)`")


def there(name):
    """Whether a dotted name is a module, something that a module holds, or a field of a class."""
    owner, _, last = name.rpartition(".")
    try:
        pkgutil.resolve_name(name)
    except AttributeError:
        return there(owner) and last in getattr(pkgutil.resolve_name(owner), "__annotations__", {})
    except (ImportError, ValueError):
        return False
    return True


def meant(path, text):
    """The full names that a reference in a file may stand for."""
    parts = ("pivotree", *path.relative_to(ROOT).with_suffix("").parts)
    own = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    package = parts[:-1]
    if text.startswith("."):
        dots = len(text) - len(text.lstrip("."))
        return [".".join([*package[: len(package) - dots + 1], text.lstrip(".")])]
    return [text, f"pivotree.{text}", f"{own}.{text}"]


def test_references_lead_somewhere():
    nowhere = []
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        named = set(REFERENCE.findall(path.read_text(encoding="utf-8")))
        lost = sorted(text for text in named if not any(map(there, meant(path, text))))
        nowhere += [f"{path.relative_to(ROOT)}: {text}" for text in lost]
    assert nowhere == []


def test_a_name_that_is_not_there_is_seen():
    assert there("pivotree.kkt.build") and there("pivotree.kkt.matrix.system.System.tree")
    assert not there("pivotree.kkt.nowhere") and not there("nowhere.at_all")
