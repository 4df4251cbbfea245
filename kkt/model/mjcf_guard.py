"""A check of an MJCF file before MuJoCo compiles it: how much it asks for, and what it opens.

The compiler itself allocates until memory ends, without hearing Ctrl-C, and waits for pipes.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple
from xml.etree.ElementTree import Element

from ..base.errors import UnreadableError
from ..base.markup import root_of
from ..base.reading import read_bytes

MOST = 10**5  # copies of an element, words for each body or joint, and keyframes
CELLS = 10**8  # of a height field or texture
MODELS = 1000  # attached models, and models attached to these
COPIED = ("replicate", "flexcomp")


def check(file: str) -> None:
    """Raise UnreadableError, one sentence, for a file that should not be compiled.

    Files that it includes and models that it attaches are checked too, and those that they name;
    meshes and other files must be plain files where they exist.
    """
    rest: list[tuple[str, int, tuple[str, ...]]] = [(file, 1, ())]
    looked_at = 0
    while rest:
        looked_at += 1
        path, copies, outer = rest.pop()
        place = os.path.realpath(path)
        if place in outer or looked_at > MODELS:
            why = "attaches itself" if place in outer else f"is one of more than {MODELS:,} models"
            raise UnreadableError(f"<model>: file {path!r} {why}; attach fewer")
        document = _document(path, copies, file)
        _require_plain(document)
        attached: Counter[str | None] = Counter()
        for found in document:
            if found.element.tag == "attach":
                attached[found.element.get("model")] += found.copies
        for found in document:
            if found.element.tag == "model":
                name = found.element.get("name")
                within = attached[name] if name else attached.total()
                rest += [(inner, max(copies, within), (*outer, place)) for inner in _there(found)]


class _Found(NamedTuple):
    """An element, how often it is copied, and the folders in which its files may lie.

    MuJoCo looks, by its version, for a file beside the one that names it, or beside the outermost.
    """

    element: Element
    copies: int
    folders: frozenset[str]


def _document(path: str, copies: int, outermost: str) -> list[_Found]:
    """The elements of a file and of those that it includes, each file once, as in MuJoCo."""
    document: list[_Found] = []
    rest, seen = [(path, frozenset[str](), copies)], set()
    while rest:
        path, folders, copies = rest.pop()
        if path in seen:
            continue
        seen.add(path)
        folders |= {os.path.dirname(path)}
        try:
            root = root_of(read_bytes(path))
            found = [_Found(x, n, folders) for x, n in _sizes(root, copies)]
        except UnreadableError as error:
            told = str(error) if path == outermost else f"{path}: {error}"
            raise UnreadableError(told) from None
        document += found
        for one in found:
            if one.element.tag == "include":
                rest += [(inner, folders, one.copies) for inner in _there(one)]
    return document


def _require_plain(document: list[_Found]) -> None:
    """Raise UnreadableError where a file that is named is a folder, a pipe or a device."""
    folders = {""}
    for found in document:
        for key in ("meshdir", "texturedir", "assetdir"):
            if found.element.tag == "compiler" and key in found.element.attrib:
                folders.add(found.element.attrib[key])
    for found in document:
        for path in _there(found, sorted(folders)):
            if not os.path.isfile(path):
                raise UnreadableError(f"<{found.element.tag}>: file {path!r} is no plain file")


def _there(found: _Found, within: Iterable[str] = ("",)) -> Iterator[str]:
    """The files that an element may mean and that exist; ``within`` are folders in its folders.

    With ``strippath`` MuJoCo opens a file by the last part of its name.
    """
    for key, name in found.element.attrib.items():
        if key.startswith("file") and name and "\0" not in name:
            names = dict.fromkeys((name, re.split(r"[/\\]", name)[-1]))
            for place in product(sorted(found.folders), within, names):
                if os.path.exists(path := os.path.join(*place)):
                    yield path


def _sizes(root: Element, above: int) -> Iterator[tuple[Element, int]]:
    """Every element, and how often it is copied.

    Raises UnreadableError for more copies, cells or words than are allowed.
    """
    rest = [(root, above)]
    while rest:
        element, copies = rest.pop()
        if element.tag in COPIED:
            copies *= math.prod(_whole(element, "count") or [1])
        cells = math.prod(_whole(element, "nrow", "ncol", "width", "height") or [1])
        many = [key for key in element.attrib if key.startswith(("nuser", "nkey"))]
        words = _whole(element, *many)
        if copies > MOST or cells > CELLS or max(words, default=0) > MOST:
            raise UnreadableError(
                f"<{element.tag}>: asks for more than {MOST:,} copies or words, or {CELLS:,} "
                "cells; ask for fewer"
            )
        yield element, copies
        rest += [(child, copies) for child in element]


def _whole(element: Element, *keys: str) -> list[int]:
    """The numbers in attributes, whole and at least 1; MuJoCo refuses words that are no numbers."""
    words = (word for key in keys for word in element.get(key, "").split())
    return [max(1, int(float(x))) for x in words if _finite(x)]


def _finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
