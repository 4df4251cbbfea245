"""Formats by proof: the cheapest that keep so many digits in every state, role by role.

An assignment gives data, sums, products, quotients and the blocks D_k a format each, and the
operands of products one that may be shorter.  It costs the bits of significand that data have, and
that operations read and write on the way to qdd.  The bounds of pivots and of qdd say what it
keeps.  Assignments are looked at in the order of cost, so that the first that keeps enough is the
cheapest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, Payload
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.chunk import ADD, DIV, MUL, SUB
from pivotree.kkt.arithmetic.mixed import Mixed
from pivotree.kkt.matrix.ranges import Limits, ranges_of
from pivotree.kkt.proof.accelerations import promised
from pivotree.kkt.proof.guarantee import evaluated, loaded, require_roundoff
from pivotree.kkt.proof.rightsides import Given, sides_of
from pivotree.kkt.tape.tape import Tape

PARTS = ("data", "add", "mul", "div", "D", "operands")
MOST = 3  # formats to choose from
# an operation that rounds its operands rounds up to three times as much: an assignment that misses
# by more leaves nothing to shorter ones
THREE = math.log10(3.0) + 0.15


@dataclass(frozen=True)
class Keeps:
    """What an assignment of formats keeps in every state, and what it costs."""

    format: str  # as kkt.arithmetic names it
    cost: int  # bits of significand of data, and that operations read and write
    pivots: float  # digits that are proved
    qdd: float | None  # None: with payloads, for which there is no bound
    why: str  # why nothing can be promised; empty where something is

    @property
    def digits(self) -> float:
        """The fewer of the two."""
        return self.pivots if self.qdd is None else min(self.pivots, self.qdd)


@dataclass(frozen=True)
class Cheapest:
    """The answer, beside each format alone, and how many assignments were looked at."""

    digits: float  # asked
    found: Keeps
    alone: tuple[Keeps, ...]  # of one format for all roles, the cheapest first
    looked: int

    def as_dict(self) -> dict[str, Any]:
        each = [_row(x) for x in self.alone]
        return {"digits": self.digits, **_row(self.found), "alone": each, "looked": self.looked}


def _row(x: Keeps) -> dict[str, Any]:
    return {"format": x.format, "bits": x.cost, "pivots": x.pivots, "qdd": x.qdd, "why": x.why}


def cheapest(
    model: nx.DiGraph,
    digits: float,
    formats: Sequence[str] = ("float64", "float32"),
    limits: Limits = MappingProxyType({}),
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
    payloads: Sequence[Payload] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> Cheapest:
    """The cheapest formats by role with which ``abm`` keeps ``digits`` in every state.

    Digits are decimal, of every pivot D_k and of qdd: what :func:`kkt.guarantee` and
    :func:`kkt.guarantee_qdd` promise; with ``payloads`` in ranges, for which qdd has no bound, of
    pivots alone.  ``formats``, three at most, are what there is to choose from; ``progress`` is
    told what is being looked at.

    Raises FormatError where none keeps so many, for formats that have no bound, cannot be mixed or
    are too many, and ModelError as :func:`kkt.guarantee_qdd` does.

    >>> found = pt.analysis.guarantee.cheapest(pt.chain(2), 3.5, ["float32", "p20"])
    >>> found.found.digits >= 3.5 and found.found.cost <= found.alone[-1].cost
    True
    """
    if not 0.0 < digits < math.inf:
        raise FormatError(f"option --digits: {digits:g} is no number of digits; use one above 0")
    chosen = _sorted(formats)
    light, system = loaded(model, payloads)
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    tape = kkt.trace(system, orderings.get("abm"))
    held = _held(tape)

    def kept(parts: tuple[Format, ...]) -> Keeps:
        each = _format(parts)
        bound, behind = evaluated(light, system, tape, each, ranges)
        cost = _cost(parts, held)
        if payloads:
            return Keeps(each.name, cost, bound.digits, None, bound.why)
        qdd = promised(system, ranges, effort, bound, behind, each)
        return Keeps(each.name, cost, bound.digits, qdd.digits, bound.why or qdd.why)

    alone = tuple(kept((each,) * len(PARTS)) for each in chosen)
    best = max(alone, key=lambda x: x.digits)
    missed: list[tuple[tuple[int, ...], float]] = []
    looked = 0
    for numbers in sorted(_assignments(len(chosen)), key=lambda x: _cost(_of(chosen, x), held)):
        if any(all(a <= b for a, b in zip(numbers, other, strict=True)) for other, _ in missed):
            continue
        looked += 1
        progress(f"looking at formats by role, {looked}")
        found = kept(_of(chosen, numbers))
        if not found.why and found.digits >= digits:
            return Cheapest(digits, found, alone, looked)
        if found.digits + THREE < digits:
            missed.append((numbers, found.digits))
    told = f"; {best.format} alone keeps {math.floor(10.0 * best.digits) / 10.0:.1f}"
    told = f": {best.why}" if best.why else told
    raise FormatError(
        f"option --digits: no formats by role of {', '.join(formats)} are promised {digits:g} "
        f"digits of {'pivots' if payloads else 'pivots and qdd'}{told}"
    )


def _sorted(formats: Sequence[str]) -> list[Format]:
    """The shortest first."""
    names = list(dict.fromkeys(formats))
    if not 1 <= len(names) <= MOST:
        raise FormatError(f"option --formats: give at most {MOST} formats to choose from by role")
    chosen = [get_format(name) for name in names]
    for each in chosen:
        require_roundoff(each)
        if isinstance(each, Mixed):
            raise FormatError(f"format {each.name!r}: is one by role; give its parts")
        Mixed(each.name, each)  # refuses what cannot be mixed
    return sorted(chosen, key=_bits)


def _bits(each: Format) -> int:
    return math.ceil(-math.log2(each.unit))


def _assignments(count: int) -> Iterator[tuple[int, ...]]:
    """Numbers of formats, by role; operands of products are no longer than the products."""
    for numbers in itertools.product(range(count), repeat=len(PARTS)):
        if numbers[PARTS.index("operands")] <= numbers[PARTS.index("mul")]:
            yield numbers


def _of(chosen: list[Format], numbers: tuple[int, ...]) -> tuple[Format, ...]:
    return tuple(chosen[i] for i in numbers)


def _format(parts: tuple[Format, ...]) -> Format:
    """By its shortest name: roles that are as the data are left out."""
    base, *others = parts
    own = dict(zip(PARTS[1:], others, strict=True))
    told = {role: x for role, x in own.items() if x is not base}
    if own["operands"] is own["mul"]:
        told.pop("operands", None)
    name = "+".join([base.name, *(f"{role}={x.name}" for role, x in told.items())])
    return get_format(name)


def _held(tape: Tape) -> dict[str, int]:
    """Numbers of each role: data, and what operations read and write on the way to qdd."""
    op = np.concatenate([np.zeros(0, dtype=np.int8), *(chunk.op for chunk in tape.chunks())])
    live = np.repeat(tape.program.live(("qdd",)), np.diff(tape.first))
    inside = tape.on_diagonal(0, len(op))
    outside = [int((live & ~inside & np.isin(op, kind)).sum()) for kind in ((ADD, SUB), MUL, DIV)]
    add, mul, div = outside
    return {
        "data": tape.inputs.count - 2, "add": 3 * add, "mul": mul, "div": 3 * div,
        "D": 3 * int((live & inside).sum()), "operands": 2 * mul,
    }  # fmt: skip


def _cost(parts: tuple[Format, ...], held: dict[str, int]) -> int:
    return sum(held[role] * _bits(part) for role, part in zip(PARTS, parts, strict=True))
