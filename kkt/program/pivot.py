"""The two base pivots: a pair with an exact inverse, and a dense block factored L D L^T."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from .program import Ref, Writer

Rows = dict[int, dict[int, Ref | None]]
Column = dict[int, Ref] | dict[int, Ref | None]


def present(refs: dict[int, Ref | None]) -> dict[int, Ref]:
    """Without the blocks that are zero."""
    return {b: ref for b, ref in refs.items() if ref is not None}


class BasePivot(Protocol):
    """A square block A with the three uses that elimination makes of its inverse."""

    blocks: tuple[int, ...]

    def apply(self, c: Column) -> dict[int, Ref | None]:
        """A^-1 c, block by block."""
        ...

    def quadratic(self, c1: Column, c2: Column, o1: int, o2: int | None) -> Ref | None:
        """c1^T A^-1 c2; o1 == o2 says that the columns are the same, so the result symmetric."""
        ...

    def coupled(self, C: dict[int, dict[int, Ref]]) -> Iterator[tuple[int, int]]:
        """Pairs of coupled blocks, each once, between which the pivot makes an update."""
        ...

    def inverse(self) -> dict[tuple[int, int], Ref | None]:
        """A^-1 itself, block by block."""
        ...


class PairPivot:
    """[[X, 1], [1, 0]] with the inverse [[0, 1], [1, -X]]: no arithmetic happens on the 1."""

    def __init__(self, write: Writer, blocks: tuple[int, ...], X: Ref | None) -> None:
        self.write, self.blocks, self.X = write, blocks, X
        self._lower: dict[int | None, Ref | None] = {}  # None: the right-hand side

    def apply(self, c: Column) -> dict[int, Ref | None]:
        x, z = self.blocks
        w = self.write
        return {x: c.get(z), z: w.sub(c.get(x), w.mul(self.X, c.get(z)))}

    def _second(self, o: int | None, c: Column) -> Ref | None:
        """c_x - X c_z, formed once for every coupled block."""
        if o not in self._lower:
            before = self.write.at("second", self.blocks[0], -1 if o is None else o)
            self._lower[o] = self.apply(c)[self.blocks[1]]
            self.write.place = before
        return self._lower[o]

    def quadratic(self, c1: Column, c2: Column, o1: int, o2: int | None) -> Ref | None:
        x, z = self.blocks
        w = self.write
        if o1 == o2:
            square = w.mul(w.t(c1.get(z)), w.mul(self.X, c1.get(z)), symmetric=True)
            if not (c1.get(x) and c1.get(z)):
                return w.neg(square)
            once = w.mul(w.t(c1.get(x)), c1.get(z))
            return w.mirror(w.sub(w.add(once, w.t(once)), square))
        # X meets the narrower of the two columns
        if o2 is not None and self._width(c2) > self._width(c1):
            return w.t(self.quadratic(c2, c1, o2, o1))
        upper = w.mul(w.t(c1.get(x)), c2.get(z))
        if c1.get(z) is None:
            return upper
        return w.add(upper, w.mul(w.t(c1.get(z)), self._second(o2, c2)))

    def coupled(self, C: dict[int, dict[int, Ref]]) -> Iterator[tuple[int, int]]:
        """Blocks coupled through z with each other and with those through x; never x with x."""
        through = [o for o, c in C.items() if c.get(self.blocks[1])]
        for i, o1 in enumerate(through):
            for o2 in through[i:]:
                yield o1, o2
        beside = [o for o, c in C.items() if not c.get(self.blocks[1])]
        for o1 in through:
            for o2 in beside:
                yield o1, o2

    def _width(self, c: Column) -> int:
        return max((self.write.shape(ref)[1] for ref in c.values() if ref), default=0)

    def inverse(self) -> dict[tuple[int, int], Ref | None]:
        x, z = self.blocks
        size = self.write.shapes[self.X.value][0] if self.X else 6
        return {(x, z): self.write.eye(size), (z, z): self.write.neg(self.X)}


class DensePivot:
    """A block, or several, factored L D L^T; updates (c c^T)/d or (c/d) c^T."""

    def __init__(
        self, write: Writer, blocks: tuple[int, ...], sizes: list[int], factor: Ref, gain: bool
    ) -> None:
        self.write, self.blocks, self.sizes = write, blocks, sizes
        self.factor, self.gain = factor, gain
        self._forward: dict[int | None, Ref | None] = {}  # None: the right-hand side
        self._solved: dict[int, Ref | None] = {}

    def _stack(self, c: Column) -> Ref | None:
        w = self.write
        known = [ref for ref in c.values() if ref]
        if not known:
            return None
        return w.stack([c.get(b) for b in self.blocks], self.sizes, w.shape(known[0])[1])

    def _split(self, ref: Ref | None) -> dict[int, Ref | None]:
        result, start = {}, 0
        for b, size in zip(self.blocks, self.sizes, strict=True):
            result[b] = self.write.rows(ref, start, start + size)
            start += size
        return result

    def apply(self, c: Column) -> dict[int, Ref | None]:
        return self._split(self.write.solve(self.factor, self._stack(c)))

    def quadratic(self, c1: Column, c2: Column, o1: int, o2: int | None) -> Ref | None:
        w = self.write
        if self.gain:
            if o1 not in self._solved:
                before = w.at("gain", self.blocks[0], o1)
                self._solved[o1] = w.solve(self.factor, self._stack(c1))
                w.place = before
            return w.mul(w.t(self._solved[o1]), self._stack(c2), symmetric=o1 == o2)
        return w.inner(self.factor, self._half(o1, c1), self._half(o2, c2), symmetric=o1 == o2)

    def coupled(self, C: dict[int, dict[int, Ref]]) -> Iterator[tuple[int, int]]:
        keys = list(C)
        for i, o1 in enumerate(keys):
            for o2 in keys[i:]:
                yield o1, o2

    def _half(self, o: int | None, c: Column) -> Ref | None:
        """L^-1 c, formed once for every coupled block."""
        if o not in self._forward:
            before = self.write.at("half", self.blocks[0], -1 if o is None else o)
            self._forward[o] = self.write.forward(self.factor, self._stack(c))
            self.write.place = before
        return self._forward[o]

    def inverse(self) -> dict[tuple[int, int], Ref | None]:
        eye = self.write.eye(sum(self.sizes))
        columns = self.write.solve(self.factor, eye)
        rows = self._split(columns)
        result: dict[tuple[int, int], Ref | None] = {}
        for b in self.blocks:
            across = self._split(self.write.t(rows[b]))
            result.update({(b, c): self.write.t(across[c]) for c in self.blocks if c >= b})
        return result
