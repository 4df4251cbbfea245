"""A cache on disk of programs and machine code that were made before.

An entry is a file named by a hash of everything that its content depends on, including the source
text of this package, so that no entry is ever out of date.  It is written under another name and
then renamed, so that two processes may write the same entry.  An entry that is truncated, changed
or misnamed fails its checksum and is ignored, and so is a folder that cannot be read or written.

Machine code must be this user's own, which a checksum does not prove, since anybody can compute
one.  So a folder that another user owns or may write to is not used, and a warning says so.  An
entry is used if the file that was opened is a regular file, not a link, which this user owns and
nobody else may write.  Then neither a file that is put there after the folder was checked is run,
nor one that others left there before the folder was closed to them.

The folder is the user's for such files: ``~/.cache/pivotree`` or under ``XDG_CACHE_HOME``,
``~/Library/Caches`` on macOS, ``LOCALAPPDATA`` on Windows.  ``PIVOTREE_CACHE`` names another, or
is ``off``.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import warnings
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError, PivotreeWarning
from ..base.files import beside

Arrays = dict[str, NDArray[Any]]
ROOM = 256 * 2**20  # bytes of all entries; beyond, those read longest ago are removed
CHECK = 32  # bytes of a checksum
ENTRY = re.compile(r"[0-9a-f]{40}\.npz")


def folder() -> Path | None:
    """The folder of entries, which is made if need be; None where nothing is kept."""
    chosen = os.environ.get("PIVOTREE_CACHE", "")
    if chosen.lower() == "off":
        return None
    try:
        path = Path(chosen) if chosen else _of_the_user() / "pivotree"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        open_to = _open_to(path.stat()) or _of_others(path.lstat())
    except (OSError, RuntimeError):  # RuntimeError: no home
        return None
    if open_to:  # code is read from here: nobody else may have put it there
        warnings.warn(
            f"cache folder {path}: {open_to}, so that nothing compiled is kept or read there; make "
            "it yours alone (chmod 700), or name another with PIVOTREE_CACHE",
            PivotreeWarning,
            stacklevel=2,
        )
        return None
    return path


def _open_to(status: os.stat_result) -> str:
    """In words, who else may write a folder or file; empty where nobody else may."""
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "belongs to another user"
    # Windows: the user's own folder by its place
    open_to = hasattr(os, "getuid") and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "can be written by other users" if open_to else ""


def _of_others(status: os.stat_result) -> str:
    """In words, whether a folder's path is a link of another user, who may change its target."""
    linked = stat.S_ISLNK(status.st_mode) and hasattr(os, "getuid")
    return "is a link of another user" if linked and status.st_uid not in (0, os.getuid()) else ""


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
    """The name of an entry: a hash of ``parts``: arrays, bytes, and other objects by ``repr``."""
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
    """The arrays of an entry; None where there is none that may be used."""
    top = folder()
    if top is None:
        return None
    path = top / f"{name}.npz"
    try:
        whole = _own(path)
        if _checksum(name, whole[CHECK:]) != whole[:CHECK]:
            raise ValueError
        with np.load(io.BytesIO(whole[CHECK:]), allow_pickle=False) as entry:
            arrays = dict(entry)
    except OSError:
        return None
    except (ValueError, zipfile.BadZipFile):
        with suppress(OSError):  # a bad entry is removed, so that a new one can be written
            path.unlink()
        return None
    with suppress(OSError):
        os.utime(path)  # entries that were read lately are kept
    return arrays


def _own(path: Path) -> bytes:
    """The content of a plain file, no link, that this user alone may write.

    Raises ValueError for any other, and OSError where there is none or it cannot be read.
    """
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")]
    try:
        number = os.open(path, os.O_RDONLY | sum(flags))
    except OSError:
        if path.is_symlink():
            raise ValueError from None
        raise
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_size > ROOM or _open_to(status):
            raise ValueError
        return file.read()


def write(name: str, arrays: Arrays) -> None:
    """Keep arrays under a name; nothing happens where they cannot be written."""
    top = folder()
    if top is None:
        return
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    data = stream.getvalue()
    with suppress(FormatError, OSError):
        with beside(top / f"{name}.npz") as part:
            part.touch(0o600, exist_ok=False)
            part.write_bytes(_checksum(name, data) + data)
        if name.startswith("0"):  # one write of sixteen: it looks at every entry
            _make_room(top)


def _make_room(top: Path) -> None:
    entries = []
    for file in os.scandir(top):
        with suppress(OSError):  # removed by another process
            if ENTRY.fullmatch(file.name):  # no other arrays of the user, in a folder of their choice
                status = file.stat()
                entries.append((status.st_mtime, status.st_size, file.path))
    left = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if left <= ROOM:
            return
        Path(path).unlink(missing_ok=True)
        left -= size
