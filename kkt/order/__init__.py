"""Orders: brackets of blocks, checked against the structure of a tree.

The catalogue of names stands above this room, and who loads both puts its search here.
"""

from collections.abc import Callable
from typing import Any

find: Callable[[str], Any]  # the order of a name, or of FILE.py:FUNCTION
