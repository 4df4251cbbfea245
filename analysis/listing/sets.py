"""Index sets with names: children, ancestors, below and others, found by comparing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from pivotree.kkt.matrix.blocks import Structure

from .nodes import Index

BODY, LOOP = ("body",), ("loop",)


class SetOf(NamedTuple):
    """A set of bodies or loops, taken of the letters k, or k and j.

    ``python`` reads parent (n,), N (n and loops), G (pairs of a loop and its body), and sets of this
    table; where it has several lines, they are statements that define the set.
    """

    what: str  # in words; "" for what only other sets read
    python: str
    of: tuple[str, ...] = BODY  # what its letters stand for
    over: str = ""  # the letters' clauses, where these are not all bodies or loops
    asks: str = ""  # what must be there: "loops", or "turn"

    def table(self, name: str) -> str:
        """The statement by which a script defines the set."""
        if "\n" in self.python:
            return self.python
        name = name.replace(" ", "_")
        if not self.of:
            return f"{name} = {self.python}"
        everywhere = {"body": "range(n)", "loop": "loops"}
        over = self.over or " ".join(
            f"for {letter} in {everywhere[what]}" for letter, what in zip("kj", self.of, strict=False)
        )
        key = "(k, j)" if len(self.of) > 1 else "k"
        listed = over == "for k in range(n)"
        left, inside, right = ("[", self.python, "]") if listed else ("{", f"{key}: {self.python}", "}")
        if len(name) + len(inside) + len(over) < 80:
            return f"{name} = {left}{inside} {over}{right}"
        return f"{name} = {left}\n    {inside}\n    {over}\n{right}"


_IN_TURN = "for k in turn"
SETS = {  # those that are found first come first
    "children": SetOf("bodies that hang on body k", "[c for c in range(n) if parent[c] == k]"),
    "ancestors": SetOf(
        "bodies from the parent of k to its root",
        """ancestors = [[] for _ in range(n)]
for k in range(n):
    up = parent[k]
    while up >= 0:
        ancestors[k].append(up)
        up = parent[up]""",
    ),
    "below": SetOf(
        "bodies that hang on k, directly or not",
        """below = [[] for _ in range(n)]
for k in range(n):
    for j in ancestors[k]:
        below[j].append(k)""",
    ),
    "subtree": SetOf("k and all that hangs on it", "[k, *below[k]]"),
    "siblings": SetOf(
        "the other children of k's parent",
        "[j for j in children[parent[k]] if j != k] if parent[k] >= 0 else []",
    ),
    "before": SetOf(
        "children of k, and siblings that come before k from tip to base",
        "[j for j in [*siblings[k], *children[k]] if rank[j] < rank[k]]",
    ),
    "after": SetOf(
        "the parent of k, and siblings that come after k from tip to base",
        "[j for j in [parent[k], *siblings[k]] if j >= 0 and rank[j] > rank[k]]",
    ),
    "near": SetOf(
        "the parent, the siblings and the children of k",
        "[j for j in [parent[k], *siblings[k], *children[k]] if j >= 0]",
    ),
    "siblings before": SetOf(
        "siblings that come before k from tip to base", "[j for j in siblings[k] if rank[j] < rank[k]]"
    ),
    "siblings after": SetOf(
        "siblings that come after k from tip to base", "[j for j in siblings[k] if rank[j] > rank[k]]"
    ),
    "ties": SetOf("loops and contacts of body k", "[c for c in loops if (c, k) in G]", asks="loops"),
    "held": SetOf(
        "loops and contacts of k and of all that hangs on it",
        "sorted({c for j in subtree[k] for c in ties[j]})",
        asks="loops",
    ),
    "tied": SetOf("bodies of loop k", "sorted(j for c, j in G if c == k)", LOOP, asks="loops"),
    "moving": SetOf(
        "bodies whose joints move loop k", "[j for j in tip_to_base if k in held[j]]", LOOP, asks="loops"
    ),
    "earlier": SetOf("loops and contacts before k", "range(n, k)", LOOP, asks="loops"),
    "later": SetOf("loops and contacts behind k", "range(k + 1, len(N))", LOOP, asks="loops"),
    "left": SetOf(
        "those that are coupled with k when it goes",
        """met = {k: {j for j in near[k] if j in turn} for k in turn}
left = {k: [] for k in [*range(n), *turn]}
for k in turn:
    left[k] = sorted(met[k], key=turn.index)
    for j in left[k]:
        met[j] = (met[j] | met[k]) - {j, k}""",
        asks="turn",
    ),
    "gone": SetOf(
        "those that went before k and were coupled with it then",
        "[c for c in turn if k in left[c]]",
        over=_IN_TURN,
        asks="turn",
    ),
    "leading": SetOf("all of left(k) but the one that goes last", "left[k][:-1]", over=_IN_TURN, asks="turn"),
    "paired": SetOf(
        "children of k that have a sibling whose joint constrains",
        "[c for c in children[k] if any(j in turn for j in siblings[c])]",
        asks="turn",
    ),
    "first joints": SetOf(
        "joints of body k that constrain, but the one of them that goes last",
        "[j for j in turn if j == k or parent[j] == k][:-1]",
        asks="turn",
    ),
    "trailing": SetOf(
        "those of left(k) that go after j",
        "[i for i in left[k] if place[i] > place[j]]",
        ("body", "body"),
        "for k in turn for j in left[k]",
        "turn",
    ),
    "next joints": SetOf(
        "joints of body k that constrain and go after j",
        "[i for i in turn if k in (i, parent[i]) and place[i] > place[j]]",
        ("body", "body"),
        "for k in range(n) for j in first_joints[k]",
        "turn",
    ),
    "shared": SetOf(
        "those that were coupled with both k and j when they went",
        "[c for c in gone[k] if j in left[c]]",
        ("body", "body"),
        "for k in turn for j in turn",
        "turn",
    ),
    "toward": SetOf(
        "children of k that hold loop j",
        "[c for c in children[k] if j in held[c]]",
        ("body", "loop"),
        asks="loops",
    ),
    "branch": SetOf(
        "bodies that hang on k and hold loop j",
        "[c for c in below[k] if j in held[c]]",
        ("body", "loop"),
        asks="loops",
    ),
    "common": SetOf(
        "bodies whose joints move the loops k and j",
        "[c for c in tip_to_base if {k, j} <= {*held[c]}]",
        ("loop", "loop"),
        asks="loops",
    ),
    "roots": SetOf("bodies without a parent", "[k for k in range(n) if parent[k] < 0]", ()),
    "loops": SetOf("all loops and contacts", "range(n, len(N))", (), asks="loops"),
    # what others read
    "tip_to_base": SetOf(
        "",
        """levels = [[k for k in range(n) if parent[k] < 0]]
while levels[-1]:
    levels.append([c for k in levels[-1] for c in children[k]])
tip_to_base = [k for level in levels[::-1] for k in level]""",
        (),
    ),
    "rank": SetOf("", "{k: i for i, k in enumerate(tip_to_base)}", ()),
    "turn": SetOf("", "TURN", ()),
    "place": SetOf("", "turn.index(k) if k in turn else -1"),
}


class Test(NamedTuple):
    """A condition on the body or loop of one letter, {0}, or of two."""

    python: str
    words: str = ""  # where they are not the test's name after its letter
    of: tuple[str, ...] = BODY  # what its letters stand for; of numbers, both
    asks: str = ""


PAIR, NUMBERS = ("body", "body"), ("number", "number")
TESTS = {  # those that are tried first come first
    "is a body of": Test("({1}, {0}) in G", "{0} ∈ tied({1})", ("body", "loop"), "loops"),
    "has a parent": Test("parent[{0}] >= 0"),
    "is a root": Test("parent[{0}] < 0"),
    "has children": Test("children[{0}]"),
    "is a leaf": Test("not children[{0}]"),
    "has a parent or no children": Test("(parent[{0}] >= 0 or not children[{0}])"),
    "is a root or fixed": Test("(parent[{0}] < 0 or N[{0}] == 0)"),
    "N > 0": Test("N[{0}] > 0", "N_{0} > 0"),
    "N = 0": Test("N[{0}] == 0", "N_{0} = 0"),
    "N < 6": Test("N[{0}] < 6", "N_{0} < 6"),
    "N = 6": Test("N[{0}] == 6", "N_{0} = 6"),
    "goes before its parent": Test("0 <= parent[{0}] and place[{0}] < place[parent[{0}]]", asks="turn"),
    "goes after its parent": Test("0 <= parent[{0}] and place[{0}] > place[parent[{0}]]", asks="turn"),
    "same": Test("{0} == {1}", "{0} = {1}", NUMBERS),
    "differ": Test("{0} != {1}", "{0} ≠ {1}", NUMBERS),
    "child of": Test("parent[{0}] == {1}", "{0} is a child of {1}", PAIR),
    "parent of": Test("parent[{1}] == {0}", "{0} is the parent of {1}", PAIR),
    "siblings": Test("parent[{0}] == parent[{1}]", "{0} and {1} are siblings", PAIR),
}

ONLY = {"N": "N > 0", "C": "N < 6", "F": "N = 0"}  # the test that a part of a set passes


def read_by(python: str) -> list[str]:
    """Names of the sets that an expression reads, each once."""
    words = dict.fromkeys(word.replace("_", " ") for word in re.findall(r"[a-z_]+", python))
    return [name for name in SETS if name.replace("_", " ") in words]


@cache
def needed(name: str) -> tuple[str, ...]:
    """A set and all that its definition reads, each after those that it needs."""
    found: dict[str, None] = {}
    for other in read_by(SETS[name].table(name)):
        if other != name:
            found.update(dict.fromkeys(needed(other)))
    return (*found, name)


Context = dict[str, int]  # body of each index letter


class Set(NamedTuple):
    """The bodies, or loops, that a letter runs over.

    name    of the table SETS
    of      letters whose bodies it is taken of
    only    "": all of them; "N": with a joint that moves; "C": that constrains; "F": fixed
    """

    name: str
    of: tuple[str, ...] = ()
    only: str = ""


NAMELESS = Set("?")  # bodies that no set of the table gives; a test that none of TESTS is


def nameless(thing: Any) -> bool:
    """Whether lines hold a set or a test without a name, which no page could print."""
    return thing == NAMELESS.name or (isinstance(thing, tuple) and any(map(nameless, thing)))


class Condition(NamedTuple):
    """When a line or a term is there: all of the tests, each a name and the letters it tests."""

    tests: tuple[tuple[str, tuple[str, ...]], ...]


PARENT = Condition((("has a parent", ("k",)),))  # implied where a formula holds the parent


class Table(dict[int | tuple[int, int], Collection[int]]):
    """A set of each body, loop or pair of them, found by its expression when it is first asked for."""

    def __init__(self, rule: Callable[..., Any]) -> None:
        super().__init__()
        self.rule = rule

    def __missing__(self, of: int | tuple[int, int]) -> Collection[int]:
        self[of] = found = self.rule(*of) if isinstance(of, tuple) else self.rule(of)
        return found


class Tree:
    """What sets and conditions are made from."""

    def __init__(self, structure: Structure, turn: Sequence[int] = ()) -> None:
        """``turn``: joints in the sequence in which their constraint forces go.

        It makes known the sets and tests that depend on it.
        """
        self.turn: tuple[int, ...] = tuple(turn)
        n = structure.n
        self.n: int = n
        ties = structure.ties  # loops are numbered behind the bodies; they have rows, no parent
        self.structure = structure
        self.parent: list[int] = [*(int(p) for p in structure.parent), *(-1 for _ in ties)]
        self.dof: list[int] = [*(int(d) for d in structure.dof), *(tie.rows for tie in ties)]
        self.order: list[int] = [int(k) for k in structure.order]
        self.asks: dict[str, bool] = {"": True, "turn": bool(turn), "loops": bool(ties)}
        self._members: dict[tuple[str, tuple[int, ...], str], frozenset[int]] = {}
        self._known: dict[str, Any] = {  # what expressions of the tables read
            "n": n,
            "N": self.dof,
            "parent": self.parent,
            "tip_to_base": self.order,
            "TURN": [*turn],
            "G": {(c, int(k)) for c, tie in enumerate(ties, n) for k in tie.bodies},
        }

    @cached_property
    def children(self) -> list[Collection[int]]:
        return [self.set("children", (k,)) for k in range(self.n)]

    @cached_property
    def ancestors(self) -> list[Collection[int]]:
        """Nearest first."""
        return [self.set("ancestors", (k,)) for k in range(self.n)]

    def body(self, index: Index, context: Context) -> int:
        k = context[index.letter]
        return self.parent[k] if index.of else k

    def set(self, name: str, of: tuple[int, ...] = ()) -> Collection[int]:
        """Bodies or loops of a set of the table; ancestors are nearest first."""
        self._define(needed(name))
        found = self._known[name.replace(" ", "_")]
        return found[of[0] if len(of) == 1 else of] if SETS[name].of else found

    def _define(self, names: Sequence[str]) -> None:
        """Evaluate definitions of the table, each after those that it reads."""
        for name in names:
            identifier, python = name.replace(" ", "_"), SETS[name].python
            if identifier in self._known:
                continue
            if "\n" in python:
                exec(python, self._known)
            elif not SETS[name].of:
                self._known[identifier] = eval(python, self._known)
            else:
                self._known[identifier] = Table(eval(f"lambda k, j=-1: {python}", self._known))

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
        return not only or self.test(ONLY[only], (k,))

    def name_set(self, contexts: list[Context], wanted: list[frozenset[int]]) -> Set:
        """The set that gives these bodies in every context; NAMELESS where none has a name."""
        letters = tuple(contexts[0]) if contexts else ()
        known = [name for name, s in SETS.items() if s.what and self.asks[s.asks]]
        candidates = [(name, of) for name in known for of in self._letters(SETS[name].of, letters, contexts)]
        first = 2 if self.turn else 1  # letters of the sets that are tried first
        candidates.sort(key=lambda pair: (not pair[1], abs(len(pair[1]) - first)))
        for only in ("", "N", "C", "F"):
            for name, of in candidates:
                s = Set(name, of, only)
                if self.gives(s, contexts, wanted):
                    return s
        return NAMELESS

    def _letters(
        self, kinds: tuple[str, ...], letters: tuple[str, ...], contexts: list[Context]
    ) -> list[tuple[str, ...]]:
        """Letters that a set or a test can be taken of: those that stand for bodies, or for loops."""
        if not kinds:
            return [()]
        able = [[x for x in letters if self._stands(kind, x, contexts)] for kind in kinds]
        if len(kinds) == 1:
            return [(x,) for x in able[0]]
        alike = kinds[0] == kinds[1]
        return [(x, y) for p, x in enumerate(able[0]) for y in (able[1][p + 1 :] if alike else able[1])]

    def _stands(self, kind: str, letter: str, contexts: list[Context]) -> bool:
        return kind == "number" or all((c[letter] >= self.n) == (kind == "loop") for c in contexts)

    # -- conditions ---------------------------------------------------------------------------

    def holds(self, condition: Condition | None, context: Context) -> bool:
        if condition is None:
            return True
        return all(self.test(name, tuple(context[x] for x in letters)) for name, letters in condition.tests)

    def test(self, name: str, of: tuple[int, ...]) -> bool:
        return bool(self._tests[name](*of))

    @cached_property
    def _tests(self) -> dict[str, Callable[..., Any]]:
        """Tests of the table as functions of one body or loop, or of two."""
        found = {}
        for name, test in TESTS.items():
            if self.asks[test.asks]:
                for read in read_by(test.python):
                    self._define(needed(read))
                python = test.python.format("i", "j")
                found[name] = eval(f"lambda i, j=-1: {python}", self._known)
        return found

    def name_condition(self, contexts: list[Context], held: list[bool]) -> Condition | None:
        """The test that holds in exactly those contexts; None where it holds in all."""
        if all(held):
            return None
        letters = tuple(contexts[0])
        by_count = {1: letters, 2: tuple(sorted(letters))}
        tests = [
            (name, of)
            for name in self._tests
            for of in self._letters(TESTS[name].of, by_count[len(TESTS[name].of)], contexts)
        ]
        if self.turn:  # what says most comes first
            tests.sort(key=lambda test: test[0] not in ("same", "differ"))
        columns = []
        for test in tests:
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
