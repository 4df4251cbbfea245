"""Orders of a matrix of one's own (pt.matrix): of the graph of its blocks, constrained to feasible pivots.

A block whose own square block is zero waits until a block is gone that it is coupled with, since its
pivot is zero before; a saddle point's multipliers so come after their variables.  Where all that are
left are zero, or an order does not wait, two unknowns are one pivot of 2 x 2, [x b; b 0].
"""

from collections.abc import Callable, Collection, Hashable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pivotree.kkt import OrderError, Structure

from .registry import order

if TYPE_CHECKING:
    import networkx as nx

Choice = Callable[["nx.Graph[Any]", Hashable], Any]
ATTEMPTS = 20  # to place zero blocks of several unknowns, where one takes another's last chance


def groups(structure: Structure, cost: Choice, waits: bool = True) -> list:
    """One block after another: the feasible one of least cost in the graph that is left.

    A block is feasible where it is regular with those that are gone, whatever numbers they hold.  Where
    none is, or zeros do not wait, a zero z is a pivot with the cheapest x beside it.  Blocks that an attempt
    leaves, since none is feasible, come first in the next, and no attempt leaves the same ones again.
    Raises OrderError for a matrix that is singular whatever its numbers, and for blocks left at last.
    """
    import networkx as nx
    from scipy.sparse import csgraph

    size, place = structure.graph.nodes(data="size"), structure.index
    of = np.repeat(np.arange(structure.n), structure.dof)
    coupled = structure.graph.copy()
    coupled.add_edges_from((k, k) for k, own in coupled.nodes(data="diagonal") if own)
    blocks = nx.to_scipy_sparse_array(coupled, structure.names, weight=None, format="csr")
    entries = blocks[of][:, of]

    def regular(some: Collection[Hashable]) -> bool:
        """Whether each row of some blocks has an entry in a column of its own."""
        rows = np.isin(of, [place[k] for k in some]).nonzero()[0]
        return csgraph.structural_rank(entries[rows][:, rows]) == len(rows)

    if not regular(structure.names):
        raise OrderError("the matrix is singular whatever its numbers", remedy="give one of full rank")
    first, dead = set[Hashable](), set[frozenset]()
    for _ in range(ATTEMPTS):
        result, left = _attempt(structure, cost, waits, regular, first, dead)
        if not left:
            return result
        dead |= {left} if left <= first else set()
        first |= left
    large = max(sorted(left, key=place.__getitem__), key=lambda k: size[k])
    raise OrderError(
        f"block {large!r} of {size[large]} unknowns is zero, and so is what is left beside it",
        remedy="leave out blocks=, or cut such blocks into rows: two rows are a pivot of 2 x 2",
    )


def _attempt(
    structure: Structure, cost: Choice, waits: bool, regular: Callable, first: set, dead: set
) -> tuple[list, frozenset]:
    """Groups, blocks of ``first`` as early as may be, and what is left, which is none of ``dead``."""
    graph, place = structure.graph.copy(), structure.index
    filled = own = {k for k, own in graph.nodes(data="diagonal") if own}  # by now, and from the start
    single = {k for k, size in graph.nodes(data="size") if size == 1}
    singular: set[tuple] = set()  # groups that are, until a neighbour is gone
    known: dict[Hashable, Any] = {}  # costs, until an edge of a neighbour is new
    result: list = []

    def offered() -> set[tuple]:
        """What may be next: a block that is filled, or the unknowns (x, z) of which z is zero."""
        offers: set[tuple] = {(k,) for k in filled} - singular
        if first or not (waits and offers):
            hollow = single.difference(filled).intersection(graph)
            offers |= {(x, z) for z in hollow for x in single.intersection(graph[z])} - singular
        left = frozenset(graph)
        return {group for group in offers if left.difference(group) not in dead} if dead else offers

    def worth(group: tuple) -> Any:
        for k in group:
            if k not in known:
                known[k] = cost(graph, k), place[k]
        return first.isdisjoint(group), waits and len(group) > 1, *(known[k] for k in reversed(group))

    while offers := offered():
        group = min(offers, key=worth)
        if not (own.issuperset(group) or regular(place.keys() - graph.nodes | {*group})):
            singular.add(group)
            continue
        result.append(list(group))
        # what the pivot's inverse couples; of [x b; b 0] it is [0 1/b; 1/b -x/b^2], so that neighbours of
        # z meet those of x, and each other unless x is zero, too; those of a single block all meet
        of_x, of_z = (set(graph[k]).difference(group) for k in (group[0], group[-1]))
        full = of_z if group[0] in filled else set()
        graph.add_edges_from(combinations(full, 2))
        graph.add_edges_from((a, b) for a in of_z for b in of_x - (full or {a}))
        filled = (filled | full | of_z & of_x).difference(group)
        graph.remove_nodes_from(group)
        # what was known of groups and costs near by is not any longer
        singular = {other for other in singular if (of_z | of_x).isdisjoint(other)}
        for k in of_z | of_x:
            for other in (k, *graph[k]):
                known.pop(other, None)
    return result, frozenset(graph)


def in_turn(structure: Structure, turns: Iterable[Hashable]) -> list:
    """Blocks in an order that is given, but for those that must wait."""
    if structure.armature.all() and (structure.dof == 1).all():  # without zeros on the diagonal none waits
        return [[k] for k in turns]
    turn = {k: i for i, k in enumerate(turns)}
    return groups(structure, lambda graph, k: turn[k])


def degree(graph: "nx.Graph[Any]", k: Hashable) -> int:
    """Unknowns of the blocks that one is coupled with (Tinney & Walker 1967, scheme 2)."""
    return sum(graph.nodes[near]["size"] for near in graph[k])


def fill(graph: "nx.Graph[Any]", k: Hashable) -> int:
    """New couplings that the elimination of a block makes."""
    near = list(graph[k])
    return len(near) * (len(near) - 1) // 2 - graph.subgraph(near).number_of_edges()


@order("minimum_fill", source="Tinney & Walker 1967, scheme 3")
def minimum_fill(structure: Structure) -> list:
    """The block whose elimination makes the fewest new couplings."""
    return groups(structure, fill)


@order("reverse_cuthill_mckee", source="Cuthill & McKee 1969")
def reverse_cuthill_mckee(structure: Structure) -> list:
    """Small bandwidth (Cuthill & McKee 1969; George 1971), as scipy finds it."""
    import networkx as nx
    from scipy.sparse import csgraph

    table = nx.to_scipy_sparse_array(structure.graph, nodelist=structure.names, format="csr")
    found = csgraph.reverse_cuthill_mckee(table, symmetric_mode=True)
    return in_turn(structure, [structure.names[k] for k in found.tolist()])


@order("nested_dissection", source="George 1973; METIS")
def nested_dissection(structure: Structure) -> list:
    """A few blocks cut the graph in halves and come last, and so on (George 1973), as METIS finds them."""
    near = [[structure.index[k] for k in structure.graph[name]] for name in structure.names]
    try:
        import pymetis
    except ImportError:
        raise OrderError(
            "order 'nested_dissection'", "needs METIS", "python -m pip install pymetis, or use minimum_degree"
        ) from None
    found: Any = pymetis.nested_dissection(adjacency=near)[0] if any(near) else range(structure.n)
    return in_turn(structure, [structure.names[int(k)] for k in found])


@order("bunch_kaufman", source="Bunch & Kaufman 1977, on structure alone")
def bunch_kaufman(structure: Structure) -> list:
    """The fewest unknowns beside it, a zero not waiting: it is a pivot of 2 x 2 with one beside it."""
    return groups(structure, degree, waits=False)


GRAPHS = {x.name: x for x in (minimum_fill, reverse_cuthill_mckee, nested_dissection, bunch_kaufman)}
"""Orders of matrices by name, beside ``natural`` and ``minimum_degree``, which robots have, too.

>>> list(pt.orderings.GRAPHS)
['minimum_fill', 'reverse_cuthill_mckee', 'nested_dissection', 'bunch_kaufman']
"""
