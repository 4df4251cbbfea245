"""Counts of orders that halve: no polynomials, but regular where n = 2^h - 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq_mpoly

from .counting import KINDS, count_robot, dense_work
from .families import Family
from .polynomials import ring, solve_exactly, text_of

# exponents of (n, h), and the largest h that is counted to see them
BASES: tuple[tuple[tuple[tuple[int, int], ...], int], ...] = (
    (((0, 0), (0, 1), (1, 0)), 7),
    (((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)), 9),
)
SPARE = 2  # counts that take no part in the fit


@dataclass(frozen=True)
class PowerLaw:
    """Polynomials in n and h for n = 2^h - 1; fitted, not proved."""

    laws: dict[str, fmpq_mpoly]  # by kind of operation, in n and h
    first: int  # h from which they hold
    last: int  # to which they were compared

    def text(self, kind: str) -> str:
        return text_of(self.laws[kind])


def on_powers(order: Callable[..., Any], family: Family, most: int) -> PowerLaw | None:
    """The law of an order at n = 2^h - 1; None where there is none, or too much work to see it.

    ``most`` is the number of dense operations up to which a program is counted.
    """
    counts: dict[int, tuple[int, ...]] = {}
    for terms, largest in BASES:
        for h in range(len(counts) + 1, largest + 1):
            system = family.system(2**h - 1)
            if dense_work(order, system.structure) > most:
                break
            counts[h] = count_robot(order, system).total
        for first in range(1, len(counts) + 1 - len(terms) - SPARE + 1):
            used = range(first, len(counts) + 1)
            rows = [[(2**h - 1) ** i * h**j for i, j in terms] for h in used]
            found = solve_exactly(rows, list(zip(*(counts[h] for h in used), strict=True)))
            if found is not None:
                in_n_and_h = ring("n", "h")
                laws = {
                    kind: in_n_and_h.from_dict(dict(zip(terms, x, strict=True)))
                    for kind, x in zip(KINDS, found, strict=True)
                }
                return PowerLaw(laws, first, len(counts))
    return None
