"""What was compiled before, kept on disk by content: programs and machine code.

An entry is a file named by a hash of all that its content follows from, the source text of this
package included, so that no entry is ever out of date.  It is written beside and then renamed, so
that two processes may write the same one; one that is cut short, changed, or stands under another
name fails its checksum and is as good as none, and so is a folder that cannot be read or written.
A folder that another user owns or may write to is not used, and a warning says so.

The folder is the user's for such files: ``~/.cache/pivotree`` or under ``XDG_CACHE_HOME``,
``~/Library/Caches`` on macOS, ``LOCALAPPDATA`` on Windows.  ``PIVOTREE_CACHE`` names another, or
is ``off``.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError, UnreadableError
from ..base.files import beside
from ..base.reading import read_bytes

Arrays = dict[str, NDArray]
ROOM = 256 * 2**20  # bytes; beyond, the entries that were longest unread are removed
CHECK = 32  # bytes of a checksum


def folder() -> Path | None:
    """Where entries are kept, made if need be; None where they are not kept."""
    chosen = os.environ.get("PIVOTREE_CACHE", "")
    if chosen.lower() == "off":
        return None
    try:
        path = Path(chosen) if chosen else _of_the_user() / "pivotree"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        open_to = _open_to(path.stat())
    except (OSError, RuntimeError):  # RuntimeError: no home
        return None
    if open_to:  # code is read from here: nobody else may have put it there
        warnings.warn(
            f"cache folder {path}: {open_to}, so that nothing compiled is kept or read there; make "
            "it yours alone (chmod 700), or name another with PIVOTREE_CACHE",
            stacklevel=2,
        )
        return None
    return path


def _open_to(status: os.stat_result) -> str:
    """Who else may have put a file into a folder, in words; nothing where nobody may."""
    if not hasattr(os, "getuid"):  # Windows: the user's own folder by its place
        return ""
    if status.st_uid != os.getuid():
        return "belongs to another user"
    return "can be written by other users" if status.st_mode & 0o022 else ""


def _of_the_user() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".cache"


@cache
def source() -> bytes:
    """A hash of this package's source text and of numpy's version."""
    top = Path(__file__).parent.parent
    files = sorted(top.rglob("*.py"))
    return _hash([np.__version__, *(text for f in files for text in (f.name, f.read_bytes()))])


def key(*parts: Any) -> str:
    """The name of an entry that follows from ``parts``: arrays, and what ``repr`` tells apart."""
    return _hash([source(), *parts]).hex()


def _hash(parts: Iterable[Any]) -> bytes:
    total = blake2b(digest_size=20)
    for part in parts:
        if isinstance(part, np.ndarray):
            head, data = f"{part.dtype.str}{part.shape}", part.tobytes()
        elif isinstance(part, bytes):
            head, data = "bytes", part
        else:
            head, data = "text", repr(part).encode()
        total.update(f"{head} {len(data)}\n".encode())
        total.update(data)
    return total.digest()


def _checksum(name: str, data: bytes) -> bytes:
    return blake2b(name.encode() + b"\n" + data, digest_size=CHECK).digest()


def read(name: str) -> Arrays | None:
    """The arrays of an entry, or None."""
    top = folder()
    if top is None:
        return None
    path = top / f"{name}.npz"
    try:
        whole = read_bytes(path)
        if _checksum(name, whole[CHECK:]) != whole[:CHECK]:
            return None
        with np.load(io.BytesIO(whole[CHECK:]), allow_pickle=False) as entry:
            arrays = dict(entry)
    except (UnreadableError, OSError, ValueError):
        return None
    with suppress(OSError):
        os.utime(path)  # what is read stays
    return arrays


def write(name: str, arrays: Arrays) -> None:
    """Keep arrays under a name, where that can be done."""
    top = folder()
    if top is None:
        return
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    data = stream.getvalue()
    with suppress(FormatError, OSError):
        with beside(top / f"{name}.npz") as part:
            part.write_bytes(_checksum(name, data) + data)
        _make_room(top)


def _make_room(top: Path) -> None:
    entries = []
    for path in top.glob("*.npz"):
        with suppress(OSError):  # removed by another process
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    left = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if left <= ROOM:
            return
        path.unlink(missing_ok=True)
        left -= size
