"""The check: orders and programs over many states, the worst that is found, and what would mend it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, PivotreeError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.foreign import is_number, is_whole
from pivotree.kkt.theorem.ranges import ACCELERATION

from ..readings import Reading, fault, readings
from .mends import Mend, mends
from .tried import Floats, Robot, Tried, Way, one_state, search

ORDERS = ("abm", "gain_abm", "modified_abm", "projected_abm", "square_root_abm", "crbm")
SHIPPED = ("float64", "float32")  # formats that C, and programs, have
NEAR = 0.5  # digits by which the cheapest order may be behind the best
DRAWN = 6  # states of the random ones, of each row, that mends are tried in
MOST_STATES = 100_000
Told = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """A way to compute qdd, and digits of it: in one state, at worst of all tried, and proved."""

    name: str  # the order, or the programs
    order: str
    frames: str
    operations: int | None  # of the order, from the entries of (4)
    here: float  # digits in the one state
    median: float  # over the random states
    worst: float  # over all states that were tried
    proved: float | None = None  # for all states whose largest acceleration is AT
    why: str = ""  # why nothing is proved


@dataclass(frozen=True)
class Checked:
    """What a check found; digits are right decimal digits of qdd, of its largest entry.

    >>> from pivotree.analysis.check import check
    >>> found = check(pt.chain(3), "chain:3", states=20)
    >>> found.keeps, found.best in ("abm", "gain_abm", "crbm", "modified_abm")
    (True, True)
    """

    model: str
    format: str
    digits: float  # asked for
    states: int  # random ones
    searched: int
    distribution: str
    rows: tuple[Row, ...]  # orders, then programs
    data: Row  # what rounding the robot's own numbers leaves to any order
    best: str  # the order to compute by
    subject: str  # the row that loses most, which is looked into
    fault: str  # where that is lost, in a sentence
    mends: tuple[Mend, ...]  # that were tried on it, the cheapest that keep the digits first
    worst_state: dict[str, list[float]]  # q, qd, tau of the subject
    seed: int  # of its worst random state
    exported: tuple[float, float] | None  # digits of the best order's C file: in the one state, at worst
    refused: dict[str, str] = field(default_factory=dict)  # orders that the robot does not allow

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    @property
    def keeps(self) -> bool:
        """Whether the best order kept the digits in all states that were tried."""
        return self.row(self.best).worst >= self.digits

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree check``."""
        return {**asdict(self), "keeps": self.keeps}


def check(
    tree: nx.DiGraph,
    model: str,
    format: str = "float32",
    *,
    digits: float = 3.0,
    states: int = 200,
    system: System | None = None,
    progress: Told = lambda text: None,
) -> Checked:
    """Whether a robot keeps ``digits`` in a format, in which order, and what would mend it.

    ``states`` are random ones, near the worst of which worse ones are searched; ``system`` is the one
    state that a column is of, the tree's own where None.  Raises PivotreeError for numbers out of range,
    FormatError for a format without a precision, and ModelError and LoopError for a robot that does not
    move or has closed loops.

    >>> from pivotree.analysis.check import check
    >>> found = check(pt.chain(2), "chain:2", digits=2, states=5)
    >>> found.row("crbm").worst >= found.row("newton").worst - 0.5, found.searched >= 6
    (True, True)
    """
    _asked(format, digits, states)
    progress("the robot")
    robot = Robot(tree)
    own = one_state(robot, kkt.build(tree) if system is None else system)
    looked = _Looked(robot, own, robot.random(states), format, model, progress)
    best = looked.best(digits)
    for target in (best, looked.worst("order"), looked.worst("program")):
        looked.search(target)
    while (again := looked.best(digits)) not in looked.searched:
        looked.search(again)
    subject = min(looked.ways, key=lambda name: looked.row(name).worst)
    looked.search(subject)
    some, at = looked.where(subject)
    progress("where digits are lost")
    told = fault(looked.reading(subject), some.system(at), format, model)
    progress("what would mend it")
    found = mends(looked.hard(), looked.ways[subject], looked.ways[again], told, digits)
    progress("the proof")
    rows = [looked.row(name) for name in looked.ways]
    rows = [_proved(row, tree, format) if row.name in (again, "abm") else row for row in rows]
    return Checked(
        model,
        format,
        digits,
        states,
        sum(len(each) for each in looked.searched.values()),
        robot.ranges.in_words(),
        tuple(rows),
        looked.row("data"),
        again,
        subject,
        told.sentence,
        found,
        {x: getattr(some, x)[at].tolist() for x in ("q", "qd", "tau")},
        int(np.argmax(looked.errors[subject])),
        looked.exported(again),
        looked.refused,
    )


def _asked(format: str, digits: float, states: int) -> None:
    """Refuse what makes no check."""
    chosen = get_format(format)
    if chosen.kind != "float" or chosen.unit < get_format("float64").unit:
        raise FormatError(f"format {format!r}: a check needs float64, or a shorter format of fixed precision")
    if not is_whole(states, 1, MOST_STATES):
        raise PivotreeError(f"option --states: {states!r} is no number of states; use 1 to {MOST_STATES:,}")
    if not is_number(digits) or not 0.0 < digits <= 15.0:
        raise PivotreeError(f"option --digits: {digits!r} is out of range; use more than 0, and 15 at most")


def _proved(row: Row, tree: nx.DiGraph, format: str) -> Row:
    """With the digits that are proved for all states with an acceleration of ACCELERATION or more."""
    try:
        found = kkt.guarantee_qdd(tree, orderings.get(row.order), format)
    except PivotreeError as error:
        return replace(row, why=error.why)
    if found.why:
        return replace(row, why=found.why)
    kept = _digits(np.array([float(found.joint.max(initial=0.0)) / ACCELERATION]), format)
    return replace(row, proved=float(kept[0]))


def _digits(errors: Floats, format: str) -> Floats:
    """Decimal digits that relative errors leave."""
    with np.errstate(divide="ignore"):
        return np.clip(-np.log10(errors), 0.0, -np.log10(get_format(format).unit))


class _Looked:
    """The rows, as states are added in which they are worse."""

    def __init__(self, robot: Robot, own: Tried, random: Tried, format: str, model: str, told: Told) -> None:
        self.robot, self.own, self.random, self.format, self.told = robot, own, random, format, told
        self.searched: dict[str, Tried] = {}
        self.refused: dict[str, str] = {}
        self.ways: dict[str, Way] = {}
        self.programs: dict[str, Reading] = {}
        ways = {name: Way(name, format) for name in ORDERS}
        shipped = [x for x in readings().values() if x.precision == format and x.frames != "own"]
        for reading in shipped or [x for x in readings().values() if x.precision == "float32"]:
            way = Way(reading.order, format, reading.frames)
            others = [name for name in self.programs if ways[name] == way]
            name = ", ".join([*others, reading.name])
            for other in others:
                ways.pop(other)
                self.programs.pop(other)
            ways[name], self.programs[name] = way, reading
        self.errors: dict[str, Floats] = {}
        self.here: dict[str, float] = {}
        for name, way in ways.items():
            told(name)
            try:
                self.errors[name] = random.errors(way)
                self.here[name] = float(own.errors(way)[0])
                self.ways[name] = way
            except PivotreeError as error:
                self.refused[name] = error.why

    def search(self, name: str) -> None:
        """Look for states in which a row is worse, once."""
        if name and name not in self.searched:
            self.told(f"the worst state of {name}")
            self.searched[name] = search(self.random, self.ways[name])

    def all(self, name: str) -> list[tuple[Tried, Floats]]:
        """The states that were tried, and a row's errors there."""
        if name == "data":
            return [(x, x.of_data(self.format)) for x in (self.random, *self.searched.values())]
        others = ((x, x.errors(self.ways[name])) for x in self.searched.values())
        return [(self.random, self.errors[name]), *others]

    def where(self, name: str) -> tuple[Tried, int]:
        """The state in which a row is worst."""
        some, errors = max(self.all(name), key=lambda pair: pair[1].max())
        return some, int(np.argmax(errors))

    def row(self, name: str) -> Row:
        every = self.all(name)
        kept = _digits(np.concatenate([errors for _, errors in every]), self.format)
        median, worst = float(np.median(kept[: len(self.random)])), float(kept.min())
        if name == "data":
            here = float(_digits(self.own.of_data(self.format), self.format)[0])
            return Row(name, "", "own", None, here, median, worst)
        way, here = self.ways[name], float(_digits(np.array([self.here[name]]), self.format)[0])
        operations = self.robot.order(way.order, way.frames).operations
        return Row(name, way.order, way.frames, operations, here, median, worst)

    def best(self, digits: float) -> str:
        """The cheapest order among those that keep most, in the bodies' own frames."""
        rows = [self.row(name) for name in self.ways if name not in self.programs]
        most = max(row.worst for row in rows)
        good = [row for row in rows if row.worst >= most - NEAR]
        good = [row for row in good if row.worst >= digits] or good
        return min(good, key=lambda row: row.operations or 0).name

    def worst(self, kind: str) -> str:
        """The order, or the program, that keeps least; empty where there is none."""
        names = [name for name in self.ways if (name in self.programs) == (kind == "program")]
        return min(names, key=lambda name: self.row(name).worst, default="")

    def hard(self) -> Tried:
        """The states that were searched, and those drawn in which the same rows, or the data, are worst."""
        several = [self.errors[name] for name in self.searched] + [self.random.of_data(self.format)]
        worst = [np.argsort(-errors, kind="stable")[:DRAWN] for errors in several]
        found = self.random.some(np.unique(np.concatenate(worst)))
        for each in self.searched.values():
            found = found.with_those_of(each)
        return found

    def exported(self, name: str) -> tuple[float, float] | None:
        """Digits of an order's C file, whose kinematics are in the format, too; None where there is none."""
        if self.format not in SHIPPED:
            return None
        self.told("the C file")
        try:
            kernel = kkt.compile(self.robot.base, orderings.get(name), self.format)
        except PivotreeError:
            return None
        here, *others = (
            _digits(some.errors_of(kernel), self.format).min()
            for some in (self.own, self.random, *self.searched.values())
        )
        return float(here), float(min(others))

    def reading(self, name: str) -> Reading:
        """What a row does, as a reading of a program."""
        if name in self.programs:
            return self.programs[name]
        return Reading(name, name, "", name, "own", self.format, "", "")
