"""What a sweep has measured, on disk: a file of rows as they come, one table when all is there.

Rows are appended to ``OUTPUT.parts``, whose last line may be half of one where a process was killed:
the next one drops that half.  The table is written from this file, and from the table that was there,
before the file is removed; rows are told apart by their keys, so none can be there twice.
"""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from pivotree.kkt import FormatError, PivotreeError
from pivotree.kkt.base.errors import UnreadableError
from pivotree.kkt.base.files import beside, check_file, parts_of, remove_parts, writing
from pivotree.kkt.base.reading import read_text

from .measure import EDITION

LARGEST = 2**40  # bytes of a table
FIRST, SHARE, LONGEST = 1.0, 0.02, 60.0  # [s] between writes: a share of the time since the start
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def cell(text: str) -> str:
    """A text for a cell of a spreadsheet, with an apostrophe before a formula, so that none runs.

    A formula begins with =, +, - or @ (OWASP, CSV Injection) and is no number.  White space
    becomes single blanks.
    """
    text = " ".join(text.split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not NUMBER.fullmatch(text) else text


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Lines of a CSV table, with their ends; texts pass :func:`cell` and get quotes."""
    lines = io.StringIO()
    shown = ([cell(x) if isinstance(x, str) else x for x in row] for row in rows)
    csv.writer(lines, lineterminator="\n").writerows(shown)
    return lines.getvalue()


class Store:
    """The rows of one output, kept by one process at a time."""

    def __init__(self, output: Path, columns: Sequence[str]) -> None:
        self.output: Path = output
        self.head: str = csv_lines([columns])
        self.place: Path = output.with_name(f"{output.name}.parts")
        self.done: set[str] = set()  # keys that were there at the start
        self.rows: list[str] = []  # lines that are not on disk yet, those of a call together
        self.began: float = time.monotonic()
        self.told: float = self.began
        self._lock: BinaryIO | None = None

    def __enter__(self) -> Store:
        """Raises PivotreeError where another sweep writes here, or nobody can."""
        with writing(self.output):
            if not self.output.parent.exists():
                self.output.parent.mkdir(parents=True)
            check_file(self.output)
            self._lock = self.place.open("a+b")
            if not (locked(self._lock) and _still(self._lock, self.place)):
                self._lock.close()
                raise PivotreeError(
                    self.output, "another sweep is writing it", "wait for its end, or give another output"
                )
            remove_parts(parts_of(self.output))  # half written by processes that were killed
            self._lock.seek(0)
            os.truncate(self.place, sum(len(line) for line in self._lock if line.endswith(b"\n")))
        try:
            if not self.place.stat().st_size:
                self._append([self.head])
            self.done = {_key(line) for line in self._all()}
        except PivotreeError:
            self._close()
            raise
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        """What has come is kept, whatever ended the work."""
        try:
            if kind is None or not issubclass(kind, PivotreeError):
                self.flush()
            else:
                with suppress(PivotreeError):  # the first reason is told
                    self.flush()
        finally:
            self._close()

    def _close(self) -> None:
        """A file without rows goes while it is still locked: afterwards it may be another sweep's."""
        assert self._lock is not None
        if os.name == "nt":  # which has no such locks, and does not remove what is open
            self._lock.close()
        with suppress(OSError):
            if self.place.stat().st_size <= len(self.head.encode()):
                self.place.unlink()
        self._lock.close()

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Keep rows; they are on disk at the latest after a fiftieth of the time so far."""
        self.rows.append(csv_lines(rows))
        now = time.monotonic()
        if now - self.told >= min(FIRST + SHARE * (now - self.began), LONGEST):
            self.flush()

    def flush(self) -> None:
        """Write what is in memory.  Raises PivotreeError where it cannot be."""
        if self.rows:
            self._append(self.rows)
            self.rows, self.told = [], time.monotonic()

    def _append(self, lines: Iterable[str]) -> None:
        """Whole lines or none."""
        size = self.place.stat().st_size
        try:
            with writing(self.place), self.place.open("a", encoding="utf-8", newline="") as file:
                file.writelines(lines)
        except FormatError as error:
            with suppress(OSError):
                os.truncate(self.place, size)
            raise self._kept(error) from None

    def finish(self, positions: Mapping[str, int]) -> None:
        """One table of all rows, in the sequence of the cases, then of those no longer asked for.

        Raises PivotreeError where it cannot be written; the rows are kept then.
        """
        self.flush()
        if not self._lines(self.place):
            return
        at = {_key(line): line for line in self._all()}
        keys = sorted(at, key=lambda key: positions.get(key, len(positions)))
        try:
            with beside(self.output) as part, part.open("w", encoding="utf-8", newline="") as file:
                file.write(self.head)
                file.writelines(at[key] for key in keys)
        except FormatError as error:
            raise self._kept(error) from None
        os.truncate(self.place, 0)

    def _all(self) -> list[str]:
        """Lines of the table, where there is one, and of the rows beside it."""
        return [line for path in (self.output, self.place) if path.exists() for line in self._lines(path)]

    def _lines(self, path: Path) -> list[str]:
        """Raises PivotreeError where columns are others, or rows of another edition."""
        try:
            head, *lines = io.StringIO(read_text(path, LARGEST), newline="").readlines() or [""]
        except UnreadableError as error:
            raise PivotreeError(path, error, "move it away") from None
        if head != self.head:
            why = _other(head.strip().split(","), self.head.strip().split(","))
        elif not all(line.startswith(f"{EDITION}.") for line in lines):
            why = "was measured by a Pivotree whose numbers were others"
        else:
            return lines
        raise PivotreeError(path, why, "give another output, or move the file away")

    def _kept(self, error: FormatError) -> PivotreeError:
        return PivotreeError(error, remedy=f"the same command goes on from {self.place}, which is kept")


def _key(line: str) -> str:
    return line.partition(",")[0]


def _other(found: Sequence[str], wanted: Sequence[str]) -> str:
    missing = [name for name in wanted if name not in found]
    more = [name for name in found if name not in wanted]
    what = "; ".join(
        f"{said} {', '.join(names)}" for said, names in (("lacks", missing), ("has", more)) if names
    )
    return f"holds other columns than this sweep ({what or 'in another sequence'})"


def _still(file: IO[bytes], place: Path) -> bool:
    """Whether an open file is the one at this place: its last owner may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def locked(file: IO[bytes]) -> bool:
    """Lock an open file for this process; False where another process holds the lock.

    Where the system or the file system has no locks, True: nothing keeps two processes apart.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # some clusters mount file systems without locks
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
            raise
    return True
