"""Which sum of a program loses the digits, and what it would keep if that were changed.

A program that writes inertias and axes at one place rounds them there, before its first pivot.  In
the terms of equation (4) that is rounding of its data, whose share in the error is the derivative of
the output by each number times what rounding took from it, as blame has it of operations.  Shares are
of magnitudes, so that roundings that happen to cancel in one state count.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import FormatError, System, certify
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.rounding.contributions import linearised

from ..comparison import REFERENCE_DIGITS, digits_of
from ..rounding.blame import Culprits
from ..rounding.text import in_words, percent
from ..states.traced import TracedOrder
from .readings import WORTH, WRITTEN, Reading, error, of_order

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
    parts: tuple[Part, ...]  # the largest first
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
    Raises FormatError for a format
    without local rounding errors, or finer than float64, ModelError and LoopError as
    :func:`kkt.gathered` does, and CertificationError for singular systems.

    >>> from pivotree.analysis import readings
    >>> found = readings.fault(readings.get("mjx"), pt.build(pt.humanoid()))
    >>> found.digits < found.instead["crbm", "own", "mirrored"] - 1, found.parts[0].body
    (True, 'left_thumb_proximal')
    """
    chosen = get_format(format)
    if chosen.unit < get_format("float64").unit:
        raise FormatError(f"format {chosen.name!r}: readings change frames in float64; give float32")
    exact = certify(system, REFERENCE_DIGITS)
    own, tape = reading.traced(system)
    order, pair = TracedOrder(tape, own), linearised(tape, own.entries, chosen)
    off = exact.differences(np.array([pair.output(slot) for slot in order.qdd.tolist()]))
    worst = int(np.argmax(np.nan_to_num(np.abs(off), nan=np.inf)))
    operations, adjoint = pair.swept({int(order.qdd[worst]): 1.0}, keep=False)
    kept = {}
    own_frames, directions = (replace(reading, frames=frames) for frames in ("own", "directions"))
    changed = [own_frames, replace(reading, symmetry="mirrored"), directions]
    if reading.symmetry != "both triangles":
        changed = [own_frames, directions]
    for each in (reading, *changed, of_order("abm", chosen.name)):
        key = each.order, each.frames, each.symmetry
        if key not in kept:
            kept[key] = digits_of(error(each, system, exact, chosen), chosen) or 0.0
    digits = kept.pop((reading.order, reading.frames, reading.symmetry))
    parts = _parts(own, order, chosen, np.abs(adjoint), np.abs(operations))
    name = system.tree.freedom_names[worst]
    told = reading.name, reading.order, chosen.name, model or system.name, name, digits, parts, kept
    found = Fault(*told, "")
    return replace(found, sentence=_sentence(found, reading, system, own))


def _parts(
    own: System, order: TracedOrder, chosen: Format, adjoint: Floats, operations: Floats
) -> tuple[Part, ...]:
    """What rounding the program's data, and its operations, may bring to the error, body by body."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    tree, inputs = own.tree, order.tape.inputs
    owner = {letter: np.repeat(np.arange(tree.n), tree.dof) for letter in ("S", "tau", "A")}
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


def _sentence(found: Fault, reading: Reading, system: System, own: System) -> str:
    first = found.parts[0]
    who = f"{reading.program} {reading.version}".strip()
    text = (
        f"{who} in {found.format} on {found.model} keeps {found.digits:.1f} digits in this state; the "
        f"acceleration of {found.output} is off most. Of all rounding that reaches it, "
        f"{percent(first.share)} enters at {first.body}: {first.what}."
    )
    most = max(found.instead.values())
    if most - found.digits < WORTH:
        return f"{text} In other frames, and by abm, no more are kept."
    (order, place, _), kept = next(
        x for x in found.instead.items() if x[1] >= max(most - 1.0, found.digits + WORTH)
    )
    how = WRITTEN[place]
    if order == found.order and place == reading.frames:
        how = "with one triangle of its inertias formed, and mirrored,"
    elif order == found.order and reading.frames != "own":
        function = reading.source.partition(": ")[2].split(";")[0].split(",")[0]
        where = f" ({function})" if function else ""
        text += f" Inertias and axes are written {WRITTEN[reading.frames]}{where}"
        text += f"{_sizes(first.body, system, own, found.format)}."
    who = f"the same order, {order}," if order == found.order else order
    return f"{text} {how[0].upper()}{how[1:]} {who} keeps {kept:.1f} digits: {kept - found.digits:.1f} more."


def _sizes(body: str, system: System, own: System, format: str) -> str:
    """How large a body's inertia is there, beside what its own joint feels of it."""
    tree, names = system.tree, [str(name) for name in system.tree.names]
    k = names.index(body) if body in names else 0
    mass, away = system.state.mass[k], float(np.linalg.norm(own.state.com[k]))
    if body not in names or not tree.dof[k] or not mass * away:
        return ""
    there, rounds = mass * away**2, get_format(format).unit * mass * away**2
    return (
        f", where {mass:.2g} kg at {away:.2g} m have {there:.1e} kg m², which {format} rounds by "
        f"{rounds:.0e}; its joint feels {felt(system, k):.1e}"
    )


def felt(system: System, k: int) -> float:
    """The inertia of body k, alone, about the first axis of its joint [kg m², or kg of a slide]."""
    S = system.entries.S[int(system.tree.offset[k])]
    return float(S @ system.entries.M[k] @ S)
