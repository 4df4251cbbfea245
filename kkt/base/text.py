"""Texts from outside: made fit for display, and checked before they serve as names."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable

LONGEST = 500  # characters of a sentence
LONGEST_NAME = 500  # characters of a name, which stands in labels and tables
_WORD = re.compile(r"\S{121,}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_BREAK = re.compile(r"(?<! ) *+[^\S ]\s*+")  # white space that is more than blanks, in linear time
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def sentence(text: object, longest: int = LONGEST) -> str:
    """A text as one line that any terminal shows as it is: no breaks, no control characters.

    Line breaks become blanks, and characters that cannot be printed become Python's escapes.  In a
    text longer than ``longest`` the middle of long words, and then of the text, is left out.
    """
    line = _BREAK.sub(" ", str(text)).strip()
    if len(line) > longest:
        line = _WORD.sub(lambda word: _shortened(word[0], 60, 30), line)
    line = "".join([c if c.isprintable() else ascii(c)[1:-1] for c in line])
    return line if len(line) <= longest else _shortened(line, longest * 3 // 5, longest // 3)


def cell(text: str) -> str:
    """A text for a cell of a spreadsheet, with an apostrophe before a formula, so that none runs.

    A formula begins with =, +, - or @ (OWASP, CSV Injection) and is no number.  White space
    becomes single blanks.
    """
    text = " ".join(text.split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not _NUMBER.fullmatch(text) else text


def csv_line(cells: Iterable[object]) -> str:
    """One line of a CSV table, without its end; texts pass :func:`cell` and get quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cell(x) if isinstance(x, str) else x for x in cells)
    return line.getvalue()


def _shortened(text: str, head: int, tail: int) -> str:
    return f"{text[:head]}…{text[-tail:]}"


def unfit(name: str) -> str | None:
    """Why a text cannot be a name in every figure, table and file; None for a text that can.

    Control characters end lines and steer terminals; a lone surrogate has no place in UTF-8.
    """
    found = _UNFIT.search(name)
    if found is not None:
        lone = "\ud800" <= found[0] <= "\udfff"
        what = "the lone surrogate" if lone else "the control character"
        return f"holds {what} {found[0]!a}"
    if len(name) > LONGEST_NAME:
        return f"has {len(name):,} characters, more than {LONGEST_NAME}"
    return None


def first_unfit(names: Iterable[Hashable]) -> tuple[Hashable, str] | None:
    """The first name that is :func:`unfit`, and why; of a tuple its texts are checked."""
    named = [name for name in names if isinstance(name, str | tuple)]
    texts = [name if isinstance(name, str) else "".join(_parts(name)) for name in named]
    if max(map(len, texts), default=0) <= LONGEST_NAME and not _UNFIT.search("".join(texts)):
        return None  # one search through all of them
    found = ((name, unfit(text)) for name, text in zip(named, texts, strict=True))
    return next(((name, why) for name, why in found if why is not None), None)


def _parts(name: tuple) -> Iterable[str]:
    for part in name:
        if isinstance(part, str):
            yield part
        elif isinstance(part, tuple):
            yield from _parts(part)
