"""Reading files that a user names: every one of them is opened here.

Only plain files of bounded size are read, so that nothing waits for a pipe or reads a device
without end; text must be UTF-8, and JSON must have finite numbers and no key twice.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
from collections import Counter
from typing import Any, NoReturn

from .errors import UnreadableError

MOST_BYTES = 2**30  # bytes


def read_number(text: str, kind: type[int] | type[float] = float) -> Any:
    """A number as people write it.  Raises ValueError, also for 1_0 and digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return kind(text)


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
    """The text of a plain file in UTF-8, without a byte order mark.  Raises UnreadableError."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
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
