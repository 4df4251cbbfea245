"""States with hostile right-hand sides, and the error of qdd beside what is promised of it."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

from pivotree import orderings
from pivotree.analysis.guarantee.qdd import errors, masked
from pivotree.analysis.states.sample import system_at
from pivotree.analysis.states.traced import Order
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.ranges import ranges_of
from pivotree.kkt.proof.accelerations import bounded
from pivotree.kkt.proof.guarantee import evaluated, loaded
from pivotree.kkt.proof.rightsides import of_state
from pivotree.kkt.tape.trace import trace


class Case:
    """A tree with its promise in one format, and states of it."""

    def __init__(self, tree: nx.DiGraph, format: str = "float64", order: str = "abm") -> None:
        light, self.system = loaded(tree, ())
        self.chosen, self.name = get_format(format), order
        self.ranges = ranges_of(self.system)
        self.tape = trace(self.system, orderings.get(order))
        self.bound, self.found = evaluated(light, self.system, self.tape, self.chosen, self.ranges)

    def state(self, seed, number):
        """A state, an order's tape that fits it, and its entries, right-hand sides hostile."""
        here = system_at(self.system, self.ranges, seed, number)
        order = Order(self.tape, here).fitting(self.name, here)
        draw = np.random.default_rng([seed, number])
        given = here.entries
        if number % 3:
            spread = 4.0 * (number % 3 - 1)
            sides = {
                x: draw.normal(size=getattr(given, x).shape)
                * 10.0 ** draw.uniform(-spread, spread, size=getattr(given, x).shape)
                for x in ("a", "b", "tau")
            }
            given = replace(given, **sides)
        given = masked(order, given)
        held = {x: np.asarray(self.chosen.cast(getattr(given, x)), dtype=float)
                for x in ("M", "Phi", "S", "A", "a", "b", "tau")}  # fmt: skip
        return here, order, replace(given, **held)

    def promise(self, data, found=None):
        return bounded(self.system, self.ranges, found or self.found, data, self.chosen)

    def ratio(self, seed, number, found=None):
        """The error of qdd over what is promised: of the energy's root, or of the worst entry."""
        here, order, given = self.state(seed, number)
        promise = self.promise(of_state(given, self.found.M), found)
        if promise.why:
            return None
        off, each = errors(order, here, given, self.chosen)
        assert promise.energy > 0.0 or off == 0.0
        whole = off / promise.energy if off else 0.0
        return max([whole, *(x / y for x, y in zip(each, promise.joint, strict=True) if x)])

    def ratios(self, states: int, seed: int) -> list[float]:
        """The ratios of those states that are promised something."""
        if self.found is None:
            return []
        found = (self.ratio(seed, number) for number in range(states))
        return [x for x in found if x is not None]
