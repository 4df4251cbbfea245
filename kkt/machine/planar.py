"""Rotations about an axis of coordinates in fewer operations: for relaxed programs.

Of a symmetric matrix [[x, y], [y, z]] in the plane that turns, by cosine c and sine s, products one after
another take 14 operations, where a product and a sum are one, and

    x' = x - t,    z' = z + t,    y' = (1 - 2 s^2) y + c s (x - z),    t = s^2 (x - z) + 2 c s y

take seven; without symmetry 16 become ten.  Of two constants the larger is c, so that what a right angle
lacks keeps its digits.  By two constants a vector (x, y) turns in three shears, each one product and one
sum, in the place of four operations, with the tangent t of half of the angle:

    x1 = x + t y,    y' = y - s x1,    x' = x1 + t y',    t = s / (1 + c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arithmetic.formats import ADD, MUL, SUB
from .recorder import COS, SIN, Recorder, ScalarProgram, finished

ROUNDING = 4e-16  # of c^2 + s^2


class Turned(NamedTuple):
    """A sum c P + s Q, by the slots of a cosine and a sine, and signed slots of two numbers."""

    c: int
    s: int
    P: int
    Q: int


def in_planes(program: ScalarProgram, e: Recorder) -> ScalarProgram:
    """The program with its rotations in fewer operations; ``e`` is an empty recorder."""
    found = _turned(program)
    by_constants = {turned: slot for slot, turned in found.items() if turned.c < program.first}
    place = [*range(2 + program.inputs), *map(e.constant, program.constants.tolist())]
    sheared: dict[int, int] = {}  # the second number of a vector, written with the first
    write = (e.add, e.sub, e.mul, e.div, e.sqrt, e.sin, e.cos)

    def of(slot: int) -> int:
        return place[slot] if slot >= 0 else -place[-slot]

    def parts(slot: int, turned: Turned) -> list[int]:
        """P and Q of a signed slot that is itself c P + s Q of the same rotation; else none."""
        inner = found.get(abs(slot))
        if inner is None or inner[:2] != turned[:2]:
            return []
        return [of(inner.P), of(inner.Q)] if slot > 0 else [-of(inner.P), -of(inner.Q)]

    for i, (op, a, b) in enumerate(
        zip(program.op.tolist(), program.a.tolist(), program.b.tolist(), strict=True)
    ):
        slot = program.first + i
        turned, new = found.get(slot), sheared.get(slot)
        if turned is not None and new is None:
            c, s, P, Q = turned
            four = parts(P, turned), parts(Q, turned)
            if all(four):
                new = _square(e, place[c], place[s], *four[0], *four[1])
            elif turned in by_constants:
                for sign in (1, -1):
                    other = by_constants.get(Turned(c, s, sign * Q, -sign * P))
                    if other is not None:
                        new, second = _shears(e, place[c], place[s], of(P), of(Q))
                        sheared[other] = sign * second
        place.append(write[op](place[a], place[b]) if new is None else new)
    return finished(e, program.inputs, [of(slot) for slot in program.outputs.tolist()])


def _turned(program: ScalarProgram) -> dict[int, Turned]:
    """The sums c P + s Q of a program, by slot."""
    first, op, a, b = program.first, program.op.tolist(), program.a.tolist(), program.b.tolist()
    size = np.abs(program.constants)
    near = (np.abs(size[:, None] ** 2 + size**2 - 1.0) <= ROUNDING) & (size[:, None] >= size)
    rotations = set(map(tuple, (2 + program.inputs + np.argwhere(near)).tolist()))
    sines = {a[i]: first + i for i, each in enumerate(op) if each == SIN}
    rotations |= {(first + i, sines[a[i]]) for i, each in enumerate(op) if each == COS and a[i] in sines}
    factors = {slot for pair in rotations for slot in pair}

    def products(slot: int) -> list[tuple[int, int]]:
        """A cosine or a sine, and the number that it multiplies."""
        if slot < first or op[slot - first] != MUL:
            return []
        x, y = a[slot - first], b[slot - first]
        return [each for each in ((x, y), (y, x)) if each[0] in factors]

    found = {}
    for i in (i for i, each in enumerate(op) if each in (ADD, SUB)):
        for one, P in products(a[i]):
            for two, Q in products(b[i]):
                signed = Q if op[i] == ADD else -Q
                if (one, two) in rotations:
                    found[first + i] = Turned(one, two, P, signed)
                elif (two, one) in rotations:
                    found[first + i] = Turned(two, one, signed, P)
    return found


def _square(e: Recorder, c: int, s: int, PP: int, PQ: int, QP: int, QQ: int) -> int:
    """c (c PP + s PQ) + s (c QP + s QQ)."""
    ss, cs = e.mul(s, s), e.mul(c, s)
    twist = e.mul(e.add(cs, cs), PQ) if PQ == QP else e.mul(cs, _sum(e, PQ, QP))
    if QQ == -PP:
        return e.add(e.mul(e.sub(1, e.mul(e.constant(2.0), ss)), PP), twist)
    return e.add(PP, _sum(e, e.mul(ss, _sum(e, QQ, -PP)), twist))


def _sum(e: Recorder, a: int, b: int) -> int:
    """a + b, written only once for a - b and b - a."""
    a, b = sorted((a, b), key=abs)
    return e.add(a, b) if a > 0 else -e.add(-a, -b)


def _shears(e: Recorder, c: int, s: int, x: int, y: int) -> tuple[int, int]:
    """c x + s y and c y - s x, for constants c and s."""
    cosine, sine = (np.sign(ref) * e.values[abs(ref)] for ref in (c, s))
    sign = 1 if cosine > 0.0 else -1
    t = e.constant(float(sine / (1.0 + abs(cosine))))
    x = e.add(sign * x, e.mul(t, y))
    y = e.sub(y, e.mul(s, x))
    return e.add(x, e.mul(t, y)), sign * y
