"""Efficiency by recursion: the derivative of a product of n matrices, and Lagrange's form, run.

B = A_1 A_2 ... A_n: by brute force n (n - 1) products, by recursion 3 n - 4.  Both are run on
matrices that count, and give the same B'.  The classic Lagrangian form is run on arms as it is
printed, and its operations are counted as they are done (:mod:`.lagrangian`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.analysis.counts import fit, text_of

from ..item import Progress, Results, between, value
from ..measures import apart, error
from .lagrangian import arms, lagrangian

FIT = 8  # sizes that a polynomial of degree 4 must meet to count as found


class Counting:
    """A matrix that counts products and sums in a tally [products, sums]."""

    def __init__(self, values: NDArray[np.float64], tally: list[int]) -> None:
        self.values = values
        self.tally = tally

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


def measure(progress: Progress, *, most: int = 12, size: int = 4, seed: int = 0, links: int = 9) -> Results:
    """Products of 2 to ``most`` random matrices of a size; Lagrange's form on arms up to ``links``.

    Homogeneous transforms are matrices of size 4.
    """
    between("most", most, 2)
    between("size", size, 1)
    between("links", links, FIT)  # a fit of degree 4 can then be told from others
    draw, methods = np.random.default_rng(seed), (brute_force, recursion)
    laws = {"brute_force": lambda n: n * n - n, "recursion": lambda n: 3 * n - 4}  # products
    same = dict.fromkeys(laws, True)
    off = slope_off = 0.0  # of the two derivatives from each other, and from a complex step
    for n in range(2, most + 1):
        values, rates = draw.normal(size=(2, n, size, size)) / np.sqrt(size)
        found, counts = [], {}
        for (name, law), method in zip(laws.items(), methods, strict=True):
            tally = [0, 0]
            pair = [[Counting(x, tally) for x in group] for group in (values, rates)]
            found.append(method(*pair).values)
            counts[name] = (tally[0], tally[1])
            same[name] &= counts[name] == (law(n), n - 1)
        # the derivative of a product of analytic functions by a complex step
        slope = np.linalg.multi_dot(list(values + 1e-30j * rates)).imag / 1e-30
        off, slope_off = max(off, apart(found[1], found[0])), max(slope_off, apart(slope, found[0]))
    for name in laws:
        yield value(name, f"{counts[name]} for n = {most}", same[name], first=2, last=most)
    yield value("both", [off, slope_off], max(off, slope_off) <= 1e-12)
    operations, worst = {}, 0.0
    for n, system in arms(links):
        progress(f"Lagrangian form of {n} links")
        form = lagrangian(system)
        operations[n] = form.tally.mul
        worst = max(worst, error(kkt.certify(system, 20), form.accelerations(system.entries.tau)))
    fitted = fit(operations)
    ours = None if fitted is None else f"{text_of(fitted[0])} multiplications"
    yield value("lagrangian", ours, fitted is not None and fitted[0].degree() == 4, links=links)
    yield value("lagrangian_qdd", worst, worst <= 1e-12)
