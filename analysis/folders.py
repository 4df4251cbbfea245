"""Folders and files that results are written into."""

from __future__ import annotations

import os
from pathlib import Path

from kkt import FormatError, PivotreeError
from kkt.files import write_whole


def made(folder: Path) -> Path:
    """A folder that can be written to, made where it is missing, before any long work.

    Raises PivotreeError, one sentence, where it cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".pivotree-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(folder, error) from None
    return folder


def unwritable(folder: Path, error: OSError) -> PivotreeError:
    return PivotreeError(
        f"output folder {folder}: cannot be written ({error.strerror}); give another with -o"
    )


def written(path: Path, text: str, mend: str = "another with -o") -> Path:
    """Write a text, whole or not at all.  Raises FormatError, one sentence, where it cannot be."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror}); give {mend}") from None
    return path
