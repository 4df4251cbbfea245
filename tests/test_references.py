"""What docstrings refer to is there: a module, a class or a function of that name."""

import re
from importlib import import_module

from helpers import ROOT

ROOMS = ("kkt", "orderings", "analysis", "papers")
REFERENCE = re.compile(r":(?:mod|class|func|data|attr):`~?([^`<]+)`")


def there(name):
    """Whether a dotted name is a module, or something that a module holds."""
    parts = name.split(".")
    for last in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:last]))
        except ImportError:
            continue
        for part in parts[last:]:
            fields = getattr(found, "__annotations__", {})
            if not hasattr(found, part):
                return part in fields
            found = getattr(found, part)
        return True
    return False


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
