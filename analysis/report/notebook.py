"""What was measured of a robot's states, as arrays that the page is made from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import system_at
from ..states.traced import FIELDS, TracedOrder
from ..study.measure import OK, WHY

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setup:
    """A robot whose orders are traced, and how its states are drawn."""

    system: System
    ranges: Ranges
    seed: int
    orders: dict[str, TracedOrder]  # that this robot admits
    proof: TracedOrder  # of the reference
    format_names: tuple[str, ...]

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        return tuple(get_format(name) for name in self.format_names)

    @cached_property
    def called(self) -> dict[str, str]:
        """What orders of one's own are shown as: their names, and their files where two agree."""
        own = {x: o.tape.program.name if ".py:" in x else x for x, o in self.orders.items()}
        return own if len({*own.values()}) == len(own) else {x: x for x in own}

    @property
    def quantity(self) -> str:
        return self.proof.quantity

    def system_at(self, number: int) -> System:
        return system_at(self.system, self.ranges, self.seed, number)


class Notebook:
    """What was measured of each state, by the columns of a sweep.

    Arrays are (states, orders, formats), then what is said of each; NaN where there is no answer.
    """

    def __init__(self, setup: Setup, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of the sweep in its sequence: values, or their texts."""
        self.setup = setup
        self.names = FIELDS[setup.quantity] if setup.quantity != "qdd" else ()
        self.most = np.array([most_digits(f.unit) for f in setup.formats])
        cases = list(rows)
        shape = -1, len(setup.orders), len(setup.formats)

        def numbers(name: str) -> Floats:
            told = (row[name] for row in cases)
            return np.array([math.nan if x in (None, "") else float(x) for x in told]).reshape(shape)

        def lists(name: str, length: int) -> Floats:
            none = np.full(length, np.nan)
            each = [np.array(row[name].split(), dtype=float) if row[name] else none for row in cases]
            return np.array(each).reshape(*self.error.shape, length)

        self.numbers = numbers("state")[:, 0, 0].astype(int)
        self.done = len(self.numbers)
        #: draws that led to no state that closes the loops
        self.again = int(np.nansum(numbers("drawn_again")[:, 0, 0]))
        codes = {why: code for code, why in WHY.items()}
        self.failed = np.array([codes.get(row["failed_as"], OK) for row in cases]).reshape(shape)
        self.marked = np.array([bool(row["marked"]) for row in cases]).reshape(shape)
        self.error, self.left = numbers("error"), numbers("backward_error")
        self.digits = digits(self.error, self.most)  # of the exact answer for the rounded data
        self.total = digits(numbers("error_with_data"), self.most)  # of that for the data in float64
        #: (states, formats) digits that rounding the data alone leaves
        self.data = digits(numbers("error_of_data")[:, 0], self.most)
        #: (states, orders, formats, N) errors, relative to the largest acceleration
        self.joints = lists("errors_of_joints", int(setup.system.tree.offset[-1]))
        #: (states, orders, formats, fields) digits of qdd and of each matrix
        fields = lists("errors_of_matrices", len(self.names)) if self.names else self.error[..., None]
        self.fields = digits(fields, self.most[:, None])


def digits(error: NDArray, most: NDArray | float) -> Floats:
    """-log10 of relative errors, between 0 and all that the format holds; 0 for NaN."""
    with np.errstate(divide="ignore"):
        kept = -np.log10(np.asarray(error, dtype=float))
    return np.clip(np.where(np.isnan(kept), 0.0, kept), 0.0, most)


def most_digits(unit: float) -> float:
    """Decimal digits that a format holds: -log10 of its unit roundoff."""
    return -math.log10(unit)
