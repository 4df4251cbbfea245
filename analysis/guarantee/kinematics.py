"""What computing a robot's kinematics in a format costs its pivots: proved beside seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import Guarantee, Payload, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.matrix.state import kinematics as poses
from pivotree.kkt.model.spatial import force_transform
from pivotree.kkt.model.tree import BodyTree
from pivotree.kkt.theorem import kinematics as theorem
from pivotree.kkt.theorem.guarantee import loaded, require_roundoff
from pivotree.kkt.theorem.ranges import Limits, Ranges, ranges_of

from ..many import held
from ..states.sample import draw
from ..states.traced import TracedOrder

LONGER = {"float32": (np.float32, np.float64), "float64": (np.float64, np.longdouble)}


@dataclass(frozen=True)
class Moved:
    """How far pivots move from those of the exact robot, whatever the order."""

    format: str
    bound: Guarantee
    error: float | None  # the largest relative change that was seen; None: not looked at
    states: int

    @property
    def seen(self) -> float | None:
        """Digits of the worst pivot that was seen."""
        if self.error is None:
            return None
        return math.inf if self.error == 0.0 else max(0.0, -math.log10(self.error))

    def as_dict(self) -> dict[str, Any]:
        worst = self.bound.worst
        return {
            "format": self.format,
            "proved_digits": self.bound.digits,
            "seen_digits": self.seen,
            "worst_body": None if worst is None else str(worst),
            "states": self.states,
            "why": self.bound.why,
        }


def kinematics(
    model: nx.DiGraph,
    formats: Sequence[str | Format] = ("float64", "float32"),
    states: int = 100,
    seed: int = 0,
    payloads: Sequence[Payload] = (),
    limits: Limits = MappingProxyType({}),
) -> list[Moved]:
    """Digits that pivots keep where kinematics are computed in each format, whatever the order.

    Arguments and what is raised are those of :func:`guarantee`.  States are looked at in the
    formats that the processor has, with the greatest payloads.

    >>> (row,) = pt.analysis.guarantee.kinematics(pt.chain(4), ["float32"], states=5)
    >>> 3.0 < row.bound.digits < row.seen
    True
    """
    light, heavy = loaded(model, payloads)
    ranges, rows = ranges_of(heavy, limits), []
    for chosen in map(get_format, formats):
        require_roundoff(chosen)
        looked = chosen.name in LONGER and states > 0 and not heavy.structure.ties
        found = _seen(heavy, ranges, chosen.name, states, seed) if looked else None
        bound = theorem.kinematics(light, heavy, chosen, ranges)
        rows.append(Moved(chosen.name, bound, found, states if looked else 0))
    return rows


def _seen(system: System, ranges: Ranges, name: str, states: int, seed: int) -> float:
    """The largest relative change of a pivot D_k, both read from exact arithmetic on the data."""
    short, long = LONGER[name]
    order = TracedOrder(kkt.trace(system, orderings.get("abm")), system)
    worst = 0.0
    for number in range(states):
        q = draw(ranges, seed, number)[0].astype(short)
        pair = [_pivots(system, order, q, kind) for kind in (short, long)]
        if pair[0] is not None and pair[1] is not None:
            off = np.abs((pair[0].real - pair[1].real) + (pair[0].imag - pair[1].imag))
            worst = max(worst, float((off / np.abs(pair[1].real)).max(initial=0.0)))
    return worst


def _pivots(system: System, order: TracedOrder, q: NDArray, kind: Any) -> NDArray | None:
    """(P,) pivots in double-double, kinematics being computed in numpy's ``kind``.

    None where entries are nonzero that the order's program takes to be zero.
    """
    tree = _in(system.tree, kind)
    R, p, S, _ = poses(tree, q.astype(kind), np.zeros(len(q), dtype=kind))
    Phi = force_transform(R, p)
    M = system.entries.M.astype(np.float32 if kind is np.float32 else np.float64)
    parts = {"M": M, "Phi": Phi, "S": S.columns.astype(kind)}
    every = {letter: getattr(system.entries, letter) for letter in LETTERS} | parts
    high = Entries(**{k: np.asarray(x, dtype=np.float64)[None] for k, x in every.items()})
    rest = {k: np.asarray(x[None] - getattr(high, k), np.float64) for k, x in every.items()}
    if not held(system.pattern, high)[0] or any(order.turned(high.S)):
        return None
    values = order.values_of(high) + 1j * order.values_of(Entries(**rest))
    (found,) = order.found(get_format("dd"), values, order.tape.pivot_places[2])
    return np.asarray(found[0])


def _in(tree: BodyTree, kind: Any) -> BodyTree:
    """The tree with its placements and axes as numbers of this kind, rounded from doubles."""
    own = {name: getattr(tree, name).astype(kind) for name in ("R", "p", "axis")}
    return replace(tree, **own, S={k: x.astype(kind) for k, x in tree.S.items()})
