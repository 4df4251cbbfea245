"""Writing files and folders of results: a file is written whole, or one sentence says why not."""

from __future__ import annotations

import errno
import glob
import os
import platform
import re
import shutil
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile

from .errors import FormatError, PivotreeWarning


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text in UTF-8 as :func:`beside` does; the path is returned."""
    write_together({Path(path): text})
    return Path(path)


def write_together(texts: Mapping[Path, str]) -> None:
    """Write several files as :func:`beside` does; where one cannot be written, none is.

    Lines end with a line feed on every system.
    """
    with ExitStack() as all_of:
        for path, text in texts.items():
            all_of.enter_context(beside(path)).write_text(text, "utf-8", newline="\n")


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path to write to, renamed to ``path`` at the end: no reader sees half a file.

    It has the suffix of ``path``, for writers that choose a format by it.  A link is followed.
    Raises FormatError, which names ``path``; no temporary file is left behind.
    """
    with writing(path):
        place = _place(path)
        part = part_of(place)
        clear_parts(place)
        try:
            yield part
            if place.exists():  # the new file keeps the old one's permissions
                part.chmod(stat.S_IMODE(place.stat().st_mode))
            os.replace(part, place)
        finally:
            with suppress(OSError):  # where nothing could be written, there is nothing to remove
                part.unlink()


@contextmanager
def writing(path: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """Turn an OSError inside the block into a FormatError: one sentence that names the path."""
    try:
        yield
    except OSError as error:
        raise FormatError(
            f"{what}{os.fspath(path)}",
            f"cannot be written ({error.strerror or error})",
            "give a place that can, or make room",
        ) from None


def check_file(path: str | os.PathLike[str]) -> Path:
    """Check, before any long work, that a file can be written here.  Raises FormatError."""
    with writing(path):
        _place(path)
    return Path(path)


def check_folder(path: str | os.PathLike[str]) -> Path:
    """Check, before any long work, that a folder can be made or written to.  Raises FormatError."""
    with writing(path, "output folder "):
        _may_hold(_followed(path), make=True)
    return Path(path)


def made(path: str | os.PathLike[str]) -> Path:
    """Make a folder where it is missing; check that it can be written to.  Raises FormatError."""
    place = _followed(check_folder(path))
    with writing(path, "output folder "):
        place.mkdir(parents=True, exist_ok=True)
        _may_hold(place)
    return Path(path)


def stems(names: Iterable[str]) -> dict[str, str]:
    """A file name without suffix for each name: short, of plain characters, and no two alike."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:100]
        others = {stem.casefold() for stem in found.values()}  # some file systems ignore case
        free = (f"{plain}_{k}" if k > 1 else plain for k in count(1))
        found[name] = next(stem for stem in free if stem.casefold() not in others)
    return found


def clear_parts(place: Path) -> None:
    """Remove the temporary files for ``place`` that killed processes have left behind."""
    if os.name == "posix":  # on Windows, os.kill would end the process that it is to look for
        remove_parts(parts_of(place), _ended)


def remove_parts(found: Iterable[Path], ended: Callable[[int], bool] = lambda pid: True) -> None:
    """Remove temporary files of this machine's processes that have ``ended``, by their number.

    In a folder that several machines share, a process of another machine may be writing one of
    these files: such files are kept, and a warning names them.
    """
    for left in found:
        written = re.match(r".*\.([^.]*)\.(\d+)\.part", left.name, re.S)
        if written and written[1] != _host():
            warnings.warn(
                f"{left} is written by a process on {written[1]}, or was left by one that was "
                "killed; in that case remove it",
                PivotreeWarning,
                stacklevel=2,
            )
        elif written and ended(int(written[2])):
            with suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _host() -> str:
    """This machine's name, as it stands in the names of temporary files."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node())[:30]


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's
        return False
    return False


def part_of(place: Path, who: str = "") -> Path:
    """The temporary file for ``place``: hidden beside it, named by the machine and the process."""
    stem, suffix = place.stem[:40], place.suffix[:30]  # a name has at most 255 bytes
    return place.with_name(f".{stem}.{who or f'{_host()}.{os.getpid()}'}.part{suffix}")


def parts_of(place: Path) -> Iterator[Path]:
    """All temporary files for ``place``, whichever machine and process writes them."""
    return place.parent.glob(glob.escape(part_of(place, "\0").name).replace("\0", "*"))


def _place(path: str | os.PathLike[str]) -> Path:
    """The path of a file to write, links followed.  Raises OSError where it cannot be written."""
    place = _followed(path)
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        _may_hold(place.parent)
        return place
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "is no plain file")
    place.open("ab").close()  # which changes nothing
    _may_hold(place.parent)
    return place


def _followed(path: str | os.PathLike[str]) -> Path:
    if "\0" in os.fspath(path):
        raise OSError(errno.EINVAL, "no file can have this name")
    try:
        return Path(os.path.realpath(path))
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "no file can have this name") from None


def _may_hold(folder: Path, make: bool = False) -> None:
    """Raise OSError where a folder takes no new file; one to ``make`` stands for its parent."""
    try:
        TemporaryFile(dir=folder).close()
    except FileNotFoundError:
        if not make or folder.parent == folder:
            raise
        _may_hold(folder.parent, make)
