"""Orders: brackets of blocks, checked against the structure of a tree.

The catalogue of names stands above this room, and who loads both puts its search here.
"""

from collections.abc import Callable
from typing import Any

from ..base.errors import OrderError


def _none(name: str) -> Any:
    raise OrderError(f"order {name!r}", "no orders are registered", "import pivotree")


find: Callable[[str], Any] = _none  # the order of a name, or of FILE.py:FUNCTION
