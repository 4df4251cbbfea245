"""The check: orders and programs over many states, the worst that is found, and what would mend it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, ModelError, PivotreeError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.ranges import ACCELERATION

from ..comparison.row import digits_of
from ..readings import Reading, fault, readings
from ..readings.readings import of_order
from ..report.make import require_numbers
from .rooted import no_other
from .tried import DATA, Floats, Mend, Robot, Tried, mends, search

ORDERS = ("abm", "gain_abm", "modified_abm", "projected_abm", "square_root_abm", "crbm")
C_FILE, ANY = "its C file", "exact arithmetic"  # rows that are no order's and no program's
KINDS = {**dict.fromkeys(ORDERS, "order"), C_FILE: "C", ANY: "data"}  # of rows; all others are programs'
SHIPPED = ("float64", "float32")  # formats that C has
NEAR = 0.5  # digits by which the cheapest order may be behind the best
DRAWN = 6  # states of the random ones, of each row, that mends are tried in


@dataclass(frozen=True)
class Row:
    """A way to compute qdd, and digits of it: in one state, at worst of all tried, and proved."""

    name: str  # the order, the programs, or "its C file" of the best order; "exact arithmetic"
    #            on the robot's own numbers, rounded, is what rounding them leaves to all of them
    kind: str  # order, program, C or data
    order: str
    frames: str
    symmetry: str
    operations: int | None  # of the order, from the entries of (4), as kkt.Tape.flops counts them
    here: float  # digits in the one state
    worst: float  # over all states that were tried, the one state among them
    proved: float | None = None  # for all states whose largest acceleration is ACCELERATION
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
    rows: tuple[Row, ...] = field(repr=False)  # the best order, its C file, other orders, programs, the data
    best: str  # the order to compute by
    subject: str  # the order or program that loses most, which is looked into
    fault: str = field(repr=False)  # where that is lost, in a sentence
    mends: tuple[Mend, ...] = field(repr=False)  # tried where it keeps too few, the cheapest that do first
    root: str = field(repr=False)  # why no other root was tried; empty where one was
    worst_state: dict[str, list[float]] = field(repr=False)  # q, qd, tau of the subject
    seed: int  # of its worst random state
    refused: dict[str, str] = field(default_factory=dict, repr=False)  # orders that the robot does not allow

    def row(self, name: str) -> Row:
        """A row by its name; StopIteration where there is none."""
        return next(row for row in self.rows if row.name == name)

    def of(self, *kinds: str) -> list[Row]:
        """The rows of some kinds."""
        return [row for row in self.rows if row.kind in kinds]

    @property
    def keeps(self) -> bool:
        """Whether the best order kept the digits in all states that were tried."""
        return self.row(self.best).worst >= self.digits

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree check``."""
        return {**asdict(self), "keeps": self.keeps}


def check(
    tree: nx.DiGraph[Any],
    model: str,
    format: str = "float32",
    *,
    digits: float = 3.0,
    states: int = 200,
    system: System | None = None,
    progress: Callable[[str], None] = lambda text: None,
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
    require_numbers(states, 0, digits)
    chosen = get_format(format)
    if chosen.kind != "float" or chosen.unit < get_format("float64").unit:
        raise FormatError(
            f"format {format!r}", "a check needs float64, or a shorter format of fixed precision"
        )
    progress("the robot")
    robot = Robot(tree)
    state = (kkt.build(tree) if system is None else system).state
    if (far := state.q[~np.isfinite(chosen.cast(state.q))]).size:
        raise ModelError("state", f"q holds {far[0]:.3g}, beyond {format}", "give q within a few turns")
    own = Tried(robot, *(np.asarray(x)[None] for x in (state.q, state.qd, state.tau)))
    looked = _Looked(own, robot.random(states), format, progress)
    looked.search(digits)
    best, subject = looked.best(digits), looked.least("order", "program")
    if format in SHIPPED:
        with suppress(PivotreeError):
            looked.ways[C_FILE] = kkt.compile(robot.base, orderings.get(best), format)
    some, at = looked.where(subject)
    progress("where digits are lost")
    told = fault(looked.programs.get(subject, looked.ways[subject]), some.system(at), format, model)
    found: tuple[Mend, ...] = ()
    if looked.worst(subject) < digits:
        progress("what would mend it")
        found = mends(looked.hard(), looked.ways[subject], looked.ways[best], told, digits)
    progress("the proof")
    names = sorted(looked.ways, key=lambda name: (name != best, name != C_FILE, name == ANY))
    rows = [_proved(row, tree, format) if row.kind == "order" else row for row in map(looked.row, names)]
    return Checked(
        model,
        format,
        digits,
        states,
        sum(map(len, looked.pools[2:])),
        robot.ranges.in_words(),
        tuple(rows),
        best,
        subject,
        told.sentence,
        found,
        no_other(robot.base),
        {x: getattr(some, x)[at].tolist() for x in ("q", "qd", "tau")},
        int(np.argmax(looked.errors(subject)[1])),
        looked.refused,
    )


def _proved(row: Row, tree: nx.DiGraph[Any], format: str) -> Row:
    """With the digits that are proved for all states with an acceleration of ACCELERATION or more."""
    try:
        found = kkt.guarantee_qdd(tree, orderings.get(row.order), format)
    except PivotreeError as error:
        return replace(row, why=error.why)
    off = float(found.joint.max(initial=0.0)) / ACCELERATION
    return replace(row, why=found.why, proved=None if found.why else _digits(off, format))


def _digits(error: float, format: str) -> float:
    return digits_of(error, get_format(format)) or 0.0


def _shipped(format: str) -> dict[Reading, list[Reading]]:
    """What programs do in their usual format, where no order does it in own frames, and which do it."""
    found: dict[Reading, list[Reading]] = {}
    known = list(readings().values())
    usual = [x for x in known if x.precision == format] or [x for x in known if x.precision == "float32"]
    for x in usual:
        both = "both triangles" if x.symmetry == "both triangles" else "mirrored"
        way = of_order(x.order, format, x.frames, both)
        if way != of_order(x.order, format):
            found.setdefault(way, []).append(x)
    return found


class _Looked:
    """The rows, as states are added in which they are worse."""

    def __init__(self, own: Tried, random: Tried, format: str, told: Callable[[str], None]) -> None:
        self.pools, self.format, self.told = [own, random], format, told  # and those that are searched
        self.searched: list[str] = []
        self.programs: dict[str, Reading] = {}
        self.refused: dict[str, str] = {}
        self.ways: dict[str, Any] = {ANY: of_order(DATA, format)}
        self.ways |= {name: of_order(name, format) for name in ORDERS}
        for way, who in _shipped(format).items():
            name = ", ".join(x.name for x in who)
            self.ways[name], self.programs[name] = way, who[0]
        self.known: defaultdict[str, list[Floats]] = defaultdict(list)
        for name in list(self.ways):
            told(name)
            try:
                self.errors(name)
            except PivotreeError as error:
                self.refused[name] = error.why
                del self.ways[name]

    def errors(self, name: str) -> list[Floats]:
        """A row's errors in the one state, in the random ones, and in those of each search."""
        known = self.known[name]
        known += [pool.errors(self.ways[name]) for pool in self.pools[len(known) :]]
        return known

    def worst(self, name: str) -> float:
        """The digits in all states that were tried."""
        return _digits(max(float(x.max()) for x in self.errors(name)), self.format)

    def where(self, name: str) -> tuple[Tried, int]:
        """The state in which a row is worst."""
        some, errors = max(zip(self.pools, self.errors(name), strict=True), key=lambda x: x[1].max())
        return some, int(np.argmax(errors))

    def row(self, name: str) -> Row:
        way, kind, (here, *_) = self.ways[name], KINDS.get(name, "program"), self.errors(name)
        does, operations = ("", "own", "mirrored"), None
        if kind in ("order", "program"):
            does = way.order, way.frames, way.symmetry
            operations = self.pools[0].robot.order(way).operations
        return Row(name, kind, *does, operations, _digits(here[0], self.format), self.worst(name))

    def least(self, *kinds: str) -> str:
        """The row of some kinds that keeps least; empty where there is none."""
        names = (name for name in self.ways if KINDS.get(name, "program") in kinds)
        return min(names, key=self.worst, default="")

    def best(self, digits: float) -> str:
        """The cheapest order among those that keep most, in the bodies' own frames."""
        rows = [self.row(name) for name in ORDERS if name in self.ways]
        most = max(row.worst for row in rows)
        good = [row for row in rows if row.worst >= most - NEAR]
        good = [row for row in good if row.worst >= digits] or good
        return min(good, key=lambda row: row.operations or 0).name

    def search(self, digits: float) -> None:
        """Look for states that are worse for the best order, and for the worst order and program."""
        while True:
            wanted = self.best(digits), self.least("order"), self.least("program")
            new = [name for name in dict.fromkeys(wanted) if name and name not in self.searched]
            for name in new:
                self.told(f"the worst state of {name}")
                self.pools.append(search(self.pools[1], self.ways[name]))
                self.searched.append(name)
            if not new:
                return

    def hard(self) -> Tried:
        """The one state, those searched, and those drawn in which the same rows, or the data, are worst."""
        several = [self.errors(name)[1] for name in (*self.searched, ANY)]
        worst = [np.argsort(-errors, kind="stable")[:DRAWN] for errors in several]
        drawn = self.pools[1].some(np.unique(np.concatenate(worst)))
        return reduce(Tried.with_those_of, [self.pools[0], *self.pools[2:]], drawn)
