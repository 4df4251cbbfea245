"""A bracketed sequence of pivots, and the plan that checks it against a structure.

An order returns a sequence, with the switches that decide rounding.  A pivot is a group of blocks (a
bracket) that is eliminated together.  Inside a bracket the pairs (pdd_k, f_k) and (fJ_k, qdd_k),
whose coupling is the identity, come first and are used through their exact inverse
[[0, 1], [1, -X]]; other blocks follow in the order pdd < f < fC < qdd < lam.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import WRAPPER_ASSIGNMENTS, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import order as room
from ..base.errors import OrderError, nearest
from ..base.foreign import foreign, unfit
from ..base.shown import Shown
from ..matrix.blocks import FC, FJ, LAM, LINKS, PDD, QDD, Block, F, Partition, Structure, require_structure

if TYPE_CHECKING:
    from ..matrix.system import System


@dataclass(frozen=True)
class Rules:
    """The switches that decide rounding: what is added to what first.

    couple       "inverse": the bracket's inverse is formed by itself, then meets the couplings;
                 "carried": the couplings take part in every pivot inside the bracket
    assembly     "multifrontal": a child's update is summed apart and added to the parent last;
                 "right_looking": every pivot subtracts from the remaining matrix at once
    accumulate   "assembled", or "unassembled": D_k = H M H* + H M~ H*, eq (11) of Ascher 1996, or
                 "projected": D_k = H M H* + sum of E M~ E* over the children, E of eq (10);
                 "child_frame": w* Mbar w in place of H M~ H*, w = Phi* H* in the child's frame
    rank_update  "outer": (c c*)/d; "gain": (c/d) c*; "joseph": in brackets, and as outer elsewhere,
                 Mbar = (1 - K H) M^ (1 - K H)* with K = M^ H* D^-1 (Bucy & Joseph 1968)
    symmetry     "mirrored": of a symmetric block the upper triangle is formed, and copied; "both
                 triangles": each is formed by itself, and rounding makes them differ
    elimination  "gauss", or "orthogonal": ABM's brackets by rotations of weighted rows, for which
                 the other switches mean nothing

    >>> pt.Rules(couple="carried")
    Rules(couple='carried', assembly='multifrontal', accumulate='assembled', ...
    """

    couple: str = "inverse"
    assembly: str = "multifrontal"
    accumulate: str = "assembled"
    rank_update: str = "outer"
    symmetry: str = "mirrored"
    elimination: str = "gauss"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise OrderError("order", f"switch {name!r} is {value!r}", f"use {' or '.join(choices)}")
        other = {n for n, choices in _CHOICES.items() if getattr(self, n) != choices[0]} - {"elimination"}
        if self.elimination == "orthogonal" and other:
            raise OrderError(
                "order", f"switch {min(other)!r} means nothing to elimination 'orthogonal'", "leave it out"
            )


_CHOICES = {  # the default first
    "couple": ("inverse", "carried"),
    "assembly": ("multifrontal", "right_looking"),
    "accumulate": ("assembled", "unassembled", "projected", "child_frame"),
    "rank_update": ("outer", "gain", "joseph"),
    "symmetry": ("mirrored", "both triangles"),
    "elimination": ("gauss", "orthogonal"),
}


COMPOSITES = ("counted", "general", "rigid", "centre")  # the default first
TEN = ("rigid", "centre")  # formed as ten numbers


@dataclass(frozen=True)
class PivotSequence:
    """Groups of blocks in elimination order, with the switches that decide rounding.

    Inertias behind which no joint has been eliminated are ten numbers each.  By ``composites``
    "counted" they are formed as 6 x 6 blocks, which every number type can, and operations are
    counted as ten numbers take them; "general" forms and counts blocks, "rigid" and "centre" form
    and count ten numbers (:mod:`kkt.program.tracer`).

    >>> groups = [[("pdd", "j1"), ("qdd", "j1"), ("f", "j1")]]
    >>> mine = pt.PivotSequence(groups, name="mine", source="a notebook")
    >>> pt.eliminate(pt.build(pt.chain(1)), mine).fill
    0
    """

    groups: Sequence[Sequence[Block | tuple[str, Hashable]]] = field(repr=False)
    name: str = "order"
    source: str = ""
    rules: Rules = field(default_factory=Rules)
    links: str = "whole"  # blocks are those of Structure.with_links(links)
    composites: str = "counted"

    def __post_init__(self) -> None:
        where = f"order {self.name!r}"
        if not isinstance(self.name, str) or unfit(self.name) is not None:
            raise OrderError(where, f"its name {unfit(str(self.name)) or 'is no text'}", "give it another")
        either = " or ".join(COMPOSITES)
        listed = isinstance(self.groups, Iterable) and not isinstance(self.groups, str)
        for fits, what, value, remedy in (
            (listed, "groups are", self.groups, "give a list of lists of blocks"),
            (isinstance(self.source, str), "source is", self.source, "give a text"),
            (isinstance(self.rules, Rules), "rules are", self.rules, "give kkt.Rules(...)"),
            (self.links in LINKS, "links are", self.links, f"use {', '.join(LINKS)}"),
            (self.composites in COMPOSITES, "composites is", self.composites, f"use {either}"),
        ):
            if not fits:
                raise OrderError(where, f"{what} {value!r}", remedy)
        if self.rules.symmetry != "mirrored" and self.composites in TEN:
            what = f"composites {self.composites!r} are ten numbers, which have no second triangle"
            raise OrderError(where, what, "leave symmetry out, or give composites 'counted'")


OrderFunction = Callable[[Structure], "PivotSequence | Iterable[Any]"]
OrderLike = PivotSequence | OrderFunction | str | Iterable[Any]  # by itself, its name, or its groups


@dataclass(frozen=True, eq=False)
class Order:
    """A function from a structure to groups of blocks, with what is known of it on every tree.

    It is called as its function is, and has the function's name in Python, text and module.

    >>> abm = pt.orderings.get("abm")
    >>> abm.name, abm.problem, abm.rules.couple
    ('abm', 'qdd', 'inverse')
    >>> abm(pt.build(pt.chain(1)).structure)
    [[('pdd', 'j1'), ('qdd', 'j1'), ('f', 'j1')]]
    """

    function: OrderFunction = field(repr=False)
    name: str
    source: str = ""
    rules: Rules = field(default_factory=Rules)
    links: str = "whole"
    composites: str = "counted"
    problem: str = "qdd"  # what is solved for; "tau": inverse dynamics
    loops: bool = False  # whether it places the multipliers of loops

    def __post_init__(self) -> None:
        named = {key for key in WRAPPER_ASSIGNMENTS if hasattr(self.function, key)}
        vars(self).update({key: getattr(self.function, key) for key in named}, __wrapped__=self.function)

    def __call__(self, structure: Structure) -> Any:
        return self.function(structure)

    def __reduce__(self) -> str:
        return str(getattr(self.function, "__qualname__", self.name))  # pickled as functions are: by name


def as_order(given: Any) -> Order:
    """An order as it is or by its name; a function, a sequence or a list of groups as one.

    Raises OrderError.
    """
    if isinstance(given, str):
        given = room.find(given)
    if isinstance(given, Order):
        return given
    if isinstance(given, PivotSequence):
        return Order(lambda _: given, given.name, given.source, given.rules, given.links, given.composites)
    with foreign("order"):
        if callable(given):
            return Order(given, str(getattr(given, "__name__", "order")))
    return Order(lambda _: given, "order")


def as_orders(given: Iterable[Any]) -> list[Order]:
    """As :func:`as_order`; of orders that are called alike, those of files are called as they are given."""
    listed = list(given)
    found = [as_order(one) for one in listed]
    names = [order.name for order in found]
    return [
        replace(order, name=one) if _of_file(one) and names.count(order.name) > 1 else order
        for one, order in zip(listed, found, strict=True)
    ]


def _of_file(given: Any) -> bool:
    return isinstance(given, str) and (".py:" in given or given.endswith(".json"))


def as_sequence(order: Any, structure: Structure) -> PivotSequence:
    """What an order, a plain function or a list of groups says of a structure.  Raises OrderError."""
    order = as_order(order)
    name, where = order.name, f"order {order.name!r}"
    if order.problem != "qdd":
        what = "solves for tau with qdd known (kkt.inverse_dynamics runs it)"
        raise OrderError(where, what, "use one that solves for qdd, such as abm")
    with foreign(where):
        try:
            returned = order(structure)
        except OrderError as error:
            raise error if error.why.subject else type(error)(where, error.why) from None
        if isinstance(returned, PivotSequence):
            return replace(returned, name=name) if returned.name == "order" else returned
        wanted = "give a list of groups, each a list of blocks: ('pdd', body) of a robot, names of a matrix"
        if not isinstance(returned, Iterable):
            raise OrderError(where, f"returns {type(returned).__name__}", wanted)
        groups = [*returned]
        for step, group in enumerate(groups, start=1):
            if not isinstance(group, Iterable):
                raise OrderError(where, f"step {step} is {group!r}", wanted)
        groups = [[*group] for group in groups]
    return PivotSequence(groups, name, order.source, order.rules, order.links, order.composites)


# Kinds inside a bracket that are not used as a pair: the order in which they can be pivots.
PRIORITY = (0, 3, 1, 1, 2, 4)  # of pdd, qdd, f, fJ, fC, lam


@dataclass(frozen=True, eq=False)
class BlockGraph:
    """The block graph of (4), with forces whole or split into fJ and fC.

    Block kind * n + k is body k's; the multipliers of constraint c are block 5 n + c.
    """

    structure: Structure
    split: bool  # forces split into fJ and fC

    @cached_property
    def kind(self) -> NDArray[np.int64]:
        """(blocks,) the kind of each block."""
        return np.minimum(np.arange(self.count) // self.structure.n, LAM)

    @cached_property
    def member(self) -> NDArray[np.int64]:
        """(blocks,) the body that each block belongs to; of multipliers, the constraint."""
        return np.arange(self.count) - self.structure.n * self.kind

    @property
    def count(self) -> int:
        """Blocks of all kinds, those of size 0 included."""
        return LAM * self.structure.n + len(self.structure.ties)

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """(blocks,) rows of each block; 0 where the form has no such block."""
        n, dof = self.structure.n, self.structure.dof
        if isinstance(self.structure, Partition):
            return np.concatenate([np.zeros(n, dtype=np.int64), dof, np.zeros(3 * n, dtype=np.int64)])
        six, none = np.full(n, 6), np.zeros(n, dtype=np.int64)
        forces = [none, dof, 6 - dof] if self.split else [six, none, none]
        ties = np.array([tie.rows for tie in self.structure.ties], dtype=np.int64)
        return np.concatenate([six, dof, *forces, ties])

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """(2, e) off-diagonal blocks that are nonzero at the start, once each."""
        n, parent = self.structure.n, self.structure.parent
        if isinstance(self.structure, Partition):
            return QDD * n + self.structure.pairs
        k = np.arange(n)
        inner = np.flatnonzero(parent >= 0)
        forces = (FJ, FC) if self.split else (F,)
        pairs = [(QDD * n + k, forces[0] * n + k)]
        for kind in forces:
            pairs.append((PDD * n + k, kind * n + k))
            pairs.append((PDD * n + parent[inner], kind * n + inner))
        # a joint drives its body's carrier, too
        more = [(QDD * n + body, forces[0] * n + c) for body, c in self.structure.carriers.items()]
        more += [(PDD * n + side.body, LAM * n + side.tie) for side in self.structure.sides]
        ends = np.array(more, dtype=np.int64).reshape(-1, 2).T
        edges = np.concatenate([*map(np.stack, pairs), ends], axis=1)
        return edges[:, (self.size[edges] > 0).all(axis=0)]

    @cached_property
    def diagonal(self) -> NDArray[np.bool_]:
        """(blocks,) whose own square block is nonzero at the start: mass, armature, compliance."""
        result, n = np.zeros(self.count, dtype=np.bool_), self.structure.n
        result[:n] = ~self.structure.carrier
        result[QDD * n : (QDD + 1) * n] = self.structure.armature
        result[LAM * n :] = [tie.compliant for tie in self.structure.ties]
        return result

    @cached_property
    def partner(self) -> NDArray[np.int64]:
        """(blocks,) the block whose coupling with this one is the identity, or -1."""
        n = self.structure.n
        result = np.full(self.count, -1, dtype=np.int64)
        k = np.arange(n)
        a, b = (QDD * n + k, FJ * n + k) if self.split else (PDD * n + k, F * n + k)
        result[a], result[b] = b, a
        return result

    def block(self, number: int) -> Block:
        kind = int(self.kind[number])
        names = self.structure.constraints if kind == LAM else self.structure.names
        return Block(self.structure.kinds[kind], names[self.member[number]])

    def number(self, kind: str, body: Hashable) -> int:
        which = self.structure.kinds.index(kind)
        return which * self.structure.n + _places(self.structure, which)[body]


def _places(structure: Structure, kind: int) -> dict[Hashable, int]:
    """Number of each body, or of each constraint, by name."""
    return structure.tie_index if kind == LAM else structure.index


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Shown):
    """A sequence checked against its structure: blocks as numbers, in elimination order."""

    sequence: PivotSequence
    graph: BlockGraph
    blocks: NDArray[np.int64]  # (B,) blocks in the order of elimination
    group: NDArray[np.int64]  # (B,) group of each
    paired: NDArray[np.bool_]  # (B,) the block may form a pair with the next one

    def facts(self) -> dict[str, Any]:
        return {"name": self.sequence.name, "blocks": len(self.blocks), "groups": self.groups}

    @property
    def groups(self) -> int:
        return int(self.group[-1]) + 1 if len(self.group) else 0

    @property
    def edges(self) -> NDArray[np.int64]:
        """(2, e) the graph's edges by the positions of their ends among ``blocks``, the earlier one first."""
        position = np.full(self.graph.count, -1, dtype=np.int64)
        position[self.blocks] = np.arange(len(self.blocks))
        one, other = position[self.graph.edges]
        return np.stack([np.minimum(one, other), np.maximum(one, other)])

    @property
    def along_the_joint(self) -> bool:
        """Forces or accelerations are split along the joint and beside it, by S's large rows."""
        return self.graph.split or self.sequence.rules.elimination == "orthogonal"


def plan(order: OrderLike, structure: Structure) -> Plan:
    """Check a sequence against a structure, and number its blocks.

    ``order`` is a PivotSequence, a list of groups, or a function from the structure to either of
    these.  A group is a list of blocks ("pdd", body) of equation (4).  Raises OrderError where a
    block is unknown, eliminated twice, or left out; multipliers that the sequence leaves out come
    last, one constraint after another.

    >>> structure = pt.build(pt.chain(2)).structure
    >>> groups = [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
    >>> pt.symbolic(pt.plan(groups, structure)).fill_blocks
    1
    >>> pt.plan(groups[:1], structure)
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.OrderError: order 'order': leaves out pdd_j1 and 2 more; name ...
    """
    require_structure(structure)
    sequence = as_sequence(order, structure)
    structure = structure.with_links(sequence.links)
    if isinstance(structure, Partition):
        sequence = replace(sequence, groups=[structure.spelled(group) for group in sequence.groups])
    with foreign(f"order {sequence.name!r}"):  # bodies are compared, which may be a user's code
        kinds, members, groups = _arrays(sequence, structure)
    split = bool(((kinds == FJ) | (kinds == FC)).any())
    if split and sequence.links == "stretched":
        raise OrderError(f"order {sequence.name!r}", "stretched links have no fJ and fC", "use f")
    left = np.setdiff1d(np.arange(len(structure.ties)), members[kinds == LAM])
    after = groups[-1:].sum() + 1
    kinds = np.concatenate([kinds, np.full(len(left), LAM)])
    members = np.concatenate([members, left])
    groups = np.concatenate([groups, after + np.arange(len(left))])
    return plan_of(sequence, structure, kinds, members, groups, split)


def require_plan(made: object) -> None:
    """Raise OrderError for anything but a plan, such as an order that is not planned yet."""
    if not isinstance(made, Plan):
        raise OrderError("plan", f"{type(made).__name__} is none", "pass plan(order, system.structure)")


def plan_of(
    sequence: PivotSequence,
    structure: Structure,
    kinds: NDArray[Any],
    members: NDArray[Any],
    groups: NDArray[Any],
    split: bool,
) -> Plan:
    """The plan of blocks given by kind and number of the body (or constraint); groups ascend."""
    graph = BlockGraph(structure, split)
    blocks = kinds.astype(np.int64) * structure.n + members
    present = (graph.size[blocks] > 0) | (kinds == F)  # an absent f is kept, to be refused
    blocks, groups = blocks[present], groups[present]
    groups = np.cumsum(np.diff(groups, prepend=groups[:1]) != 0)
    blocks = blocks[_in_groups(blocks, groups, graph)]
    paired = np.zeros(len(blocks), dtype=np.bool_)
    paired[:-1] = (graph.partner[blocks[:-1]] == blocks[1:]) & (groups[:-1] == groups[1:])
    if isinstance(structure, Partition):  # any two unknowns that are a group
        alone = (np.bincount(groups)[groups] == 2) & (graph.size[blocks] == 1)
        paired[:-1] = alone[:-1] & alone[1:] & (groups[:-1] == groups[1:])
    check_complete(blocks, groups, graph, sequence.name)
    return Plan(sequence, graph, blocks, groups, paired)


def _in_groups(
    blocks: NDArray[np.int64], groups: NDArray[np.int64], graph: BlockGraph
) -> NDArray[np.int64] | slice:
    """The places of blocks inside every group: pairs in the order in which they are named, pdd or fJ first.

    Blocks that are used alone follow by PRIORITY.  Groups ascend.
    """
    count, kind, mate = len(blocks), graph.kind[blocks], graph.partner[blocks]
    place = np.full(graph.count, -1)
    place[blocks] = np.arange(count)
    there = np.where(mate < 0, -1, place[mate])
    paired = (there >= 0) & (groups[there] == groups)
    named = 2 * place[np.minimum(blocks, mate)] + ~np.isin(kind, (PDD, FJ))
    key = np.where(paired, named, 2 * count * (1 + np.array(PRIORITY)[kind]) + np.arange(count))
    if ((groups[1:] > groups[:-1]) | (key[1:] > key[:-1])).all():
        return slice(None)  # in place already, as in an order of millions of single blocks
    return np.lexsort((key, groups))


def _arrays(
    sequence: PivotSequence, structure: Structure
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Kind, number of the body, and group of every block that a sequence names.  Raises OrderError."""
    kind_of = {kind: i for i, kind in enumerate(structure.kinds)}
    index = [_places(structure, kind) for kind in range(len(structure.kinds))]
    kinds: list[int] = []
    members: list[int] = []
    groups: list[int] = []
    for step, group in enumerate(sequence.groups, start=1):
        entry: Any = group
        try:
            for entry in group:
                kind, body = entry
                kinds.append(kind_of[kind])
                members.append(index[kinds[-1]][body])
                groups.append(step - 1)
        except (TypeError, ValueError, KeyError):
            what, remedy = _unknown_block(entry, structure)
            raise OrderError(f"order {sequence.name!r}", f"step {step} {what}", remedy) from None
    found = np.array([kinds, members, groups], dtype=np.int64)
    return found[0], found[1], found[2]


def _unknown_block(entry: Any, structure: Structure) -> tuple[str, str]:
    """What is wrong with what stands for a block, and what would be right."""
    if isinstance(structure, Partition):
        name = entry[1] if isinstance(entry, tuple) and len(entry) == 2 and entry[0] == "x" else entry
        return f"names the unknown block {name!r}", nearest(str(name), map(str, structure.names))
    if isinstance(entry, str) and entry in structure.kinds:
        pair = f"({entry!r}, body)"
        return (
            f"holds {entry!r} by itself",
            f"a block is a pair {pair}, and a step a list of blocks: [{pair}]",
        )
    if not (isinstance(entry, tuple | list) and len(entry) == 2):
        return f"holds {entry!r}", "a block is a pair ('pdd', body)"
    kind, body = entry
    if kind not in structure.kinds:
        return f"names kind {kind!r}", f"use {', '.join(structure.kinds)}"
    members = _places(structure, structure.kinds.index(kind))
    remedy = nearest(str(body), map(str, members)) if members else "there are none"
    return f"names the unknown {'loop' if kind == 'lam' else 'body'} {body!r}", remedy


def check_complete(blocks: NDArray[np.int64], group: NDArray[np.int64], graph: BlockGraph, name: str) -> None:
    """Raise OrderError where a block is named twice, not of this form of (4), or left out."""
    times, where = np.bincount(blocks, minlength=graph.count), f"order {name!r}"
    if (times > 1).any():
        twice = int(np.flatnonzero(times > 1)[0])
        step = int(group[np.flatnonzero(blocks == twice)[1]]) + 1
        what = f"eliminates {graph.block(twice)} twice, again at step {step}"
        raise OrderError(where, what, "name every block once")
    absent = np.flatnonzero((times > 0) & (graph.size == 0))
    if absent.size:
        what = f"names {graph.block(int(absent[0]))} beside split forces"
        raise OrderError(where, what, "use fJ and fC for every body, or f for every body")
    missing = np.flatnonzero((times == 0) & (graph.size > 0))
    if missing.size:
        more = f" and {missing.size - 1} more" if missing.size > 1 else ""
        raise OrderError(where, f"leaves out {graph.block(int(missing[0]))}{more}", "name every block once")


def unknowns_of(chosen: Plan, system: System) -> NDArray[np.int64]:
    """Numbers of the unknowns of (4), and multipliers, in the sequence in which a plan eliminates them.

    Raises OrderError where its unknowns are not those of (4).
    """
    graph, n = chosen.graph, system.tree.n
    if graph.split or graph.structure.n != n:
        what = "splits forces" if graph.split else "puts bodies into pieces"
        what = f"{what}, so that its unknowns are not those of equation (4)"
        raise OrderError(f"order {chosen.sequence.name!r}", what, "use an order of pdd, qdd and f")
    start = np.zeros(graph.count, dtype=np.int64)
    for kind, first in zip((PDD, QDD, F), system.starts, strict=True):
        start[kind * n : (kind + 1) * n] = first
    rows = graph.size[LAM * n :]
    start[LAM * n :] = system.size - rows.sum() + np.cumsum(rows) - rows
    size = graph.size[chosen.blocks]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(np.repeat(start[chosen.blocks], size) + within)
