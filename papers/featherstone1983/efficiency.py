"""Efficiency by recursion: the derivative of a product of n matrices, and Lagrange's form, run.

B = A_1 A_2 ... A_n: by brute force n (n - 1) products, by recursion 3 n - 4.  Both are run on
matrices that count, and give the same B'.  The classic Lagrangian form is run on arms as it is
printed, and its operations are counted as they are done (:mod:`.lagrangian`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq_poly
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.analysis.counts import fit, text_of

from ..item import Progress
from ..measures import error
from ..row import Value, value
from ..settings import between
from .lagrangian import arms, lagrangian

FIT = 8  # sizes that a polynomial of degree 4 must meet to count as found


class Counting:
    """A matrix that counts products and sums in a tally [products, sums]."""

    def __init__(self, values: NDArray[np.float64], tally: list[int]) -> None:
        self.values, self.tally = values, tally

    def __matmul__(self, other: Counting) -> Counting:
        self.tally[0] += 1
        return Counting(self.values @ other.values, self.tally)

    def __add__(self, other: Counting) -> Counting:
        self.tally[1] += 1
        return Counting(self.values + other.values, self.tally)


def brute_force(A: Sequence[Counting], dA: Sequence[Counting]) -> Counting:
    """The sum over i of A_1 ... A_i' ... A_n."""
    total = None
    for i in range(len(A)):
        factors = [*A[:i], dA[i], *A[i + 1 :]]
        product = factors[0]
        for factor in factors[1:]:
            product = product @ factor
        total = product if total is None else total + product
    assert total is not None
    return total


def recursion(A: Sequence[Counting], dA: Sequence[Counting]) -> Counting:
    """B_i+1 = B_i A_i+1 and B'_i+1 = B'_i A_i+1 + B_i A'_i+1."""
    B = list(itertools.accumulate(A[:-1], lambda b, a: b @ a))
    derivative = dA[0]
    for i in range(1, len(A)):
        derivative = derivative @ A[i] + B[i - 1] @ dA[i]
    return derivative


@dataclass(frozen=True)
class Efficiency:
    n: tuple[int, ...]
    brute: tuple[tuple[int, int], ...]  # products and sums
    recursive: tuple[tuple[int, int], ...]
    off: float  # largest difference of the two derivatives, and from a difference quotient
    quotient: float
    arms: tuple[int, ...]  # links of the arms that the Lagrangian form was run on
    form: fmpq_poly | None  # multiplications of the Lagrangian form
    form_off: float  # largest relative error of its qdd, against certified ones


def measure(
    progress: Progress, *, most: int = 12, size: int = 4, seed: int = 0, links: int = 9
) -> Efficiency:
    """Products of 2 to ``most`` random matrices of a size; Lagrange's form on arms up to ``links``.

    Homogeneous transforms are matrices of size 4.
    """
    between("most", most, 2)
    between("size", size, 1)
    between("links", links, FIT)  # a fit of degree 4 can then be told from others
    draw = np.random.default_rng(seed)
    counts: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    off = quotient = 0.0
    for n in range(2, most + 1):
        values, rates = draw.normal(size=(2, n, size, size)) / np.sqrt(size)
        found = []
        for method, kept in zip((brute_force, recursion), counts, strict=True):
            tally = [0, 0]
            pair = [[Counting(x, tally) for x in group] for group in (values, rates)]
            found.append(method(*pair).values)
            kept.append((tally[0], tally[1]))
        scale = float(np.abs(found[0]).max())
        # the derivative of a product of analytic functions by a complex step
        step = values + 1e-30j * rates
        slope = np.linalg.multi_dot(list(step)).imag / 1e-30 if n > 1 else rates[0]
        off = max(off, float(np.abs(found[1] - found[0]).max()) / scale)
        quotient = max(quotient, float(np.abs(slope - found[0]).max()) / scale)
    operations, form_off = {}, 0.0
    for n, system in arms(links):
        progress(f"Lagrangian form of {n} links")
        form = lagrangian(system)
        operations[n] = form.tally.mul
        form_off = max(form_off, error(kkt.certify(system, 20), form.accelerations(system.entries.tau)))
    law = fit(operations)
    return Efficiency(
        tuple(range(2, most + 1)),
        tuple(counts[0]),
        tuple(counts[1]),
        off,
        quotient,
        tuple(operations),
        None if law is None else law[0],
        form_off,
    )


def values(found: Efficiency) -> Iterator[Value]:
    first, n = found.n[0], found.n[-1]
    for name, counts, law in (
        ("brute_force", found.brute, lambda n: n * n - n),
        ("recursion", found.recursive, lambda n: 3 * n - 4),
    ):
        same = all(count == (law(k), k - 1) for k, count in zip(found.n, counts, strict=True))
        yield value(name, f"{counts[-1]} for n = {n}", same, first=first, last=n)
    yield value("both", [found.off, found.quotient], max(found.off, found.quotient) <= 1e-12)
    form = found.form
    ours = None if form is None else f"{text_of(form)} multiplications"
    yield value("lagrangian", ours, form is not None and form.degree() == 4, links=found.arms[-1])
    yield value("lagrangian_qdd", found.form_off, found.form_off <= 1e-12)
