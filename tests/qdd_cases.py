"""States with hostile right-hand sides, and the error of qdd beside what is promised of it."""

from __future__ import annotations

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.guarantee.rows import errors, masked
from pivotree.analysis.states.sample import system_at
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.arithmetic.formats import DIV, MUL
from pivotree.kkt.matrix.configuration import in_general
from pivotree.kkt.tape.trace import trace
from pivotree.kkt.theorem.accelerations import bounded
from pivotree.kkt.theorem.guarantee import evaluated
from pivotree.kkt.theorem.motion import RightSides, weight
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.kkt.theorem.roundings import operations
from pivotree.kkt.theorem.support import UP


def of_state(entries, M):
    """The sizes of one state's own right-hand side; M (n, 6, 6) as the format holds it."""
    force = np.array([weight(x, np.abs(b)) for x, b in zip(M, entries.b, strict=True)])
    turning, sliding = (np.linalg.norm(x, axis=1) * UP for x in (entries.a[:, :3], entries.a[:, 3:]))
    return RightSides(force, turning, sliding, np.abs(entries.tau))


class Case:
    """A tree with its promise in one format, and states of it."""

    def __init__(self, tree: nx.DiGraph, format: str = "float64", order: str = "abm") -> None:
        self.system = in_general(kkt.build(tree))
        self.chosen = get_format(format)
        self.ranges = ranges_of(self.system)
        self.tape = trace(self.system, orderings.get(order))
        self.bound, self.found = evaluated(self.system, self.tape, self.chosen, self.ranges)

    def state(self, seed, number):
        """A state, an order's tape that fits it, and its entries, right-hand sides hostile."""
        here = system_at(self.system, self.ranges, seed, number)
        order = TracedOrder(self.tape, here).fitting(here)
        draw = np.random.default_rng([seed, number])
        given = here.entries
        if number % 3:
            spread = 4.0 * (number % 3 - 1)
            sides = {
                x: draw.normal(size=getattr(given, x).shape)
                * 10.0 ** draw.uniform(-spread, spread, size=getattr(given, x).shape)
                for x in ("a", "b", "tau")
            }
            given = given._replace(**sides)
        given = masked(order, given)
        held = {
            x: np.asarray(self.chosen.cast(getattr(given, x)), dtype=float)
            for x in ("M", "Phi", "S", "A", "a", "b", "tau")
        }
        return here, order, given._replace(**held)

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


def of_sides(case: Case, **sides):
    """The energy of the error and the promise, with these right-hand sides alone: of zeros each."""
    here, order, given = case.state(0, 0)
    none = {x: 0.0 * getattr(given, x) for x in ("a", "b", "tau")}
    given = masked(order, given._replace(**(none | {x: f(none[x]) for x, f in sides.items()})))
    promise = case.promise(of_state(given, case.found.M))
    return errors(order, here, given, case.chosen)[0], promise


class Paths:
    """Longest paths of roundings within instructions of one place.

    By label, forward or back, and how many blocks it stands at; or by the columns written, too.
    """

    def __init__(self, tape):
        self.program, self.depth, self.longest = tape.program, {}, {}
        for i, written, slots in operations(tape):
            self.meet(i, written, slots.ravel().tolist())

    def meet(self, i, written, slots):
        place = self.program.places[i.out]
        here = i.step, place.label, place.back, place.blocks
        for op, dst, a, b in zip(*(x.tolist() for x in written), strict=True):
            deep = max(self.at(here, a), self.at(here, b))
            self.depth[dst] = here, deep + (op in (MUL, DIV) or (a != 0 and b != 0))
        deep = max((self.at(here, x) for x in slots), default=0)
        columns = i.op, self.program.shapes[i.out][1]
        for sides in (place.label, place.back, len(place.blocks)), (place.label, *columns):
            self.longest[sides] = max(self.longest.get(sides, 0), deep)

    def at(self, here, slot):
        where, count = self.depth.get(slot, (here, 0))
        return count if where == here else 0
