"""Readings: the forward dynamics that programs ship, as an order and a frame on equation (4).

Digits of an order are those of this project's program.  What a simulator keeps of them depends on
where it writes a body's inertia and axes: about one point far from a light body, its inertia about
its own joint is the small difference of large numbers, and float32 loses it.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from pivotree import orderings
from pivotree.kkt import (
    Certified,
    Elimination,
    FormatError,
    ModelError,
    PivotreeError,
    System,
    certify,
    eliminate,
    trace,
)
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.matrix.frames import aligned, gathered
from pivotree.kkt.tape.tape import Tape

from ..comparison import Comparison, Row
from ..comparison.row import REFERENCE_DIGITS, known_conditioning, refused, row_of
from ..study.cells import cells

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
        """Equation (4) of a system in the frames of the program."""
        if self.frames == "own":
            return system
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
        raise ModelError(f"reading {name!r} is unknown; {nearest(name, known)}")
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
    chosen = [get(name) for name in (readings() if names is None else names)]
    wanted = tuple(get_format(format) for format in formats)
    for format in wanted:
        if format.unit < get_format("float64").unit:
            raise FormatError(
                f"format {format.name!r}: readings change frames in float64; give float32, or a coarser one"
            )
    asked: dict[str, Reading] = {reading.name: reading for reading in chosen}
    for reading in chosen:
        own = of_order(reading.order, reading.precision)
        asked.setdefault(own.name, own)
    progress("certified answer")
    exact = certify(system, REFERENCE_DIGITS)
    condition = known_conditioning(system, None)
    rows: list[Row] = []
    results: dict[tuple[str, str], Elimination] = {}

    def traced(name: str, reading: Reading) -> tuple[System, Tape]:
        progress(name)
        return reading.traced(system)

    def answer(name: str, made: tuple[System, Tape], format: Format) -> Elimination:
        return replace(eliminate(*made, format), order=name)

    for name, format, found in cells(asked, wanted, traced, answer):
        if isinstance(found, PivotreeError):
            rows.append(refused(name, format.name, found.why))
            continue
        results[name, format.name] = found
        rows.append(row_of(found, exact, format, condition))
    units = {format.name: format.unit for format in wanted}
    return Comparison(
        system.name,
        system.tree.n,
        int(system.tree.offset[-1]),
        tuple(rows),
        results,
        units,
        condition,
        data="the model's own numbers, so that what frames round counts",
    )


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
