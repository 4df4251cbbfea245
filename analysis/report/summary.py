"""The report as data: quantiles, and the cheapest format that suffices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.shown import Tabled
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import system_at
from ..states.traced import TracedOrder
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

    def system_at(self, number: int) -> System:
        return system_at(self.system, self.ranges, self.seed, number)


class Notebook:
    """What was measured of each state, by the columns of a sweep.

    Arrays are (states, orders, formats), then what is said of each; NaN where there is no answer.
    """

    def __init__(self, setup: Setup, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of the sweep in its sequence: values, or their texts."""
        self.setup = setup
        self.most: NDArray[Any] = np.array([most_digits(f.unit) for f in setup.formats])
        cases = list(rows)
        shape = -1, len(setup.orders), len(setup.formats)

        def numbers(name: str) -> Floats:
            told = (row[name] for row in cases)
            return np.array([math.nan if x in (None, "") else float(x) for x in told]).reshape(shape)

        self.numbers: NDArray[Any] = numbers("state")[:, 0, 0].astype(int)
        self.done: int = len(self.numbers)
        #: draws that led to no state that closes the loops
        self.again: int = int(np.nansum(numbers("drawn_again")[:, 0, 0]))
        codes = {why: code for code, why in WHY.items()}
        self.failed: NDArray[Any] = np.array([codes.get(row["failed_as"], OK) for row in cases]).reshape(
            shape
        )
        self.marked: NDArray[Any] = np.array([bool(row["marked"]) for row in cases]).reshape(shape)
        self.error: Floats = numbers("error")
        self.left: Floats = numbers("backward_error")
        self.digits: Floats = digits(self.error, self.most)  # of the exact answer for the rounded data
        self.total: Floats = digits(numbers("error_with_data"), self.most)  # of that for the data in float64
        #: (states, formats) digits that rounding the data alone leaves
        self.data: Floats = digits(numbers("error_of_data")[:, 0], self.most)


def digits(error: NDArray[Any], most: NDArray[Any] | float) -> Floats:
    """-log10 of relative errors, between 0 and all that the format holds; 0 for NaN."""
    with np.errstate(divide="ignore"):
        kept = -np.log10(np.asarray(error, dtype=float))
    return np.clip(np.where(np.isnan(kept), 0.0, kept), 0.0, most)


def most_digits(unit: float) -> float:
    """Decimal digits that a format holds: -log10 of its unit roundoff."""
    return -math.log10(unit)


QUANTILES = {"worst": 0.0, "1 %": 0.01, "10 %": 0.1, "median": 0.5}
CONFIDENCE = 0.95
Quantiles = dict[str, float]  # key of QUANTILES -> digits that all states but that share keep


@dataclass(frozen=True)
class Worst:
    """The state in which an order keeps least, and how to see why."""

    state: int
    error: float | None  # None where there is no answer
    certified: bool  # the error is against balls, not double-double
    why: str  # where the loss enters, or why there is no answer
    file: str | None  # model file, relative to the report
    replay: str | None  # command


@dataclass(frozen=True)
class Cell:
    """One order in one number format, over all states."""

    order: str
    format: str
    digits: Quantiles  # of the exact answer for the data rounded to the format
    with_data: Quantiles  # of the exact answer for the data in float64
    failed: int  # states without an answer; they count as 0 digits
    why_failed: str | None  # the most frequent reason
    marked: int  # states whose answer should not be relied on (kkt.proof.trust)
    backward_error: float | None  # the largest, normwise, in (4); None where there is no answer
    keeps: float  # share of states with the digits asked for
    keeps_with_data: float
    worst: Worst | None = None


@dataclass(frozen=True)
class Reference:
    """How far the double-double answers can be trusted."""

    certified: int  # answers that were held against certified balls
    disagreement: float  # the largest, relative to the largest acceleration
    smallest_error: float | None  # of a format, among those: the disagreement should be far below
    trouble: str | None  # why an answer could not be certified

    @property
    def sound(self) -> bool:
        """All that was checked is proved, to far more digits than any format kept."""
        least = math.inf if self.smallest_error is None else self.smallest_error
        return self.trouble is None and self.disagreement <= 0.01 * least


@dataclass(frozen=True, repr=False)
class Report(Tabled):
    """Everything that the page says.

    >>> from pivotree.analysis.report import robot_report
    >>> found = robot_report(pt.chain(2), "chain:2", ["crbm", "abm"], ["float32"], states=3)
    >>> found.bodies, found.states, list(found.orders), list(found.formats)
    (2, 3, ['crbm', 'abm'], ['float32'])
    """

    model: str
    bodies: int
    dof: int
    seed: int
    states: int
    wanted: float  # digits D
    distribution: str  # in words
    orders: tuple[str, ...]
    formats: tuple[str, ...]  # as asked for
    capacity: dict[str, float]  # digits that each format holds
    cells: tuple[Cell, ...]
    data: dict[str, Quantiles]  # by format: digits that rounding the data alone leaves
    refused: dict[str, str]  # orders that this robot rules out: why
    seconds: float
    reference: Reference | None = None
    verdict: tuple[str, ...] = field(default=())  # sentences
    costs: dict[str, dict[str, int]] = field(default_factory=dict)  # by order, the same everywhere
    narrow: dict[str, str] = field(default_factory=dict)  # formats whose range products leave: in words
    shown: ClassVar[tuple[str, ...]] = ("order", "format", "median", "worst", "keeps", "failed", "marked")

    def facts(self) -> dict[str, Any]:
        facts = {"bodies": self.bodies, "freedoms": self.dof, "states": self.states}
        return {"name": self.model} | facts | {"digits wanted": self.wanted}

    def records(self) -> list[dict[str, Any]]:
        """The cells, with a column for each quantile of the digits."""
        left_out = ("digits", "with_data", "worst")
        rows = [{name: x for name, x in cell.__dict__.items() if name not in left_out} for cell in self.cells]
        return [row | cell.digits for row, cell in zip(rows, self.cells, strict=True)]

    def cell(self, order: str, format: str) -> Cell:
        return next(c for c in self.cells if (c.order, c.format) == (order, format))

    @property
    def by_cost(self) -> list[str]:
        """Formats, fewest digits first."""
        return sorted(self.formats, key=lambda name: self.capacity[name])

    def cheapest(self, order: str, share: float = 1.0, with_data: bool = False) -> str | None:
        """The shortest format that keeps the digits asked for in that share of states."""
        for name in self.by_cost:
            cell = self.cell(order, name)
            if (cell.keeps_with_data if with_data else cell.keeps) >= share:
                return name
        return None

    @property
    def at_most(self) -> float:
        """Share of all such states that may fall short though none was seen, 95 % confidence."""
        return 1.0 - (1.0 - CONFIDENCE) ** (1.0 / max(self.states, 1))

    def as_dict(self) -> dict[str, Any]:
        """The document ``report.json``."""
        return {x: getattr(self, x) for x in ("model", "bodies", "dof", "seed", "states")} | {
            "digits": self.wanted,
            "distribution": self.distribution,
            "verdict": list(self.verdict),
            "formats": [{"format": f, "digits": self.capacity[f]} for f in self.formats],
            "orders": list(self.orders),
            "costs": self.costs,
            "rows": [asdict(cell) for cell in self.cells],
            "data_rounding": self.data,
            "cheapest": {
                order: {
                    "all_states": self.cheapest(order),
                    "99_percent": self.cheapest(order, 0.99),
                    "median": self.cheapest(order, 0.5),
                    "all_states_data_rounded_too": self.cheapest(order, with_data=True),
                }
                for order in self.orders
            },
            "falls_short_at_most": self.at_most,
            "refused": self.refused,
            "reference": None if self.reference is None else asdict(self.reference),
            "seconds": round(self.seconds, 1),
        }


def quantiles(digits: NDArray[Any]) -> Quantiles:
    """Digits that all but 0, 1, 10 and 50 % of the states keep: values that were seen."""
    return {
        name: round(float(np.quantile(digits, share, method="inverted_cdf")), 3)
        for name, share in QUANTILES.items()
    }


def cells_of(notes: Notebook, wanted: float) -> tuple[Cell, ...]:
    """Every order in every format."""
    kept, whole = notes.digits, notes.total
    result = []
    for i, order in enumerate(notes.setup.orders):
        for j, name in enumerate(notes.setup.format_names):
            failed = notes.failed[:, i, j]
            reasons = np.bincount(failed[failed != OK], minlength=1)
            result.append(
                Cell(
                    order,
                    name,
                    digits=quantiles(kept[:, i, j]),
                    with_data=quantiles(whole[:, i, j]),
                    failed=int((failed != OK).sum()),
                    why_failed=WHY[int(np.argmax(reasons))] if reasons.any() else None,
                    marked=int(notes.marked[:, i, j].sum()),
                    backward_error=_worst(notes.left[failed == OK, i, j]),
                    keeps=float((kept[:, i, j] >= wanted).mean()),
                    keeps_with_data=float((whole[:, i, j] >= wanted).mean()),
                )
            )
    return tuple(result)


def _worst(left: NDArray[Any]) -> float | None:
    return float(f"{left.max():.3g}") if len(left) and np.isfinite(left).all() else None


def worst_state(notes: Notebook, order: int, format: int) -> int:
    """Row of the notebook with the fewest digits: one without an answer, else the largest error."""
    failed = np.flatnonzero(notes.failed[:, order, format])
    if len(failed):
        return int(failed[np.argmin(notes.numbers[failed])])
    error = notes.error[:, order, format]
    rows = np.flatnonzero(error == np.max(error))
    return int(rows[np.argmin(notes.numbers[rows])])
