"""What is measured so far: in memory for the page, and in a file from the first state on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import SizeError
from pivotree.kkt.base.files import write_whole, writing
from pivotree.kkt.base.text import csv_line

from ..states.measure import Measured, Setup

MOST = 4_000_000_000  # bytes of joint errors that are held
HEAD = "state,order,format,error,digits,digits_with_data,failed,backward_error,marked"
Floats = NDArray[np.float64]


class Notebook:
    """Arrays (states, orders, formats, ...); states as they come, sorted at the end."""

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
        self.again = 0  # draws that led to no state that closes the loops
        self.numbers = np.zeros(count, dtype=np.int64)
        shape = (count, orders, formats)
        self._error, self._total = np.zeros(shape), np.zeros(shape)
        self._failed = np.zeros(shape, dtype=np.int8)
        self._left, self._marked = np.zeros(shape), np.zeros(shape, dtype=bool)
        self._data = np.zeros((count, formats))
        self._joints = np.zeros((*shape, N), dtype=np.float32)
        self.most = np.array([most_digits(f.unit) for f in setup.formats])
        self.path = path
        self._part: IO[str] | None = None
        if path is not None:
            with writing(path):
                self._part = open(growing(path), "w", encoding="utf-8")  # noqa: SIM115
                self._part.write(HEAD + "\n")

    def keep(self, measured: Measured) -> None:
        """One more state; on disk when this returns."""
        i = self.done
        self.numbers[i] = measured.number
        self._error[i], self._total[i] = measured.error, measured.total
        self._failed[i], self._data[i] = measured.failed, measured.data
        self._joints[i] = measured.joints
        self._left[i], self._marked[i] = measured.left, measured.marked
        self.done += 1
        self.again += measured.again
        if self._part is not None and self.path is not None:
            with writing(growing(self.path)):
                self._part.write("\n".join(self._lines(i)) + "\n")
                self._part.flush()

    def finish(self) -> None:
        """States in the order of their numbers, here and in the file that takes its place."""
        order = np.argsort(self.numbers[: self.done])
        kept = (self._error, self._total, self._failed, self._data, self._left, self._marked)
        for array in (self.numbers, *kept):
            array[: self.done] = array[order]
        self._joints[: self.done] = self._joints[order]
        if self._part is None or self.path is None:
            return
        self._part.close()
        lines = [line for i in range(self.done) for line in self._lines(i)]
        write_whole(self.path, "\n".join([HEAD, *lines, ""]))
        growing(self.path).unlink()

    def _lines(self, i: int) -> list[str]:
        kept, whole = self._digits(self._error[i]), self._digits(self._total[i])
        return [
            f"{self.numbers[i]},{csv_line([order, chosen.name])},{self._error[i, a, b]:.6g},"
            f"{kept[a, b]:.4f},{whole[a, b]:.4f},{int(self._failed[i, a, b] > 0)},"
            f"{self._left[i, a, b]:.3g},{int(self._marked[i, a, b])}"
            for a, order in enumerate(self.setup.called.values())
            for b, chosen in enumerate(self.setup.formats)
        ]

    # -- what the page is made from ---------------------------------------------------------------

    @property
    def error(self) -> Floats:
        """(states, orders, formats); NaN where there is no answer."""
        return self._error[: self.done]

    @property
    def failed(self) -> NDArray[np.int8]:
        return self._failed[: self.done]

    @property
    def left(self) -> Floats:
        """(states, orders, formats) backward errors in (4); NaN where there is no answer."""
        return self._left[: self.done]

    @property
    def marked(self) -> NDArray[np.bool_]:
        """(states, orders, formats) answers that should not be relied on."""
        return self._marked[: self.done]

    @property
    def joints(self) -> NDArray[np.float32]:
        """(states, orders, formats, N)."""
        return self._joints[: self.done]

    @property
    def digits(self) -> Floats:
        """(states, orders, formats) of the exact answer for the rounded data; 0 where it failed."""
        return self._digits(self.error)

    @property
    def total(self) -> Floats:
        """(states, orders, formats) digits of the exact answer for the data in float64."""
        return self._digits(self._total[: self.done])

    @property
    def data(self) -> Floats:
        """(states, formats) digits that rounding the data alone leaves."""
        return self._digits(self._data[: self.done])

    def _digits(self, error: Floats) -> Floats:
        return digits(error, self.most)


def growing(path: Path) -> Path:
    """The file that grows while states come."""
    return path.with_name(f"{path.name}.part")


def digits(error: NDArray, most: NDArray | float) -> Floats:
    """-log10 of relative errors, between 0 and all that the format holds; 0 for NaN."""
    with np.errstate(divide="ignore"):
        kept = -np.log10(np.asarray(error, dtype=float))
    return np.clip(np.where(np.isnan(kept), 0.0, kept), 0.0, most)


def most_digits(unit: float) -> float:
    """Decimal digits that a format holds: -log10 of its unit roundoff."""
    return -math.log10(unit)
