"""Named values of a block program: families, signs, and what each is made from."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Any, NamedTuple

from pivotree.kkt.matrix.blocks import KINDS, LAM, Block, Structure
from pivotree.kkt.program.program import Instruction, Place, Program, Ref

from .nodes import Family, Leaf, Node, Sum, Term, negated, transpose

THROUGH = ("mirror", "forward", "same", "factor")  # named as their operand
ALWAYS = ("along", "across", "basis")  # of S alone: named even where they are used once
ASKED = ("qdd", "lam")  # unknowns that a listing finds
FORE, BACK = 0, 1  # passes
LINEAR = ("mul", "solve", "divide", "forward", "weight")


class Member(NamedTuple):
    """One named value."""

    value: int
    family: Family
    index: tuple[int, ...]  # type: ignore[assignment]
    event: tuple[int, int]  # the pass and the base pivot; -1 before all pivots
    sign: int  # the family's: the value is sign times what is listed
    turned: bool = False  # what is listed is the transposed value


class Values:
    """Which values of a program are named, with which sign each is told, and what it is made from.

    A value is named where it is used twice, where a solution or a pivot is read off it, and where other
    values of its kind are named; what is used once is written into its user.  The family of a value is
    its place in the elimination without the bodies, its index the bodies.
    """

    def __init__(
        self, program: Program, structure: Structure, position: dict[int, int], acceleration: int
    ) -> None:
        """``position``: of each block in the elimination; none of a substitution.

        ``acceleration``: 1 where the bodies' unknowns are told as (4) has them, minus spatial
        accelerations, and -1 where as the accelerations themselves.
        """
        self.program: Program = program
        self.structure: Structure = structure
        self.position: dict[int, int] = position
        self.gauss: bool = program.symbolic is not None and "pivot" in {p.label for p in program.places}
        live = program.live(("qdd", "lam"))
        wanted = [ref.value for block, ref in program.solution.items() if block.kind == "pdd"]
        if any(i.out in wanted for i, keep in zip(program.instructions, live, strict=True) if keep):
            live = program.live(("qdd", "lam", "pdd"))  # of all bodies, where some are needed
        self.live: list[Instruction] = [i for i, keep in zip(program.instructions, live, strict=True) if keep]
        made = zip(program.instructions, program.places, strict=True)
        self.place: dict[int, Place] = {i.out: place for i, place in made}
        self.made: dict[int, Instruction] = {i.out: i for i in program.instructions}
        self.solved: dict[int, Block] = {ref.value: block for block, ref in program.solution.items()}
        self.alias: dict[int, int] = {}
        self._redirect()
        self.names: set[int] = set()
        self._choose()
        self.signs: dict[str, int] = {"pdd": acceleration, "qdd": 1, "f": 1, "lam": 1}  # of the unknowns
        self.members: dict[int, Member] = self._members()
        self._trees: dict[int, Sum] = {}
        self._sign_families()

    # -- which values are named ---------------------------------------------------------------

    def _redirect(self) -> None:
        """A value and its ``same`` at one pivot are one value, that of the ``same``."""
        for i in self.live:
            if i.op != "same":
                continue
            below = self._below(operand(i, 0).value)
            plain = self.made[below].op in ("input", "eye", "same", *ALWAYS)
            same = self._event(self.place[i.out]) == self._event(self.place[below])
            if not plain and below not in self.alias and same:
                self.alias[below] = i.out

    def _below(self, value: int) -> int:
        while self.made[value].op == "mirror":
            value = operand(self.made[value], 0).value
        return value

    def canonical(self, value: int) -> int:
        """The value under whose name this one goes."""
        while True:
            below = self._below(value)
            value = self.alias.get(below, below)
            if value == below:
                return value

    def _choose(self) -> None:
        uses: Counter[int] = Counter()
        for i in reversed(self.live):
            times = max(uses[i.out], 1) if i.op in ("forward", "mirror") else 1
            for ref in i.args:
                if ref is not None:
                    uses[ref.value] += times
        again: Counter[int] = Counter()
        for value, count in uses.items():
            i = self.made[value]
            if i.op in ("input", "eye", "factor", "forward"):
                continue
            target = self.canonical(value)
            # uses of a copy count as its original's; the use by the copy itself does not
            again[target] += count - (value in self.alias)
        for i in self.live:
            if i.op == "factor":
                self._name(operand(i, 0).value)
            copy = i.op == "same" and self.place[i.out].label != "children"
            if copy or i.op in ALWAYS or again[i.out] > 1:
                self._name(i.out)
        for value, block in self.solved.items():
            if block.kind in ASKED:
                self._name(value)
        for values in self._results.values():
            if any(value in self.names for value in values):  # where one of a kind of place is named, all are
                for value in values:
                    self._name(value)
        self._drop_copies()

    def _name(self, value: int) -> None:
        value = self.canonical(value)
        if self.made[value].op not in ("input", "eye", "factor", "forward", "mirror"):
            self.names.add(value)

    @cached_property
    def _results(self) -> dict[tuple[Any, ...], list[int]]:
        """The last value made at each place, by the family of the place."""
        last: dict[Place, int] = {}
        for i in self.live:
            if i.op not in ("input", "eye", *THROUGH, *ALWAYS):
                last[self.place[i.out]] = i.out
        result: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for place, value in last.items():
            result[self._label(place)].append(value)
        return result

    def _drop_copies(self) -> None:
        """Entries and unknowns that are only other names of what has one are written as that."""
        families: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for value in self.names:
            families[self._label(self.place[value])].append(value)
        asked = {self.canonical(v) for v, block in self.solved.items() if block.kind in ASKED}
        before = -1
        while before != len(self.names):
            before = len(self.names)
            for values in families.values():
                copies = all(self.made[v].op == "same" and self._known(v) for v in values)
                if copies and asked.isdisjoint(values):
                    self.names.difference_update(values)

    def _known(self, same: int) -> bool:
        target = self.canonical(operand(self.made[same], 0).value)
        if target == same:
            return False
        while self.made[target].op == "same" and target not in self.names:
            target = self.canonical(operand(self.made[target], 0).value)
        return self.made[target].op in ("input", "eye") or target in self.names

    # -- places ------------------------------------------------------------------------------

    def kind(self, block: int) -> int:
        """Of a block of the block graph, by its number."""
        return min(block // self.structure.n, LAM)

    def body(self, block: int) -> int:
        """The body of a block, or its loop: loops are numbered behind the bodies."""
        kind, n = self.kind(block), self.structure.n
        return block - kind * n + n * (kind == LAM)

    def _label(self, place: Place) -> tuple[Any, ...]:
        kinds: tuple[str, ...] = ()
        if self.gauss:
            kinds = tuple("rhs" if b < 0 else KINDS[self.kind(b)] for b in place.blocks)
        label = place.label
        if label in ("entry", "children") and place.blocks[-1] >= 0:
            i, j = (self.body(b) for b in place.blocks)
            label = "own" if i == j and label == "entry" else label
        return (label, kinds, place.back)

    def _event(self, place: Place) -> tuple[int, int]:
        if place.label in ("entry", "children") and self.position:
            first = min((b for b in place.blocks if b >= 0), key=self.position.__getitem__)
            return (FORE, self._pivot_of[first])
        return (int(place.back), place.pivot)

    @cached_property
    def _pivot_of(self) -> dict[int, int]:
        """Number of the base pivot that takes each block."""
        number = self.program.factor.plan.graph.number
        pivots = enumerate(self.program.pivots)
        return {number(*block): at for at, record in pivots for block in record.blocks}

    # -- members of families -------------------------------------------------------------------

    def _members(self) -> dict[int, Member]:
        at: dict[Place, list[int]] = defaultdict(list)
        for value in sorted(self.names):
            at[self.place[value]].append(value)
        raw: dict[int, tuple[tuple[Any, ...], tuple[int, ...], tuple[int, int]]] = {}
        pushed = self._pushed()
        for place, values in at.items():
            for later, value in enumerate(reversed(values)):
                made = self.made[value]
                if made.op in ALWAYS:  # belongs to the joint, whoever forms it
                    letter, body = self.made[operand(made, 0).value].info
                    raw[value] = ((made.op, (letter,), False, 0), (body,), (FORE, -1))
                    continue
                event = self._event(place)
                if self._label(place) in pushed:
                    event = self._event(self.place[self._source(value)])
                index = tuple(self.body(b) for b in place.blocks if b >= 0)
                index = index[::-1] if self._turned(value) else index
                raw[value] = ((*self._label(place), later), index, event)
        return self._distinct(raw)

    def _source(self, value: int) -> int:
        """The value that a copy copies."""
        return self._below(operand(self.made[value], 0).value) if self.made[value].op == "same" else -1

    def _pushed(self) -> set[tuple[Any, ...]]:
        """Labels of entries that one pivot makes whole: they are listed at that pivot."""
        kinds: dict[tuple[Any, ...], bool] = {}
        for value in self.names:
            place = self.place[value]
            if self._label(place)[0] == "entry" and place.blocks[-1] >= 0:
                source = self.place.get(self._source(value))
                one = source is not None and source.label == "update"
                label = self._label(place)
                kinds[label] = kinds.get(label, True) and one and self._single(value)
        return {label for label, one in kinds.items() if one}

    def _single(self, value: int) -> bool:
        """Whether one pivot makes an entry: it is no sum over several."""
        source = self.made[self._source(value)]
        pivot = self.place[source.out].pivot
        return source.op != "add" or all(
            ref is None or self.place[ref.value].pivot == pivot for ref in source.args
        )

    def _turned(self, value: int) -> bool:
        """Whether an entry is listed transposed: of two alike blocks the earlier comes first."""
        place = self.place[value]
        if place.label != "entry" or len(place.blocks) != 2 or place.blocks[1] < 0:
            return False
        i, j = place.blocks
        same = self.kind(i) == self.kind(j)
        return same and self.position[i] > self.position[j]

    def _distinct(self, raw: dict[Any, Any]) -> dict[int, Member]:
        families: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for value, (family, _, _) in raw.items():
            families[family].append(value)
        result: dict[int, Member] = {}
        for family, values in families.items():
            index = {v: raw[v][1] for v in values}
            if len(set(index.values())) < len(values):  # several stages: their pivot tells apart
                first = {v: self.program.pivots[raw[v][2][1]].blocks[0] for v in values}
                index = {v: (*i, number_of(self.structure, first[v])) for v, i in index.items()}
            times: Counter[tuple[int, ...]] = Counter()
            turn = {}  # how often a place has been before
            for v in sorted(values):
                turn[v] = times[index[v]]
                times[index[v]] += 1
            keep = independent(list(index.values()))
            for v in values:
                short = tuple(index[v][p] for p in keep)
                name = (*family, turn[v]) if turn[v] else family
                result[v] = Member(v, name, short, raw[v][2], 1, self._turned(v))
        return result

    # -- signs ---------------------------------------------------------------------------------

    def _sign_families(self) -> None:
        """Signs with which values read best: those of one quantity alike, first terms positive."""
        forced: dict[Family, int] = {}
        for block, ref in self.program.solution.items():
            sign, _, value = self._original(ref)  # rotations solve for accelerations, minus pdd
            member = self.members.get(value)
            if member is not None and block.kind in self.signs:
                forced[member.family] = self.signs[block.kind] * sign
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
            self._trees[value] = tree if sign > 0 else negated(tree)

    # -- expressions --------------------------------------------------------------------------

    def tree(self, value: int) -> Sum:
        """What a named value is made from, as a sum of signed terms."""
        return self._trees[value]

    def _tree(self, value: int) -> Sum:
        sign, node = self._expand(self.made[value])
        if self.members[value].turned:
            node = transpose(node)
        tree = node if isinstance(node, Sum) and node.kind == "sum" else Sum((Term(1, node),))
        return tree if sign * self.members[value].sign > 0 else negated(tree)

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
                inner, node = -inner, negated(node)
            return sign * inner, transpose(node) if turned else node
        return sign, leaf._replace(transposed=True) if turned and not symmetric else leaf

    def _given(self, letter: str, place: int) -> tuple[Leaf, int]:
        """A block of (4) and its sign; G_ck has that of its side, minus on a loop's first body."""
        if letter == "G":
            side = self.structure.sides[place]
            return Leaf(("input", letter), (self.structure.n + side.tie, side.body)), side.sign
        loop = self.structure.n if letter in ("gamma", "compliance") else 0
        return Leaf(("input", letter), (loop + place,)), 1

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
        return sign, Node(i.op, tuple(args))

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
                terms += (node if outer == sign else negated(node)).terms
            else:
                terms.append(Term(outer * sign, node))
        return terms

    def _inner(self, i: Instruction) -> tuple[int, Any]:
        sign, matrix = self._ref(operand(i, 0))
        parts = []
        for ref in (operand(i, 1), operand(i, 2)):
            made = self.made[ref.value]
            if made.op == "forward":
                ref = operand(made, 1) if ref.sign > 0 else -operand(made, 1)
            s, node = self._ref(ref)
            sign *= s
            parts.append(node)
        return sign, Node("inner", (matrix, *parts))

    def _gathered(self, i: Instruction) -> tuple[int, Any]:
        if self.gauss:  # of a pivot of several blocks, which groups tell
            return 1, Node(i.op, tuple(map(self._signed, i.args)))
        if i.op == "rows":
            return self._part(i)
        if i.op == "rotate":  # rows, residuals and weights of each set; the last: A
            given = [self._signed(ref) for ref in i.args]
            sets = tuple(Term(1, Node("set", tuple(given[p : p + 3]))) for p in range(1, len(given) - 2, 3))
            last = given[-1:] if len(given) % 3 == 2 else ()
            return 1, Node("rotate", (given[0], Sum(sets, "parts"), *last), (i.info[1],))
        k = self.place[i.out].blocks[:1]  # accelerations along the joint, and beside it
        parts = [
            Term(1, Node("row", (self._signed(ref),), k, (kind,)))
            for kind, ref in zip(("fJ", "fC"), i.args, strict=False)
            if ref is not None
        ]
        return 1, Node(i.op, (Sum(tuple(parts), "parts"),))

    def _signed(self, ref: Ref | None) -> Any:
        if ref is None:
            return Node("zero", ())
        sign, node = self._ref(ref)
        return node if sign > 0 else Sum((Term(-1, node),))

    def _part(self, i: Instruction) -> tuple[int, Any]:
        """What the rows are that are cut out."""
        sign, node = self._ref(operand(i, 0))
        k = self.place[i.out].blocks[0]
        N = int(self.structure.dof[k])
        kinds = {
            (6, 7): "residuals",
            (7, 8): "weights",
            (0, N): "along",
            (N, None): "left",
            (8, 8 + N): "turned",
        }
        return sign, Node("cut", (node,), (k,), (kinds.get(tuple(i.info), "beside"),))


def number_of(structure: Structure, block: Block) -> int:
    """The number of a block's body; of its loop, behind those of all bodies."""
    if block.kind == "lam":
        return structure.n + structure.tie_index[block.body]
    return structure.index[block.body]


def operand(i: Instruction, place: int) -> Ref:
    """An operand that is no zero block."""
    ref = i.args[place]
    assert ref is not None
    return ref


def independent(indices: list[tuple[int, ...]]) -> list[int]:
    """Positions of an index that do not always repeat an earlier one."""
    keep: list[int] = []
    for p in range(len(indices[0])):
        if not any(all(i[p] == i[q] for i in indices) for q in keep):
            keep.append(p)
    return keep
