"""Operations of a method that runs on arrays, counted by running it on numbers that count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.analysis.complements import Complement
from pivotree.kkt import System


class Counted:
    """A number; operations with a zero, or a product with a one, are folded and cost nothing."""

    __slots__ = ("count", "value")

    def __init__(self, value: float, count: list[int]) -> None:
        self.value, self.count = value, count

    def _done(self, value: float, costs: bool) -> Counted:
        self.count[0] += costs
        return Counted(value, self.count)

    def __add__(self, other: Any) -> Counted:
        y = _value(other)
        return self._done(self.value + y, self.value != 0.0 != y)

    def __sub__(self, other: Any) -> Counted:
        y = _value(other)
        return self._done(self.value - y, self.value != 0.0 != y)

    def __mul__(self, other: Any) -> Counted:
        y = _value(other)
        return self._done(self.value * y, not {self.value, y} & {0.0, 1.0})

    def __truediv__(self, other: Any) -> Counted:
        y = _value(other)
        return self._done(self.value / y, self.value != 0.0 and y != 1.0)

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.count)

    def __gt__(self, other: Any) -> bool:
        return self.value > _value(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= _value(other)

    def sqrt(self) -> Counted:
        return self._done(float(np.sqrt(self.value)), self.value not in (0.0, 1.0))


def tally(system: System, solve: Callable[[Complement], Any]) -> int:
    """Operations of a complement's method, P included, on the blocks of one system.

    The entries of (4) are given; the factors of the links' inertias are counted.
    """
    count = [0]

    def cast(x: NDArray) -> NDArray:
        flat = [Counted(float(value), count) for value in x.ravel()]
        return np.array([*flat, None], dtype=object)[:-1].reshape(x.shape)

    solve(Complement.of(system, cast))
    return count[0]


def _value(x: Any) -> float:
    return float(x.value) if isinstance(x, Counted) else float(x)
