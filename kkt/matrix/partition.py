"""A symmetric matrix of one's own, cut into blocks: what an order may see of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..base.errors import OrderError
from .blocks import Structure

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Partition(Structure):
    """The blocks of a symmetric matrix and which of them are coupled; no values, and no tree.

    Blocks are ("x", name), or their names alone.  ``names`` and ``dof`` (n,) are theirs, and
    ``armature`` (n,) says whose own square block has an entry.  What only a tree has is refused.

    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> structure = pt.matrix(A).structure
    >>> structure.names, list(structure.graph.edges)
    ((0, 1, 2), [(0, 1), (1, 2)])
    """

    kinds: ClassVar[tuple[str, ...]] = ("", "x", "", "", "", "")

    pairs: NDArray[np.int64] | None = None  # (2, e) coupled blocks, once each

    @cached_property
    def graph(self) -> nx.Graph:
        """Blocks by name, with an edge where two are coupled; attributes ``size`` and ``diagonal``."""
        import networkx as nx

        graph = nx.Graph()
        for name, size, own in zip(self.names, self.dof.tolist(), self.armature.tolist(), strict=True):
            graph.add_node(name, size=size, diagonal=own)
        ends = np.zeros((2, 0), dtype=np.int64) if self.pairs is None else self.pairs
        graph.add_edges_from((self.names[i], self.names[j]) for i, j in ends.T.tolist())
        return graph

    def spelled(self, group: Any) -> list[tuple[str, Hashable]]:
        """The blocks of a group, each a name or ("x", name), as ("x", name)."""

        def known(entry: Any) -> bool:
            try:
                return entry in self.index
            except TypeError:
                return False

        return [("x", entry) if known(entry) else entry for entry in group]

    def _no_tree(self, *_: Any) -> NoReturn:
        raise OrderError(
            "a matrix has blocks alone, and this order asks for bodies, tip and base, which a tree has; "
            "use an order of graphs, such as minimum_degree, or a list of groups of names"
        )

    def with_links(self, links: str) -> Structure:
        return self if links == "whole" else self._no_tree()

    @property
    def order(self) -> NDArray[np.int64]:
        """Blocks as they were given, for pictures that number them."""
        return np.arange(self.n)

    levels = depth = tip_to_base = base_to_tip = property(_no_tree)
    children = parent_of = closing = tied = _no_tree  # type: ignore[assignment]
