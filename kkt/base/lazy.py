"""Packages that load a name when it is first asked for, so that importing them takes no time."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazily(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package (PEP 562).

    ``where`` has, for each module of the package, its names, separated by blanks; modules and
    folders of the package need no entry.  A name that was loaded is stored in the package.  The
    package's ``__all__`` and its imports under TYPE_CHECKING repeat the names for readers and type
    checkers; tests/test_faces.py checks that the three agree.
    """
    module_of = {name: module for module, names in where.items() for name in names.split()}

    def of_package(name: str) -> Any:
        if name in module_of:
            found = getattr(import_module(f".{module_of[name]}", package), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            found = import_module(f".{name}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        face = vars(sys.modules[package])
        return sorted({*face, *face["__all__"]})

    return of_package, names
