"""What a sweep has measured, on disk: parts as they come, one table when all is there.

Parts lie in ``OUTPUT.parts/``, each written beside and then renamed, so that a process that is
killed at any moment leaves whole parts only.  The table is written from the parts, and from the
table that was there, before the parts are removed; rows are told apart by their keys, so none can
be there twice.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from pivotree.kkt import FormatError, PivotreeError
from pivotree.kkt.base.errors import UnreadableError, csv_line
from pivotree.kkt.base.files import beside, check_file, locked, parts_of, remove_parts, writing
from pivotree.kkt.base.reading import read_text

from .cases import EDITION

LARGEST = 2**40  # bytes of a table
FIRST, SHARE, LONGEST = 1.0, 0.02, 60.0  # [s] between parts: a share of the time since the start
Choose = Callable[[list[str]], Sequence[int]]  # keys of all rows -> the rows to write, in sequence


class Csv:
    """Comma-separated, a head line, a line a row; a value that is missing is empty."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.head = self._line(columns)

    def write(self, path: Path, rows: Iterable[Sequence[Any]]) -> None:
        """A new file, whole or not at all.  Raises FormatError."""
        with beside(path) as part:
            part.write_text(self.head + "".join(map(self._line, rows)), encoding="utf-8")

    def keys(self, path: Path) -> list[str]:
        """Keys of a file's rows.  Raises PivotreeError where its columns are others."""
        return [line.partition(",")[0] for line in self._lines(path)]

    def join(self, paths: Sequence[Path], choose: Choose, path: Path) -> None:
        """One file of several, with the rows that are chosen.  Raises FormatError."""
        lines = [line for one in paths for line in self._lines(one)]
        chosen = choose([line.partition(",")[0] for line in lines])
        with beside(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.write(self.head)
            file.writelines(lines[i] for i in chosen)

    def _lines(self, path: Path) -> list[str]:
        head, *lines = io.StringIO(read_text(path, LARGEST), newline="").readlines() or [""]
        if head != self.head:
            raise _other(path, head.strip().split(","), self.head.strip().split(","))
        return lines

    @staticmethod
    def _line(row: Sequence[Any]) -> str:
        return csv_line(row) + "\n"


def _other(path: Path, found: Sequence[str], wanted: Sequence[str]) -> PivotreeError:
    missing = [name for name in wanted if name not in found]
    more = [name for name in found if name not in wanted]
    what = "; ".join(
        f"{said} {', '.join(names)}" for said, names in (("lacks", missing), ("has", more)) if names
    )
    return PivotreeError(
        f"{path}: holds other columns than this sweep ({what or 'in another sequence'}); "
        "give another output, or move the file away"
    )


class Store:
    """The rows of one output, kept by one process at a time."""

    def __init__(self, output: Path, table: Csv) -> None:
        self.output, self.table = output, table
        self.folder: Path = output.with_name(f"{output.name}.parts")
        self.done: set[str] = set()  # keys that were there at the start
        self.rows: list[Sequence[Any]] = []
        self.began: float = time.monotonic()
        self.told: float = self.began
        self._lock: BinaryIO | None = None

    def __enter__(self) -> Store:
        """Raises PivotreeError where another sweep writes here, or nobody can."""
        with writing(self.output):
            self.folder.mkdir(parents=True, exist_ok=True)
            check_file(self.output)
            self._lock = self._locked()
            # half written by processes that were killed
            remove_parts([*self.folder.glob(".*.part*"), *parts_of(self.output)])
        try:
            for path in self.files():
                self.done.update(self._keys(path))
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
        if not self.parts():
            self._clear()
        if self._lock is not None:
            self._lock.close()

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Keep rows; they are on disk at the latest after a fiftieth of the time so far."""
        self.rows += rows
        now = time.monotonic()
        if now - self.told >= min(FIRST + SHARE * (now - self.began), LONGEST):
            self.flush()

    def flush(self) -> None:
        """Write what is in memory as a part.  Raises PivotreeError where it cannot be."""
        if not self.rows:
            return
        path = self.folder / f"{self._next():08d}.csv"
        try:
            self.table.write(path, self.rows)
        except FormatError as error:
            raise self._kept(error) from None
        self.rows = []
        self.told = time.monotonic()

    def finish(self, positions: Mapping[str, int]) -> None:
        """One table of all rows, in the sequence of the cases, then of those no longer asked for.

        Raises PivotreeError where it cannot be written; the parts are kept then.
        """
        self.flush()
        parts = self.parts()
        if parts:

            def choose(keys: list[str]) -> list[int]:
                at = {key: i for i, key in enumerate(keys)}
                return sorted(at.values(), key=lambda i: (positions.get(keys[i], len(at)), i))

            try:
                with writing(self.output):
                    self.table.join(self.files(), choose, self.output)
            except FormatError as error:
                raise self._kept(error) from None
        for path in parts:
            path.unlink(missing_ok=True)
        self._clear()

    def _clear(self) -> None:
        """Leave no folder where no part lies."""
        with suppress(OSError):  # something else lies there
            (self.folder / "lock").unlink(missing_ok=True)
            self.folder.rmdir()

    def parts(self) -> list[Path]:
        return sorted(self.folder.glob(f"{'[0-9]' * 8}.csv"))

    def files(self) -> list[Path]:
        """The table, where there is one, and the parts."""
        return [self.output, *self.parts()] if self.output.exists() else self.parts()

    def _next(self) -> int:
        return max((int(path.stem) for path in self.parts() if path.stem.isdecimal()), default=0) + 1

    def _keys(self, path: Path) -> list[str]:
        try:
            keys = self.table.keys(path)
            if not all(key.startswith(f"{EDITION}.") for key in keys):
                raise PivotreeError(
                    f"{path}: was measured by a Pivotree whose numbers were others; give another "
                    "output, or move the file away"
                )
            return keys
        except UnreadableError as error:
            raise PivotreeError(f"{path}: {error}; move it away") from None

    def _locked(self) -> BinaryIO:
        """A file that is locked as long as this process lives."""
        file = (self.folder / "lock").open("wb")
        if not locked(file):
            file.close()
            raise PivotreeError(
                f"{self.output}: another sweep is writing it; wait for its end, or give another output"
            )
        return file

    def _kept(self, error: FormatError) -> PivotreeError:
        return PivotreeError(f"{error}; the same command goes on from {self.folder}, which is kept")
