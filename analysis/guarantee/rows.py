"""What is proved beside what is seen, for orders and formats: ``pivotree guarantee``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format, get_format

from ..states.sample import Ranges, ranges_of, system_at
from ..states.traced import Order
from .bound import Bound, bound

MOST = 100_000  # states that are sampled at most


@dataclass(frozen=True)
class Row:
    """One order in one format: digits of its pivots, D_k, in all states and in those seen."""

    order: str
    format: str
    bound: Bound
    seen: float  # digits of the worst pivot of the worst state; infinite where none is off
    states: int

    def as_dict(self) -> dict[str, Any]:
        worst = self.bound.worst
        return {
            "order": self.order,
            "format": self.format,
            "proved_digits": self.bound.digits,
            "seen_digits": self.seen,
            "worst_body": None if worst is None else str(worst),
            "states": self.states,
            "why": self.bound.why,
        }


def guarantee(
    model: nx.DiGraph,
    orders: Sequence[str] = ("abm", "gain_abm"),
    formats: Sequence[str] = ("float64", "float32"),
    states: int = 100,
    seed: int = 0,
) -> list[Row]:
    """Digits that the pivots of each order keep in each format: proved, and seen in some states.

    The proof speaks of all states with joint positions within the model's limits (sliding joints
    without limits within 0.5 m); rates and efforts do not enter pivots.  Raises OrderError,
    FormatError and ModelError as :func:`kkt.build` and :func:`kkt.trace` do, and PivotreeError
    for a number of states that is not between 0 and 100000.
    """
    if not 0 <= states <= MOST:
        raise kkt.PivotreeError(
            f"option --states: {states} is no number of states; use 0 to {MOST}"
        )
    if seed < 0:
        raise kkt.PivotreeError(f"option --seed: {seed} is negative; use 0 or more")
    chosen = [get_format(name) for name in formats]
    system = kkt.build(model)
    ranges = ranges_of(system)
    rows = []
    for name in orders:
        order = Order(kkt.trace(system, orderings.get(name)), system)
        bounds = [bound(system, ranges, name, each, order.tape) for each in chosen]
        seen = worst_seen(system, ranges, order, name, chosen, states, seed)
        rows += [
            Row(name, each.name, found, _digits(error), states)
            for each, found, error in zip(chosen, bounds, seen, strict=True)
        ]
    return rows


def worst_seen(
    system: System,
    ranges: Ranges,
    order: Order,
    name: str,
    formats: Sequence[Format],
    states: int,
    seed: int,
) -> list[float]:
    """The largest relative error of a pivot over random states, format by format."""
    worst = [0.0] * len(formats)
    for number in range(states):
        here = system_at(system, ranges, seed, number)
        fits = order.fitting(name, here)
        for i, chosen in enumerate(formats):
            worst[i] = max(worst[i], pivot_error(fits, here, chosen))
    return worst


def pivot_error(order: Order, system: System, chosen: Format) -> float:
    """The largest relative error of a pivot against the same data in twice the digits."""
    values = chosen.cast(order.values(system)[None])
    slots = order.tape.pivot_places[2]
    with np.errstate(all="ignore"):
        (found,) = order.found(chosen, values, slots)
        (exact,) = order.found(get_format("dd"), np.asarray(values, dtype=float), slots)
        off = np.abs((np.asarray(found, dtype=float) - exact.real) - exact.imag)
        off = off / np.abs(exact.real)
    return float(np.where(np.isnan(off), np.inf, off).max(initial=0.0))


def _digits(error: float) -> float:
    return math.inf if error == 0.0 else max(0.0, -math.log10(error))
