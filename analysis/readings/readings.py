"""Readings: the forward dynamics that programs ship, as an order and a frame on equation (4).

Digits of an order are those of this project's program.  What a simulator keeps of them depends on
where it writes a body's inertia and axes: about one point far from a light body, its inertia about
its own joint is the small difference of large numbers, and float32 loses it.

A program that writes inertias and axes at one place rounds them there, before its first pivot.  In
the terms of equation (4) that is rounding of its data, whose share in the error (:func:`fault`) is the
derivative of the output by each number times what rounding took from it, as blame has it of operations.
Shares are of magnitudes, so that roundings that happen to cancel in one state count.
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import Certified, Elimination, FormatError, ModelError, System, certify, eliminate, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.errors import LoopError, nearest, require_once
from pivotree.kkt.machine.frames import aligned, gathered
from pivotree.kkt.rounding.contributions import linearised
from pivotree.kkt.tape.tape import Tape

from ..comparison import Comparison
from ..comparison.row import REFERENCE_DIGITS, digits_of, known_conditioning, rows_of
from ..rounding.blame import Culprits
from ..rounding.text import in_words, percent
from ..states.sample import require_joints
from ..states.traced import TracedOrder

WORTH = 0.5  # digits that are worth a sentence
WRITTEN = {  # in words, the places of kkt.gathered, and what kkt.aligned gives
    "own": "in each body's own frame",
    "aligned": "in frames along the joints' axes",
    "com": "about the tree's centre of mass",
    "root": "about the world's origin, or the centre of mass of a floating root",
    "world": "about the world's origin",
    "directions": "about each body's joint, in the world's directions",
}


@dataclass(frozen=True)
class Reading:
    """What a program does, in the terms of equation (4)."""

    name: str
    program: str
    version: str  # whose source was read
    order: str
    frames: str  # "own", "aligned" as :func:`kkt.aligned` has them, or a place of :func:`kkt.gathered`
    precision: str  # in which the program is used
    says: str
    source: str  # file and function
    symmetry: str = "mirrored"  # of symmetric blocks; "both triangles", or "in part", which is no rule here

    def system(self, system: System) -> System:
        """Equation (4) of a system in the frames of the program.  Raises LoopError for loops."""
        if self.frames == "own":
            return system
        if system.loops:
            instead = f"give its order by itself: --order {self.order}"
            raise LoopError(self.program, "is modelled on trees without closed loops or contacts", instead)
        return aligned(system) if self.frames == "aligned" else gathered(system, self.frames)

    def traced(self, system: System) -> tuple[System, Tape]:
        """That system, and the tape of the program's order on it."""
        own, order = self.system(system), orderings.get(self.order)
        if self.symmetry == "both triangles":
            order = orderings.varied(order, symmetry=self.symmetry)
        return own, trace(own, order)


def of_order(order: str, format: str, frames: str = "own", symmetry: str = "mirrored") -> Reading:
    """What a registered order does, as a reading of a program that is called as the order is."""
    return Reading(order, order, "", order, frames, format, "", "", symmetry)


@cache
def readings() -> dict[str, Reading]:
    """All readings by name.

    >>> from pivotree.analysis import readings
    >>> readings.readings()["mjx"].frames
    'com'
    """
    text = files(__package__).joinpath("readings.toml").read_text(encoding="utf-8")
    return {name: Reading(name, **fields) for name, fields in tomllib.loads(text).items()}


def get(name: str) -> Reading:
    """The reading of a name; raises ModelError, with the nearest one, where there is none."""
    known = readings()
    if name not in known:
        raise ModelError(f"reading {name!r}", "is unknown", nearest(name, known))
    return known[name]


def error(reading: Reading, system: System, exact: Certified, format: str | Format = "float32") -> float:
    """Relative error of qdd as the program computes it, against the answer for the system's own numbers.

    >>> from pivotree.analysis import readings
    >>> system = pt.build(pt.humanoid())
    >>> exact = pt.certify(system, digits=30)
    >>> readings.error(readings.get("mjx"), system, exact) > 1e-5
    True
    """
    found = exact.error(eliminate(*reading.traced(system), format).qdd)
    return math.inf if found is None else found


def compare_as(
    system: System,
    names: Iterable[str] | None = None,
    formats: Iterable[str | Format] = ("float32",),
    progress: Callable[[str], None] = lambda step: None,
) -> Comparison:
    """Orders as programs ship them, on one system: a row a reading, and one for its order in own frames.

    Errors are against the answer for the system's own numbers, so that what the program's frames
    round counts.  Raises ModelError for an unknown reading, and FormatError for a format that is
    finer than float64, in which frames are changed.

    >>> from pivotree.analysis import readings
    >>> found = readings.compare_as(pt.build(pt.humanoid()), ["mjx"])
    >>> [(row.order, round(row.digits)) for row in found.rows]
    [('mjx', 4), ('crbm', 6)]
    """
    names = [names] if isinstance(names, str) else names
    formats = [formats] if isinstance(formats, str | Format) else formats
    chosen = [get(name) for name in (readings() if names is None else names)]
    wanted = tuple(get_format(format) for format in formats)
    for format in wanted:
        if format.unit < get_format("float64").unit:
            raise FormatError(
                f"format {format.name!r}",
                "readings change frames in float64",
                "give float32, or a coarser one",
            )
    require_once("reading", [reading.name for reading in chosen])
    require_once("format", [format.name for format in wanted])
    asked: dict[str, Reading] = {reading.name: reading for reading in chosen}
    for reading in chosen:
        own = of_order(reading.order, reading.precision)
        asked.setdefault(own.name, own)
    progress("certified answer")
    exact = certify(system, REFERENCE_DIGITS)
    condition = known_conditioning(system, None)

    def traced(name: str, reading: Reading) -> tuple[System, Tape]:
        progress(name)
        return reading.traced(system)

    def answers(name: str, made: tuple[System, Tape], format: Format) -> list[Elimination]:
        return [replace(eliminate(*made, format), order=name)]

    rows, results = rows_of(asked, wanted, traced, answers, lambda format: exact, condition)
    units = {format.name: format.unit for format in wanted}
    sizes, data = (system.tree.n, system.tree.N), "the model's own numbers, so that what frames"
    return Comparison(system.name, *sizes, rows, results, units, condition, data=f"{data} round counts")


def advice(comparison: Comparison) -> list[str]:
    """A sentence for each program that loses digits by where it writes inertias, or by not mirroring them."""
    digits = {(row.order, row.format): row.digits for row in comparison.rows}
    told = []
    for (name, format), kept in digits.items():
        reading = readings().get(name)
        if reading is None or kept is None:
            continue
        own = digits.get((reading.order, format))
        if own is not None and own - kept >= WORTH:
            does, there, else_ = "forms both triangles of its inertias", "so", "where one is mirrored"
            if reading.frames != "own":
                does, there = f"writes inertias and axes {WRITTEN[reading.frames]}", "there"
                else_ = "in each body's own frame"
            told.append(
                f"{reading.program} {does}: {reading.order} keeps "
                f"{kept:.1f} digits of {format} {there}, and {own:.1f} {else_}."
            )
    return told


WRITES = {  # entries of (4) that a place changes, in words
    "M": "the inertia",
    "S": "the joint axis",
    "a": "the acceleration by rates",
    "b": "the force by rates and gravity",
    "tau": "the effort",
    "Phi": "the way to its parent",
    "A": "the armature",
}
ALL = "the whole tree"  # where operations are of no one body
PARTS, BLOCKS = 6, 40  # that are told, and formulas of operations that are summed up
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A share of the error that belongs to one sum of one body."""

    what: str  # in words
    body: str
    share: float  # of all rounding that reaches the output, without signs


@dataclass(frozen=True)
class Fault:
    """Where a program loses digits in one state, and what other ways of writing it keep there."""

    reading: str
    order: str
    format: str
    model: str
    output: str  # body of the joint whose acceleration is off most
    digits: float  # that the program keeps
    parts: tuple[Part, ...]  # the largest first; none where there is no answer
    instead: dict[tuple[str, str, str], float]  # digits of an order, its frames and symmetry in their places
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree blame --as``."""
        others = [dict(zip(CHANGED, x, strict=True), digits=kept) for x, kept in self.instead.items()]
        return {**asdict(self), "instead": others}


CHANGED = ("order", "frames", "symmetry")  # of a reading, in a key of Fault.instead


def fault(
    reading: Reading, system: System, format: str | Format = "float32", model: str | None = None
) -> Fault:
    """Which sum of a program loses most in one state, in a sentence that one could file.

    Errors are against the answer for the system's own numbers; ``model`` is what the sentence calls it.
    Raises FormatError for a format without local rounding errors, or finer than float64, LoopError for
    loops that the program's frames do not take, and CertificationError for singular systems.

    >>> from pivotree.analysis import readings
    >>> found = readings.fault(readings.get("mjx"), pt.build(pt.humanoid()))
    >>> found.digits < found.instead["crbm", "own", "mirrored"] - 1, found.parts[0].body
    (True, 'left_thumb_proximal')
    """
    chosen = get_format(format)
    if chosen.unit < get_format("float64").unit:
        raise FormatError(f"format {chosen.name!r}", "readings change frames in float64", "give float32")
    require_joints(system)
    exact = certify(system, REFERENCE_DIGITS)
    own, tape = reading.traced(system)
    order, pair = TracedOrder(tape, own), linearised(tape, own.entries, chosen)
    answer = np.array([pair.output(slot) for slot in order.qdd.tolist()])
    off = exact.differences(answer)
    worst = int(np.argmax(np.nan_to_num(np.abs(off), nan=np.inf)))
    operations, adjoint = pair.swept({int(order.qdd[worst]): 1.0}, keep=False)
    kept = {}
    changed = [replace(reading, frames=frames) for frames in ("own", "directions")]
    if reading.symmetry == "both triangles":
        changed.insert(1, replace(reading, symmetry="mirrored"))
    for each in (reading, *changed, of_order("abm", chosen.name)):
        key = each.order, each.frames, each.symmetry
        if key not in kept:
            kept[key] = digits_of(error(each, system, exact, chosen), chosen) or 0.0
    digits = kept.pop((reading.order, reading.frames, reading.symmetry))
    lost = None if np.isfinite(answer).all() else eliminate(own, tape, chosen).failed_at
    parts = () if lost else _parts(own, order, chosen, np.abs(adjoint), np.abs(operations))
    name = system.tree.freedom_names[worst]
    told = reading.name, reading.order, chosen.name, model or system.name, name, digits, parts, kept
    found = Fault(*told, "")
    return replace(found, sentence=_sentence(found, reading, system, own, lost))


def _parts(
    own: System, order: TracedOrder, chosen: Format, adjoint: Floats, operations: Floats
) -> tuple[Part, ...]:
    """What rounding the program's data, and its operations, may bring to the error, body by body."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    tree, inputs = own.tree, order.tape.inputs
    owner = dict.fromkeys(("S", "tau", "A"), tree.owner)
    for letter, what in WRITES.items():
        values, slots = getattr(own.entries, letter), np.asarray(inputs.slots(letter))
        slots = np.triu(slots) if letter == "M" else slots
        lost = np.abs(np.asarray(chosen.cast(values), dtype=float) - np.asarray(values, dtype=float))
        each = np.where(slots > 1, adjoint[np.abs(slots)] * lost, 0.0)
        for k, x in zip(owner.get(letter, np.arange(tree.n)).tolist(), each, strict=len(values) > 0):
            sums[what, str(tree.names[k])] += float(x.sum())
    by_operations = float(operations.sum())
    total = sum(sums.values()) + by_operations
    for culprit in Culprits(order.tape, operations).blocks(BLOCKS):
        body = ALL if culprit.body is None else str(culprit.body)
        sums[in_words(culprit), body] += by_operations * culprit.share
    most = sorted(sums.items(), key=lambda item: -item[1])[:PARTS]
    return tuple(Part(*of, x / total if total else 0.0) for of, x in most)


def _sentence(found: Fault, reading: Reading, system: System, own: System, lost: str | None) -> str:
    text = f"{reading.program} {reading.version} in {found.format} on {found.model}".replace("  ", " ")
    text += (
        f" has no answer in this state: {lost}."
        if lost
        else f" keeps {found.digits:.1f} digits in this state"
    )
    for first in found.parts[:1]:
        text += f"; the acceleration of {found.output} is off most. Of all rounding that reaches it, "
        text += f"{percent(first.share)} enters at {first.body}: {first.what}."
    most = max(found.instead.values())
    if most - found.digits < WORTH:
        return f"{text} In other frames{'' if found.order == 'abm' else ', and by abm,'} no more are kept."
    (order, place, _), kept = next(
        x for x in found.instead.items() if x[1] >= max(most - 1.0, found.digits + WORTH)
    )
    how = WRITTEN[place]
    if order == found.order and place == reading.frames:
        how = "with one triangle of its inertias formed, and mirrored,"
    elif order == found.order and reading.frames != "own":
        function = reading.source.partition(": ")[2].split(";")[0].split(",")[0]
        where = f" ({function})" if function else ""
        sizes = _sizes(found.parts[0].body, system, own, found.format) if found.parts else ""
        text += f" Inertias and axes are written {WRITTEN[reading.frames]}{where}{sizes}."
    who = f"the same order, {order}," if order == found.order else order
    more = round(kept, 1) - round(found.digits, 1)  # of the digits that are printed
    return f"{text} {how[0].upper()}{how[1:]} {who} keeps {kept:.1f} digits: {more:.1f} more."


def _sizes(body: str, system: System, own: System, format: str) -> str:
    """How large a body's inertia is there, where its own joint feels less of it."""
    tree, names = system.tree, [str(name) for name in system.tree.names]
    k = names.index(body) if body in names else 0
    mass, away = system.state.mass[k], float(np.linalg.norm(own.state.com[k]))
    there = mass * away**2
    turns = tree.dof[k] and system.entries.S[int(tree.offset[k]), :3].any()
    if body not in names or not turns or there <= felt(system, k):
        return ""
    return (
        f", where {mass:.2g} kg at {away:.2g} m have {there:.1e} kg m², which {format} rounds by "
        f"{get_format(format).unit * there:.0e}; its joint feels {felt(system, k):.1e}"
    )


def felt(system: System, k: int) -> float:
    """The inertia of body k, alone, about the first axis of its joint [kg m², or kg of a slide]."""
    S = system.entries.S[int(system.tree.offset[k])]
    return float(S @ system.entries.M[k] @ S)
