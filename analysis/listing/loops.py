"""Loops of a listing: steps that repeat, found from the pivots of the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pivotree.kkt.matrix.blocks import Block
from pivotree.kkt.order.sequence import PivotSequence
from pivotree.kkt.program.program import Program

from .nodes import Family, FoldingError, Index, Leaf, Node, Sum, Term, children, leaves, shape, within
from .sets import Condition, Context, Set, Tree, nameless
from .values import BACK, FORE, Member, Values, number_of

MAPS = ("", "parent")
LETTERS = "cdeghlmnruwxyz"  # of sums; "k" is the loop's, "j" and "i" a line's own


class Folder:
    """Folds aligned expressions; ``contexts`` say what the letters stand for in each."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def index(self, contexts: list[Context], bodies: Sequence[int]) -> Index | None:
        """An index expression that gives these bodies in all contexts."""
        for of in MAPS:
            for letter in contexts[0]:
                index = Index(letter, of)
                if all(self.tree.body(index, c) == b for c, b in zip(contexts, bodies, strict=True)):
                    return index
        return None

    def indices(self, contexts: list[Context], tuples: Sequence[tuple[int, ...]]) -> tuple[Index, ...] | None:
        result = []
        for bodies in zip(*tuples, strict=True):
            index = self.index(contexts, bodies)
            if index is None:
                return None
            result.append(index)
        return tuple(result)

    # -- one expression -----------------------------------------------------------------------

    def node(self, contexts: list[Context], nodes: Sequence[Any]) -> Any:
        """The folded expression; None where an index has no expression in these letters."""
        first = nodes[0]
        if isinstance(first, Sum):
            return self.sum(contexts, nodes)
        index = self.indices(contexts, [node.index for node in nodes])
        if index is None:
            return None
        if isinstance(first, Leaf):
            return first._replace(index=index)
        args = []
        for place in range(len(first.args)):
            arg = self.node(contexts, [node.args[place] for node in nodes])
            if arg is None:
                return None
            args.append(arg)
        return Node(first.op, tuple(args), index, first.info)

    def sum(self, contexts: list[Context], sums: Sequence[Sum]) -> Sum:
        """Terms of one shape become one, over a set of bodies or under a condition."""
        groups: dict[tuple[Any, ...], list[list[Any]]] = {}
        for place, one in enumerate(sums):
            for term in one.terms:
                groups.setdefault(_key(term), [[] for _ in sums])[place].append(term.node)
        # in the order of the longest sum; groups that it lacks come last
        longest = max(sums, key=lambda one: len({_key(term) for term in one.terms}))
        ordered = dict.fromkeys([*map(_key, longest.terms), *groups])
        terms = (self.term(contexts, key[0], groups[key]) for key in ordered)
        return Sum(tuple(terms), sums[0].kind)

    def term(self, contexts: list[Context], sign: int, found: list[list[Any]]) -> Term:
        """Terms of one shape: one a context, or a sum over a set, with as many letters as it needs."""
        if all(len(nodes) <= 1 for nodes in found):
            there = [bool(nodes) for nodes in found]
            have = [c for c, yes in zip(contexts, there, strict=True) if yes]
            node = self.node(have, [nodes[0] for nodes in found if nodes])
            if node is not None:
                return Term(sign, node, (), self.tree.name_condition(contexts, there))
        slots = [[tuple(bodies(node)) for node in nodes] for nodes in found]
        over, inner = self.spread(contexts, slots, LETTERS)
        node = self.node(inner, [node for nodes in found for node in nodes])
        assert node is not None
        return Term(sign, node, tuple(over))

    def parts(
        self, contexts: list[Context], found: list[list[Member]], fine: bool
    ) -> list[list[list[Member]]]:
        """What is found in each context, apart by how the bodies of its index are related to k."""
        parts: dict[str, list[list[Member]]] = {}
        for place, (context, members) in enumerate(zip(contexts, found, strict=True)):
            for member in members:
                kind = " ".join(self.relation(context["k"], other, fine) for other in member.index)
                parts.setdefault(kind, [[] for _ in found])[place].append(member)
        return [parts[kind] for kind in sorted(parts)]

    def relation(self, k: int, other: int, fine: bool) -> str:
        """How another body is related to k; ``fine``: parents, children and siblings apart."""
        parent, ancestors = self.tree.parent, self.tree.ancestors
        if other == k:
            return "0 same"
        if max(k, other) >= self.tree.n:
            return "5 loop"
        if other in ancestors[k]:
            return "1 parent" if fine and parent[k] == other else "1 above"
        if k in ancestors[other]:
            return "2 child" if fine and parent[other] == k else "2 below"
        return "3 sibling" if fine and parent[k] == parent[other] >= 0 else "4 beside"

    def spread(
        self, contexts: list[Context], slots: list[list[tuple[int, ...]]], letters: str
    ) -> tuple[list[tuple[str, Set]], list[Context]]:
        """Letters for the bodies that the contexts' own letters do not give.

        ``slots[c]`` are tuples of bodies in context c.  Returns the new letters with their sets,
        and the contexts of the tuples one after another, in which every body has an expression.
        """
        owner = [place for place, tuples in enumerate(slots) for _ in tuples]
        flat = [t for tuples in slots for t in tuples]
        inner: list[Context] = [dict(contexts[place]) for place in owner]
        over: list[tuple[str, Set]] = []
        where = contexts
        for values in zip(*flat, strict=True):
            if self.index(inner, values) is not None:
                continue
            letter = next(x for x in letters if x not in inner[0])
            sets: list[dict[int, None]] = [{} for _ in where]
            for place, value in zip(owner, values, strict=True):
                sets[place][value] = None
            over.append((letter, self.tree.name_set(where, [frozenset(x) for x in sets])))
            for context, value in zip(inner, values, strict=True):
                context[letter] = value
            number: dict[tuple[int, int], int] = {}
            deeper: list[Context] = []
            for place, context in enumerate(where):
                for value in sets[place]:
                    number[place, value] = len(deeper)
                    deeper.append({**context, letter: value})
            where = deeper
            owner = [number[o, v] for o, v in zip(owner, values, strict=True)]
        return over, inner


def _key(term: Term) -> tuple[Any, ...]:
    """What must agree for terms to fold."""
    return term.sign, shape(term.node)


def bodies(node: Any) -> Iterator[int]:
    """Bodies of an expression in reading order, those of inner sums left out."""
    if isinstance(node, Sum):
        return
    yield from node.index
    for child in children(node):
        yield from bodies(child)


MOST = 8  # loops from which on an order is told by its groups
OWN = "jihg"  # letters of a line's own indices


class Line(NamedTuple):
    """``family[index] = expression`` for every body of the loop and of the line's own sets."""

    family: Family
    index: tuple[Index, ...]  # type: ignore[assignment]
    over: tuple[tuple[str, Set], ...]
    when: Condition | None
    expression: Sum


class Loop(NamedTuple):
    """Lines for one body after another; ``kinds`` are the blocks that a step eliminates."""

    back: bool
    kinds: tuple[str, ...]
    lines: tuple[Line, ...]
    bodies: tuple[int, ...]


def cases(line: Line) -> list[tuple[Sum, Condition | None]]:
    """The expression, or two of them where every term stands under one of two conditions."""
    whens = list(dict.fromkeys(term.when for term in line.expression.terms))
    if len(whens) != 2 or None in whens or any(t.over for t in line.expression.terms):
        return [(line.expression, None)]
    return [
        (Sum(tuple(t._replace(when=None) for t in line.expression.terms if t.when == when)), when)
        for when in sorted(whens, key=str)
    ]


def both(line: Line, when: Condition | None) -> Condition | None:
    """The condition of a line and that of one of its :func:`cases`."""
    if when is None or line.when is None or when == line.when:
        return when or line.when
    return Condition((*line.when.tests, *when.tests))


class Unit(NamedTuple):
    """Consecutive base pivots of one body, and the kinds of blocks that its groups name, group by group."""

    body: int
    kinds: tuple[tuple[str, ...], ...]
    pivots: tuple[int, ...]


def units_of(program: Program, tree: Tree) -> list[Unit]:
    """Base pivots, those of one body that follow each other together."""
    if program.symbolic is None or program.symbolic.plan.sequence.rules.elimination != "gauss":
        first = {p.pivot: p for p in reversed(program.places) if p.pivot >= 0}
        found = [(t, p.blocks[0], p.label if program.symbolic is None else "body") for t, p in first.items()]
        return [Unit(body, ((kind,),), (t,)) for t, body, kind in sorted(found)]
    result: list[Unit] = []
    named = _named(program.symbolic.plan.sequence, tree)
    factor, before = -1, None
    for number, record in enumerate(program.pivots):
        if record.factor == factor >= 0:
            raise FoldingError("listing: a pivot of several blocks is told by its groups")
        # multipliers may be left out of an order, and come last
        kinds = named.get(record.blocks[0]) or [tuple(b.kind for b in record.blocks)]
        if kinds is before:
            result[-1] = result[-1]._replace(pivots=(*result[-1].pivots, number))
        else:
            result.append(Unit(number_of(tree.structure, record.blocks[0]), tuple(kinds), (number,)))
        factor, before = record.factor, kinds
    return result


def _named(sequence: PivotSequence, tree: Tree) -> dict[Block, list[tuple[str, ...]]]:
    """Kinds of the groups of a body that follow each other, one list of them for all their blocks.

    An order names blocks that a body does not have, too, such as the joint of a fixed one.
    """
    found: dict[Block, list[tuple[str, ...]]] = {}
    last: Any = None
    kinds: list[tuple[str, ...]] = []
    for group in sequence.groups:
        for body in dict.fromkeys(name for _, name in group):
            own = tuple(kind for kind, name in group if name == body)
            if body != last or (tree.turn and own == ("fC",)):  # forces in turn are steps of their own
                kinds = []
            kinds.append(own)
            last = body
            found |= {Block(kind, body): kinds for kind in own}
    return found


def runs_of(units: list[Unit]) -> list[list[Unit]]:
    """Units whose groups name the same kinds of blocks, one after another, together."""
    return [list(run) for _, run in groupby(units, key=lambda unit: unit.kinds)]


Steps = tuple[tuple[Unit, list[Member]], ...]


class Course(NamedTuple):
    """A loop before its lines are folded: its steps, with the members that each one makes."""

    back: bool
    steps: Steps

    @property
    def bodies(self) -> tuple[int, ...]:
        return tuple(unit.body for unit, _ in self.steps)


def courses_of(values: Values, tree: Tree) -> list[Course]:
    """Before the pivots, forward, backward."""
    runs = runs_of(units_of(values.program, tree))
    if len(runs) > MOST:
        raise FoldingError(f"listing: {len(runs)} loops are too many to be read")
    by_event: dict[tuple[int, int], list[Member]] = defaultdict(list)
    for member in values.members.values():
        by_event[member.event].append(member)
    courses: list[Course] = []
    before = by_event.get((FORE, -1), [])
    if before:
        steps = sorted({m.index[0] for m in before})
        grouped = ((Unit(k, (), ()), [m for m in before if m.index[0] == k]) for k in steps)
        courses.append(Course(False, tuple(grouped)))
    for stage in (FORE, BACK):
        for run in runs[::-1] if stage else runs:
            ordered = run[::-1] if stage else run
            grouped = (
                (unit, [m for p in unit.pivots for m in by_event.get((stage, p), [])]) for unit in ordered
            )
            course = Course(bool(stage), tuple(grouped))
            if any(members for _, members in course.steps):
                courses.append(course)
    return courses


def loops_of(values: Values, tree: Tree, courses: list[Course]) -> list[Loop]:
    """All lines, in loops."""
    folder = Folder(tree)
    loops = []
    for course in courses:
        kinds = tuple(map(" ".join, course.steps[0][0].kinds))
        loops.append(Loop(course.back, kinds, lines_of(values, folder, course.steps), course.bodies))
    return loops


def lines_of(values: Values, folder: Folder, grouped: Steps) -> tuple[Line, ...]:
    families: dict[Family, list[list[Member]]] = {}
    for place, (_, members) in enumerate(grouped):
        for member in members:
            if member.family not in families:
                families[member.family] = [[] for _ in grouped]
            families[member.family][place].append(member)
    contexts = [{"k": unit.body} for unit, _ in grouped]
    lines: list[Line] = []
    makes: list[list[list[Member]]] = []  # members of each line, step after step
    for family, found in families.items():
        parts = [found]
        split = [_line(values, folder, contexts, family, found)]
        for fine in (False, True):
            if _awkward(split):
                finer = folder.parts(contexts, found, fine)
                other = [_line(values, folder, contexts, family, part) for part in finer]
                if _awkward(other) < _awkward(split):
                    parts, split = finer, other
        lines += split
        makes += parts
    return tuple(lines[i] for i in _in_order(values, makes))


def _awkward(lines: list[Line]) -> int:
    """How unlike a textbook's lines these are: by what has no name, and tests on two letters."""
    sets = sum(3 * nameless(found) for found in within(tuple(lines), Set))
    tests = [test for found in within(tuple(lines), Condition) for test in found.tests]
    return sets + sum(2 * nameless(name) + (len(letters) > 1) for name, letters in tests)


def _line(
    values: Values, folder: Folder, contexts: list[Context], family: Family, found: list[list[Member]]
) -> Line:
    there = [bool(members) for members in found]
    slots = [[m.index for m in members] for members in found]
    when = None
    over, inner = folder.spread(contexts, slots, OWN)
    if nameless(tuple(over)):
        have = [c for c, yes in zip(contexts, there, strict=True) if yes]
        over, inner = folder.spread(have, [s for s in slots if s], OWN)
    if not over:
        when = folder.tree.name_condition(contexts, there)
    elif not all(there):
        # sets that are empty by themselves need no condition
        able = [
            yes or nameless(tuple(over)) or any(folder.tree.spread(over, c))
            for c, yes in zip(contexts, there, strict=True)
        ]
        asked = [(c, yes) for c, yes, a in zip(contexts, there, able, strict=True) if a]
        when = folder.tree.name_condition([c for c, _ in asked], [yes for _, yes in asked])
    members = [m for ms in found for m in ms]
    index = folder.indices(inner, [m.index for m in members])
    assert index is not None
    expression = folder.sum(inner, [values.tree(m.value) for m in members])
    return Line(family, index, tuple(over), when, expression)


def _in_order(values: Values, makes: list[list[list[Member]]]) -> list[int]:
    """Lines after those of the same step that they need; otherwise as the program has them."""
    needs: list[set[int]] = [set() for _ in makes]
    for place in range(len(makes[0]) if makes else 0):
        here = {(m.family, m.index): i for i, one in enumerate(makes) for m in one[place]}
        for i, one in enumerate(makes):
            for member in one[place]:
                for leaf in leaves(values.tree(member.value)):
                    needs[i].add(here.get((leaf.family, leaf.index), i))
    first = [min(m.value for members in one for m in members) for one in makes]
    left = sorted(range(len(makes)), key=first.__getitem__)
    done: list[int] = []
    while left:
        ready = next((i for i in left if not (needs[i] - {i}) & set(left)), left[0])
        left.remove(ready)
        done.append(ready)
    return done
