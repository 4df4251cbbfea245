"""Named values of a block program: with which sign each is told, and what it is made from."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pivotree.kkt.matrix.blocks import Structure
from pivotree.kkt.program.program import Instruction, Program, Ref

from .choice import number_of, operand
from .members import Members
from .nodes import Family, Leaf, Node, Sum, Term, transpose

LINEAR = ("mul", "solve", "divide", "forward", "weight")


class Values(Members):
    """Members of all families, with their signs and what each is made from."""

    def __init__(
        self, program: Program, structure: Structure, position: dict[int, int] | None, acceleration: int = 1
    ) -> None:
        """``position``: of each block in the elimination.

        ``acceleration``: 1 where the bodies' unknowns are told as (4) has them, minus spatial
        accelerations, and -1 where as the accelerations themselves.
        """
        super().__init__(program, structure, position)
        self.told: dict[str, int] = {"pdd": acceleration, "qdd": 1, "f": 1, "lam": 1}  # signs of the unknowns
        self.members = self._members()
        self._trees: dict[int, Sum] = {}
        self._sign_families()

    def _sign_families(self) -> None:
        """Signs with which values read best: those of one quantity alike, first terms positive."""
        forced: dict[Family, int] = {}
        for block, ref in self.program.solution.items():
            sign, _, value = self._original(ref)  # rotations solve for accelerations, minus pdd
            member = self.members.get(value)
            if member is not None and block.kind in self.told:
                forced[member.family] = self.told[block.kind] * sign
        self._sign(forced)
        # an equation keeps its meaning if all of it changes sign: pivot, couplings, right side
        own = {m.family[1][0]: m.sign for m in self.members.values() if m.family[0] == "own"}
        for m in self.members.values():
            label, kinds = m.family[:2]
            if label == "entry" and kinds[0] in own and kinds[1] in (kinds[0], "rhs"):
                forced.setdefault(m.family, own[kinds[0]])
        if any(forced.get(m.family, m.sign) != m.sign for m in self.members.values()):
            self._sign(forced)

    def _sign(self, forced: dict[Family, int]) -> None:
        of_family: dict[Family, int] = {}
        for value in sorted(self.members):
            member = self.members[value] = self.members[value]._replace(sign=1)
            tree = self._tree(value)  # of values before it, whose signs are settled
            first = forced.get(member.family)
            if first is None and member.family[0] in ("entry", "own", "x", "right"):
                first = of_family.get(member.family)  # one quantity of (4)
            sign = 1 if (first or tree.terms[0].sign) > 0 else -1
            of_family.setdefault(member.family, sign)
            self.members[value] = member._replace(sign=sign)
            if sign < 0:
                tree = Sum(tuple(t._replace(sign=-t.sign) for t in tree.terms))
            self._trees[value] = tree

    # -- expressions --------------------------------------------------------------------------

    def tree(self, value: int) -> Sum:
        """What a named value is made from, as a sum of signed terms."""
        return self._trees[value]

    def _tree(self, value: int) -> Sum:
        sign, node = self._expand(self.made[value])
        if self.members[value].turned:
            node = transpose(node)
        terms = node.terms if isinstance(node, Sum) and node.kind == "sum" else (Term(1, node),)
        sign *= self.members[value].sign
        return Sum(tuple(term._replace(sign=sign * term.sign) for term in terms))

    def _ref(self, ref: Ref) -> tuple[int, Any]:
        """A use of a value: sign, expression."""
        sign, turned, value = self._original(ref)
        i = self.made[value]
        if i.op == "input":
            leaf, own = self._given(*i.info)
            sign *= own
            symmetric = i.symmetric
        elif i.op == "eye":
            return sign, Node("eye", (), (), i.info)
        elif value in self.members:
            member = self.members[value]
            leaf = Leaf(member.family, member.index)
            sign *= member.sign
            symmetric = i.symmetric
            turned ^= member.turned
        elif i.op == "factor":
            return self._ref(operand(i, 0))
        else:
            inner, node = self._expand(i)
            if isinstance(node, Sum) and node.kind == "sum" and node.terms[0].sign < 0:
                inner = -inner
                node = Sum(tuple(term._replace(sign=-term.sign) for term in node.terms))
            return sign * inner, transpose(node) if turned else node
        return sign, leaf._replace(transposed=turned and not symmetric)

    def _given(self, letter: str, place: int) -> tuple[Leaf, int]:
        """A block of (4) and its sign; G_ck has that of its side, minus on a loop's first body."""
        if letter == "G":
            index, sign = self._sides[place]
            return Leaf(("input", letter), index), sign
        loop = self.structure.n if letter in ("gamma", "compliance") else 0
        return Leaf(("input", letter), (loop + place,)), 1

    @cached_property
    def _sides(self) -> list[tuple[tuple[int, int], int]]:
        """Loop, body and sign of each block of G."""
        return [
            ((c, k), sign)
            for c, tie in enumerate(self.structure.ties, self.structure.n)
            for k, sign in zip(tie.bodies, tie.signs, strict=True)
        ]

    def _original(self, ref: Ref) -> tuple[int, bool, int]:
        """The value that a use of a copy stands for: sign, whether transposed, value."""
        value = self.canonical(ref.value)
        sign, turned, step = ref.sign, ref.transposed, ref.value
        while step != value:
            made = self.made[step]
            if made.op in ("mirror", "same"):
                one = operand(made, 0)
                sign, turned, step = sign * one.sign, turned ^ one.transposed, one.value
            else:
                above = self.alias[step]
                s, t = self._between(above, step)
                sign, turned, step = sign * s, turned ^ t, above
        return sign, turned, value

    def _between(self, same: int, value: int) -> tuple[int, bool]:
        """Sign and transposition between a value and the ``same`` that stands for it."""
        sign, turned, step = 1, False, same
        while step != value:
            ref = operand(self.made[step], 0)
            sign, turned, step = sign * ref.sign, turned ^ ref.transposed, ref.value
        return sign, turned

    def _expand(self, i: Instruction) -> tuple[int, Any]:
        if i.op in ("mirror", "same"):
            ref = operand(i, 0)
            below = self._below(ref.value)
            if i.op == "same" and self.alias.get(below) == i.out:
                sign, turned = self._between(i.out, below)
                inner, node = self._expand(self.made[below])
                return sign * inner, transpose(node) if turned else node
            return self._ref(ref)
        if i.op == "add":
            return 1, Sum(tuple(self._terms(i)))
        if i.op == "inner":
            return self._inner(i)
        if i.op in ("weigh", "unweighed", "pivot", "weight"):
            signed = tuple(self._signed(ref) for ref in i.args)
            return 1, Node(i.op, signed, self.place[i.out].blocks[:1])
        if i.op in ("stack", "square", "rows", "rotate"):
            return self._gathered(i)
        sign = 1
        args: list[Any] = []
        for one in i.args:
            if one is None:
                args.append(Node("zero", ()))
                continue
            s, node = self._ref(one)
            if s < 0 and i.op not in LINEAR:
                node, s = Sum((Term(-1, node),)), 1
            if i.op in ("solve", "forward") and len(args) == 1 and not isinstance(node, Sum):
                node = Sum((Term(1, node),))
            sign *= s
            args.append(node)
        info = ("symmetric",) * (i.symmetric and i.op == "mul")
        return sign, Node(i.op, tuple(args), (), info)

    def _terms(self, i: Instruction) -> list[Term]:
        """Summands of a chain of additions, in the program's order."""
        terms: list[Term] = []
        waiting = [(1, operand(i, place)) for place in reversed(range(len(i.args)))]
        while waiting:
            outer, ref = waiting.pop()
            sign, turned, value = self._original(ref)
            made = self.made[value]
            if made.op == "add" and value not in self.members and not turned:
                waiting += [(outer * sign, operand(made, p)) for p in (1, 0)]
                continue
            sign, node = self._ref(ref)
            if isinstance(node, Sum) and node.kind == "sum":
                terms += [t._replace(sign=outer * sign * t.sign) for t in node.terms]
            else:
                terms.append(Term(outer * sign, node))
        return terms

    def _inner(self, i: Instruction) -> tuple[int, Any]:
        sign, matrix = self._ref(operand(i, 0))
        parts = []
        for ref in (operand(i, 1), operand(i, 2)):
            made = self.made[ref.value]
            if made.op == "forward":
                ref = operand(made, 1)._replace(sign=operand(made, 1).sign * ref.sign)
            s, node = self._ref(ref)
            sign *= s
            parts.append(node)
        return sign, Node("inner", (matrix, *parts), (), ("symmetric",) * i.symmetric)

    def _gathered(self, i: Instruction) -> tuple[int, Any]:
        if i.op == "rows":
            return self._part(i)
        if i.op == "rotate":  # rows, residuals and weights of each set; the last: A
            given = [self._signed(ref) for ref in i.args]
            sets = tuple(Term(1, Node("set", tuple(given[p : p + 3]))) for p in range(1, len(given) - 2, 3))
            last = given[-1:] if len(given) % 3 == 2 else ()
            return 1, Node("rotate", (given[0], Sum(sets, "parts"), *last), (i.info[1],))
        blocks = self._dense_blocks(i)
        places: list[tuple[tuple[str, int], ...]] = [(block,) for block in blocks]
        if i.op == "square":
            places = [(a, b) for p, a in enumerate(blocks) for b in blocks[p:]]
        kind = "row" if i.op == "stack" else "cell"
        parts = [
            Term(1, Node(kind, (self._signed(ref),), *split(place)))
            for place, ref in zip(places, i.args, strict=True)
            if ref is not None
        ]
        return 1, Node(i.op, (Sum(tuple(parts), "parts"), listed(blocks)))

    def _signed(self, ref: Ref | None) -> Any:
        if ref is None:
            return Node("zero", ())
        sign, node = self._ref(ref)
        return node if sign > 0 else Sum((Term(-1, node),))

    def _dense_blocks(self, i: Instruction) -> list[tuple[str, int]]:
        """Kinds and bodies of the blocks of a stack or a square: those of its dense pivot."""
        place = self.place[i.out]
        if not self.kinds:  # by rotations: accelerations along the joint, and beside it
            k = place.blocks[0]
            return [("fJ", k), ("fC", k)][: len(i.args)]
        return [block for block, _ in self._records(i)]

    def _records(self, i: Instruction) -> list[tuple[tuple[str, int], tuple[int, int]]]:
        """Blocks of the dense pivot that an instruction serves, with their rows."""
        factor = self.program.pivots[self.place[i.out].pivot].factor
        return [
            ((block.kind, number_of(self.structure, block)), record.rows)
            for record in self.program.pivots
            for block in record.blocks
            if record.factor == factor
        ]

    def _part(self, i: Instruction) -> tuple[int, Any]:
        """The body whose rows are cut out, or what the rows are."""
        sign, node = self._ref(operand(i, 0))
        if not self.kinds:
            k = self.place[i.out].blocks[0]
            N = int(self.structure.dof[k])
            kinds = {
                (6, 7): "residuals",
                (7, 8): "weights",
                (0, N): "along",
                (N, None): "left",
                (8, 8 + N): "turned",
            }
            what = kinds.get(tuple(i.info), "beside")
            return sign, Node("cut", (node,), (k,), (what,))
        records = self._records(i)
        own = next(block for block, rows in records if rows == tuple(i.info))
        return sign, Node("part", (node, listed([b for b, _ in records])), *split((own,)))


def split(blocks: tuple[tuple[str, int], ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Bodies and kinds apart: an index and what is the same for all indices."""
    return tuple(k for _, k in blocks), tuple(kind for kind, _ in blocks)


def listed(blocks: list[tuple[str, int]]) -> Sum:
    """Blocks in an order that counts."""
    return Sum(tuple(Term(1, Node("block", (), *split((b,)))) for b in blocks), "list")
