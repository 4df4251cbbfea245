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
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, Payload
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.chunk import ADD, DIV, MUL, SUB
from pivotree.kkt.arithmetic.mixed import Mixed
from pivotree.kkt.tape.tape import Tape
from pivotree.kkt.theorem.accelerations import promised
from pivotree.kkt.theorem.guarantee import evaluated, loaded, require_roundoff
from pivotree.kkt.theorem.motion import Given, sides_of
from pivotree.kkt.theorem.ranges import Limits, ranges_of

PARTS = ("data", "add", "mul", "div", "D", "operands")


@dataclass(frozen=True)
class Keeps:
    """What an assignment of formats keeps in every state, and what it costs."""

    chosen: Format
    cost: int  # bits of significand in the data, and in what operations read and write
    pivots: float  # digits that are proved
    qdd: float
    why: str  # why nothing can be promised; empty where something is

    @property
    def format(self) -> str:
        """As kkt.arithmetic names it."""
        return self.chosen.name

    @property
    def digits(self) -> float:
        """Digits proved of both the pivots and qdd."""
        return min(self.pivots, self.qdd)

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "bits": self.cost,
            "pivots": self.pivots,
            "qdd": self.qdd,
            "why": self.why,
        }


@dataclass(frozen=True)
class Cheapest:
    """The cheapest assignment, each format alone, and how many assignments were tried."""

    digits: float  # asked
    order: str
    found: Keeps
    alone: tuple[Keeps, ...]  # of one format for all roles, the cheapest first
    looked: int

    def as_dict(self) -> dict[str, Any]:
        each = [x.as_dict() for x in self.alone]
        return {
            "digits": self.digits,
            "order": self.order,
            **self.found.as_dict(),
            "alone": each,
            "looked": self.looked,
        }


class Promises:
    """What an order keeps on one robot in any formats, and what they cost."""

    def __init__(
        self,
        model: nx.DiGraph,
        order: str,
        limits: Limits,
        rates: Given,
        efforts: Given,
        payloads: Sequence[Payload],
    ) -> None:
        self.light, self.system = loaded(model, payloads)
        self.ranges, self.effort = sides_of(self.system, ranges_of(self.system, limits), rates, efforts)
        self.tape = kkt.trace(self.system, orderings.get(order))
        self.work = Work(self.tape)

    def of(self, chosen: Format, cost: int) -> Keeps:
        bound, behind = evaluated(self.light, self.system, self.tape, chosen, self.ranges)
        systems = self.light, self.system
        qdd = promised(systems, self.ranges, self.effort, bound, behind, chosen)
        return Keeps(chosen, cost, bound.digits, qdd.digits, bound.why or qdd.why)


class Work:
    """Numbers of each role: data, and what operations read and write on the way to qdd."""

    def __init__(self, tape: Tape) -> None:
        op = np.concatenate([np.zeros(0, dtype=np.int8), *(chunk.op for chunk in tape.chunks())])
        live = np.repeat(tape.program.live(("qdd",)), np.diff(tape.first))
        inside = tape.on_diagonal(0, len(op))

        def counted(mask: NDArray[np.bool_]) -> int:
            return int(np.count_nonzero(live & mask))

        add, mul, div = (counted(~inside & np.isin(op, kind)) for kind in ((ADD, SUB), MUL, DIV))
        self.each = 3 * add, mul, 3 * div, 3 * counted(inside), 2 * mul  # as PARTS, but for data
        self.data = tape.inputs.count - 2

    def cost(self, parts: Sequence[Format]) -> int:
        """Bits of data and operations in all."""
        numbers = self.data, *self.each
        return sum(count * bits_of(part) for count, part in zip(numbers, parts, strict=True))


def bits_of(each: Format) -> int:
    """Bits of a format's significand, the leading one included."""
    return math.ceil(-math.log2(each.unit))


def by_role(parts: tuple[Format, ...]) -> Format:
    """By its shortest name: roles that are as the data, or operands as the products, are left out.

    >>> from pivotree.analysis.guarantee import by_role
    >>> short, long = get_format("float32"), get_format("float64")
    >>> by_role((short, long, long, short, short, short)).name  # products of float32's operands
    'float32+add=float64+mul=float64+operands=float32'
    """
    base, *others = parts
    own = dict(zip(PARTS[1:], others, strict=True))
    told = {role: x for role, x in own.items() if x != base and role != "operands"}
    if own["operands"] != own["mul"]:
        told["operands"] = own["operands"]
    name = "+".join([base.name, *(f"{role}={x.name}" for role, x in told.items())])
    return get_format(name)


MOST = 3  # formats to choose from
# an operation that rounds its operands rounds up to three times as much: an assignment that misses
# by more leaves nothing to shorter ones
THREE = math.log10(3.0) + 0.15


def cheapest(
    model: nx.DiGraph,
    digits: float,
    formats: Sequence[str] = ("float64", "float32"),
    limits: Limits = MappingProxyType({}),
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
    payloads: Sequence[Payload] = (),
    order: str = "abm",
    progress: Callable[[str], None] = lambda text: None,
) -> Cheapest:
    """The cheapest formats by role with which an order keeps ``digits`` in every state.

    Digits are decimal, of every pivot D_k and of qdd: what :func:`kkt.guarantee` and
    :func:`kkt.guarantee_qdd` promise of ``order``, abm or gain_abm.  ``formats``, three at most,
    are what there is to choose from.  ``progress`` is told what is looked at.

    Raises FormatError where none keeps so many, for formats that have no bound, cannot be mixed or
    are too many, and ModelError as :func:`kkt.guarantee_qdd` does.

    >>> found = pt.analysis.guarantee.cheapest(pt.chain(2), 3.5, ["float32", "p20"])
    >>> found.found.digits >= 3.5 and found.found.cost <= found.alone[-1].cost
    True
    """
    if not 0.0 < digits < math.inf:
        raise FormatError(f"option --digits: {digits:g} is no number of digits; use one above 0")
    chosen = _sorted(formats)
    promises = Promises(model, order, limits, rates, efforts, payloads)
    work = promises.work

    def kept(parts: tuple[Format, ...]) -> Keeps:
        return promises.of(by_role(parts), work.cost(parts))

    alone = tuple(kept((each,) * len(PARTS)) for each in chosen)
    best = max(alone, key=lambda x: x.digits)
    missed: list[tuple[tuple[int, ...], float]] = []
    looked = 0
    for numbers in sorted(_assignments(len(chosen)), key=lambda x: work.cost(_of(chosen, x))):
        if any(all(a <= b for a, b in zip(numbers, other, strict=True)) for other, _ in missed):
            continue
        looked += 1
        progress(f"looking at formats by role, {looked}")
        parts = _of(chosen, numbers)
        found = kept(parts)
        if not found.why and found.digits >= digits:
            return Cheapest(digits, order, found, alone, looked)
        if found.digits + THREE < digits:
            missed.append((numbers, found.digits))
    told = f"; {best.format} alone keeps {math.floor(10.0 * best.digits) / 10.0:.1f}"
    told = f": {best.why}" if best.why else told
    raise FormatError(
        f"option --digits: no formats by role of {', '.join(formats)} are promised {digits:g} "
        f"digits of pivots and qdd{told}"
    )


def _sorted(formats: Sequence[str]) -> list[Format]:
    """The shortest first."""
    names = list(dict.fromkeys(formats))
    if not 1 <= len(names) <= MOST:
        raise FormatError(f"option --format: give at most {MOST} formats to choose from by role")
    chosen = [get_format(name) for name in names]
    for each in chosen:
        require_roundoff(each)
        if isinstance(each, Mixed):
            raise FormatError(f"format {each.name!r}: is one by role; give its parts")
        Mixed(each.name, each)  # refuses what cannot be mixed
    return sorted(chosen, key=bits_of)


def _assignments(count: int) -> Iterator[tuple[int, ...]]:
    """Numbers of formats, by role; operands of products are no longer than the products."""
    for numbers in itertools.product(range(count), repeat=len(PARTS)):
        if numbers[PARTS.index("operands")] <= numbers[PARTS.index("mul")]:
            yield numbers


def _of(chosen: list[Format], numbers: tuple[int, ...]) -> tuple[Format, ...]:
    return tuple(chosen[i] for i in numbers)
