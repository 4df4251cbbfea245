"""Files and folders that results are written into: whole, or not at all and in one sentence."""

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
from typing import IO

from .errors import FormatError


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text in UTF-8 as :func:`beside` does; the path is returned."""
    write_together({Path(path): text})
    return Path(path)


def write_together(texts: Mapping[Path, str]) -> None:
    """Write files as :func:`beside` does, and none where one of them cannot be written.

    Lines end alike on every system.
    """
    with ExitStack() as all_of:
        for path, text in texts.items():
            all_of.enter_context(beside(path)).write_text(text, "utf-8", newline="\n")


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which is renamed at the end: a reader never sees half a file.

    It has the suffix of ``path``, for writers that go by it.  A link is followed.  Raises
    FormatError, which names ``path``, and leaves nothing behind.
    """
    with writing(path):
        place = _place(path)
        part = part_of(place)
        clear_parts(place)
        try:
            yield part
            if place.exists():  # what it was to others it stays
                part.chmod(stat.S_IMODE(place.stat().st_mode))
            os.replace(part, place)
        finally:
            with suppress(OSError):  # where nothing could be written, nothing is to be removed
                part.unlink()


@contextmanager
def writing(path: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """What an OSError says of a place that is written to, as a FormatError of one sentence."""
    try:
        yield
    except OSError as error:
        raise FormatError(
            f"{what}{os.fspath(path)}: cannot be written ({error.strerror or error}); "
            "give a place that can, or make room"
        ) from None


def check_file(path: str | os.PathLike[str]) -> Path:
    """See, before any long work, that a file can be written here.  Raises FormatError."""
    with writing(path):
        _place(path)
    return Path(path)


def check_folder(path: str | os.PathLike[str]) -> Path:
    """See, before any long work, that a folder can be made or written to.  Raises FormatError."""
    with writing(path, "output folder "):
        _may_hold(_followed(path))
    return Path(path)


def made(path: str | os.PathLike[str]) -> Path:
    """A folder that can be written to, made where it is missing.  Raises FormatError."""
    with writing(path, "output folder "):
        place = _followed(path)
        _may_hold(place)
        place.mkdir(parents=True, exist_ok=True)
        probe = part_of(place / "probe")
        probe.touch()
        probe.unlink()
    return Path(path)


def stems(names: Iterable[str]) -> dict[str, str]:
    """A file's name for each of these, without its suffix: short, plain, and no two alike."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:100]
        others = {stem.casefold() for stem in found.values()}  # as some file systems have it
        free = (f"{plain}_{k}" if k > 1 else plain for k in count(1))
        found[name] = next(stem for stem in free if stem.casefold() not in others)
    return found


def clear_parts(place: Path) -> None:
    """Remove what processes that were killed have left of this file: those that are no more."""
    if os.name == "posix":  # elsewhere to ask for a process by a signal would end it
        remove_parts(parts_of(place), _ended)


def remove_parts(found: Iterable[Path], ended: Callable[[int], bool] = lambda pid: True) -> None:
    """Remove parts that processes of this machine left, those that have ``ended`` by their number.

    In a folder that several machines share, another's process may be at work on a part of its own:
    those stay, and a warning names them.
    """
    for left in found:
        written = re.match(r".*\.([^.]*)\.(\d+)\.part", left.name, re.S)
        if written and written[1] != _host():
            warnings.warn(
                f"{left}: is written by a process on {written[1]}, or was left by one that was "
                "killed; in that case remove it",
                stacklevel=2,
            )
        elif written and ended(int(written[2])):
            with suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _host() -> str:
    """This machine's name, as it stands in the names of parts."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node())[:30]


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's
        return False
    return False


def locked(file: IO[bytes]) -> bool:
    """Whether this process alone may write an open file from now on, as long as it lives.

    Where the system or the file system has no such locks, nobody looks after two at a time.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # a file system of some clusters, as it is mounted
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
            raise
    return True


def part_of(place: Path, who: str = "") -> Path:
    """The file that becomes ``place``: hidden beside it, named by the machine and the process."""
    stem, suffix = place.stem[:40], place.suffix[:30]  # a name has at most 255 bytes
    return place.with_name(f".{stem}.{who or f'{_host()}.{os.getpid()}'}.part{suffix}")


def parts_of(place: Path) -> Iterator[Path]:
    """What becomes ``place``, or would have, whoever writes it."""
    return place.parent.glob(glob.escape(part_of(place, "\0").name).replace("\0", "*"))


def _place(path: str | os.PathLike[str]) -> Path:
    """Where a file goes, links followed.  Raises OSError where it cannot."""
    place = _followed(path)
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        _may_hold(place.parent, make=False)
        return place
    if stat.S_ISDIR(mode):
        raise _error(errno.EISDIR)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is no plain file")
    if not os.access(place, os.W_OK):
        raise _error(errno.EACCES)
    _may_hold(place.parent, make=False)
    return place


def _followed(path: str | os.PathLike[str]) -> Path:
    if "\0" in os.fspath(path):
        raise OSError(errno.EINVAL, "no file can have this name")
    try:
        return Path(os.path.realpath(path))
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "no file can have this name") from None


def _may_hold(folder: Path, make: bool = True) -> None:
    """Raise OSError where nothing new can be put into a folder, or into the one it would be in."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        if not make or folder.parent == folder:
            raise
        return _may_hold(folder.parent)
    if not stat.S_ISDIR(status.st_mode):
        raise _error(errno.ENOTDIR)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(errno.EACCES)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
