"""The sets of bodies and loops, and the tests of them, that lines of a listing speak of.

One table has each set in words and as an expression in Python.  A printed script defines its sets by these
expressions, and :class:`.sets.Tree` finds the same sets by evaluating them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

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
    "bodies": SetOf("all bodies", "range(n)", ()),
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


def _pair(python: str, words: str, of: tuple[str, ...] = ("body", "body"), asks: str = "") -> Test:
    return Test(python, words, of, asks)


NUMBERS = ("number", "number")
TESTS = {  # those that are tried first come first
    "is a body of": _pair("({1}, {0}) in G", "{0} ∈ tied({1})", ("body", "loop"), "loops"),
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
    "same": _pair("{0} == {1}", "{0} = {1}", NUMBERS),
    "differ": _pair("{0} != {1}", "{0} ≠ {1}", NUMBERS),
    "child of": _pair("parent[{0}] == {1}", "{0} is a child of {1}"),
    "parent of": _pair("parent[{1}] == {0}", "{0} is the parent of {1}"),
    "siblings": _pair("parent[{0}] == parent[{1}]", "{0} and {1} are siblings"),
}

ONLY = {"N": "N > 0", "C": "N < 6", "F": "N = 0"}  # the test that a part of a set passes


def read_by(python: str) -> list[str]:
    """Names of the sets that an expression reads, each once."""
    words = dict.fromkeys(word.replace("_", " ") for word in re.findall(r"[a-z_]+", python))
    return [name for name in SETS if name.replace("_", " ") in words]


def needed(name: str) -> list[str]:
    """A set and all that its definition reads, each after those that it needs."""
    found: dict[str, None] = {}
    for other in read_by(SETS[name].table(name)):
        if other != name:
            found.update(dict.fromkeys(needed(other)))
    return [*found, name]
