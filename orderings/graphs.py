"""Orders of a matrix of one's own (pt.matrix): of the graph of its blocks, constrained to feasible pivots.

A block whose own square block is zero waits until a block is gone that it is coupled with, since its
pivot is zero before; a saddle point's multipliers so come after their variables.  Where all that are
left are zero, or an order does not wait, two unknowns are one pivot of 2 x 2, [x b; b 0].
"""

from collections.abc import Callable, Hashable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pivotree.kkt import Order, OrderError, Partition, Structure

if TYPE_CHECKING:
    import networkx as nx

    Choice = Callable[[nx.Graph[Any], Hashable], Any]


def groups(structure: Partition, cost: "Choice", waits: bool = True) -> list:
    """One block after another: the feasible one of least cost in the graph that is left.

    A zero block waits until those that are gone give it as much rank as it has unknowns.  Where none is
    feasible, or zeros do not wait, a zero z is a pivot with the cheapest x beside it; z's other neighbours
    then meet each other, unless x is zero, too, and those of x.  Raises OrderError for blocks of several
    unknowns that would have to be such a pair.
    """
    graph, direct, place = structure.graph.copy(), structure.graph.copy(), structure.index
    size, own = (dict(graph.nodes(data=what)) for what in ("size", "diagonal"))
    rank: dict[Hashable, set] = {k: set() for k in graph}  # of a zero block: (block that is gone, unknown)
    ready = {k for k in graph if own[k]}
    result: list = []
    known: dict[Hashable, Any] = {}  # costs, until an edge of a neighbour is new

    def worth(k: Hashable) -> Any:
        if k not in known:
            known[k] = cost(graph, k), place[k]
        return known[k]

    def pivot(k: Hashable) -> list:
        beside = [x for x in graph[k] if size[x] == 1] if size[k] == 1 and k not in ready else []
        return [*([min(beside, key=worth)] if beside else []), k]

    def give(k: Hashable, more: set, less: set) -> None:
        rank[k] = (rank[k] | more) - less
        (ready.add if own[k] or len(rank[k]) >= size[k] else ready.discard)(k)

    def use(k: Hashable) -> None:
        """What a zero takes is no other's; those that shared it may have what else it could have taken."""
        taken = set() if own[k] else set(sorted(rank[k], key=lambda x: (place[x[0]], x[1]))[: size[k]])
        for other in [other for other in graph if rank[other] & taken] if taken else ():
            give(other, rank[k], taken)
        for other in set(direct[k]) & graph.nodes:
            give(other, {(k, i) for i in range(size[k])}, set())

    while len(graph):
        found = [pivot(k) for k in (ready if waits and ready else graph)]
        feasible = [group for group in found if len(group) == 2 or group[0] in ready]
        if not feasible and (large := [k for k in graph if size[k] > 1]):
            raise OrderError(
                f"block {large[0]!r} of {size[large[0]]} unknowns is zero, and so is what is left beside it",
                remedy="leave out blocks=, or cut such blocks into rows: two rows are a pivot of 2 x 2",
            )
        group = min(feasible or found, key=lambda group: [worth(k) for k in reversed(group)])
        through = set(graph[group[-1]]) - set(group)
        near = set(graph[group[0]]) - set(group)
        full = through if group[0] in ready else set()
        graph.add_edges_from([*combinations(full, 2), *((a, b) for a in through for b in near - {a})])
        if group[0] in ready:
            for k in group:
                use(k)
        else:  # [0 b; b 0], or a pivot that is refused
            ends = [set(direct[k]) & graph.nodes - set(group) for k in group]
            direct.add_edges_from((a, b) for a in ends[0] for b in ends[-1] - {a})
            for k in ends[0] & ends[-1]:
                give(k, {(x, 0) for x in group}, set())
        graph.remove_nodes_from(group)
        ready -= set(group)
        for k in {*through, *near}:
            for other in (k, *graph[k]):
                known.pop(other, None)
        result.append(group)
    return result


def in_turn(structure: Partition, order: Iterable[Hashable]) -> list:
    """Blocks in an order that is given, but for those that must wait."""
    turn = {k: i for i, k in enumerate(order)}
    return groups(structure, lambda graph, k: turn[k])


def degree(graph: "nx.Graph[Any]", k: Hashable) -> int:
    """Unknowns of the blocks that one is coupled with (Tinney & Walker 1967, scheme 2)."""
    return sum(graph.nodes[near]["size"] for near in graph[k])


def _partition(structure: Structure, name: str) -> Partition:
    if not isinstance(structure, Partition):
        raise OrderError(f"order {name!r}", "is of matrices (pt.matrix)", "use minimum_degree for a robot")
    return structure


def _minimum_fill(structure: Structure) -> list:
    """The block whose elimination makes the fewest new couplings (Tinney & Walker 1967, scheme 3)."""

    def fill(graph: "nx.Graph", k: Hashable) -> int:
        near = list(graph[k])
        return len(near) * (len(near) - 1) // 2 - graph.subgraph(near).number_of_edges()

    return groups(_partition(structure, "minimum_fill"), fill)


def _reverse_cuthill_mckee(structure: Structure) -> list:
    """Small bandwidth (Cuthill & McKee 1969; George 1971), as scipy finds it."""
    import networkx as nx
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    own = _partition(structure, "reverse_cuthill_mckee")
    table = nx.to_scipy_sparse_array(own.graph, nodelist=own.names, format="csr")
    found = reverse_cuthill_mckee(table, symmetric_mode=True)
    return in_turn(own, [own.names[k] for k in found.tolist()])


def _bunch_kaufman(structure: Structure) -> list:
    """The fewest unknowns beside it, a zero not waiting: it is a pivot of 2 x 2 with one beside it."""
    return groups(_partition(structure, "bunch_kaufman"), degree, waits=False)


def _nested_dissection(structure: Structure) -> list:
    """A few blocks cut the graph in halves and come last, and so on (George 1973), as METIS finds them."""
    own = _partition(structure, "nested_dissection")
    try:
        import pymetis
    except ImportError:
        raise OrderError(
            "order 'nested_dissection'", "needs METIS", "python -m pip install pymetis, or use minimum_degree"
        ) from None
    near = [[own.index[k] for k in own.graph[name]] for name in own.names]
    if not own.graph.number_of_edges():
        return in_turn(own, own.names)
    found: Any = pymetis.nested_dissection(adjacency=near)[0]
    return in_turn(own, [own.names[int(k)] for k in found])


GRAPHS: dict[str, Order] = {
    "minimum_fill": Order(_minimum_fill, "minimum_fill", "Tinney & Walker 1967, scheme 3"),
    "reverse_cuthill_mckee": Order(_reverse_cuthill_mckee, "reverse_cuthill_mckee", "Cuthill & McKee 1969"),
    "nested_dissection": Order(_nested_dissection, "nested_dissection", "George 1973; METIS"),
    "bunch_kaufman": Order(_bunch_kaufman, "bunch_kaufman", "Bunch & Kaufman 1977, on structure alone"),
}
"""Orders of matrices by name, beside ``natural`` and ``minimum_degree``, which robots have, too.

>>> list(pt.orderings.GRAPHS)
['minimum_fill', 'reverse_cuthill_mckee', 'nested_dissection', 'bunch_kaufman']
"""
