"""What is proved beside what is seen, for orders and formats: ``pivotree guarantee``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import Accelerations, Guarantee, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.errors import require_once
from pivotree.kkt.matrix.configuration import in_general
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.theorem.accelerations import promised
from pivotree.kkt.theorem.guarantee import evaluated, require_roundoff
from pivotree.kkt.theorem.motion import ByBody, sides_of
from pivotree.kkt.theorem.ranges import Limits, Ranges, ranges_of

from ..states.sample import entries_at, held, system_at
from ..states.traced import TracedOrder
from ..study.measure import blocks

Floats = NDArray[np.float64]
FEW = 40  # states that are run one by one


def errors(order: TracedOrder, system: System, entries: Entries, chosen: Format) -> tuple[float, Floats]:
    """sqrt(e* Mass e) of the error e of qdd in one state, and the error of each entry (N,).

    ``entries`` are rounded to the format, and the same data are solved in twice float64's digits.
    Infinite where qdd is not a number.
    """
    arrays = (getattr(entries, letter) for letter in LETTERS)
    values = np.concatenate([x[take] for x, take in zip(arrays, order.takes, strict=True)])
    values = chosen.cast(values)[None]
    with np.errstate(all="ignore"):
        (found,) = order.found(chosen, values, order.qdd)
        exact = order.pairs(np.asarray(values, dtype=float))
        off = (np.asarray(found, dtype=float) - exact.high - exact.low)[0]
    if not np.isfinite(off).all():
        return np.inf, np.full(len(off), np.inf)
    return energy(system, entries, off), np.abs(off)


def energy(system: System, entries: Entries, qdd: Floats) -> float:
    """sqrt(qdd* Mass qdd), summed body by body, without bias accelerations."""
    tree = system.tree
    moved, total = np.zeros((tree.n, 6)), 0.0
    for level in tree.levels:
        for k in level.tolist():
            here = tree.freedoms_of(k)
            if tree.parent[k] >= 0:
                moved[k] = entries.Phi[k].T @ moved[tree.parent[k]]
            moved[k] += entries.S[here].T @ qdd[here]
            total += float(moved[k] @ entries.M[k] @ moved[k])
    if len(entries.A):
        total += float(np.sum(entries.A * qdd * qdd))
    return float(np.sqrt(max(total, 0.0)))


@dataclass(frozen=True)
class Promise:
    """The bound of qdd in one format, beside the largest errors seen in some states."""

    bound: Accelerations
    energy: float  # the largest sqrt(e* Mass e) of an error e that was seen
    joint: Floats  # (N,) the largest errors of entries that were seen [rad/s^2, m/s^2]
    states: int
    names: tuple[str, ...]  # (N,) bodies

    @property
    def seen(self) -> float:
        """Digits that the worst state keeps, relative to the bound's scale."""
        return math.inf if self.energy == 0.0 else -math.log10(self.energy / self.bound.scale)

    @property
    def worst(self) -> int:
        """The entry of qdd of which least is promised."""
        return int(np.argmax(self.bound.joint))

    def as_dict(self) -> dict[str, Any]:
        if self.bound.why or not self.names:
            return {"proved_digits": 0.0, "why": self.bound.why or "nothing moves"}
        return {
            "proved_digits": self.bound.digits,
            "seen_digits": self.seen,
            "energy": self.bound.energy,
            "scale": self.bound.scale,
            "proved_error": dict(zip(self.names, self.bound.joint.tolist(), strict=True)),
            "seen_error": dict(zip(self.names, self.joint.tolist(), strict=True)),
            "states": self.states,
            "why": "",
        }


def worst_of_qdd(
    system: System,
    ranges: Ranges,
    effort: Floats,
    order: TracedOrder,
    formats: Sequence[Format],
    bounds: Sequence[Accelerations],
    states: int,
    seed: int,
) -> list[Promise]:
    """For each format its bound, and the largest errors of random states, at most 40.

    Rates and positions are drawn within the ranges; efforts
    are drawn within ``effort`` (N,), and in every second state those are taken, cut off there, that
    give accelerations drawn within theirs.  Where nothing is promised nothing is run.
    """
    largest, each = np.zeros(len(formats)), np.zeros((len(formats), len(effort)))
    promised = [i for i, bound in enumerate(bounds) if not bound.why]
    states = min(states, FEW) if promised else 0
    for number in range(states):
        here = system_at(system, ranges, seed, number)
        tau = np.clip(here.entries.tau, -effort, effort)
        if number % 2:
            tau = np.random.default_rng([1, seed, number]).uniform(-effort, effort)
        fitting = order.fitting(here)
        given = masked(fitting, here.entries._replace(tau=tau))
        for i in promised:
            whole, joint = errors(fitting, here, given, formats[i])
            largest[i], each[i] = max(largest[i], whole), np.maximum(each[i], joint)
    told = tuple(system.tree.freedom_names)
    return [
        Promise(bound, float(e), joint, states, told)
        for bound, e, joint in zip(bounds, largest, each, strict=True)
    ]


def masked(order: TracedOrder, entries: Entries) -> Entries:
    """The entries with zeros where the order's tape has them, in right-hand sides."""
    takes = dict(zip(LETTERS, order.takes, strict=True))
    sides = {x: np.where(takes[x], getattr(entries, x), 0.0) for x in ("a", "b", "tau")}
    return entries._replace(**sides)


MOST = 1_000_000  # states that are sampled at most


@dataclass(frozen=True)
class Row:
    """One order in one format: digits of its pivots, D_k, in all states and in those seen."""

    order: str
    format: str
    bound: Guarantee
    error: float  # the largest relative error of a pivot that was seen
    states: int
    qdd: Promise

    @property
    def seen(self) -> float:
        """Digits of the worst pivot of the worst state; infinite where none is off."""
        return math.inf if self.error == 0.0 else max(0.0, -math.log10(self.error))

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
            "qdd": self.qdd.as_dict(),
        }


def guarantee(
    model: nx.DiGraph[Any],
    orders: Sequence[str] = ("abm", "gain_abm"),
    formats: Sequence[str | Format] = ("float64", "float32"),
    states: int = 100,
    seed: int = 0,
    limits: Limits = MappingProxyType({}),
    rates: ByBody = MappingProxyType({}),
    efforts: ByBody = MappingProxyType({}),
) -> list[Row]:
    """Digits that the pivots of each order keep in each format: proved, and seen in some states.

    The proof is that of :func:`kkt.guarantee`, with joints within ``limits`` (low, high) [rad, m] of
    bodies.  Of qdd the bound is that of :func:`kkt.guarantee_qdd`, with
    ``rates`` and ``efforts``.  Raises OrderError, FormatError and ModelError as
    :func:`kkt.build` and :func:`kkt.trace` do, and PivotreeError for a number of states that is
    not between 0 and 1000000.

    >>> (row,) = pt.analysis.guarantee.guarantee(pt.chain(4), ["abm"], ["float32"], states=5)
    >>> row.bound.digits < row.seen
    True
    """
    if not 0 <= states <= MOST:
        raise kkt.PivotreeError("option --states", f"{states} is no number of states", f"use 0 to {MOST}")
    if seed < 0:
        raise kkt.PivotreeError("option --seed", f"{seed} is negative", "use 0 or more")
    chosen = [get_format(name) for name in formats]
    for each in chosen:
        require_roundoff(each)
    orders = list(orders)
    require_once("order", orders)
    require_once("format", [each.name for each in chosen])
    system = in_general(kkt.build(model))
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    rows = []
    for name in orders:
        order = TracedOrder(kkt.trace(system, orderings.get(name)), system)
        seen = worst_seen(system, ranges, order, chosen, states, seed)
        bounds, found = [], []
        for each in chosen:
            bound, behind = evaluated(system, order.tape, each, ranges)
            bounds.append(bound)
            found.append(promised(system, ranges, effort, bound, behind, each))
        of_qdd = worst_of_qdd(system, ranges, effort, order, chosen, found, states, seed)
        for each, bound, error, qdd in zip(chosen, bounds, seen, of_qdd, strict=True):
            rows.append(Row(name, each.name, bound, float(error), states, qdd))
    return rows


def worst_seen(
    system: System, ranges: Ranges, order: TracedOrder, formats: Sequence[Format], states: int, seed: int
) -> Floats:
    """(formats,) the largest relative error of a pivot over random states.

    Many states are run at a time; one whose entries of (4) are zero elsewhere, or whose joints
    have turned too far for the tape, is run alone.
    """
    worst = np.zeros(len(formats))
    for some in blocks(range(states), system.tree.n):
        entries = entries_at(system, ranges, seed, some)
        fits = held(system.pattern, entries) & [not rows for rows in order.turned(entries.S)]
        if fits.any():
            worst = np.maximum(worst, _errors(order, order.values_of(entries)[fits], formats))
        for number in np.asarray(some)[~fits].tolist():
            here = system_at(system, ranges, seed, number)
            alone = order.fitting(here)
            worst = np.maximum(worst, _errors(alone, alone.values(here)[None], formats))
    return worst


def _errors(order: TracedOrder, values: NDArray[Any], formats: Sequence[Format]) -> Floats:
    """(formats,) the largest error of a pivot in any of m states, whose values are (m, p)."""
    return np.array([pivot_errors(order, values, chosen).max() for chosen in formats])


def pivot_errors(order: TracedOrder, values: NDArray[Any], chosen: Format) -> Floats:
    """(m,) the largest relative errors of pivots of m states, with ``values`` (m, p) of float64.

    Held against the same data in twice the digits; infinite where a pivot is not a number.

    >>> from pivotree.analysis.guarantee import pivot_errors
    >>> from pivotree.analysis.states.traced import TracedOrder
    >>> system = pt.build(pt.chain(4))
    >>> order = TracedOrder(pt.trace(system, pt.orderings.get("abm")), system)
    >>> values = order.values(system)[None]  # of one state
    >>> bool(pivot_errors(order, values, get_format("float32")).max() < 1e-6)
    True
    """
    values = chosen.cast(values)
    slots = order.tape.pivot_slots
    with np.errstate(all="ignore"):
        (found,) = order.found(chosen, values, slots)
        (exact,) = order.found(get_format("dd"), np.asarray(values, dtype=float), slots)
        off = np.abs((np.asarray(found, dtype=float) - exact.real) - exact.imag)
        off = off / np.abs(exact.real)
    return np.asarray(np.where(np.isnan(off), np.inf, off).max(axis=1, initial=0.0))
