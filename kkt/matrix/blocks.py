"""Names of blocks, and what an order may see of a tree: its structure, never its values.

Of a symmetric matrix of one's own that is how it is cut into blocks (:class:`Partition`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..base.errors import LoopError, OrderError
from ..base.shown import Shown
from ..model.spatial import levels

KINDS = ("pdd", "qdd", "f", "fJ", "fC", "lam")
PDD, QDD, F, FJ, FC, LAM = range(6)
LINKS = ("whole", "split", "stretched")


class Block(NamedTuple):
    """One block of unknowns: minus acceleration, joint acceleration, or force of a body.

    ``pdd`` (6), ``qdd`` (N_k), ``f`` (6); where the force is split, ``fJ`` (N_k) along the joint
    axes and ``fC`` (6 - N_k), the constraint force.  A plain tuple ("pdd", body) is equal to it.
    ``lam`` (m), the multipliers of a closed loop or contact, has the loop's name for the body's.

    >>> block = next(iter(pt.build(pt.chain(1)).blocks))
    >>> block.kind, block.body, str(block)
    ('pdd', 'j1', 'pdd_j1')
    >>> block == ("pdd", "j1")
    True
    """

    kind: str
    body: Hashable

    def __str__(self) -> str:
        return f"{self.kind}_{self.body}"


class Tie(NamedTuple):
    """A closed loop or contact without values."""

    name: Hashable
    bodies: tuple[int, ...]  # indices of the bodies that it has rows on, first to second
    signs: tuple[int, ...]  # -1 for the first body, 1 for the second; all 1 for coupled joints
    rows: int  # m multipliers
    compliant: bool  # its own square block is nonzero


class Side(NamedTuple):
    """A block G of a loop or contact: its rows on one body."""

    tie: int  # number of the loop
    body: int
    sign: int
    rows: slice  # of G, those of all sides
    own: slice  # its multipliers


def sides_of(ties: Sequence[Tie]) -> tuple[Side, ...]:
    """The blocks G of loops and contacts, in the order in which their rows stand in G."""
    found: list[Side] = []
    row = first = 0
    for c, tie in enumerate(ties):
        own = slice(first, first + tie.rows)
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            found.append(Side(c, k, sign, slice(row, row + tie.rows), own))
            row += tie.rows
        first += tie.rows
    return tuple(found)


_NEUTRAL: Any = None  # what __post_init__ puts in its place says that there is nothing of the kind


@dataclass(frozen=True, eq=False, repr=False)
class Structure(Shown):
    """Tree and block graph of equation (4) without values, from which an order is made.

    ``tip_to_base`` and ``base_to_tip`` list all bodies, children first or parents first.

    >>> structure = pt.build(pt.binary(2)).structure
    >>> structure.names, structure.depth
    (('j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7'), array([0, 1, 1, 2, 2, 2, 2]))
    >>> structure.children("j1"), structure.parent_of("j4")
    (['j2', 'j3'], 'j2')
    """

    kinds: ClassVar[tuple[str, ...]] = KINDS  # names of the kinds of blocks

    names: Sequence[Hashable]  # (n,) bodies
    parent: NDArray[np.int64]  # (n,) index of the parent, -1 for a root
    dof: NDArray[np.int64]  # (n,) N_k
    copy_of: NDArray[np.int64] = _NEUTRAL  # (n,) body that a piece or a carrier belongs to, or itself
    pieces: NDArray[np.int64] = _NEUTRAL  # (n,) number of pieces that its body is split into, or 1
    carrier: NDArray[np.bool_] = _NEUTRAL  # (n,) massless, behind the joint of its body
    ties: tuple[Tie, ...] = ()  # closed loops and contacts
    armature: NDArray[np.bool_] = _NEUTRAL  # (n,) joints whose own square block is nonzero

    def __post_init__(self) -> None:
        none = np.zeros(self.n, dtype=bool)
        neutral = {"copy_of": np.arange(self.n), "pieces": np.ones(self.n, dtype=np.int64)}
        for name, value in (neutral | {"carrier": none, "armature": none}).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def facts(self) -> dict[str, Any]:
        return {"name": f"{self.n} bodies", "freedoms": int(self.dof.sum()), "loops": len(self.ties)}

    @property
    def n(self) -> int:
        return len(self.names)

    @cached_property
    def divided(self) -> bool:
        """Whether a body is split, or has a carrier."""
        return bool((self.copy_of != np.arange(self.n)).any())

    @cached_property
    def constraints(self) -> tuple[Hashable, ...]:
        """Names of the closed loops and contacts, whose multipliers are blocks ("lam", name)."""
        return tuple(tie.name for tie in self.ties)

    @property
    def graph(self) -> Any:
        """That of a matrix's blocks; a robot has none, and OrderError says so."""
        what = "asks for a graph of blocks, which a matrix has (pt.matrix) and a robot has not"
        raise OrderError(what, remedy="use minimum_degree for a robot")

    def require_tree(self, what: str, instead: str = "", by: str = "") -> None:
        """Raise LoopError where there are closed loops or contacts, which ``what`` cannot take.

        ``instead`` says what takes them, ``by`` what part of it does not.
        """
        if self.ties:
            other = "build the tree with loops=(), or leave out --contact and --loops"
            why = f"takes trees without closed loops and contacts, and {self.ties[0].name!r} is one"
            raise LoopError(what, by + why, instead or other)

    def tied(self, constraint: Hashable) -> list[Hashable]:
        """The bodies that a constraint has rows on: one or two, for coupled joints up to four."""
        return [self.names[k] for k in self.ties[self.tie_index[constraint]].bodies]

    def compliant(self, constraint: Hashable) -> bool:
        """Whether rows of a constraint are soft: its multipliers may be eliminated first."""
        return self.ties[self.tie_index[constraint]].compliant

    def closing(self, constraint: Hashable) -> Hashable:
        """The body that closes a loop: the last, from tip to base, of those whose joints move it.

        Once the joints of all these bodies are eliminated, the multipliers can be eliminated.
        """
        return max(self.moving(constraint), key=self._place.__getitem__)

    def moving(self, constraint: Hashable) -> list[Hashable]:
        """Bodies whose joints move the ends of a loop: from these up to where they meet."""
        from ..model.loops import paths

        return [self.names[k] for k in paths(self.ties[self.tie_index[constraint]].bodies, self.parent)]

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {k: i for i, k in enumerate(self.tip_to_base)}

    @cached_property
    def tie_index(self) -> dict[Hashable, int]:
        return {tie.name: c for c, tie in enumerate(self.ties)}

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        return sides_of(self.ties)

    @cached_property
    def sides_on(self) -> dict[int, list[int]]:
        """Of each body with rows of loops or contacts: the numbers of its sides."""
        found: dict[int, list[int]] = {}
        for number, side in enumerate(self.sides):
            found.setdefault(side.body, []).append(number)
        return found

    @cached_property
    def rows_of_G(self) -> NDArray[np.int64]:
        """(3, rows of G): for each row its multiplier, its body, and its sign, -1 on a loop's first body."""
        rows = [(r, x.body, x.sign) for x in self.sides for r in range(x.own.start, x.own.stop)]
        return np.array(rows, dtype=np.int64).reshape(-1, 3).T

    @cached_property
    def levels(self) -> list[NDArray[np.int64]]:
        return levels(self.parent)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Indices of the bodies, children before parents."""
        return np.concatenate(self.levels[::-1])

    @property
    def tip_to_base(self) -> list[Hashable]:
        """Bodies, children before parents: k = 1..n of Ascher 1996."""
        return [self.names[k] for k in self.order]

    @property
    def base_to_tip(self) -> list[Hashable]:
        """Bodies, parents before children."""
        return [self.names[k] for k in self.order[::-1]]

    @cached_property
    def index(self) -> dict[Hashable, int]:
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """(n,) number of ancestors; a root's is 0."""
        depth = np.zeros(self.n, dtype=np.int64)
        for d, level in enumerate(self.levels):
            depth[level] = d
        return depth

    def children(self, body: Hashable) -> list[Hashable]:
        """The bodies whose parent this is, in the tree's order."""
        return [self.names[c] for c in self._children[self.index[body]]]

    def parent_of(self, body: Hashable) -> Hashable | None:
        """The body that a body hangs from; None, the world, for a root."""
        up = self.parent[self.index[body]]
        return None if up < 0 else self.names[up]

    @cached_property
    def _children(self) -> list[list[int]]:
        result: list[list[int]] = [[] for _ in range(self.n)]
        for k, up in enumerate(self.parent):
            if up >= 0:
                result[up].append(k)
        return result

    def with_links(self, links: str) -> Structure:
        """This structure ("whole"), or with ``split_links`` or ``stretched`` links."""
        if links not in LINKS:
            raise OrderError("order", f"links {links!r} are unknown", f"use {', '.join(LINKS)}")
        return {"whole": lambda: self, "split": self.split_links, "stretched": self.stretched}[links]()

    def stretched(self) -> Structure:
        """A body with children becomes two: one with its mass, and a massless carrier of these.

        Both are behind the body's own joint, and the children hang on the carrier, so that M_k and
        the children's M~_k never meet (Ascher, Pai & Cloutier 1996, eq (11) as a matrix):

            M_k pdd_k + f_k = b_k                 pdd_k + H_k* qdd_k - Phi_k* pdd'_p = -a_k
            f'_k - sum of Phi_c (f_c + f'_c) = 0  pdd'_k + H_k* qdd_k - Phi_k* pdd'_p = -a_k
            H_k (f_k + f'_k) = tau_k

        Carriers are named ``(body, "carrier")`` and come after the bodies.
        """
        carried = [k for k, children in enumerate(self._children) if children]
        # a body and its own carrier both hang on the carrier of the body's parent
        place = {k: self.n + i for i, k in enumerate(carried)}
        up = [place.get(int(p), -1) for p in self.parent]
        return Structure(
            (*self.names, *((self.names[k], "carrier") for k in carried)),
            np.array([*up, *(up[k] for k in carried)], dtype=np.int64),
            np.array([*self.dof, *(0 for _ in carried)], dtype=np.int64),
            np.array([*range(self.n), *carried], dtype=np.int64),
            carrier=np.arange(self.n + len(carried)) >= self.n,
            ties=self.ties,
            armature=np.pad(self.armature, (0, len(carried))),
        )

    @cached_property
    def carriers(self) -> dict[int, int]:
        """Index of the carrier of each body that has one."""
        return {int(self.copy_of[c]): int(c) for c in np.flatnonzero(self.carrier)}

    def split_links(self) -> Structure:
        """Bodies with more than two children become chains of pieces with at most two.

        The pieces hang on fixed joints and share the body's inertia equally, so that no joint
        meets more than two others (Yamane & Nakamura, sec. 4).  New bodies are named
        ``(body, 1), (body, 2)...`` and come after the old ones.
        """
        parent, dof = list(self.parent), list(self.dof)
        names, copy_of = list(self.names), list(range(self.n))
        pieces = [1] * self.n
        for k, children in enumerate(self._children):
            # a piece takes one child and the next piece; the last piece takes two children
            last = k
            for i in range(1, len(children) - 1):
                parent[children[i]] = len(names)
                parent.append(last)
                dof.append(0)
                names.append((self.names[k], i))
                copy_of.append(k)
                last = len(names) - 1
            if len(children) > 2:
                parent[children[-1]] = last
                pieces[k] = len(children) - 1
        return Structure(
            tuple(names),
            np.array(parent, dtype=np.int64),
            np.array(dof, dtype=np.int64),
            np.array(copy_of, dtype=np.int64),
            np.array([pieces[k] for k in copy_of], dtype=np.int64),
            ties=self.ties,  # a body keeps its index as the first of its pieces
            armature=np.pad(self.armature, (0, len(names) - self.n)),
        )


def require_structure(structure: object) -> None:
    """Raise OrderError for anything but a structure, such as a tree or a system, which has one."""
    if not isinstance(structure, Structure):
        raise OrderError("structure", f"{type(structure).__name__} is none", "pass build(...).structure")


if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
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

    pairs: NDArray[np.int64] = field(kw_only=True)  # (2, e) coupled blocks, once each

    @cached_property
    def graph(self) -> nx.Graph[Any]:
        """Blocks by name, with an edge where two are coupled; attributes ``size`` and ``diagonal``."""
        import networkx as nx

        graph = nx.Graph()
        for name, size, own in zip(self.names, self.dof.tolist(), self.armature.tolist(), strict=True):
            graph.add_node(name, size=size, diagonal=own)
        graph.add_edges_from((self.names[i], self.names[j]) for i, j in self.pairs.T.tolist())
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
            "a matrix has blocks alone, and this order asks for bodies, tip and base, which a tree has",
            remedy="use an order of graphs, such as minimum_degree, or a list of groups of names",
        )

    def with_links(self, links: str) -> Structure:
        return self if links == "whole" else self._no_tree()

    @property
    def order(self) -> NDArray[np.int64]:
        """Blocks as they were given, for pictures that number them."""
        return np.arange(self.n)

    if not TYPE_CHECKING:
        levels = depth = tip_to_base = base_to_tip = property(_no_tree)
        children = parent_of = closing = tied = _no_tree
