"""METIS's nested dissection as an order of pivots: fill and height beside ABM's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from accuracy import backward_error
from large_trees import chain, random_tree
from numpy.typing import NDArray
from rows import Peer, Row, compared
from solvers import Problem, Solver, cholmod_given, prepared, superlu_given

from pivotree import kkt
from pivotree.kkt.matrix import PDD, QDD, F

TREES = {"chain": chain, "random tree": random_tree}
GIVEN = {
    "CHOLMOD L D L^T": Solver(cholmod_given, "numeric factor, solve"),
    "SuperLU": Solver(superlu_given, "analysis, numeric factor, solve; no pivoting"),
}


def adjacency(first: NDArray, second: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Pointers and neighbours of a graph's nodes, from its edges, once each."""
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    pointer = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))])
    return pointer, others[np.argsort(ends, kind="stable")]


def metis(first: NDArray, second: NDArray, count: int) -> NDArray[np.int64]:
    """Nodes of a graph in the order of METIS's nested dissection.  Raises ImportError."""
    import pymetis

    pointer, neighbours = adjacency(first, second, count)
    graph = pymetis.CSRAdjacency(pointer, neighbours)
    return np.asarray(pymetis.nested_dissection(adjacency=graph)[0], dtype=np.int64)


def of_bodies(structure: kkt.Structure) -> object:
    """The tree dissected, one bracket (pdd qdd f) a body."""
    child = np.flatnonzero(structure.parent >= 0)
    bodies = metis(child, structure.parent[child], structure.n)
    kinds, group = np.tile([PDD, F, QDD], structure.n), np.repeat(np.arange(structure.n), 3)
    return kkt.plan_from_arrays(structure, kinds, np.repeat(bodies, 3), group, name="METIS")


def of_blocks(structure: kkt.Structure, repaired: bool) -> object:
    """The block graph of (4) dissected, every block by itself.

    ``repaired``: where a body's blocks stand, they come as pdd, f, qdd, and no pivot is zero.
    """
    n = structure.n
    graph = kkt.leaf_to_root(structure).graph
    present = np.flatnonzero(graph.size[: 3 * n])
    number = np.full(graph.count, -1)
    number[present] = np.arange(len(present))
    blocks = present[metis(*number[graph.edges], len(present))]
    if repaired:
        rank = np.array([0, 2, 1])  # of pdd, qdd, f
        body, kind = blocks % n, blocks // n
        places = np.argsort(body, kind="stable")
        blocks[places] = blocks[np.lexsort((rank[kind], body))]
    return kkt.plan_from_arrays(
        structure, blocks // n, blocks % n, np.arange(len(blocks)), name="METIS of blocks"
    )


def orders(n: int, rounds: int) -> Iterator[Row]:
    """Fill and height of each order, and what it is worth to solvers."""
    try:
        import pymetis  # noqa: F401
    except ImportError:
        yield Row("orders by METIS", peer="METIS", note="not installed")
        return
    for name, make in TREES.items():
        system = make(n)
        yield from _counted(f"{name} {n:,}", system.structure)
        yield from _solved(f"{name} {n:,}", system, rounds)


def _counted(tree: str, structure: kkt.Structure) -> Iterator[Row]:
    theirs = {
        "METIS on bodies": of_bodies,
        "METIS on blocks": lambda s: of_blocks(s, False),
        "METIS on blocks, pdd f qdd": lambda s: of_blocks(s, True),
    }
    abm = kkt.symbolic(kkt.leaf_to_root(structure))
    for peer, order in theirs.items():
        try:
            factor = kkt.symbolic(order(structure))
        except kkt.OrderError as refusal:
            yield Row(f"fill, {tree}", peer=peer, note=str(refusal).partition(": ")[2])
            continue
        for unit, what in (("blocks", "fill_blocks"), ("steps", "height")):
            a, b = getattr(abm, what), getattr(factor, what)
            word = what.partition("_")[0]
            yield Row(f"{word}, {tree}, ABM", a, None, peer, b, None, a / b, unit=unit)


def _solved(tree: str, system: kkt.System, rounds: int) -> Iterator[Row]:
    structure = system.structure
    problem = Problem(system.matrix, system.rhs, kkt.permutation(system, of_bodies(structure)))
    peers = {}
    for name, solver in GIVEN.items():
        call, x, note = prepared(name, problem, solver)
        its = None if x is None else backward_error(system, x)
        peers[f"{name}, METIS on bodies"] = Peer(call, its, note=note)
    ours = partial(kkt.solve_large, system)
    error = backward_error(system, ours().unknowns)
    yield from compared(f"factor + solve, {tree}, ABM", ours, peers, rounds, error=error)
