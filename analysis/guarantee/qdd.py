"""Computed qdd against longer numbers, in the norm of the theorem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Accelerations, System
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.matrix.entries import LETTERS, Entries
from pivotree.kkt.theorem.ranges import Ranges

from ..states.sample import system_at
from ..states.traced import TracedOrder

Floats = NDArray[np.float64]
MOST = 40  # states that are run one by one


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
            here = slice(int(tree.offset[k]), int(tree.offset[k + 1]))
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
    systems: Sequence[System],
    ranges: Ranges,
    effort: Floats,
    order: TracedOrder,
    formats: Sequence[Format],
    bounds: Sequence[Accelerations],
    states: int,
    seed: int,
) -> list[Promise]:
    """For each format its bound, and the largest errors of random states, at most 40.

    States are of the systems in turns.  Rates and positions are drawn within the ranges; efforts
    are drawn within ``effort`` (N,), and in every second state those are taken, cut off there, that
    give accelerations drawn within theirs.  Where nothing is promised nothing is run.
    """
    largest, each = np.zeros(len(formats)), np.zeros((len(formats), len(effort)))
    promised = [i for i, bound in enumerate(bounds) if not bound.why]
    states = min(states, MOST) if promised else 0
    for number in range(states):
        here = system_at(systems[number // 2 % len(systems)], ranges, seed, number)
        tau = np.clip(here.entries.tau, -effort, effort)
        if number % 2:
            tau = np.random.default_rng([1, seed, number]).uniform(-effort, effort)
        fitting = order.fitting(here)
        given = masked(fitting, replace(here.entries, tau=tau))
        for i in promised:
            whole, joint = errors(fitting, here, given, formats[i])
            largest[i], each[i] = max(largest[i], whole), np.maximum(each[i], joint)
    told = tuple(systems[0].tree.freedom_names)
    return [
        Promise(bound, float(e), joint, states, told)
        for bound, e, joint in zip(bounds, largest, each, strict=True)
    ]


def masked(order: TracedOrder, entries: Entries) -> Entries:
    """The entries with zeros where the order's tape has them, in right-hand sides."""
    takes = dict(zip(LETTERS, order.takes, strict=True))
    sides = {x: np.where(takes[x], getattr(entries, x), 0.0) for x in ("a", "b", "tau")}
    return replace(entries, **sides)
