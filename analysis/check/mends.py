"""What would mend a way that loses digits: changes, each tried in the worst states that were found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np

from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.mixed import Mixed

from ..guarantee.cheapest import PARTS, Work, bits_of
from ..readings import Fault
from ..readings.readings import WRITTEN
from ..rounding.blame import Culprits
from ..states.traced import TracedOrder
from .tried import Robot, Tried, Way

ORDERS = ("crbm", "abm", "gain_abm", "modified_abm", "projected_abm", "joseph_abm", "square_root_abm")
FRAMES = ("own", "aligned", "directions")
LONGER = ("float32", "float64")
SAID = {  # formats by role of a short one {0} and a longer one {1}, in words
    "{0}+D={1}": "what forms and factors a joint's inertia in {1}",
    "{0}+add={1}": "sums in {1}",
    "{0}+mul={1}+add={1}": "sums and products in {1}, numbers given in {0}",
    "{1}+mul={0}": "products in {0}, all else in {1}",
    "{1}+add={0}": "sums in {0}, all else in {1}",
    "{1}": "all in {1}",
}
ARMATURES = 1.0, 10.0, 100.0  # times the inertia that the joint feels of its own body
WRITTEN_IN = WRITTEN | {"aligned": "in frames along the joints' axes"}


@dataclass(frozen=True)
class Mend:
    """One change, and what it costs and keeps."""

    what: str  # in words
    kind: str  # frames, order, format or armature
    order: str
    format: str
    frames: str
    cost: float  # operations, those of longer formats as many times as their significands are longer
    digits: float  # at worst, in the worst states that were found
    enough: bool  # the digits that were asked for


def mends(hard: Tried, way: Way, best: Way, fault: Fault, digits: float) -> tuple[Mend, ...]:
    """Changes of a way: those that keep ``digits``, the cheapest first, then the others, best first.

    ``hard`` are the worst states that were found, ``best`` the way that keeps most otherwise, and
    ``fault`` where the digits are lost.  Changes that the robot or a format does not allow are left out.
    """
    found, seen = [], {way}
    for kind, what, other in _changes(way, best, fault):
        if other in seen:
            continue
        seen.add(other)
        try:
            kept, cost = _kept(hard, other), _cost(hard.robot, other, way.format)
        except PivotreeError:
            continue
        found.append(Mend(what, kind, other.order, other.format, other.frames, cost, kept, kept >= digits))
    found += _armatures(hard, way, fault, digits)
    return tuple(sorted(found, key=lambda x: (not x.enough, x.cost if x.enough else -x.digits)))


def _changes(way: Way, best: Way, fault: Fault) -> Iterator[tuple[str, str, Way]]:
    """Frames and orders; longer formats by role and by body, of the way and of the best order."""
    for frames in FRAMES:
        yield "frames", f"{way.order} {WRITTEN_IN[frames]}", Way(way.order, way.format, frames)
    for order in ORDERS:
        yield "order", f"{order} {WRITTEN_IN['own']}", Way(order, way.format)
    longer = [x for x in LONGER if get_format(x).unit < get_format(way.format).unit]
    for each in (way, best):
        here = f"{each.order} {WRITTEN_IN[each.frames]}"
        for long in longer:
            body = fault.parts[0].body
            format = f"{way.format}@{body}={long}"
            yield "format", f"{here}, {body} in {long}", Way(each.order, format, each.frames)
            for role, said in SAID.items():
                names = way.format, long
                told = f"{here}, {said.format(*names)}"
                yield "format", told, Way(each.order, role.format(*names), each.frames)


def _kept(hard: Tried, way: Way) -> float:
    """Digits in the worst of some states."""
    worst = float(hard.errors(way).max())
    return float(np.clip(-np.log10(max(worst, 1e-300)), 0.0, -np.log10(get_format(way.format).unit)))


def _cost(robot: Robot, way: Way, format: str) -> float:
    """Operations, in those of ``format``."""
    order, chosen = robot.order(way.order, way.frames), get_format(way.format)
    work, plain = Work(order.tape), (get_format(format),) * len(PARTS)
    if isinstance(chosen, Mixed) and chosen.bodies:
        return order.operations * _of_bodies(order, chosen)
    return order.operations * work.cost(_roles(chosen)) / work.cost(plain)


def _roles(chosen: Format) -> tuple[Format, ...]:
    """The formats of PARTS."""
    if not isinstance(chosen, Mixed):
        return (chosen,) * len(PARTS)
    base = chosen.base
    mul = chosen.mul or base
    others = (chosen.add or base, mul, chosen.div or base, chosen.D or base, chosen.operands or mul)
    return (base, *others)


def _of_bodies(order: TracedOrder, chosen: Mixed) -> float:
    """How many times as much as in the base: by the bodies' shares of all operations."""
    counted = Culprits(order.tape, np.ones(order.tape.length)).bodies(len(order.qdd) + 1)
    share = {culprit.formula: culprit.share for culprit in counted}
    base = bits_of(chosen.base)
    return 1.0 + sum(share.get(body, 0.0) * (bits_of(f) - base) / base for body, f in chosen.bodies)


def _armatures(hard: Tried, way: Way, fault: Fault, digits: float) -> list[Mend]:
    """The least armature tried at the joint that is off most that is enough: it is another robot."""
    base = hard.robot.base
    name, _, index = fault.output.partition("[")
    k = [str(body) for body in base.tree.names].index(name) if not index else -1
    if k < 0 or base.tree.dof[k] != 1:
        return []
    j = int(base.tree.offset[k])
    felt = float(base.entries.S[j] @ base.entries.M[k] @ base.entries.S[j])
    unit = "kg m²" if base.entries.S[j, :3].any() else "kg"
    cost = float(hard.robot.order(way.order, way.frames).operations)
    best: list[Mend] = []
    for times in ARMATURES:
        added = float(f"{times * felt:.1g}")
        tree = nx.DiGraph(base.graph)
        data = tree.nodes[base.tree.names[k]]
        data.update(armature=added + float(np.sum(data.get("armature", 0.0))))
        try:
            kept = _kept(Tried(Robot(tree), hard.q, hard.qd, hard.qdd), way)
        except PivotreeError:
            continue
        what = f"{way.order} {WRITTEN_IN[way.frames]}, a rotor of {added:g} {unit} at {name}"
        best = [Mend(what, "armature", way.order, way.format, way.frames, cost, kept, kept >= digits)]
        if kept >= digits:
            break
    return best
