"""Index sets with names: children, ancestors, below and others, found by comparing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pivotree.kkt.matrix.blocks import Structure

from .nodes import Index

Context = dict[str, int]  # body of each index letter
OF_PAIRS = ("via", "through", "upto", "downto", "beneath")  # sets of a body and another
OF_COLUMNS = ("line", "tree", "aside")
IN_TURN = ("left", "gone", "leading", "paired", "first joints")
OF_ONE = ("ties", "held", "tied", "moving", "earlier", "later")
OF_LOOPS = {  # sets and tests about loops: what the letter stands for, and the second one
    "ties": "body",
    "held": "body",
    "toward": "body, loop",
    "branch": "body, loop",
    "tied": "loop",
    "moving": "loop",
    "earlier": "loop",
    "later": "loop",
    "common": "loop, loop",
    "holds a loop": "body",
    "holds no loop": "body",
    "comes last": "loop",
    "comes first": "loop",
}


class Set(NamedTuple):
    """The bodies that a letter runs over.

    name    children, ancestors, below, path, subtree, siblings, bodies, roots;
            of loops: those of OF_LOOPS
    of      letters whose bodies it is taken of
    only    "": all of them; "N": with a joint that moves; "C": that constrains; "F": fixed
    """

    name: str
    of: tuple[str, ...] = ()
    only: str = ""


NAMELESS = Set("?")  # bodies that no set of the above gives; a test that none of TESTS is


def nameless(thing: Any) -> bool:
    """Whether lines hold a set or a test without a name, which no page could print."""
    return thing == NAMELESS.name or (isinstance(thing, tuple) and any(map(nameless, thing)))


class Condition(NamedTuple):
    """When a line or a term is there: all of the tests, each a name and the letters it tests."""

    tests: tuple[tuple[str, tuple[str, ...]], ...]


class Tree:
    """What sets and conditions are made from."""

    def __init__(self, structure: Structure, columns: bool = False, turn: Sequence[int] = ()) -> None:
        """``columns``: sets and tests that columns of right-hand sides need are known, too.

        ``turn``: joints in the sequence in which their constraint forces go, which makes known
        the sets and tests that depend on it.
        """
        self.columns, self.turn = columns, tuple(turn)
        self.place = {k: place for place, k in enumerate(turn)}
        n = self.n = structure.n
        ties = structure.ties  # loops are numbered behind the bodies; they have rows, no parent
        self.structure = structure
        self.parent = [*(int(p) for p in structure.parent), *(-1 for _ in ties)]
        self.dof = [*(int(d) for d in structure.dof), *(tie.rows for tie in ties)]
        self.whole = [*structure.copy_of.tolist(), *range(n, n + len(ties))]
        self.pieces = structure.divided
        self.carrier = [structure.carriers.get(k, -1) for k in range(n + len(ties))]
        self.order = [int(k) for k in structure.order]
        self._members: dict[tuple[str, tuple[int, ...], str], frozenset[int]] = {}

    @cached_property
    def children(self) -> list[list[int]]:
        result: list[list[int]] = [[] for _ in self.parent]
        for k, up in enumerate(self.parent):
            if up >= 0:
                result[up].append(k)
        return result

    @cached_property
    def ancestors(self) -> list[list[int]]:
        """Nearest first."""
        result = []
        for k in range(len(self.parent)):
            line, up = [], self.parent[k]
            while up >= 0:
                line.append(up)
                up = self.parent[up]
            result.append(line)
        return result

    @cached_property
    def below(self) -> list[list[int]]:
        result: list[list[int]] = [[] for _ in self.parent]
        for k, line in enumerate(self.ancestors):
            for up in line:
                result[up].append(k)
        return result

    def body(self, index: Index, context: Context) -> int:
        k = int(index.letter) if index.letter.isdigit() else context[index.letter]
        if index.of == "parent":
            return self.parent[k]
        if index.of == "carrier":
            return self.carrier[k]
        return self.whole[k] if index.of == "whole" else k

    def set(self, name: str, of: tuple[int, ...]) -> Sequence[int]:
        """Bodies of a set, ascending but for ancestors, which are nearest first."""
        if name == "bodies":
            return range(self.n)
        if name == "loops":
            return range(self.n, len(self.parent))
        if name == "roots":
            return [k for k, up in enumerate(self.parent[: self.n]) if up < 0]
        k = of[0]
        if name in OF_LOOPS:
            return self._of_loops(name, of)
        up = self.parent[k]
        return {
            "children": lambda: self.children[k],
            "ancestors": lambda: self.ancestors[k],
            "path": lambda: [k, *self.ancestors[k]],
            "below": lambda: self.below[k],
            "tree": lambda: [j for j in range(self.n) if self.path(j)[-1] == self.path(k)[-1]],
            "aside": lambda: [j for j in self.set("tree", of) if not self.on_line(j, k)],
            "line": lambda: sorted([*self.path(k), *self.below[k]]),
            "upto": lambda: [c for c in self.ancestors[k] if of[-1] in self.path(c)],
            "downto": lambda: [c for c in self.path(of[-1]) if k in self.ancestors[c]],
            "beneath": lambda: [c for c in self.below[k] if self.on_line(c, of[-1])],
            "through": lambda: [c for c in self.children[k] if c in self.ancestors[of[-1]]],
            "via": lambda: [c for c in self.children[k] if c in self.path(of[-1])],
            "subtree": lambda: sorted([k, *self.below[k]]),
            "siblings": lambda: [c for c in self.children[up] if c != k] if up >= 0 else [],
            "joints": lambda: sorted([k, *self.children[k]]),  # joints that a body has part in
            "near": lambda: self.near(k),
            "before": lambda: [j for j in self.near(k) if self.rank[j] < self.rank[k]],
            "after": lambda: [j for j in self.near(k) if self.rank[j] > self.rank[k]],
            "left": lambda: self.left[k],
            "gone": lambda: [c for c in self.turn if k in self.left[c]],
            "leading": lambda: self.left[k][:-1],
            "trailing": lambda: self.after(self.left[k], of[-1]),
            "paired": lambda: [c for c in self.children[k] if {*self.set("siblings", (c,))} & {*self.turn}],
            "first joints": lambda: self.joints(k)[:-1],
            "shared": lambda: [c for c in self.turn if {*of} <= {*self.left[c]}],
            "next joints": lambda: self.after(self.joints(k), of[-1]),
            "siblings before": lambda: [j for j in self.set("siblings", of) if self.rank[j] < self.rank[k]],
            "siblings after": lambda: [j for j in self.set("siblings", of) if self.rank[j] > self.rank[k]],
        }[name]()

    @cached_property
    def left(self) -> list[list[int]]:
        """Joints coupled with each when it goes, in turn: those it meets at a body, and fill."""
        result: list[list[int]] = [[] for _ in self.parent]
        met = {k: {j for j in self.near(k) if j in self.place} for k in self.turn}
        for k in self.turn:
            result[k] = sorted(met[k], key=self.place.__getitem__)
            for j in result[k]:
                met[j] = (met[j] | met[k]) - {j, k}
        return result

    def after(self, joints: Sequence[int], j: int) -> list[int]:
        """Those joints that go after j."""
        return [i for i in joints if self.place[i] > self.place.get(j, -1)]

    def joints(self, k: int) -> list[int]:
        """Joints of body k, in turn."""
        return [j for j in self.turn if j in (k, *self.children[k])]

    def turns(self, k: int, others: Sequence[int], later: bool) -> bool:
        """Whether there are other joints, and all go after k, or all before it."""
        mine = self.place.get(k, -1)
        return bool(others) and all((self.place.get(j, -1) > mine) == later for j in others)

    def on_line(self, i: int, j: int) -> bool:
        return i in self.path(j) or j in self.path(i)

    def path(self, k: int) -> list[int]:
        return [k, *self.ancestors[k]]

    def _of_loops(self, name: str, of: tuple[int, ...]) -> Sequence[int]:
        """Bodies of a loop, loops of a body, and the bodies or loops that have to do with two."""
        k, loops = of[0], range(self.n, len(self.parent))
        if name in ("earlier", "later"):
            return range(self.n, k) if name == "earlier" else range(k + 1, len(self.parent))
        if name == "tied":
            return sorted(self.structure.ties[k - self.n].bodies)
        if name in ("moving", "common"):
            return [j for j in self.order if {*of} <= {*self.set("held", (j,))}]
        if name in ("toward", "branch"):
            bodies = self.children[k] if name == "toward" else self.below[k]
            return [j for j in bodies if of[1] in self.set("held", (j,))]
        inside = {k, *(self.below[k] if name == "held" else ())}
        return [c for c in loops if inside & {*self.set("tied", (c,))}]

    SETS = (
        "children",
        "ancestors",
        "below",
        "path",
        "subtree",
        "siblings",
        "joints",
        "before",
        "after",
        "near",
        "siblings before",
        "siblings after",
        *OF_ONE,
    )

    @cached_property
    def rank(self) -> dict[int, int]:
        """Place of each body from tip to base."""
        return {k: place for place, k in enumerate(self.order)}

    def near(self, k: int) -> list[int]:
        """The other joints of the two bodies that joint k joins."""
        up = self.parent[k]
        line = [up] if up >= 0 else []
        return [*line, *self.set("siblings", (k,)), *self.children[k]]

    def members(self, s: Set, context: Context) -> list[int]:
        found = self.set(s.name, tuple(context[letter] for letter in s.of))
        return [k for k in found if self.admits(s.only, k)]

    def gives(self, s: Set, contexts: list[Context], wanted: list[frozenset[int]]) -> bool:
        """Whether a set with a name has these bodies in every context; each is found once."""
        for context, bodies in zip(contexts, wanted, strict=True):
            key = (s.name, tuple(context[letter] for letter in s.of), s.only)
            if key not in self._members:
                self._members[key] = frozenset(self.members(s, context))
            if self._members[key] != bodies:
                return False
        return True

    def spread(self, over: Sequence[tuple[str, Set]], context: Context) -> Iterator[Context]:
        """Contexts with every letter of these sets, one set after another."""
        if not over:
            yield context
            return
        letter, s = over[0]
        for body in self.members(s, context):
            yield from self.spread(over[1:], {**context, letter: body})

    def admits(self, only: str, k: int) -> bool:
        N = self.dof[k]
        return {"": True, "N": N > 0, "C": N < 6, "F": N == 0}[only]

    def name_set(self, contexts: list[Context], found: list[tuple[int, ...]], ordered: bool = False) -> Set:
        """The set that gives these bodies in every context; NAMELESS where none has a name.

        ``ordered``: their order counts, as in a stack.
        """
        if ordered and self.structure.ties and {*found} == {tuple(self.set("loops", ()))}:
            return Set("loops", ())
        if ordered:
            return NAMELESS
        wanted = [frozenset(x) for x in found]
        letters = tuple(contexts[0]) if contexts else ()
        names = (*self.SETS, *OF_COLUMNS * self.columns, *IN_TURN * bool(self.turn))
        for only in ("", "N", "C", "F"):
            one = [(name, (x,)) for name in names for x in letters if self._takes(name, x, contexts)]
            two = [*self._of_two(letters, contexts)]
            for name, of in [*two, *one] if self.turn else [*one, *two]:
                s = Set(name, of, only)
                if self.gives(s, contexts, wanted):
                    return s
            for name in ("roots", "bodies", *(["loops"] if self.structure.ties else ())):
                s = Set(name, (), only)
                if self.gives(s, contexts, wanted):
                    return s
        return NAMELESS

    def _takes(self, name: str, letter: str, contexts: list[Context]) -> bool:
        """Whether a letter stands for what a set or a test is of: bodies, or loops."""
        if name in OF_LOOPS and not self.structure.ties:
            return False
        loops = OF_LOOPS.get(name, "body") == "loop"
        return all((c[letter] >= self.n) == loops for c in contexts)

    def _of_two(
        self, letters: tuple[str, ...], contexts: list[Context]
    ) -> Iterator[tuple[str, tuple[str, str]]]:
        """Sets that two bodies have, a body and a loop, or two loops."""
        pairs = [(k, j) for k in letters[:1] for j in letters[1:]]
        yield from ((name, pair) for name in OF_PAIRS * self.columns for pair in pairs)
        yield from (
            (name, pair) for name in ("trailing", "next joints", "shared") for pair in pairs if self.turn
        )
        if self.structure.ties:
            loops = [x for x in letters if self._takes("tied", x, contexts)]
            bodies = [x for x in letters if self._takes("bodies", x, contexts)]
            yield from ((name, (k, c)) for name in ("toward", "branch") for k in bodies for c in loops)
            yield from (("common", (c, d)) for c in loops for d in loops if c < d)

    def _tests(self, name: str, of: tuple[str, ...], contexts: list[Context]) -> bool:
        """Whether a test is about what its letters stand for."""
        if name in TIED:
            body, loop = of if name == "is a body of" else of[::-1]
            return self._takes("bodies", body, contexts) and self._takes("tied", loop, contexts)
        return name in NUMBERS or all(self._takes(name, x, contexts) for x in of)

    # -- conditions ---------------------------------------------------------------------------

    def holds(self, condition: Condition | None, context: Context) -> bool:
        if condition is None:
            return True
        return all(self.test(name, tuple(context[x] for x in letters)) for name, letters in condition.tests)

    def test(self, name: str, of: tuple[int, ...]) -> bool:
        k, other = of[0], of[-1]
        return bool(TESTS[name](self, k, other))

    def name_condition(self, contexts: list[Context], held: list[bool]) -> Condition | None:
        """The test that holds in exactly those contexts; None where it holds in all."""
        if all(held):
            return None
        letters = tuple(contexts[0])
        single: list[tuple[str, tuple[str, ...]]] = [
            (name, (x,)) for name in TESTS if name not in PAIRS for x in letters
        ]
        single += [(name, (x, y)) for name in PAIRS for x in letters for y in letters if x < y]
        single = [(name, of) for name, of in single if self._tests(name, of, contexts)]
        if not self.columns:
            single = [test for test in single if test[0] not in LINES]
        single = [test for test in single if self.turn or not test[0].startswith("goes ")]
        best = {*TIED, *(("same", "differ") if self.turn else ())}  # what says most comes first
        single.sort(key=lambda test: test[0] not in best)
        columns = []
        for test in single:
            column = [self.test(test[0], tuple(c[x] for x in test[1])) for c in contexts]
            if column == held:
                return Condition((test,))
            if all(c or not h for c, h in zip(column, held, strict=True)) and not all(column):
                columns.append((test, column))
        for p, (one, a) in enumerate(columns):
            for two, b in columns[p + 1 :]:
                if [x and y for x, y in zip(a, b, strict=True)] == held:
                    return Condition((one, two))
        return Condition(((NAMELESS.name, letters),))


TESTS: dict[str, Callable[[Tree, int, int], bool]] = {
    "has a parent": lambda t, k, _: t.parent[k] >= 0,
    "is a root": lambda t, k, _: t.parent[k] < 0,
    "has children": lambda t, k, _: bool(t.children[k]),
    "is a leaf": lambda t, k, _: not t.children[k],
    "has a parent or no children": lambda t, k, _: t.parent[k] >= 0 or not t.children[k],
    "N > 0": lambda t, k, _: t.dof[k] > 0,
    "N = 0": lambda t, k, _: t.dof[k] == 0,
    "N < 6": lambda t, k, _: t.dof[k] < 6,
    "N = 6": lambda t, k, _: t.dof[k] == 6,
    "has moving children": lambda t, k, _: any(t.dof[c] for c in t.children[k]),
    "is whole": lambda t, k, _: t.whole[k] == k,
    "has a carrier": lambda t, k, _: t.carrier[k] >= 0,
    "has no carrier": lambda t, k, _: t.carrier[k] < 0,
    "is a piece": lambda t, k, _: t.whole[k] != k,
    "same": lambda t, i, j: i == j,
    "differ": lambda t, i, j: i != j,
    "child of": lambda t, i, j: t.parent[i] == j,
    "parent of": lambda t, i, j: t.parent[j] == i,
    "siblings": lambda t, i, j: t.parent[i] == t.parent[j],
    "below": lambda t, i, j: j in t.ancestors[i],
    "above": lambda t, i, j: i in t.ancestors[j],
    "on path": lambda t, i, j: i in t.path(j),
    "on line": lambda t, i, j: t.on_line(i, j),
    "off line": lambda t, i, j: not t.on_line(i, j),
    "goes before": lambda t, i, j: t.turns(i, [j], True),
    "goes after": lambda t, i, j: t.turns(i, [j], False),
    "goes before its parent": lambda t, k, _: t.turns(k, t.ancestors[k][:1], True),
    "goes after its parent": lambda t, k, _: t.turns(k, t.ancestors[k][:1], False),
    "goes before its children": lambda t, k, _: t.turns(k, t.children[k], True),
    "goes after its children": lambda t, k, _: t.turns(k, t.children[k], False),
    "less": lambda t, i, j: i < j,
    "more": lambda t, i, j: i > j,
    "holds a loop": lambda t, k, _: bool(t.set("held", (k,))),
    "holds no loop": lambda t, k, _: not t.set("held", (k,)),
    "comes first": lambda t, c, _: c == t.n,
    "comes last": lambda t, c, _: c == len(t.parent) - 1,
    "is a body of": lambda t, k, c: k in t.set("tied", (c,)),
    "has the body": lambda t, c, k: k in t.set("tied", (c,)),
}
LINES = ("on path", "on line", "off line")  # tests that columns need
TIED = {"is a body of", "has the body"}  # a body's test of a loop, and the other way round
NUMBERS = ("same", "differ", "less", "more")  # tests of numbers, those of loops among them
PAIRS = (
    "same",
    "differ",
    "child of",
    "parent of",
    "siblings",
    "below",
    "above",
    *LINES,
    "goes before",
    "goes after",
    "less",
    "more",
    *TIED,
)
