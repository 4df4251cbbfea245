"""Files, whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write beside, then rename: a reader sees the old file or the new one, never half.

    A link is followed.  Raises OSError, which names ``path``, and leaves nothing behind.
    """
    asked, path = path, path.resolve()
    if path.exists() and not path.is_file():
        number = errno.EISDIR if path.is_dir() else errno.EINVAL
        raise OSError(number, "is no plain file" if number == errno.EINVAL else os.strerror(number),
                      str(asked))  # fmt: skip
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        error.filename, error.filename2 = str(asked), None
        raise
