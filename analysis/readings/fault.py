"""Which sum of a program loses the digits, and what it would keep if that were changed.

A program that writes inertias and axes at one place rounds them there, before its first pivot.  In
the terms of equation (4) that is rounding of its data, whose share in the error is the derivative of
the output by each number times what rounding took from it, as blame has it of operations.  Shares are
of magnitudes, so that roundings that happen to cancel in one state count.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import FormatError, System
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.rounding.contributions import linearised

from ..comparison import REFERENCE_DIGITS, full_digits
from ..rounding.blame import Culprits
from ..rounding.text import in_words, percent
from ..states.traced import Pair, TracedOrder
from .readings import WORTH, WRITTEN, Reading

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
    instead: dict[tuple[str, str], float]  # digits of an order in frames, in their places
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree blame --as``."""
        others = [{"order": o, "frames": f, "digits": kept} for (o, f), kept in self.instead.items()]
        return {**asdict(self), "instead": others}


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
    >>> found.digits < found.instead["crbm", "own"] - 1, found.parts[0].body
    (True, 'left_thumb_proximal')
    """
    chosen = get_format(format)
    if chosen.unit < get_format("float64").unit:
        raise FormatError(f"format {chosen.name!r}: readings change frames in float64; give float32")
    exact = TracedOrder(replace(reading, order="abm", frames="own").traced(system)[1], system)
    proved = exact.certified(system, REFERENCE_DIGITS)
    own, tape = reading.traced(system)
    order = TracedOrder(tape, own)
    pair = linearised(tape, own.entries, chosen)
    off = proved.differences(np.array([pair.output(slot) for slot in order.qdd.tolist()]))
    worst = int(np.argmax(np.nan_to_num(np.abs(off), nan=np.inf)))
    operations, adjoint = pair.swept({int(order.qdd[worst]): 1.0}, keep=False)
    parts = _parts(own, order, chosen, np.abs(adjoint), np.abs(operations))
    others = (reading.order, "own"), (reading.order, "directions"), ("abm", "own")
    instead = {
        other: _kept(replace(reading, order=other[0], frames=other[1]), system, chosen, proved)
        for other in others
        if other != (reading.order, reading.frames)
    }
    names = system.tree.freedom_names
    found = Fault(
        reading.name,
        reading.order,
        chosen.name,
        model or system.name,
        names[worst],
        _kept(reading, system, chosen, proved),
        parts,
        instead,
        "",
    )
    return replace(found, sentence=_sentence(found, reading, system, own))


def _kept(reading: Reading, system: System, chosen: Format, proved: Pair) -> float:
    """Digits of a reading in this state."""
    own, tape = reading.traced(system)
    order = TracedOrder(tape, own)
    answer = order.answered(chosen, chosen.cast(order.values(own)[None]))[0]
    with np.errstate(divide="ignore"):
        return float(np.clip(-np.log10(proved.largest(answer)), 0.0, full_digits(chosen)))


def _parts(
    own: System, order: TracedOrder, chosen: Format, adjoint: Floats, operations: Floats
) -> tuple[Part, ...]:
    """What rounding the program's data, and its operations, may bring to the error, body by body."""
    sums: dict[tuple[str, str], float] = {}
    tree, inputs = own.tree, order.tape.inputs
    names = [str(name) for name in tree.names]

    def add(what: str, body: str, x: float) -> None:
        sums[what, body] = sums.get((what, body), 0.0) + x

    for letter, what in WRITES.items():
        values, slots = getattr(own.entries, letter), np.asarray(getattr(inputs, letter))
        slots = np.triu(slots) if letter == "M" else slots
        lost = np.abs(np.asarray(chosen.cast(values), dtype=float) - np.asarray(values, dtype=float))
        each = np.where(slots > 1, adjoint[np.abs(slots)] * lost, 0.0)
        owner = np.arange(tree.n)
        if letter in ("S", "tau", "A"):
            owner = np.repeat(owner, tree.dof)
        for k, x in zip(owner.tolist(), each, strict=len(values) > 0):
            add(what, names[k], float(x.sum()))
    by_operations = float(operations.sum())
    for culprit in Culprits(order.tape, operations).blocks(BLOCKS):
        add(
            in_words(culprit),
            ALL if culprit.body is None else str(culprit.body),
            by_operations * culprit.share,
        )
    total = sum(x for (what, _), x in sums.items() if what in WRITES.values()) + by_operations
    parts = [Part(what, body, x / total if total else 0.0) for (what, body), x in sums.items()]
    return tuple(sorted(parts, key=lambda part: -part.share)[:PARTS])


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
    (order, place), kept = next(
        x for x in found.instead.items() if x[1] >= max(most - 1.0, found.digits + WORTH)
    )
    if reading.frames != "own" and order == found.order:
        function = reading.source.partition(": ")[2].split(";")[0].split(",")[0]
        where = f" ({function})" if function else ""
        text += f" Inertias and axes are written {WRITTEN[reading.frames]}{where}"
        text += f"{_sizes(first.body, system, own, found.format)}."
    who = f"the same order, {order}," if order == found.order else order
    return (
        f"{text} {WRITTEN[place][0].upper()}{WRITTEN[place][1:]} {who} keeps {kept:.1f} digits: "
        f"{kept - found.digits:.1f} more."
    )


def _sizes(body: str, system: System, own: System, format: str) -> str:
    """How large a body's inertia is there, beside what its own joint feels of it."""
    names = [str(name) for name in system.tree.names]
    if body not in names:
        return ""
    k = names.index(body)
    mass, away = system.state.mass[k], float(np.linalg.norm(own.state.com[k]))
    if not system.tree.dof[k] or not mass * away:
        return ""
    j = int(system.tree.offset[k])
    S, M = system.entries.S[j], system.entries.M[k]
    there = mass * away**2
    return (
        f", where {mass:.2g} kg at {away:.2g} m have {there:.1e} kg m², which {format} rounds by "
        f"{get_format(format).unit * there:.0e}; its joint feels {float(S @ M @ S):.1e}"
    )
