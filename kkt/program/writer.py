"""Write block instructions; zeros (None) and identities never become one."""

from __future__ import annotations

from .program import Instruction, Place, Ref


class Writer:
    """Collects the instructions of a program; every method returns a reference or None for 0."""

    def __init__(self, apart: bool = False) -> None:
        self.apart = apart  # every assembled entry and unknown is a value of its own: see ``named``
        self.place = Place("input")
        self.pivot = -1
        self.back = False
        self.places: list[Place] = []
        self.instructions: list[Instruction] = []
        self.shapes: list[tuple[int, int]] = []
        self.step = -1
        self._inputs: dict[tuple, Ref] = {}
        self._eyes: set[int] = set()
        self._symmetric: set[int] = set()

    def emit(
        self,
        op: str,
        args: tuple[Ref | None, ...],
        shape: tuple[int, int],
        symmetric: bool = False,
        info: tuple = (),
    ) -> Ref:
        """An instruction as it stands; the methods below leave out those that do nothing."""
        out = len(self.shapes)
        self.shapes.append(shape)
        self.instructions.append(Instruction(op, out, args, self.step, symmetric, info))
        self.places.append(self.place)
        if symmetric:
            self._symmetric.add(out)
        return Ref(out)

    def at(self, label: str, *blocks: int) -> Place:
        """Instructions from here on stand there; returns where those before stood."""
        before, self.place = self.place, Place(label, blocks, self.pivot, self.back)
        return before

    def named(self, ref: Ref | None, label: str, *blocks: int) -> Ref | None:
        """The same value; where values are kept ``apart``, one that bears this place's name."""
        if ref is None or not self.apart or ref.value in self._eyes:
            return ref
        before = self.at(label, *blocks)
        out = self.emit("same", (ref,), self.shape(ref), ref.value in self._symmetric)
        self.place = before
        return out

    def shape(self, ref: Ref) -> tuple[int, int]:
        rows, columns = self.shapes[ref.value]
        return (columns, rows) if ref.transposed else (rows, columns)

    # -- leaves -------------------------------------------------------------------------------

    def input(self, letter: str, body: int, shape: tuple[int, int]) -> Ref:
        """A block of (4), of a body; of a constraint, or for G of one of its sides."""
        key = (letter, body)
        if key not in self._inputs:
            symmetric = letter in ("M", "A", "compliance")
            self._inputs[key] = self.emit("input", (), shape, symmetric, key)
        return self._inputs[key]

    def eye(self, size: int) -> Ref:
        key = ("eye", size)
        if key not in self._inputs:
            self._inputs[key] = self.emit("eye", (), (size, size), True, (size,))
            self._eyes.add(self._inputs[key].value)
        return self._inputs[key]

    # -- free of arithmetic -------------------------------------------------------------------

    def t(self, ref: Ref | None) -> Ref | None:
        return None if ref is None else self.t_of(ref)

    def t_of(self, ref: Ref) -> Ref:
        return ref if ref.value in self._symmetric else ref.T

    def neg(self, ref: Ref | None) -> Ref | None:
        return None if ref is None else -ref

    def mirror(self, ref: Ref | None) -> Ref | None:
        if ref is None or ref.value in self._symmetric:
            return ref
        return self.emit("mirror", (ref,), self.shape(ref), True)

    def stack(self, refs: list[Ref | None], sizes: list[int], columns: int) -> Ref | None:
        """Blocks one above another; None where all of them are zero."""
        if all(ref is None for ref in refs):
            return None
        if len(refs) == 1:
            return refs[0]
        return self.emit("stack", tuple(refs), (sum(sizes), columns), info=(tuple(sizes),))

    def square(self, blocks: list[list[Ref | None]], sizes: list[int]) -> Ref:
        """A symmetric matrix from its blocks, of which the upper triangle is used."""
        if len(sizes) == 1:
            assert blocks[0][0] is not None
            return blocks[0][0]
        refs = tuple(blocks[i][j] for i in range(len(sizes)) for j in range(i, len(sizes)))
        size = sum(sizes)
        return self.emit("square", refs, (size, size), True, (tuple(sizes),))

    def rows(self, ref: Ref | None, first: int, last: int | None) -> Ref | None:
        """Rows first to last, not included; to the end where ``last`` is None."""
        if ref is None or (first, last) == (0, self.shape(ref)[0]):
            return ref
        rows, columns = self.shape(ref)
        size = (rows if last is None else last) - first
        return self.emit("rows", (ref,), (size, columns), info=(first, last))

    # -- arithmetic ---------------------------------------------------------------------------

    def mul(self, a: Ref | None, b: Ref | None, symmetric: bool = False) -> Ref | None:
        if a is None or b is None:
            return None
        if a.value in self._eyes:
            return b if a.sign > 0 else -b
        if b.value in self._eyes:
            return a if b.sign > 0 else -a
        out = self.emit("mul", (a, b), (self.shape(a)[0], self.shape(b)[1]), symmetric)
        return out

    def add(self, a: Ref | None, b: Ref | None) -> Ref | None:
        if a is None or b is None:
            return b if a is None else a
        symmetric = a.value in self._symmetric and b.value in self._symmetric
        return self.emit("add", (a, b), self.shape(a), symmetric)

    def sub(self, a: Ref | None, b: Ref | None) -> Ref | None:
        return self.add(a, self.neg(b))

    def unary(self, op: str, a: Ref, shape: tuple[int, int]) -> Ref:
        return self.emit(op, (a,), shape)

    def divide(self, a: Ref, by: int) -> Ref:
        return self.emit("divide", (a,), self.shape(a), a.value in self._symmetric, (by,))

    def factor(self, a: Ref, steps: tuple[int, ...]) -> Ref:
        """``steps``: group of each row; one group needs no list."""
        info = steps if len(set(steps)) > 1 else ()
        return self.emit("factor", (a,), self.shape(a), info=info)

    def forward(self, factor: Ref, c: Ref | None) -> Ref | None:
        if c is None or (self.shapes[factor.value][0] == 1 and not self.apart):
            return c
        return self.emit("forward", (factor, c), self.shape(c))

    def solve(self, factor: Ref, c: Ref | None) -> Ref | None:
        return None if c is None else self.emit("solve", (factor, c), self.shape(c))

    def inner(
        self, factor: Ref, y1: Ref | None, y2: Ref | None, symmetric: bool = False
    ) -> Ref | None:
        if y1 is None or y2 is None:
            return None
        shape = (self.shape(y1)[1], self.shape(y2)[1])
        return self.emit("inner", (factor, y1, y2), shape, symmetric)
