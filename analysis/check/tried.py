"""Ways to compute accelerations, tried in many states of a robot, and a search for the worst state.

A way is what a program does (a reading), an order by itself, or a compiled kernel.  Its error is that of
qdd against the answer for the robot's own numbers, so that what format and frames round of them counts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import Kernel, LoopError, ModelError, System, trace
from pivotree.kkt.arithmetic import get_format

from ..many import held, least_sizes
from ..readings import Reading
from ..states.sample import draw, drawn_system, efforts_of, entries_of
from ..states.traced import Pair, TracedOrder
from ..study.measure import States

Floats = NDArray[np.float64]
DATA = "data"  # the order of a way that rounds the robot's numbers alone
PARENTS, CHILDREN, ROUNDS = 6, 8, 7  # of the search for the worst state
BODIES = 200  # of a parent's children that are written in frames, at most: each state takes a while there
SHARE = 0.4  # of coordinates that a child changes
PLACES = 3  # decimal places of q and qd of states that are searched: they stand in a command


class Robot:
    """A robot whose orders are traced as they are asked for."""

    def __init__(self, tree: nx.DiGraph[Any]) -> None:
        """Raises ModelError for a robot that does not move, and LoopError for closed loops."""
        self.base, self.ranges = drawn_system(tree, 0)
        if not int(self.base.tree.offset[-1]):
            raise ModelError(f"{self.base.name}: has no joint that moves; a check needs at least one")
        if self.base.loops:
            raise LoopError(
                f"{self.base.name}: has closed loops or contacts, in which a check looks at no state; use "
                "pivotree report"
            )
        self.traced: dict[tuple[str, str, str], TracedOrder] = {}

    @cached_property
    def proof(self) -> TracedOrder:
        return TracedOrder(trace(self.base, orderings.get("abm")), self.base)

    def order(self, way: Reading) -> TracedOrder:
        """An order in frames.  Raises PivotreeError where the robot does not allow it."""
        key = way.order, way.frames, way.symmetry
        if way.order == DATA:
            return self.proof
        if key not in self.traced:
            system, tape = way.traced(self.base)
            self.traced[key] = TracedOrder(tape, system)
        return self.traced[key]

    def random(self, states: int) -> Tried:
        """The states that ``--state random:0``, ``random:1`` and so on name."""
        drawn = (draw(self.ranges, seed, 0) for seed in range(states))
        q, qd, qdd = map(np.array, zip(*drawn, strict=True))
        return Tried(self, q, qd, efforts_of(self.base, q, qd, qdd))


class Tried:
    """m states of a robot, and the exact answers there."""

    def __init__(self, robot: Robot, q: Floats, qd: Floats, tau: Floats) -> None:
        self.robot = robot
        self.q = q
        self.qd = qd
        self.tau = tau
        base, entries = robot.base, entries_of(robot.base, q, qd, tau)
        self.states: States = States(
            base, entries, least_sizes(base, entries), self.system, held(base.pattern, entries)
        )
        self.placed: dict[str, States] = {"own": self.states}
        self.truth: Pair = Pair.none(len(q), robot.proof)
        for own, here, values in self.states.tapes(robot.proof, lambda i, error: None):
            self.truth.put(here, own.truth(get_format("float64"), values, self.states.least[here]))

    def __len__(self) -> int:
        return len(self.q)

    def system(self, i: int) -> System:
        return self.robot.base.refresh(self.q[i], self.qd[i], self.tau[i])

    def some(self, here: NDArray[np.int64]) -> Tried:
        """Some of the states."""
        return Tried(self.robot, self.q[here], self.qd[here], self.tau[here])

    def with_those_of(self, other: Tried) -> Tried:
        """These states, and others of the same robot."""
        pairs = ((getattr(self, x), getattr(other, x)) for x in ("q", "qd", "tau"))
        return Tried(self.robot, *map(np.concatenate, pairs))

    def errors(self, way: Reading | Kernel) -> Floats:
        """(m,) relative errors of qdd; infinite where there is no answer.

        A kernel is given positions, rates and efforts that are rounded, too.  Raises PivotreeError
        where the robot, or the format, does not allow the way.
        """
        off = np.full(len(self), np.inf)
        with np.errstate(all="ignore"):
            if isinstance(way, Kernel):
                given = np.array([way.configuration(q) for q in self.q]), self.qd, self.tau
                off = self.truth.largest(way(*(x.astype(way.number.dtype) for x in given)))
            else:
                chosen, order = get_format(way.precision), self.robot.order(way)
                for own, here, numbers in self._in(way).tapes(order, lambda i, error: None):
                    values = chosen.cast(numbers)
                    alone = way.order == DATA
                    answers = own.pairs(values).high if alone else own.answered(chosen, values)
                    off[here] = self.truth.at(here).largest(answers)
        return np.where(np.isnan(off), np.inf, off)

    def _in(self, way: Reading) -> States:
        """The states, written in frames."""
        if way.frames not in self.placed:
            many = States.of([way.system(self.system(i)) for i in range(len(self))])
            pattern = way.system(self.robot.base).pattern
            self.placed[way.frames] = replace(many, fit=held(pattern, many.entries))
        return self.placed[way.frames]


def search(tried: Tried, way: Reading) -> Tried:
    """States near the worst of those tried in which a way is worse still, the worst first.

    Accelerations stay as they are, so that none are small; q within the ranges and qd are changed,
    less and less.

    >>> from pivotree.analysis.check.tried import Robot, search
    >>> from pivotree.analysis.readings.readings import of_order
    >>> way, some = of_order("crbm", "float32"), Robot(pt.chain(4)).random(20)
    >>> bool(search(some, way).errors(way)[0] > some.errors(way).max())
    True
    """
    robot, random = tried.robot, np.random.default_rng(0)
    ranges, width = robot.ranges, robot.ranges.upper - robot.ranges.lower
    errors = tried.errors(way)
    here = np.argsort(-errors, kind="stable")[:PARENTS]
    best, errors = tried.some(here), errors[here]
    children = CHILDREN if way.frames == "own" else min(CHILDREN, max(2, BODIES // robot.base.tree.n))
    for turn in range(ROUNDS):
        q, qd, qdd = (np.repeat(x, children, axis=0) for x in (best.q, best.qd, best.truth.high))
        size, shape = 0.3 * 0.6**turn, (2, *q.shape)
        steps = size * random.standard_normal(shape) * (random.random(shape) < SHARE)
        q = np.clip((q + width * steps[0]).round(PLACES), ranges.lower, ranges.upper)
        qd = np.clip((qd + 2.0 * ranges.rate * steps[1]).round(PLACES), -ranges.rate, ranges.rate)
        tau = efforts_of(robot.base, q, qd, qdd)
        short = [float(f"{x:.6g}") for x in tau.ravel()]  # a command may have them
        young = Tried(robot, q, qd, np.reshape(short, tau.shape))
        both = np.concatenate([errors, young.errors(way)])
        here = np.argsort(-both, kind="stable")[:PARENTS]
        best, errors = best.with_those_of(young).some(here), both[here]
    return best
