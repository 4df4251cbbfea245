"""Files, whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text as :func:`beside` does."""
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path to write to, which is renamed at the end: a reader never sees half a file.

    It has the suffix of ``path``, for writers that go by it.  A link is followed.  Raises OSError,
    which names ``path``, and leaves nothing behind.
    """
    asked, path = path, path.resolve()
    if path.exists() and not path.is_file():
        number = errno.EISDIR if path.is_dir() else errno.EINVAL
        raise OSError(number, "is no plain file" if number == errno.EINVAL else os.strerror(number),
                      str(asked))  # fmt: skip
    part = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        error.filename, error.filename2 = str(asked), None
        raise
    finally:
        with suppress(OSError):  # where nothing could be written, nothing is to be removed
            part.unlink()
