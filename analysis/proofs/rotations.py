"""The rotation of two weighted rows, as square_root_abm takes it: what it keeps, and what it moves.

The tape's own operations on slots are read in the field of the letters, and at exact points: a
pivot row P = d r of weight d, with d in the pivot's column, and a row h of weight w with x there,
each with two more columns.  That a root of d or w is taken nowhere is what makes all rational.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from sympy import QQ, Integer, symbols

from pivotree.kkt.arithmetic.formats import ARITHMETIC
from pivotree.kkt.tape.emit import Emitter
from pivotree.kkt.tape.rotations import projected as projected_out
from pivotree.kkt.tape.rotations import rotated

from .claim import Claim, statement
from .scalars import Letters, Same

SOURCE = "docs/theory/repairs.md"
LETTERS = ("d", "w", "x", "P_1", "P_2", "h_1", "h_2")
FIELD = QQ.frac_field(*LETTERS)

d, w, x, *_ = symbols(LETTERS)
P, h = symbols("P_1 P_2"), symbols("h_1 h_2")


def played(emitter: Emitter, values: list[Any]) -> Callable[[int], Any]:
    """What stands in signed slots, 0 and 1 being numbers, once the operations have been done."""
    zero = values[0] * 0
    slots = [zero, zero + 1, *values]
    for op, i, j in zip(*(column.tolist() for column in emitter.written()), strict=True):
        slots.append(ARITHMETIC[op](slots[i], slots[j]))
    return lambda slot: slots[abs(slot)] if slot >= 0 else -slots[-slot]


def turned(of: Callable[[str], Any]) -> dict[str, Any]:
    """d', P', w' and h' of the engine's rotation; R' and D' of two rows that have no pivot row."""
    slot = dict(zip(LETTERS, range(2, 2 + len(LETTERS)), strict=True))
    values = [of(name) for name in LETTERS]
    emitter = Emitter(2 + len(LETTERS))
    row = np.array([slot["x"], slot["h_1"], slot["h_2"], slot["w"]])
    both, left = np.array([slot["P_1"], slot["P_2"]]), np.array([1, 2])
    pivot, new = rotated(emitter, row, 0, left, both, np.int64(slot["d"]), 3)
    read = played(emitter, values)
    found = {"d:[]": read(int(new)), "x:[]": read(int(row[0])), "w:[]": read(int(row[3]))}
    found |= {f"P:[{i + 1}]": read(int(pivot[i])) for i in (0, 1)}
    found |= {f"h:[{i + 1}]": read(int(row[i + 1])) for i in (0, 1)}
    emitter = Emitter(2 + len(LETTERS))  # rows [x h_1], [P_1 P_2], weights w, d: one column after the other
    rows = np.array([[slot["x"], slot["h_1"], slot["w"]], [slot["P_1"], slot["P_2"], slot["d"]]])
    both, none = np.arange(2), np.arange(0)
    pivot, first = projected_out(emitter, rows, both, 0, np.array([1]), 2)
    _, second = projected_out(emitter, rows, both, 1, none, 2)
    read = played(emitter, values)
    return found | {"D:[1]": read(int(first)), "D:[2]": read(int(second)), "LD:[1]": read(int(pivot[0]))}


class Rows(Letters):
    """The letters, and what the engine makes of them."""

    letters: ClassVar[tuple[str, ...]] = LETTERS
    domain: ClassVar[Any] = FIELD
    seed = "rows"
    made = staticmethod(turned)


ROWS = Rows()


@statement(
    "a rotation keeps the form",
    f"{SOURCE}; Gentleman 1973",
    "P' P'*/d' + w' h' h'* = P P*/d + w h h*, and d' w' = d w: what rounds nothing moves nothing",
)
def keeps_the_form() -> Iterable[Claim]:
    t = ROWS
    yield Same("x' = 0", t, t.of("x"), Integer(0))
    yield Same("d'", t, t.of("d"), d + w * x**2)
    yield Same("d' w' = d w", t, t.of("d") * t.of("w"), d * w)
    for i in (0, 1):
        yield Same(f"column of the pivot, {i + 1}", t, t.of("P", i + 1), P[i] + w * x * h[i])
        for j in range(i, 2):
            new = t.of("P", i + 1) * t.of("P", j + 1) / t.of("d")
            new += t.of("w") * t.of("h", i + 1) * t.of("h", j + 1)
            yield Same(f"entry {i + 1}{j + 1}", t, new, P[i] * P[j] / d + w * h[i] * h[j])


@statement(
    "a rotation is orthogonal",
    SOURCE,
    "c^2 + s^2 = 1 with c^2 = d/d', s^2 = w x^2/d'; the rows are (c p + s q)^2 and (c q - s p)^2",
)
def is_orthogonal() -> Iterable[Claim]:
    """p = P/sqrt d and q = sqrt w h, so that p^2, q^2 and p q s c have no roots."""
    t = ROWS
    cosine, sine = d / t.of("d"), w * x**2 / t.of("d")
    yield Same("c^2 + s^2", t, cosine + sine, Integer(1))
    for i in (0, 1):
        p, q, both = P[i] ** 2 / d, w * h[i] ** 2, 2 * w * x * P[i] * h[i] / t.of("d")
        yield Same(
            f"of the pivot row, {i + 1}", t, t.of("P", i + 1) ** 2 / t.of("d"), cosine * p + sine * q + both
        )
        yield Same(
            f"of the other row, {i + 1}", t, t.of("w") * t.of("h", i + 1) ** 2, cosine * q + sine * p - both
        )


@statement(
    "rows without a pivot row",
    SOURCE,
    "sum of w h h* = L D L*, D_1 = sum of w x^2: a column is projected out of all rows",
)
def projected() -> Iterable[Claim]:
    """Two rows (x, h_1) and (P_1, P_2) of weights w and d: modified Gram-Schmidt."""
    t = ROWS
    D_1, LD, D_2 = t.of("D", 1), t.of("LD", 1), t.of("D", 2)
    yield Same("D_1", t, D_1, w * x**2 + d * P[0] ** 2)
    yield Same("L D_1", t, LD, w * x * h[0] + d * P[0] * P[1])
    yield Same("D_2 + L D_1 L", t, D_2 + LD**2 / D_1, w * h[0] ** 2 + d * P[1] ** 2)
    yield Same("D_1 D_2", t, D_1 * D_2, w * d * (x * P[1] - P[0] * h[0]) ** 2)
