"""An MJCF file looked at before MuJoCo's compiler is: how much it asks for, and what it opens.

The compiler makes what is asked for until memory ends, without hearing Ctrl-C, and waits for pipes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..base.errors import UnreadableError
from ..base.markup import root_of
from ..base.reading import read_bytes

MOST = 10**5  # copies of an element, words for each body or joint, and keyframes
CELLS = 10**8  # of a height field or texture
COPIED = ("replicate", "flexcomp")


def check(file: str) -> None:
    """Raise UnreadableError, one sentence, for a file that should not be compiled.

    Included files are looked at, too; meshes and the like must be plain files where they are there.
    """
    folder, seen, rest = os.path.dirname(file), {file}, [file]
    elements: list[Element] = []
    while rest:
        path = rest.pop()
        try:
            root = root_of(read_bytes(path))
            _sizes(root, 1)
        except UnreadableError as error:
            raise UnreadableError(f"{path}: {error}" if path != file else str(error)) from None
        elements += root.iter()
        named = {os.path.join(folder, name) for x in root.iter("include") for name in _files(x)}
        rest += [path for path in sorted(named - seen) if os.path.exists(path)]
        seen |= named
    places = {folder}
    for element in elements:
        for key in ("meshdir", "texturedir", "assetdir"):
            if element.tag == "compiler" and key in element.attrib:
                places.add(os.path.join(folder, element.attrib[key]))
    for element in elements:
        for path in (os.path.join(place, name) for name in _files(element) for place in places):
            if os.path.exists(path) and not os.path.isfile(path):
                raise UnreadableError(f"<{element.tag}>: file {path!r} is no plain file")


def _files(element: Element) -> Iterator[str]:
    for key, value in element.attrib.items():
        if key.startswith("file") and value and "\0" not in value:
            yield value


def _sizes(root: Element, above: int) -> None:
    """Raise UnreadableError for more copies, cells or words than anyone has a use for."""
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
        rest += [(child, copies) for child in element]


def _whole(element: Element, *keys: str) -> list[int]:
    """The whole numbers of attributes, each at least one; what is no number MuJoCo refuses."""
    words = (word for key in keys for word in element.get(key, "").split())
    return [max(1, int(float(x))) for x in words if _finite(x)]


def _finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
