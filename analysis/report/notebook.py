"""What is measured so far: in memory for the page, and in a file from the first state on."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import PivotreeError, SizeError
from pivotree.kkt.base.errors import csv_line
from pivotree.kkt.base.files import locked, write_whole, writing

from ..states.measure import Measured, Setup, measure
from ..states.traced import FIELDS

MOST = 4_000_000_000  # bytes of joint errors that are held
HEAD = "state,order,format,error,digits,digits_with_data,failed,backward_error,marked"
Floats = NDArray[np.float64]


class Notebook:
    """What is measured of each state, as it comes, and sorted at the end.

    With a ``path``, the table to be written at the end, every state is on disk when
    :meth:`keep` returns, in a file of records beside it that the next run takes up: it may have
    been ended at any moment.  Raises PivotreeError where the records there are not of this setup.
    """

    def __init__(self, setup: Setup, count: int, path: Path | None = None) -> None:
        orders, formats = len(setup.orders), len(setup.formats)
        N = int(setup.system.tree.offset[-1])
        if 4.0 * count * orders * formats * N > MOST:
            most = MOST // (4 * orders * formats * N)
            raise SizeError(
                f"option --states: {count} states of {N} joints in {orders} orders and {formats} "
                f"formats do not fit in memory; use {most} at most"
            )
        self.setup, self.done = setup, 0
        self.names = FIELDS[setup.quantity] if setup.quantity != "qdd" else ()
        self._kept = np.zeros(count, dtype=_record((orders, formats), N, len(FIELDS[setup.quantity])))
        self.most = np.array([most_digits(f.unit) for f in setup.formats])
        self.path = path
        self._part: BinaryIO | None = None
        self._written = 0  # records in the file
        if path is not None:
            with writing(records(path)), ExitStack() as refused:
                part = refused.enter_context(open(records(path), "a+b"))
                if not locked(part):
                    raise PivotreeError(
                        f"{records(path)}: another report is writing it; wait for its end, or give "
                        "another folder with -o"
                    )
                self._take_up(part, records(path))
                self._part = part
                refused.pop_all()

    def _take_up(self, part: BinaryIO, path: Path) -> None:
        """Records of an earlier run, the first of them held against the state measured anew."""
        head = f"{self.setup.head()}\n".encode()
        part.seek(0)
        there, left, size = part.readline(), part.read(), self._kept.itemsize
        if there != head and left:
            raise PivotreeError(
                f"{path}: holds states of other orders, formats or seeds; give the same options, "
                "another folder with -o, or remove it"
            )
        found: NDArray[Any] = np.frombuffer(left[: len(left) // size * size], dtype=self._kept.dtype)
        first = found[0].tobytes() if len(found) else None
        if first and self._as_record(measure(self.setup, int(found[0]["number"]))) != first:
            raise PivotreeError(
                f"{path}: holds states of another robot, or of another version; give another "
                "folder with -o, or remove it"
            )
        part.truncate(len(head) + found.nbytes if there == head else 0)  # what was half written
        if there != head:
            part.write(head)
            part.flush()
        self._written = len(found)
        wanted = found[found["number"] < len(self._kept)]
        self.done = len(wanted)
        self._kept[: self.done] = wanted

    def missing(self) -> list[int]:
        """Numbers of the states that are still to be measured."""
        return np.setdiff1d(np.arange(len(self._kept)), self.numbers).tolist()

    def keep(self, measured: Measured) -> None:
        """One more state; on disk when this returns."""
        record = self._as_record(measured)
        self._kept[self.done] = np.frombuffer(record, dtype=self._kept.dtype)[0]
        self.done += 1
        if self._part is not None and self.path is not None:
            with writing(records(self.path)):
                self._part.write(record)
                self._part.flush()
            self._written += 1

    def _as_record(self, measured: Measured) -> bytes:
        record: NDArray[Any] = np.zeros(1, dtype=self._kept.dtype)
        record[0] = tuple(measured)  # fields in the same sequence
        return record.tobytes()

    def finish(self) -> None:
        """States in the order of their numbers, here and in the table, which is written."""
        self._kept[: self.done].sort(order="number")
        if self.path is not None:
            lines = [line for i in range(self.done) for line in self._lines(i)]
            write_whole(self.path, "\n".join([self.head, *lines, ""]))

    def close(self, done: bool = False) -> None:
        """Close the records; and remove them, where all that is made of them is written.

        Or where there are none: the lock says that they are this report's to remove.
        """
        if self._part is not None and self.path is not None:
            if done or not self._written:
                records(self.path).unlink(missing_ok=True)
            self._part.close()
            self._part = None

    def _lines(self, i: int) -> list[str]:
        kept, whole = self._digits(self.error[i]), self._digits(self._of("total")[i])
        fields = self._by_field(self._of("fields")[i])
        return [
            f"{self.numbers[i]},{csv_line([order, chosen.name])},{self.error[i, a, b]:.6g},"
            f"{kept[a, b]:.4f},{whole[a, b]:.4f},{int(self.failed[i, a, b] > 0)},"
            f"{self.left[i, a, b]:.3g},{int(self.marked[i, a, b])}"
            + "".join(f",{fields[a, b, k]:.4f}" for k in range(len(self.names)))
            for a, order in enumerate(self.setup.called.values())
            for b, chosen in enumerate(self.setup.formats)
        ]

    @property
    def head(self) -> str:
        """The first line of the file: of derivatives, with digits of qdd and of each matrix."""
        return ",".join([HEAD, *(f"digits_{name}" for name in self.names)])

    # -- what the page is made from ---------------------------------------------------------------

    def _of(self, what: str) -> NDArray:
        return self._kept[what][: self.done]

    @property
    def numbers(self) -> NDArray[np.int64]:
        return self._of("number")

    @property
    def again(self) -> int:
        """Draws that led to no state that closes the loops."""
        return int(self._of("again").sum())

    @property
    def error(self) -> Floats:
        """(states, orders, formats); NaN where there is no answer."""
        return self._of("error")

    @property
    def failed(self) -> NDArray[np.int8]:
        return self._of("failed")

    @property
    def left(self) -> Floats:
        """(states, orders, formats) backward errors in (4); NaN where there is no answer."""
        return self._of("left")

    @property
    def marked(self) -> NDArray[np.bool_]:
        """(states, orders, formats) answers that should not be relied on."""
        return self._of("marked")

    @property
    def joints(self) -> NDArray[np.float32]:
        """(states, orders, formats, N)."""
        return self._of("joints")

    @property
    def fields(self) -> Floats:
        """(states, orders, formats, fields) digits of qdd and of each matrix."""
        return self._by_field(self._of("fields"))

    @property
    def digits(self) -> Floats:
        """(states, orders, formats) of the exact answer for the rounded data; 0 where it failed."""
        return self._digits(self.error)

    @property
    def total(self) -> Floats:
        """(states, orders, formats) digits of the exact answer for the data in float64."""
        return self._digits(self._of("total"))

    @property
    def data(self) -> Floats:
        """(states, formats) digits that rounding the data alone leaves."""
        return self._digits(self._of("data"))

    def _digits(self, error: Floats) -> Floats:
        return digits(error, self.most)

    def _by_field(self, error: Floats) -> Floats:
        return digits(error, self.most[:, None])


def records(path: Path) -> Path:
    """The file that grows while states come, beside the table."""
    return path.with_suffix(".part")


def _record(shape: tuple[int, int], N: int, fields: int) -> np.dtype:
    """What :class:`Measured` holds, of (orders, formats), in as many bytes for every state."""
    return np.dtype(
        [
            ("number", "<i8"),
            ("error", "<f8", shape),
            ("total", "<f8", shape),
            ("data", "<f8", shape[1:]),
            ("failed", "i1", shape),
            ("joints", "<f4", (*shape, N)),
            ("fields", "<f8", (*shape, fields)),
            ("left", "<f8", shape),
            ("marked", "?", shape),
            ("again", "<i8"),
        ]
    )


def digits(error: NDArray, most: NDArray | float) -> Floats:
    """-log10 of relative errors, between 0 and all that the format holds; 0 for NaN."""
    with np.errstate(divide="ignore"):
        kept = -np.log10(np.asarray(error, dtype=float))
    return np.clip(np.where(np.isnan(kept), 0.0, kept), 0.0, most)


def most_digits(unit: float) -> float:
    """Decimal digits that a format holds: -log10 of its unit roundoff."""
    return -math.log10(unit)
