"""What formats keep in every state of a robot, and what they cost: for those that choose some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import Payload
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.chunk import ADD, DIV, MUL, SUB
from pivotree.kkt.tape.tape import Tape
from pivotree.kkt.theorem.accelerations import promised
from pivotree.kkt.theorem.guarantee import evaluated, loaded
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
