"""Reading files that a user names: every one of them is opened here.

Only plain files of bounded size are read, so that nothing waits for a pipe or reads a device
without end; text must be UTF-8, and JSON must have finite numbers and no key twice.

Users' XML, parsed without entities and external documents; what is wrong is one sentence.

Files are read as the simulators do that read them: blanks may stand before the declaration, prefixes
need not be declared, and a default namespace is that of all elements.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import sys
from collections import Counter
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from .errors import UnreadableError

DECLARED = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.-]+)[\"'][^>]*\?>")
PREFIX = re.compile(rb"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_]")
ROOT = re.compile(rb"<[A-Za-z_][\w:.-]*")
UNBOUND, UNKNOWN = "unbound prefix", "unknown encoding"


def root_of(text: bytes | str) -> Element:
    """The root element of an XML text.  Raises UnreadableError where the text is no XML."""
    given = text.encode() if isinstance(text, str) else text
    body = given.lstrip(b" \t\r\n")
    lines = given[: len(given) - len(body)].count(b"\n")
    try:
        root = _parsed(body)
    except ParseError as error:
        line, column = error.position
        why = str(error).split(":")[0]
        raise UnreadableError(
            f"line {line + lines}, column {column + 1}", f"is not XML ({why})", "mend it"
        ) from None
    except DefusedXmlException as error:
        what = type(error).__name__
        raise UnreadableError(
            f"holds an XML entity or document type that is refused ({what})", remedy="write it out"
        ) from None
    except (ValueError, LookupError):  # the encoding is unknown, or the text is not in it
        raise UnreadableError(
            "is not text in the encoding that it names", remedy="save it as UTF-8"
        ) from None
    if root.tag.startswith("{"):  # of a default namespace, which says nothing here
        space = root.tag[: root.tag.index("}") + 1]
        for element in root.iter():
            if isinstance(element.tag, str):
                element.tag = element.tag.removeprefix(space)
    return root


def _parsed(text: bytes) -> Element:
    try:
        return fromstring(text)
    except (ParseError, ValueError, LookupError) as error:
        declared = DECLARED.match(text)
        if str(error).startswith(UNBOUND):
            prefixes = sorted({*PREFIX.findall(text)} - {b"xml", b"xmlns"})
            spaces = b"".join(b' xmlns:%s="urn:%s"' % (x, x) for x in prefixes if b"xmlns:" + x not in text)
            return fromstring(ROOT.sub(lambda found: found[0] + spaces, text, count=1))
        if declared is not None and (UNKNOWN in str(error) or not isinstance(error, ParseError)):
            return fromstring(text[declared.end() :].decode(declared[1].decode()))
        raise


MOST_BYTES = 2**30  # bytes


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """The content of a plain file; a link is followed.  Raises UnreadableError."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableError("cannot be read (Is a directory)")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("cannot be read (is no plain file)")
        # O_NONBLOCK: where a pipe has taken the file's place meanwhile, do not wait for it
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            content = file.read() if status.st_size <= most else b""
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})") from None
    except ValueError:  # NUL, or a character that no file system can encode
        raise UnreadableError("cannot be read (no file can have this name)") from None
    if max(len(content), status.st_size) > most:
        raise UnreadableError(f"cannot be read (it is larger than {most:,} bytes)")
    return content


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """The text of a plain file in UTF-8.  Raises UnreadableError."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not text in UTF-8 (byte {error.start + 1})") from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """The content of a JSON file.  Raises UnreadableError, also for NaN and for a repeated key."""
    text = read_text(path)
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_not_finite, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise UnreadableError(
            f"line {error.lineno}, column {error.colno}", f"is not JSON ({error.msg})"
        ) from None
    except (RecursionError, ValueError):  # nested too deep; an integer of thousands of digits
        raise UnreadableError("is JSON beyond reason") from None


def _whole(digits: str) -> int | float:
    """A whole number; beyond all doubles it becomes infinite, as 1e999 does, to be refused."""
    number = int(digits)
    return number if abs(number) <= sys.float_info.max else math.inf


def _not_finite(word: str) -> NoReturn:
    raise UnreadableError(f"holds {word}, where numbers are finite")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        raise UnreadableError(f"has the field {twice!r} twice in one object")
    return found
