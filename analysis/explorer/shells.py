"""The module of the page with what a server or a notebook adds to it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from .page import bundle

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[a-z]+\.mjs";\n', re.M)


@cache
def shell(name: str) -> str:
    """One ES module: the explorer, then ``live.mjs`` and the shell, ``served`` or ``widget``."""
    folder = files(__package__) / "static"
    added = [(folder / f"{part}.mjs").read_text(encoding="utf-8") for part in ("live", name)]
    added[0] = added[0].replace("export function", "function")
    return bundle() + "".join(_IMPORT.sub("", text) for text in added)
