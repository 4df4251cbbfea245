"""Ways to compute accelerations, tried in many states of a robot, and a search for the worst state.

A way is an order in frames and a format.  Its error is that of qdd against the answer for the robot's
own numbers, so that what the format and the frames round of them counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import Kernel, LoopError, ModelError, System, aligned, gathered, trace
from pivotree.kkt.arithmetic import get_format

from ..many import held, least_sizes
from ..states.sample import draw, drawn_system, efforts_of, entries_of
from ..states.traced import Pair, TracedOrder
from ..study.measure import States

Floats = NDArray[np.float64]
PARENTS, CHILDREN, ROUNDS = 6, 8, 7  # of the search for the worst state
BODIES = 200  # of a parent's children that are written in frames, at most: each state takes a while there
SHARE = 0.4  # of coordinates that a child changes
PLACES = 3  # decimal places of q and qd of states that are searched: they stand in a command


@dataclass(frozen=True)
class Way:
    """An order, the frames that it is written in, and a format."""

    order: str
    format: str
    frames: str = "own"  # "aligned", or a place of kkt.gathered


class Robot:
    """A robot whose orders are traced as they are asked for."""

    def __init__(self, tree: nx.DiGraph) -> None:
        """Raises ModelError for a robot that does not move, and LoopError for closed loops."""
        self.base, self.ranges = drawn_system(tree, 0)
        if not int(self.base.tree.offset[-1]):
            raise ModelError(f"{self.base.name}: has no joint that moves; a check needs at least one")
        if self.base.loops:
            raise LoopError(
                f"{self.base.name}: has closed loops or contacts, in which a check looks at no state; use "
                "pivotree report, or compare --states"
            )
        self.traced: dict[tuple[str, str], TracedOrder] = {}

    @cached_property
    def proof(self) -> TracedOrder:
        return TracedOrder(trace(self.base, orderings.get("abm")), self.base)

    def order(self, name: str, frames: str) -> TracedOrder:
        """An order in frames.  Raises PivotreeError where the robot does not allow it."""
        if (name, frames) not in self.traced:
            system = written(self.base, frames)
            self.traced[name, frames] = TracedOrder(trace(system, orderings.get(name)), system)
        return self.traced[name, frames]

    def random(self, states: int) -> Tried:
        """The states that ``--state random:0``, ``random:1`` and so on name."""
        drawn = (draw(self.ranges, seed, 0) for seed in range(states))
        q, qd, qdd = map(np.array, zip(*drawn, strict=True))
        return Tried(self, q, qd, qdd)


def written(system: System, frames: str) -> System:
    """A system in frames: "own", "aligned" with the joints, or at a place of kkt.gathered."""
    if frames == "own":
        return system
    return aligned(system) if frames == "aligned" else gathered(system, frames)


class Tried:
    """m states of a robot, and the exact answers there."""

    def __init__(self, robot: Robot, q: Floats, qd: Floats, qdd: Floats, tau: Floats | None = None) -> None:
        """``qdd`` (m, N) are accelerations that efforts are chosen for, where ``tau`` is None."""
        self.robot, self.q, self.qd, self.qdd = robot, q, qd, qdd
        self.tau = efforts_of(robot.base, q, qd, qdd) if tau is None else tau
        base, entries = robot.base, entries_of(robot.base, q, qd, self.tau)
        self.states = States(
            base.tree,
            entries,
            least_sizes(base, entries),
            base.structure.ties,
            self.system,
            held(base.pattern, entries),
        )
        self.placed: dict[str, States] = {}
        self.truth = Pair.none(len(q), robot.proof)
        for own, here, values in self.states.tapes(robot.proof, lambda i, error: None):
            self.truth.put(here, own.truth(get_format("float64"), values, self.states.least[here]))

    def __len__(self) -> int:
        return len(self.q)

    def system(self, i: int) -> System:
        return self.robot.base.refresh(self.q[i], self.qd[i], self.tau[i])

    def some(self, here: NDArray[np.int64]) -> Tried:
        """Some of the states."""
        return Tried(self.robot, self.q[here], self.qd[here], self.qdd[here], self.tau[here])

    def with_those_of(self, other: Tried) -> Tried:
        """These states, and others of the same robot."""
        pairs = ((getattr(self, x), getattr(other, x)) for x in ("q", "qd", "qdd", "tau"))
        return Tried(self.robot, *map(np.concatenate, pairs))

    def of_data(self, format: str) -> Floats:
        """(m,) errors of the exact answer for the robot's numbers rounded to a format."""
        chosen, found = get_format(format), np.full(len(self), np.inf)
        for part in self.states.tapes(self.robot.proof, lambda i, error: None):
            rounded = np.asarray(chosen.cast(part.values), dtype=float)
            found[part.here] = self.truth.at(part.here).largest(part.order.pairs(rounded).high)
        return np.where(np.isnan(found), np.inf, found)

    def errors_of(self, kernel: Kernel) -> Floats:
        """(m,) errors of compiled forward dynamics, whose positions, rates and efforts are rounded too."""
        x = np.array([kernel.configuration(q) for q in self.q])
        given = (np.asarray(each, dtype=kernel.number.dtype) for each in (x, self.qd, self.tau))
        with np.errstate(all="ignore"):
            off = self.truth.at(np.arange(len(self))).largest(kernel(*given))
        return np.where(np.isnan(off), np.inf, off)

    def errors(self, way: Way) -> Floats:
        """(m,) relative errors of qdd; infinite where there is no answer.

        Raises PivotreeError where the robot, or the format, does not allow the way.
        """
        chosen, order = get_format(way.format), self.robot.order(way.order, way.frames)
        found = np.full(len(self), np.inf)
        for part in self._in(way.frames).tapes(order, lambda i, error: None):
            with np.errstate(all="ignore"):
                answers = part.order.answered(chosen, chosen.cast(part.values))
                off = self.truth.at(part.here).largest(answers)
            found[part.here] = np.where(np.isnan(off), np.inf, off)
        return found

    def _in(self, frames: str) -> States:
        """The states, written in frames."""
        if frames == "own":
            return self.states
        if frames not in self.placed:
            systems = [written(self.system(i), frames) for i in range(len(self))]
            pattern = written(self.robot.base, frames).pattern
            many = States.of(systems)
            self.placed[frames] = replace(many, fit=held(pattern, many.entries))
        return self.placed[frames]


def search(tried: Tried, way: Way) -> Tried:
    """States near the worst of those tried in which a way is worse still, the worst first.

    Accelerations stay those drawn, so that none are small; q within the ranges and qd are changed,
    less and less.

    >>> from pivotree.analysis.check.tried import Robot, Way, search
    >>> way, some = Way("crbm", "float32"), Robot(pt.chain(4)).random(20)
    >>> bool(search(some, way).errors(way)[0] > some.errors(way).max())
    True
    """
    robot, random = tried.robot, np.random.default_rng(0)
    ranges, width = robot.ranges, robot.ranges.upper - robot.ranges.lower
    here = np.argsort(-tried.errors(way), kind="stable")[:PARENTS]
    best, errors = tried.some(here), tried.errors(way)[here]
    children = CHILDREN if way.frames == "own" else min(CHILDREN, max(2, BODIES // robot.base.tree.n))
    for turn in range(ROUNDS):
        q, qd, qdd = (np.repeat(x, children, axis=0) for x in (best.q, best.qd, best.qdd))
        size, shape = 0.3 * 0.6**turn, (2, *q.shape)
        steps = size * random.standard_normal(shape) * (random.random(shape) < SHARE)
        q = np.clip(q + width * steps[0], ranges.lower, ranges.upper).round(PLACES)
        qd = np.clip(qd + 2.0 * ranges.rate * steps[1], -ranges.rate, ranges.rate).round(PLACES)
        young = Tried(robot, q, qd, qdd, _short(efforts_of(robot.base, q, qd, qdd)))
        both = np.concatenate([errors, young.errors(way)])
        here = np.argsort(-both, kind="stable")[:PARENTS]
        best, errors = best.with_those_of(young).some(here), both[here]
    return best


def _short(tau: Floats) -> Floats:
    """Efforts of six digits, so that a command may have them."""
    return np.array([float(f"{x:.6g}") for x in tau.ravel()]).reshape(tau.shape)


def one_state(robot: Robot, system: System) -> Tried:
    """One state of the robot, that of a system of the same tree."""
    state = system.state
    qdd = np.zeros(len(state.qd))
    return Tried(robot, state.q[None], state.qd[None], qdd[None], np.asarray(state.tau)[None])
