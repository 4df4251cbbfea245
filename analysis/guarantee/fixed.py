"""Fixed point on binary points that are proved: what is seen in some states beside the proof."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import FixedPoint, FormatError, Payload
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.ranges import Limits, ranges_of
from pivotree.kkt.matrix.system import in_general
from pivotree.kkt.proof.fixed_point import pointed, require_length
from pivotree.kkt.proof.rightsides import Given, sides_of

from ..states.sample import entries_at
from ..states.traced import Order
from .qdd import Promise, energy
from .rows import Row

Floats = NDArray[np.float64]
MANY = 256  # states that are played at a time
ENERGIES = 40  # states whose errors of qdd are weighed by inertias, one by one


@dataclass(frozen=True)
class Seen:
    """The largest errors of some states, on words against the same data in twice the digits."""

    pivot: float  # relative, of any D_k
    energy: float  # of qdd: sqrt(dqdd* Mass dqdd)
    joint: Floats  # (N,) of each entry of qdd [rad/s^2, m/s^2]
    share: float  # of the bound of its size, the largest that any number reached
    overflows: int  # states in which an operation left its word
    states: int


@dataclass(frozen=True)
class FixedRow(Row):
    """One order on words of one length: what is proved in all states, and what some have shown."""

    bound: FixedPoint
    overflows: int  # of the states seen, those in which an operation left its word
    share: float  # of the bound of its size, the largest that any number reached

    def as_dict(self) -> dict[str, Any]:
        if self.bound.why:
            return super().as_dict()
        own = {"overflows": self.overflows, "points": self.bound.points()}
        return super().as_dict() | own


def bits_of(format: str) -> int | None:
    """The length of a word that a format's name gives, fixed32; None for other names.

    >>> from pivotree.analysis.guarantee.fixed import bits_of
    >>> bits_of("fixed32"), bits_of("float32")
    (32, None)
    """
    found = re.fullmatch(r"fixed(\d{1,9})", format)
    return None if found is None else int(found[1])


def fixed(
    model: nx.DiGraph,
    order: str = "abm",
    bits: int = 32,
    states: int = 100,
    seed: int = 0,
    payloads: Sequence[Payload] = (),
    limits: Limits = MappingProxyType({}),
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
) -> FixedRow:
    """The bound of :func:`kkt.fixed_point`, and the errors of some random states.

    Raises what :func:`kkt.fixed_point` does, and FormatError for payloads.

    >>> row = pt.analysis.guarantee.fixed(pt.chain(3), states=5)
    >>> row.overflows, row.bound.digits < row.seen
    (0, True)
    """
    if payloads:
        raise FormatError(
            f"format fixed{bits}: binary points take no payloads in a range yet; give the body "
            "that mass in the model, or use float32"
        )
    require_length(bits)
    system = in_general(kkt.build(model))
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    tape = kkt.trace(system, orderings.get(order))
    bound = pointed(system, tape, ranges, effort, bits)
    joints = zip(system.tree.names, system.tree.dof, strict=True)
    names = tuple(str(body) for body, dof in joints for _ in range(dof))
    name = f"fixed{bits}"
    if bound.why or not names:
        nothing = Promise(bound.qdd, 0.0, np.zeros(0), 0, ())
        return FixedRow(order, name, bound, 0.0, 0, {}, nothing, 0, 0.0)
    seen = in_states(bound, drawn(bound, states, seed, limits, rates, efforts))
    qdd = Promise(bound.qdd, seen.energy, seen.joint, states, names)
    return FixedRow(order, name, bound, seen.pivot, states, {}, qdd, seen.overflows, seen.share)


def drawn(
    bound: FixedPoint,
    states: int,
    seed: int = 0,
    limits: Limits = MappingProxyType({}),
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
) -> Iterator[tuple[Order, Entries]]:
    """(4) in random states, many at a time; efforts give accelerations, or are drawn, in turns."""
    system = bound.system
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    order = Order(bound.tape, system)
    for first in range(0, states, MANY):
        numbers = range(first, min(first + MANY, states))
        entries = entries_at(system, ranges, seed, numbers)
        for i, number in enumerate(numbers):
            some = np.random.default_rng([1, seed, number]).uniform(-effort, effort)
            given = some if number % 2 else np.clip(entries.tau[i], -effort, effort)
            entries.tau[i] = given
        yield order, entries


def in_states(bound: FixedPoint, states: Iterator[tuple[Order, Entries]]) -> Seen:
    """Errors over states of :func:`drawn`."""
    pivot, off_energy, joint, share, overflows = 0.0, 0.0, np.zeros(len(bound.qdd.joint)), 0.0, 0
    count = 0
    for order, entries in states:
        played = play(bound, order, order.values_of(entries))
        pivot = max(pivot, played.pivot)
        joint = np.maximum(joint, np.abs(played.qdd).max(axis=0, initial=0.0))
        share, overflows = max(share, played.share), overflows + played.overflows
        for i in range(min(len(played.qdd), ENERGIES - count)):
            one = Entries(*(getattr(entries, x)[i] for x in LETTERS))
            off_energy = max(off_energy, energy(bound.system, one, played.qdd[i]))
        count += len(played.qdd)
    return Seen(pivot, off_energy, joint, share, overflows, count)


@dataclass(frozen=True)
class Played:
    """Errors of m states."""

    pivot: float
    qdd: Floats  # (m, N)
    share: float
    overflows: int


def play(bound: FixedPoint, order: Order, values: Floats) -> Played:
    """m states with ``values`` (m, p) of the entries of (4), on words, held against dd."""
    words, walked = bound.words, bound.walked
    assert words is not None and walked is not None
    given = words.words(values)
    found, beyond = words.play(given)
    data = words.numbers(given, np.arange(2, words.first))
    pivots = order.tape.pivot_places[2]
    exact = [order.found(get_format("dd"), data, slots)[0] for slots in (pivots, order.qdd)]
    own = [_taken(bound, found, slots) for slots in (pivots, order.qdd)]
    off = [(x - y.real) - y.imag for x, y in zip(own, exact, strict=True)]
    sizes = np.abs(words.numbers(found, np.arange(found.shape[1])))[:, 2:]
    with np.errstate(all="ignore"):
        share = float(np.nanmax(sizes / walked.size[2:], initial=0.0))
        pivot = float(np.max(np.abs(off[0]) / np.abs(exact[0].real), initial=0.0))
    return Played(pivot, off[1], share, int((beyond != len(words.op)).sum()))


def _taken(bound: FixedPoint, found: NDArray[np.int64], slots: NDArray[np.int64]) -> Floats:
    """(m, w) numbers in signed slots of the tape."""
    assert bound.words is not None and bound.walked is not None
    values = np.array([bound.walked.slot[abs(int(s))] for s in slots], dtype=np.int64)
    return np.asarray(np.sign(slots) * bound.words.numbers(found[:, values], values))
