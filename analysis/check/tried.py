"""Ways to compute accelerations, tried in many states of a robot, and a search for the worst state.

A way is what a program does (a reading), an order by itself, or a compiled kernel.  Its error is that of
qdd against the answer for the robot's own numbers, so that what format and frames round of them counts.
What would mend a way that loses digits are changes, each tried in the worst states that were found.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Kernel, LoopError, PivotreeError, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.formats import ADD, DIV, MUL, SUB
from pivotree.kkt.arithmetic.own import Mixed
from pivotree.kkt.tape.tape import Tape
from pivotree.kkt.theorem.ranges import Ranges

from ..comparison.row import digits_of
from ..readings import Fault, Reading
from ..readings.readings import WRITTEN, felt, of_order
from ..rounding.blame import Culprits
from ..states.sample import draw, drawn_system, efforts_of, entries_of, held, least_sizes, require_joints
from ..states.traced import Pair, TracedOrder
from ..study.measure import States
from .rooted import other_roots, rooted

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
        self.base: System
        self.ranges: Ranges
        self.base, self.ranges = drawn_system(tree, 0)
        require_joints(self.base)
        if self.base.loops:
            raise LoopError(
                self.base.name,
                "has closed loops or contacts, or joints that follow others, which a check does not take",
                "pivotree report says how many digits each order keeps",
            )
        self.traced: dict[tuple[str, str, str], TracedOrder] = {}

    @property
    def proof(self) -> TracedOrder:
        return self.order(of_order("abm", "float64"))

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
        self._hold(
            States(base, entries, least_sizes(base, entries), self.system, held(base.pattern, entries))
        )

    def _hold(self, states: States) -> None:
        """Take states of the robot, and find the exact answers there."""
        self.states: States = states
        self.placed: dict[str, States] = {"own": states}
        self.truth: Pair = Pair.none(len(states), self.robot.proof)
        for own, here, values in states.tapes(self.robot.proof, lambda i, error: None):
            self.truth.put(here, own.truth(get_format("float64"), values, states.least[here]))

    def __len__(self) -> int:
        return len(self.states)

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


class Elsewhere(Tried):
    """States of a robot that has another root."""

    def __init__(self, tried: Tried, body: Hashable) -> None:
        self.robot = copy(tried.robot)
        self.robot.base, self.robot.traced = rooted(tried.robot.base, body), {}
        self.systems = [rooted(tried.system(i), body) for i in range(len(tried))]
        many = States.of(self.systems)
        self._hold(replace(many, fit=held(self.robot.base.pattern, many.entries)))

    def system(self, i: int) -> System:
        return self.systems[i]


def search(tried: Tried, way: Reading) -> Tried:
    """States near the worst of those tried in which a way is worse still, the worst first.

    Accelerations stay as they are, so that none are small; q within the ranges and qd are changed,
    less and less.
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


ORDERS = ("crbm", "abm", "gain_abm", "modified_abm", "projected_abm", "joseph_abm", "square_root_abm")
FRAMES = ("own", "aligned", "directions")
LONGER = ("float32", "float64")
SAID = {  # formats by role of a short one {0} and a longer one {1}, in words
    "{0}+D={1}": "the inertias that joints feel in {1}",
    "{0}+add={1}": "sums in {1}",
    "{0}+mul={1}+add={1}": "sums and products in {1}, numbers given in {0}",
    "{1}+mul={0}": "products in {0}, all else in {1}",
    "{1}+add={0}": "sums in {0}, all else in {1}",
    "{1}": "all in {1}",
}
ARMATURES = 1.0, 10.0, 100.0  # times the inertia that the joint feels of its own body
Change = tuple[str, str, Tried, Reading]  # its kind, in words, the states and the way


@dataclass(frozen=True)
class Mend:
    """One change, and what it costs and keeps."""

    what: str  # in words
    kind: str  # order, frames, symmetry, format, root or armature
    order: str
    format: str
    frames: str
    symmetry: str
    cost: float  # operations, those of longer formats as many times as their significands are longer
    digits: float  # at worst, in the worst states that were found
    enough: bool  # the digits that were asked for


def mends(hard: Tried, way: Reading, best: Reading, fault: Fault, digits: float) -> tuple[Mend, ...]:
    """Changes of a way: those that keep ``digits``, the cheapest first, then the others, best first.

    ``hard`` are the worst states that were found, ``best`` the way that keeps most otherwise, and
    ``fault`` where the digits are lost.  Changes that the robot or a format does not allow are left out.
    """
    found, seen = [], {(hard, way)}
    changes = *_changes(hard, way, best, fault), *_roots(hard, way, best), *_armatures(hard, way, fault)
    for kind, what, states, x in changes:
        if (states, x) in seen:
            continue
        seen.add((states, x))
        try:
            chosen = get_format(x.precision)
            kept = digits_of(float(states.errors(x).max()), chosen) or 0.0
            cost = _cost(states.robot.order(x), chosen, get_format(way.precision))
        except PivotreeError:
            continue
        does = x.order, x.precision, x.frames, x.symmetry
        found.append(Mend(what, kind, *does, cost, kept, kept >= digits))
    return tuple(sorted(found, key=lambda x: (not x.enough, x.cost if x.enough else -x.digits)))


def _changes(hard: Tried, way: Reading, best: Reading, fault: Fault) -> Iterator[Change]:
    """Frames, symmetry and orders; longer formats by role and by body, of the way and of the best order."""
    for frames in FRAMES:
        other = replace(way, frames=frames)
        yield "frames", _written(other), hard, other
    mirrored = replace(way, symmetry="mirrored")
    said = f"{_written(mirrored)}, half of every symmetric matrix computed, and copied"
    yield "symmetry", said, hard, mirrored
    for order in ORDERS:
        other = of_order(order, way.precision)
        yield "order", _written(other), hard, other
    body, short = fault.parts[0].body if fault.parts else fault.output, way.precision
    for long in (x for x in LONGER if get_format(x).unit < get_format(short).unit):
        formats = {f"{short}@{body}={long}": f"what is computed for {body} in {long}"}
        formats |= {role.format(short, long): said.format(short, long) for role, said in SAID.items()}
        for each in (way, best):
            for format, said in formats.items():
                yield "format", f"{_written(each)}, {said}", hard, replace(each, precision=format)


def _roots(hard: Tried, way: Reading, best: Reading) -> Iterator[Change]:
    """Other bodies as the root of a floating robot, for the way and the best order."""
    for body in other_roots(hard.robot.base):
        states = Elsewhere(hard, body)
        for each in (way, best):
            yield "root", f"{_written(each)}, {body} as the robot's root", states, each


def _armatures(hard: Tried, way: Reading, fault: Fault) -> Iterator[Change]:
    """Rotors at the joint that is off most: each makes another robot, which accelerates as this one."""
    base, names = hard.robot.base, [str(body) for body in hard.robot.base.tree.names]
    if fault.output not in names:  # one of several freedoms of a joint
        return
    k = names.index(fault.output)
    unit = "kg m²" if base.entries.S[int(base.tree.offset[k]), :3].any() else "kg"
    for times in ARMATURES:
        added = float(f"{times * felt(base, k):.1g}")
        tree = nx.DiGraph(base.graph)
        data = tree.nodes[base.tree.names[k]]
        data.update(armature=added + float(np.sum(data.get("armature", 0.0))))
        robot, place = Robot(tree), (hard.q, hard.qd)
        states = Tried(robot, *place, efforts_of(robot.base, *place, hard.truth.high))
        said = f"{_written(way)}, {added:g} {unit} of rotor inertia added at {fault.output}"
        yield "armature", said, states, way


def _written(way: Reading) -> str:
    both = ", all of every symmetric matrix computed" if way.symmetry == "both triangles" else ""
    return f"{way.order}, inertias {WRITTEN[way.frames]}{both}"


def _cost(order: TracedOrder, chosen: Format, plain: Format) -> float:
    """Operations, in those of a plain format: by the bits of what is read and written."""
    numbers, parts = _read_and_written(order.tape), [chosen] * 6
    if isinstance(chosen, Mixed):
        base, mul = chosen.base, chosen.mul or chosen.base
        others = chosen.add or base, mul, chosen.div or base, chosen.D or base, chosen.operands or mul
        parts = [base, *others]
    bits = sum(count * _bits_of(part) for count, part in zip(numbers, parts, strict=True))
    times = bits / (sum(numbers) * _bits_of(plain))
    counted = Culprits(order.tape, np.ones(order.tape.length)).bodies(len(order.qdd) + 1)
    share = {culprit.formula: culprit.share for culprit in counted}
    for body, longer in getattr(chosen, "bodies", ()):
        times += share.get(body, 0.0) * (_bits_of(longer) / _bits_of(plain) - 1.0)
    return order.operations * times


def _read_and_written(tape: Tape) -> tuple[int, ...]:
    """Numbers of data, and of sums, products, quotients, D_k and products' operands on the way to qdd."""
    op = np.concatenate([np.zeros(0, dtype=np.int8), *(chunk.op for chunk in tape.chunks())])
    live = np.repeat(tape.program.live(("qdd",)), np.diff(tape.first))
    inside = tape.on_diagonal(0, len(op))
    kinds = (~inside & np.isin(op, kind) for kind in ((ADD, SUB), MUL, DIV))
    add, mul, div, diagonal = (int(np.count_nonzero(live & mask)) for mask in (*kinds, inside))
    return tape.inputs.count - 2, 3 * add, mul, 3 * div, 3 * diagonal, 2 * mul


def _bits_of(each: Format) -> int:
    """Bits of a format's significand, the leading one included."""
    return math.ceil(-math.log2(each.unit))
