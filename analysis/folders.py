"""Folders that results are written into."""

from __future__ import annotations

import os
from pathlib import Path

from kkt import PivotreeError


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
