"""Many states of one model measured at a time, with the bits of one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kkt.arithmetic import Format, get_format
from kkt.elimination.batch import answers
from kkt.many import held
from kkt.system import Entries

from ..comparison import digits_of
from ..report.measure import SINGULAR, WHY
from ..report.sample import entries_at
from .tapes import Order

if TYPE_CHECKING:
    from .config import Settings
    from .measure import Bench

BODIES = 4096  # of all states that are built at a time
Floats = NDArray[np.float64]


def together(
    settings: Settings, bench: Bench, numbers: Sequence[int], wanted: NDArray[np.bool_]
) -> dict[int, list[dict[str, Any]]]:
    """What is measured of each case, orders x formats, by number of the state.

    ``wanted`` (m, orders, formats) are the cases that are not done.  States in which an order has
    to be traced anew are left out.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    block = max(1, BODIES // bench.system.tree.n)
    for at in range(0, len(numbers), block):
        part = slice(at, at + block)
        found |= _together(settings, bench, numbers[part], wanted[part])
    return found


def _together(
    settings: Settings, bench: Bench, numbers: Sequence[int], wanted: NDArray[np.bool_]
) -> dict[int, list[dict[str, Any]]]:
    assert bench.ranges is not None
    entries = entries_at(bench.system, bench.ranges, settings.seed, numbers)
    orders = {name: order for name, order in bench.orders.items() if isinstance(order, Order)}
    fit: NDArray[np.bool_] = held(bench.system.pattern, entries)
    for order in orders.values():
        fit = fit & order.fits(entries)
    entries = Entries(*(getattr(entries, entry.name)[fit] for entry in fields(entries)))
    wanted = wanted[fit]
    tree = bench.system.tree
    shared = {"bodies": tree.n, "dof": int(tree.offset[-1])}
    traced = [name in orders for name in settings.orders]
    chosen = [get_format(name) for name in settings.formats]
    truths = {}
    if settings.runs:
        needed = wanted[:, traced].any(axis=1)
        proof = bench.proof.values_of(entries)
        for f, format in enumerate(chosen):
            truths[f] = _truth(bench.proof, format, proof, needed[:, f])
    found: list[list[dict[str, Any]]] = [[] for _ in range(len(wanted))]
    for o, name in enumerate(settings.orders):
        at = bench.orders[name]
        if isinstance(at, str):
            for own in found:
                own += [shared | {"failed_at": at} for _ in chosen]
            continue
        values, costs = at.values_of(entries), shared | at.costs
        for f, format in enumerate(chosen):
            cases = [dict(costs) for _ in found]
            if settings.runs:
                _answers(at, format, values, truths[f], wanted[:, o, f], cases)
            for own, case in zip(found, cases, strict=True):
                own.append(case)
    return dict(zip(np.asarray(numbers)[fit].tolist(), found, strict=True))


def _answers(
    order: Order, format: Format, values: NDArray, truth: Truth, wanted: NDArray[np.bool_],
    cases: list[dict[str, Any]],
) -> None:  # fmt: skip
    """Errors of an order in a format go into the cases that are wanted."""
    for i in np.flatnonzero(wanted & ~truth.known):
        cases[i]["failed_at"] = truth.why[i]
    here = np.flatnonzero(wanted & truth.known)
    if not len(here):
        return
    qdd, why = order.answers(format, format.cast(values[here]))
    errors = truth.errors(here, qdd).tolist()
    for i, error, failed in zip(here, errors, why, strict=True):
        cases[i]["failed_at"] = failed
        if failed is None:
            cases[i] |= {"error": error, "digits": digits_of(error, format)}


@dataclass(frozen=True)
class Truth:
    """Answers of m states in double-double, and why one has none."""

    high: Floats  # (m, N)
    low: Floats
    known: NDArray[np.bool_]  # (m,)
    why: list[str]  # where it is not known

    def errors(self, here: NDArray[np.int64], qdd: NDArray) -> Floats:
        """(k,) largest |qdd - this| of some states, relative to the largest of these numbers."""
        with np.errstate(all="ignore"):
            off = np.abs((np.asarray(qdd, dtype=float) - self.high[here]) + (0.0 - self.low[here]))
            size = np.abs(self.high[here]).max(axis=1, initial=0.0)[:, None]
            relative = np.where(size > 0.0, off / size, np.where(off == 0.0, 0.0, np.inf))
            return np.asarray(relative.max(axis=1, initial=0.0))


def _truth(proof: Order, format: Format, values: NDArray, needed: NDArray[np.bool_]) -> Truth:
    """The answers for the data rounded to a format."""
    rounded = np.asarray(format.cast(values), dtype=float)
    whole = np.isfinite(rounded).all(axis=1)
    here = np.flatnonzero(needed & whole)
    found = np.zeros((len(values), len(proof.qdd)), dtype=np.complex128)
    found[here] = answers(proof.tape, get_format("dd"), proof.places, rounded[here], proof.qdd)
    known = needed & whole & np.isfinite(found.real).all(axis=1)
    overflow = f"the data of equation (4) overflow {format.name}"
    why = np.where(whole, WHY[SINGULAR], overflow).tolist()
    return Truth(found.real.copy(), found.imag.copy(), known, why)
