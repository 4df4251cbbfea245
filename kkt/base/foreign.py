"""Users' code (orders, kinds of numbers, figures): whatever it raises becomes one sentence."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import OrderError, PivotreeError
from .reading import read_bytes

_KKT = Path(__file__).parent.parent
_OURS = tuple(f"{folder}{os.sep}" for folder in (_KKT, _KKT.parent / "orderings"))


@contextmanager
def foreign(
    what: str, refusal: type[PivotreeError] = OrderError, through: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Context for a call of a user's code; ``what`` names the code, as in "order 'mine'".

    Anything that the code raises, SystemExit included, becomes a ``refusal``.  KeyboardInterrupt,
    MemoryError, this project's own errors and the exceptions in ``through`` pass unchanged.
    """
    passed: tuple[type[BaseException], ...] = (PivotreeError, KeyboardInterrupt, MemoryError)
    try:
        yield
    except (*passed, *through):
        raise
    except BaseException as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None  # compiled code turns Ctrl-C into another error
        raise refusal(f"{what}: raises {told(error)}") from error


def module_of(path: Path) -> ModuleType:
    """The module of a user's Python file.  Raises UnreadableError, and whatever the file raises."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(read_bytes(path), str(path), "exec"), module.__dict__)  # leaves no __pycache__
    return module


def added(group: str) -> dict[str, EntryPoint]:
    """Entry points in the group ``pivotree.orders`` or ``pivotree.figures``, by name.

    Where two installed packages add the same name, the first that is found counts, as for imports.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def loaded(entry: EntryPoint, refusal: type[PivotreeError] = OrderError) -> Any:
    """The object that an entry point names.  Raises ``refusal``, one sentence, if loading fails."""
    package = entry.dist.name if entry.dist is not None else "an unknown package"
    with foreign(f"{entry.group} {entry.name!r} of {package}, {entry.value}", refusal):
        return entry.load()


def told(error: BaseException) -> str:
    """An error's type and text, and the file and line of the user's code that raised it."""
    try:
        says = str(error)
    except BaseException:  # its own __str__ fails
        says = ""
    found = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in found if not frame.filename.startswith(_OURS)]
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{': ' if says else ''}{says}{at}"
