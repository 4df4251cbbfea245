"""A matrix of one's own as one more model of the explorer's page: its blocks stand where joints do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from pivotree.kkt import Matrix

#: what the page writes of a matrix in the place of a robot's letters
LETTERS = {"M": "A", "qdd": "x"}
TOLD = {"A": "a block of the matrix", "x": "the unknowns of a block"}


def blocks_of(system: Matrix) -> dict[str, Any]:
    """Names, sizes and couplings of the blocks, as the page's block graph takes them; and their places."""
    structure = system.structure
    return {
        "names": [str(name) for name in structure.names],
        "parent": structure.parent.tolist(),
        "dof": structure.dof.tolist(),
        "order": structure.order.tolist(),
        "letters": LETTERS,
        "rows": 0,
        "armature": structure.armature.astype(int).tolist(),
        "pairs": structure.pairs.T.tolist(),
        "at": places_of(structure.graph),
    }


def places_of(graph: nx.Graph[Any]) -> list[list[float]]:
    """(n, 2) places in a square of side 1, far apart where many edges lie between (Kamada & Kawai 1989)."""
    whole = nx.Graph(graph.edges)
    whole.add_nodes_from(graph)
    whole.add_edges_from(pairwise(next(iter(part)) for part in list(nx.connected_components(whole))))
    found = nx.kamada_kawai_layout(whole)
    at = np.array([found[name] for name in graph])
    low, size = at.min(axis=0), np.ptp(at, axis=0)
    at = 0.5 + (at - low - size / 2) / max(float(size.max()), 1e-9)
    return [[round(float(x), 4) for x in place] for place in at]


def entries_of_matrix(system: Matrix) -> dict[str, Any]:
    """Letter -> a flat list of each block, row by row: A on the diagonal, K beside it, tau for b.

    ``masks`` say which entries are 0, as the entries of a robot do.
    """
    given = {(i, j): values.ravel().tolist() for i, j, values in system.given}
    own = [given.get((k, k), []) for k in range(system.structure.n)]
    beside = [values for (i, j), values in given.items() if i != j]
    masks = {
        letter: ["".join("2" if x else "0" for x in block) for block in blocks]
        for letter, blocks in (("A", own), ("K", beside))
    }
    right = [system.rhs[rows].tolist() for rows in system.rows]
    return {"Phi": [], "A": own, "K": beside, "a": [[] for _ in own], "tau": right, "masks": masks}
