"""Where the entries of (4), and other blocks that a program takes, stand among the slots of a tape."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.blocks import Tie, sides_of
from ..matrix.entries import LETTERS, Entries, Pattern
from ..model.tree import BodyTree
from ..program.program import Ref, Writer
from .emit import Scalars

# letters that only a residual reads
UNKNOWNS = ("pdd", "qdd", "f", "lam", "dpdd", "dqdd", "df", "dlam")
NEAR = 0.02  # of a body's size: joints that are at most this far apart count as concentric


@dataclass(frozen=True)
class InputSlots:
    """Where the entries of (4) stand among the slots; a slot for each structural nonzero."""

    pattern: Pattern
    names: Sequence[Hashable]  # (n,) bodies of the tree
    parent: NDArray[np.int64]  # (n,)
    dof: NDArray[np.int64]
    subspaces: Sequence[NDArray[Any]]  # S_k of the state that the tape is made from
    integers: tuple[int, ...] = ()
    unknowns: tuple[str, ...] = ()  # those that are inputs
    near: NDArray[np.bool_] | None = None  # (n,) joints that all but share their parent's centre
    ties: tuple[Tie, ...] = ()  # closed loops and contacts
    beside: tuple[Scalars, ...] = ()  # blocks that are not in (4): 0, 1, or 2 for any number

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.dof)])

    def freedoms_of(self, k: int) -> slice:
        """Where the freedoms of body k stand among all."""
        return slice(int(self.offset[k]), int(self.offset[k + 1]))

    @cached_property
    def multipliers(self) -> NDArray[np.int64]:
        """(constraints + 1,) start of each constraint's multipliers."""
        return np.cumsum([0, *(tie.rows for tie in self.ties)])

    @cached_property
    def _entries(self) -> dict[str, Scalars]:
        """Slots of every letter of (4), one letter after another; one for M's (i, j) and (j, i)."""
        pattern, each = self.pattern, len(self.dof)
        free = {
            "M": pattern.M & np.triu(np.ones((6, 6), dtype=bool)),
            "Phi": pattern.Phi & ~pattern.Phi_one,
            "S": pattern.S & ~pattern.S_one,
            "a": np.repeat(pattern.a[:, None], 6, axis=1),
            "b": np.ones((each, 6), dtype=bool),
            "tau": np.ones(int(self.offset[-1]), dtype=bool),
            "G": pattern.G & ~pattern.G_one,
            "gamma": np.ones(int(self.multipliers[-1]), dtype=bool),
            "compliance": pattern.compliance,
            "A": pattern.A,
        }
        found, first = {}, 2
        for letter, mask in free.items():
            slots = found[letter] = np.zeros(mask.shape, dtype=np.int64)
            slots[mask] = np.arange(first, first + mask.sum())
            first += int(mask.sum())
        found["M"] += np.triu(found["M"], 1).swapaxes(1, 2)
        for letter, one in (("Phi", pattern.Phi_one), ("S", pattern.S_one), ("G", pattern.G_one)):
            found[letter][one] = 1
        return found

    @cached_property
    def _after(self) -> int:
        """The first slot after the entries of (4)."""
        return 1 + max(int(slots.max(initial=1)) for slots in self._entries.values())

    @cached_property
    def whole(self) -> dict[int, int]:
        """Slots of the whole numbers that pieces of split links divide by."""
        return {number: self._after + i for i, number in enumerate(self.integers)}

    @cached_property
    def given(self) -> dict[str, Scalars]:
        """Slots of the unknowns that are inputs: (n, 6); (N,) for qdd, (multipliers,) for lam."""
        first = self._after + len(self.integers)
        joints, rows = int(self.offset[-1]), int(self.multipliers[-1])
        shapes: dict[str, tuple[int, ...]] = {"qdd": (joints,), "lam": (rows,)}
        result = {}
        for letter in self.unknowns:
            shape = shapes.get(letter.removeprefix("d"), (len(self.dof), 6))
            size = int(np.prod(shape))
            result[letter] = np.arange(first, first + size, dtype=np.int64).reshape(shape)
            first += size
        if self.beside:
            codes = np.concatenate([block.ravel() for block in self.beside])
            codes[codes == 2] = np.arange(first, first + np.count_nonzero(codes == 2))
            result["beside"] = codes
        return result

    @cached_property
    def count(self) -> int:
        """Slots of zero, one and all inputs."""
        given = (int(slots.max(initial=1)) for slots in self.given.values())
        return max([self._after + len(self.integers), *(last + 1 for last in given)])

    @cached_property
    def others(self) -> list[Scalars]:
        """Slots of each block that is not in (4)."""
        parts = np.split(self.given["beside"], np.cumsum([block.size for block in self.beside]))
        return [part.reshape(block.shape) for part, block in zip(parts[:-1], self.beside, strict=True)]

    def pivot_rows(self, k: int) -> tuple[int, ...]:
        """Rows of S_k that the split of forces solves for: large pivots, in a stable order.

        Chosen once, from the state that the tape is made from; no number type chooses again.
        """
        return pivot_rows(self.subspaces[k])

    def concentric(self, k: int) -> bool:
        """Whether the joint of body k has the centre of its parent's joint, or nearly, always."""
        if self.parent[k] < 0:
            return False
        same = not self.pattern.Phi[k, :3, 3:].any()
        return bool(same or (self.near is not None and self.near[k]))

    def linear_columns(self, k: int) -> tuple[int, ...]:
        """Linear columns of E in [S E], last those along links to children, or its own link."""
        along = set().union(*(self._link_axes(c) for c in np.flatnonzero(self.parent == k).tolist()))
        along = along or (self._link_axes(k) if self.parent[k] >= 0 else set())
        beside = [i for i in range(6) if i not in self.pivot_rows(k)]
        linear = sorted((i for i in (5, 4, 3) if i in beside), key=lambda i: i - 3 in along)
        return tuple(int(self.dof[k]) + beside.index(i) for i in linear)

    def _link_axes(self, k: int) -> set[int]:
        """The coordinate axis along which p_k lies in every state, as a set; empty for none."""
        rows = self.pattern.Phi[k, :3, 3:].any(axis=1)
        return set(np.flatnonzero(~rows).tolist()) if rows.any() else set()

    def moved_joint(self, subspaces: Sequence[NDArray[Any]]) -> Hashable | None:
        """A body whose S has changed so that its pivot rows are not the tape's; None for none."""
        for k, name in enumerate(() if subspaces is self.subspaces else self.names):
            now = subspaces[k]
            if not np.array_equal(now, self.subspaces[k]) and pivot_rows(now) != self.pivot_rows(k):
                return name
        return None

    def block(self, letter: str, k: int) -> Scalars:
        if letter == "beside":
            return self.others[k]
        if letter == "H":
            return self.slots("S")[self.freedoms_of(k)]
        if letter == "G":
            return self.slots("G")[sides_of(self.ties)[k].rows]
        if letter in ("gamma", "compliance", "lam", "dlam"):
            own = self.slots(letter)[self.multipliers[k] : self.multipliers[k + 1]]
            return np.diag(own) if letter == "compliance" else own[:, None]
        array = self.slots(letter)
        if letter == "A":
            return np.diag(array[self.freedoms_of(k)])
        if array.ndim == 1:  # tau, qdd, dqdd
            return array[self.freedoms_of(k), None]
        array = array[k]
        return array if array.ndim == 2 else array[:, None]

    def slots(self, letter: str) -> Scalars:
        """Slots of one letter of (4), or of an unknown that is an input."""
        return self.given[letter] if letter in self.given else self._entries[letter]

    def values(self, entries: Entries) -> tuple[Scalars, NDArray[Any]]:
        """Slots and values of the inputs, in the number type of the entries."""
        places, values = [], []
        for letter in LETTERS:
            slots = np.triu(self.slots(letter)) if letter == "M" else self.slots(letter)
            take = slots > 1
            places.append(slots[take])
            values.append(getattr(entries, letter)[take])
        return np.concatenate(places), np.concatenate(values)


def near_centres(tree: BodyTree, pattern: Pattern) -> NDArray[np.bool_]:
    """(n,) joints whose centre is within NEAR of their parent's, in sizes of the bodies they carry.

    Read off the model alone, so that it holds in every state: the joint must not slide.
    """
    mass = np.where(tree.mass > 0.0, tree.mass, np.inf)
    size = np.sqrt((tree.com**2).sum(1) + np.trace(tree.inertia, axis1=1, axis2=2) / 2 / mass)
    size = np.where(tree.mass > 0.0, size, 0.0)
    for level in reversed(tree.levels):
        below = level[tree.parent[level] >= 0]
        np.maximum.at(size, tree.parent[below], size[below])
    slides = np.zeros(tree.n, dtype=bool)
    np.logical_or.at(slides, tree.owner, pattern.S[:, 3:].any(axis=1))
    return ~slides & (np.sqrt((tree.p**2).sum(1)) <= NEAR * size)


def pivot_rows(subspace: NDArray[Any]) -> tuple[int, ...]:
    """Rows of S (6, N) with large pivots, one a column, in an order that needs no pivoting."""
    S = np.array(subspace, dtype=float)
    rows: list[int] = []
    for j in range(S.shape[1]):
        row = int(np.argmax(np.abs(S[:, j])))
        rows.append(row)
        S = S - S[:, j : j + 1] * (S[row] / S[row, j])
        S[row] = 0.0
    return tuple(rows)


class Given:
    """Blocks that a program takes as inputs beside those of (4): patterns and numbers."""

    def __init__(self, write: Writer) -> None:
        self.write = write
        self._blocks: list[tuple[NDArray[np.int64], NDArray[Any]]] = []
        self.names: list[str] = []  # of the blocks, for readers that describe a program

    def block(
        self, values: NDArray[Any], codes: NDArray[np.int64] | None = None, name: str = "given"
    ) -> Ref | None:
        """An input block with these values; None where all are zero.

        ``codes`` say where it is zero (0), one (1) and another number (2), in every state.
        """
        codes = codes_of(values) if codes is None else codes
        if not codes.any():
            return None
        self._blocks.append((codes, values.ravel()))
        self.names.append(name)
        return self.write.input("beside", len(self._blocks) - 1, codes.shape)

    @property
    def patterns(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(codes for codes, _ in self._blocks)

    @property
    def numbers(self) -> NDArray[Any]:
        return np.concatenate([np.zeros(0), *(values for _, values in self._blocks)])


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Where values are zero (0), one (1) and another number (2)."""
    return np.where(values == 0.0, 0, np.where(values == 1.0, 1, 2))
