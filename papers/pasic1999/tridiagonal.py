"""Equation (17) as a sparse elimination: block tridiagonal, its interfaces taken in any order.

The graph of J is a path, and so is the graph of constraint forces of a chain once its bodies are
free.  The orders of the forces are therefore orders of the interfaces: leaf to root is the block
Thomas algorithm, the constraint force algorithm is cyclic reduction, divide and conquer is nested
dissection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pivotree import kkt, orderings
from pivotree.kkt.structure import symbolic_kernels as kernels

from .matching import Blocks

NAMES = {  # order of (4) -> what it is called on a path
    "virtual_work": "natural (block Thomas)",
    "constraint_force": "cyclic reduction",
    "divide_and_conquer": "nested dissection",
}


def order_of(name: str, count: int) -> list[int]:
    """Interfaces 0 .. count - 1 as an order of (4) takes the constraint forces of a chain.

    ``random:SEED`` is a random permutation.  Raises OrderError for an order without such forces.
    """
    if name.startswith("random:"):
        return np.random.default_rng(int(name.partition(":")[2])).permutation(count).tolist()
    up = np.append(np.arange(1, count), -1)  # interface 0 is the tip
    structure = kkt.Structure(tuple(range(count)), up, np.ones(count, dtype=np.int64))
    groups = orderings.get(name)(structure)
    forces = [body for group in groups for kind, body in group if kind == "fC"]
    if sorted(forces) != list(range(count)):
        raise kkt.OrderError(
            f"order {name!r}: names no constraint forces fC; use {', '.join(NAMES)} or random:SEED"
        )
    return forces


@dataclass(frozen=True)
class Structure:
    """What an order does to the path, without values."""

    fill: int  # blocks of one triangle that become nonzero
    height: int  # pivots that must wait for each other
    updates: int  # pairs of blocks that are updated, both triangles


def structure_of(order: list[int]) -> Structure:
    """By the engine's symbolic elimination."""
    count = len(order)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    ends = np.sort(np.stack([place[:-1], place[1:]]), axis=0)
    by_column = np.argsort(ends[0], kind="stable")
    pointer = np.searchsorted(ends[0][by_column], np.arange(count + 1))
    pivot, _, columns, index, _ = kernels.eliminate(
        pointer, ends[1][by_column], np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    )
    height = int(np.max(kernels.levels(columns, index, pivot), initial=0))
    return Structure(len(index) - (count - 1), height, int((np.diff(columns) ** 2).sum()))


@dataclass(frozen=True)
class Solved:
    """J x = r by an order."""

    x: NDArray  # (count, N)
    pivots: dict[int, NDArray]  # interface -> its (N, N) block when it is eliminated
    fill: int  # blocks of one triangle that were made


def eliminate(J: Blocks, r: NDArray, order: list[int], dtype: DTypeLike = np.float64) -> Solved:
    """Block Gauss elimination, pivots the diagonal blocks in this order; r (count, N).

    Raises SingularError where a pivot is singular.
    """
    left = {place: block.astype(dtype) for place, block in J.entries.items()}
    near = {i: {j for a, j in left if a == i and j != i} for i in range(len(J.diagonal))}
    rest = r.astype(dtype)
    pivots: dict[int, NDArray] = {}
    later: dict[int, list[int]] = {}
    fill = 0
    for p in order:
        pivots[p], later[p] = left[p, p], sorted(near[p])
        for i in later[p]:
            gain = _solve(pivots[p].T, left[i, p].T, p).T
            rest[i] -= gain @ rest[p]
            for j in later[p]:
                fill += i < j and (i, j) not in left
                left[i, j] = left.get((i, j), np.zeros_like(gain)) - gain @ left[p, j]
            near[i] = (near[i] | set(later[p])) - {p, i}
    x = np.zeros_like(rest)
    for p in reversed(order):
        known = sum((left[p, j] @ x[j] for j in later[p]), np.zeros_like(rest[p]))
        x[p] = _solve(pivots[p], rest[p] - known, p)
    return Solved(x, pivots, fill)


def _solve(pivot: NDArray, right: NDArray, interface: int) -> NDArray:
    try:
        return np.linalg.solve(pivot, right)
    except np.linalg.LinAlgError:
        raise kkt.SingularError(
            f"matching matrix: pivot of interface {interface + 1} is singular; use another order, "
            "or another number of subdomains"
        ) from None
