"""What would mend a way that loses digits: changes, each tried in the worst states that were found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.formats import ADD, DIV, MUL, SUB
from pivotree.kkt.arithmetic.mixed import Mixed
from pivotree.kkt.tape.tape import Tape

from ..comparison import digits_of
from ..readings import Fault, Reading
from ..readings.fault import felt
from ..readings.readings import WRITTEN, of_order
from ..rounding.blame import Culprits
from ..states.sample import efforts_of
from ..states.traced import TracedOrder
from .tried import Robot, Tried

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
Change = tuple[str, str, Tried, Reading]  # its kind, in words, the states and the way


@dataclass(frozen=True)
class Mend:
    """One change, and what it costs and keeps."""

    what: str  # in words
    kind: str  # order, frames, symmetry, format or armature
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
    for kind, what, states, x in (*_changes(hard, way, best, fault), *_armatures(hard, way, fault)):
        if (states, x) in seen:
            continue
        seen.add((states, x))
        try:
            chosen = get_format(x.precision)
            kept = digits_of(float(states.errors(x).max()), chosen) or 0.0
            cost = _cost(hard.robot.order(x), chosen, get_format(way.precision))
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
    yield "symmetry", f"{_written(mirrored)}, one triangle mirrored", hard, mirrored
    for order in ORDERS:
        other = of_order(order, way.precision)
        yield "order", _written(other), hard, other
    body, short = fault.parts[0].body, way.precision
    for long in (x for x in LONGER if get_format(x).unit < get_format(short).unit):
        formats = {f"{short}@{body}={long}": f"{body} in {long}"}
        formats |= {role.format(short, long): said.format(short, long) for role, said in SAID.items()}
        for each in (way, best):
            for format, said in formats.items():
                yield "format", f"{_written(each)}, {said}", hard, replace(each, precision=format)


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
        yield "armature", f"{_written(way)}, a rotor of {added:g} {unit} at {fault.output}", states, way


def _written(way: Reading) -> str:
    both = ", both triangles" if way.symmetry == "both triangles" else ""
    return f"{way.order} {WRITTEN[way.frames]}{both}"


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
