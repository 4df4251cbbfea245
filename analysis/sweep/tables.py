"""Tables of rows as files: CSV by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pivotree.kkt import PivotreeError
from pivotree.kkt.base.errors import csv_line
from pivotree.kkt.base.files import beside
from pivotree.kkt.base.reading import read_text

LARGEST = 2**40  # bytes of a table
Choose = Callable[[list[str]], Sequence[int]]  # keys of all rows -> the rows to write, in sequence


class Table(Protocol):
    """A file format; the first column is ``key``."""

    suffix: str

    def write(self, path: Path, rows: Iterable[Sequence[Any]]) -> None:
        """A new file, whole or not at all.  Raises FormatError."""

    def keys(self, path: Path) -> list[str]:
        """Keys of a file's rows.  Raises PivotreeError where its columns are others."""

    def join(self, paths: Sequence[Path], choose: Choose, path: Path) -> None:
        """One file of several, with the rows that are chosen.  Raises FormatError."""


def table_of(suffix: str, kinds: Mapping[str, type]) -> Table:
    """The format of a suffix, .csv or .parquet, for columns of these types."""
    return Csv(kinds) if suffix == ".csv" else Parquet(kinds)


class Csv:
    """Comma-separated, a head line, a line a row; a value that is missing is empty."""

    suffix = ".csv"

    def __init__(self, kinds: Mapping[str, type]) -> None:
        self.head = self._line(list(kinds))

    def write(self, path: Path, rows: Iterable[Sequence[Any]]) -> None:
        with beside(path) as part:
            part.write_text(self.head + "".join(map(self._line, rows)), encoding="utf-8")

    def keys(self, path: Path) -> list[str]:
        return [line.partition(",")[0] for line in self._lines(path)]

    def join(self, paths: Sequence[Path], choose: Choose, path: Path) -> None:
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


class Parquet:
    """Columns of text, 64-bit integers and float64, compressed; missing values are null."""

    suffix = ".parquet"

    def __init__(self, kinds: Mapping[str, type]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            raise PivotreeError(
                "field 'output': Parquet needs pyarrow; python -m pip install pyarrow, or give a "
                "name that ends in .csv"
            ) from None
        self.pa, self.parquet = pa, parquet
        types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        self.schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])

    def write(self, path: Path, rows: Iterable[Sequence[Any]]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(self.schema)
        arrays = [
            self.pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)
        ]
        self._written(self.pa.Table.from_arrays(arrays, schema=self.schema), path)

    def keys(self, path: Path) -> list[str]:
        return self._read(path, ["key"]).column("key").to_pylist()

    def join(self, paths: Sequence[Path], choose: Choose, path: Path) -> None:
        whole = self.pa.concat_tables([self.schema.empty_table(), *map(self._read, paths)])
        self._written(whole.take(list(choose(whole.column("key").to_pylist()))), path)

    def _read(self, path: Path, columns: list[str] | None = None) -> Any:
        found = self.parquet.read_schema(path)
        if not found.equals(self.schema):
            raise _other(path, found.names, self.schema.names)
        return self.parquet.read_table(path, columns=columns, memory_map=False)

    def _written(self, table: Any, path: Path) -> None:
        # by way of memory: what a full disk refuses is then an OSError with its number
        buffer = io.BytesIO()
        self.parquet.write_table(table, buffer, compression="zstd")
        with beside(path) as part:
            part.write_bytes(buffer.getbuffer())


def _other(path: Path, found: Sequence[str], wanted: Sequence[str]) -> PivotreeError:
    missing = [name for name in wanted if name not in found]
    more = [name for name in found if name not in wanted]
    what = "; ".join(
        f"{said} {', '.join(names)}" for said, names in (("lacks", missing), ("has", more)) if names
    )
    return PivotreeError(
        f"{path}: holds other columns than this sweep ({what or 'in another sequence or type'}); "
        "give another output, or move the file away"
    )
