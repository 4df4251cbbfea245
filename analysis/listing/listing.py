"""An order told as an algorithm: loops, lines and symbols, in general or on the model's tree alone.

On a chain of three, the children of a body and all bodies below it are the same wherever CRBM's
factor asks; on a tree with branches and depth they are not.  An order is a function of the tree: it
is folded on the model's tree and a larger one together, a forest, and must then make every value of
the model too.  An order that no loops over bodies tell, in general or on the model's own tree, is told
by its groups: the sparse L D L^T of (4), block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pivotree.kkt.base.errors import OrderError, PivotreeError, SizeError
from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.matrix.system import System, require_system
from pivotree.kkt.order.sequence import Order, OrderLike, Plan, as_order, plan
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.residual_program import trace_substitution
from pivotree.kkt.program.tracer import program_of
from pivotree.kkt.structure.symbolic import symbolic

from ..symbols import DEFAULTS, NOTATIONS, Symbol
from .loops import Course, Line, Loop, courses_of, loops_of
from .nodes import GROUP, Family, FoldingError, Index, Leaf, Node, Sum, Term, leaves
from .sets import Context, Set, Tree, nameless
from .values import Values, number_of

ROLES: dict[tuple[str, tuple[str, ...]], str] = {  # (label, kinds) -> role, where the label is not the role
    ("entry", ("pdd", "rhs")): "bias",
    ("children", ("pdd", "pdd")): "tilde",
    ("s", ("pdd", "f")): "moved bias",
    ("second", ("pdd", "rhs")): "moved bias",
    ("W", ("qdd", "f")): "U",
    ("A", ("qdd", "qdd")): "D",
    ("own", ("qdd", "qdd")): "D",
    ("entry", ("qdd", "qdd")): "jsim",
    ("entry", ("qdd", "rhs")): "effort",
    ("entry", ("pdd", "qdd")): "F",
    ("s", ("qdd",)): "local",
    ("x", ("qdd",)): "qdd",
    ("x", ("pdd",)): "pdd",
    ("x", ("lam",)): "lam",
    ("own", ("lam", "lam")): "lam pivot",
    ("entry", ("lam", "lam")): "lam other",
    ("entry", ("lam", "rhs")): "lam right",
    ("x", ("f",)): "f",
    ("x", ("fC",)): "constraint",
    ("right", ("f",)): "right",
    ("own", ("fC", "fC")): "S",
    ("entry", ("fC", "fC")): "S other",
    ("entry", ("fC", "rhs")): "S right",
    ("entry", ("pdd", "fC")): "E",
    ("entry", ("pdd", "fJ")): "E along",
    ("own", ("fJ", "fC")): "SJ",
    ("entry", ("fJ", "fC")): "SJ other",
    ("own", ("fJ", "fJ")): "SJJ",
    ("entry", ("fJ", "fJ")): "SJJ other",
    ("entry", ("fJ", "rhs")): "SJ right",
    # by rotations
    ("alpha", ()): "pdd",
    ("beta", ()): "right",
    ("pivots", ()): "D",
    ("G", ()): "rows",
    ("z", ()): "residuals",
}
MATRICES = "WYZVNEJPTGQL"
VECTORS = "wyzuvgherlm"
VECTORIAL = ("z", "s", "residual", "right", "u", "now", "x")  # labels of places that hold vectors


class Names:
    """Symbols of all families of a listing."""

    def __init__(self, values: Values, loops: Iterable[Loop], notation: str) -> None:
        self.table: dict[str, Symbol] = NOTATIONS[notation]
        self.symbols: dict[Family, Symbol] = {}
        inverse_dynamics = values.program.symbolic is None
        loops = list(loops)
        lines = [line for loop in loops for line in loop.lines]
        roles: set[str | None] = set()
        taken: set[str] = set()
        given = {i.info[0] for i in values.program.instructions if i.op == "input"}
        some = [letter for letter in ("A", "G", "compliance") if letter in given]
        rest = ["gamma"] if "gamma" in given else []
        by_group = ["K", "r"] if any(loop.kinds == GROUP for loop in loops) else []
        for letter in ("M", "H", "Phi", *some, "a", "b", "tau", *rest, *by_group):
            role = "qdd" if inverse_dynamics and letter == "tau" else letter
            self.symbols["input", letter] = self.table[role]._replace(
                python="qdd" if role == "qdd" else letter
            )
            taken |= {self.table[role].text, letter}
        taken |= {"qdd", "parent", "N", "n", "k"}
        for line in lines:
            if line.family in self.symbols:
                continue
            what = self.role(line.family, lines, roles)
            roles.add(what)
            symbol = self.table.get(what) if what else None
            if symbol is not None and symbol.python in taken and what not in ("qdd", "tau"):
                symbol = None
            if symbol is None:
                symbol = self._fresh(line.family, taken)
            self.symbols[line.family] = symbol
            taken.add(symbol.python)

    def role(self, family: Family, lines: list[Line], roles: set[str | None]) -> str | None:
        """What a family is; None where it has no name of its own."""
        label, kinds = family[0], family[1]
        if len(family) > 3 and family[3] != 0:
            return None
        if (label, kinds) == ("own", ("pdd", "pdd")):
            made: dict[Family, Line] = {}
            for line in lines:
                made.setdefault(line.family, line)
            seen: set[Family] = set()
            waiting = [family]
            while waiting:  # does a joint's pivot take part in its recursion?
                known = made.get(waiting.pop())
                read = {leaf.family for leaf in leaves(known.expression)} if known else set()
                waiting += read - seen
                seen |= read
            pivots = {f for f in seen if "qdd" in f[1] and f[0] in ("own", "A")}
            return "articulated" if pivots else "composite"
        plain = f"{kinds[0]} {label}" if kinds in (("lam",), GROUP) else label
        role = ROLES.get((label, kinds), plain if kinds in ((), ("H",), ("lam",), GROUP) else None)
        if role == "bias" and "composite" in roles:
            return "composite bias"
        return role

    def _fresh(self, family: Family, taken: set[str]) -> Symbol:
        vector = "rhs" in family[1] or family[0] in VECTORIAL
        letters = VECTORS if vector else MATRICES
        known = {s.text for s in self.symbols.values()} | taken
        names = (f"{letter}{number}" for number in ("", *range(2, 1000)) for letter in letters)
        name = next(name for name in names if name not in known)
        return Symbol(name, f"{name[0]}_{{({name[1:]})}}" if name[1:] else name, name)


MATRIX, RIGHT = ("input", "K"), ("input", "r")
PIVOT, COUPLING, LEFT, SOLUTION = ((label, GROUP, False, 0) for label in ("D", "W", "y", "x"))
K, J, C = Index("k"), Index("j"), Index("c")


def loops_of_groups(count: int) -> tuple[Loop, Loop]:
    """Forward and back over so many groups; k is a group, and what it is coupled with is ``left``."""
    groups = tuple(range(count))
    gone, shared = (("c", Set("gone", ("k",))),), (("c", Set("shared", ("k", "j"))),)
    later, left = (("j", Set("left", ("k",))),), (("c", Set("left", ("k",))),)

    def made(
        family: Family, right: Leaf, taken: tuple[Any, ...], by: Leaf, index: tuple[Any, ...] = (K,)
    ) -> Line:
        """right - sum of W_ck^T D_c^-1 by, over the groups that are ``taken``."""
        inner = Node("inner", (Leaf(PIVOT, (C,)), Leaf(COUPLING, (C, K)), by))
        over = later if len(index) > 1 else ()
        return Line(family, index, over, None, Sum((Term(1, right), Term(-1, inner, taken))))

    forward = (
        made(PIVOT, Leaf(MATRIX, (K, K)), gone, Leaf(COUPLING, (C, K))),
        made(LEFT, Leaf(RIGHT, (K,)), gone, Leaf(LEFT, (C,))),
        made(COUPLING, Leaf(MATRIX, (K, J)), shared, Leaf(COUPLING, (C, J)), (K, J)),
    )
    rest = Sum(
        (
            Term(1, Leaf(LEFT, (K,))),
            Term(-1, Node("mul", (Leaf(COUPLING, (K, C)), Leaf(SOLUTION, (C,)))), left),
        )
    )
    solved = Sum((Term(1, Node("solve", (Leaf(PIVOT, (K,)), rest))),))
    back = (Line(SOLUTION, (K,), (), None, solved),)
    return Loop(False, GROUP, forward, groups), Loop(True, GROUP, back, groups[::-1])


TREE = (-1, 0, 0, 0, 1, 1, 4, 6, 6, 2, 7, -1)
CHAIN = (-1, 0, 1, 2, 3, 4, 5)
DOF = (1, 2, 3)  # mixed, so that shapes are told apart
ENDS = ("tip to base", "base to tip")
ANY_TREE, CHAINS, THIS_TREE = "any tree", "chains", "this tree"

Eliminated = Callable[[Structure], tuple[Values, Tree]]


class Telling(NamedTuple):
    """Loops, the values that they were folded from, and where they hold."""

    values: Values
    tree: Tree
    loops: tuple[Loop, ...]
    holds_on: str
    groups: tuple[tuple[Block, ...], ...] = ()  # that the loops run over, in the place of bodies


def in_general(structure: Structure, eliminated: Eliminated, values: Values, tree: Tree) -> Telling | None:
    """Loops that hold on any tree, or on chains where those are the simpler ones; else None.

    There are none for an order that is given for this tree alone, or looks at it as a whole, or
    takes links apart; nor where the model's own loops are not such, which takes no larger tree.
    """
    factor = values.program.symbolic
    if factor is not None and factor.plan.sequence.links != "whole":
        return None
    try:
        if not all(_regular(course, tree) for course in courses_of(values, tree)):
            return None
    except FoldingError:
        return None
    best = _with_larger(structure, TREE, ANY_TREE, eliminated, values, tree)
    if all(len(children) < 2 for children in tree.children):
        chain = _with_larger(structure, CHAIN, CHAINS, eliminated, values, tree)
        if best is None or (chain is not None and _length(chain) < _length(best)):
            return chain
    return best


def on_this_tree(values: Values, tree: Tree) -> Telling | None:
    """Loops of the model itself; None where no loops over its bodies tell the order.

    Where constraint forces go one after another, sets of joints in turn are known as well.
    """
    if tree.structure.divided:
        return None
    turn = [number_of(tree.structure, r.blocks[0]) for r in values.program.pivots if r.blocks[0].kind == "fC"]
    for known in (tree, Tree(tree.structure, turn)) if turn else (tree,):
        try:
            loops = tuple(loops_of(values, known, courses_of(values, known)))
            if nameless(loops):
                raise FoldingError("listing: no set of bodies with a name tells these lines")
            if any(sequence(known, loop)[0] == "listed" for loop in loops):
                raise FoldingError("listing: a loop runs over bodies that no words tell")
            check(values, known, loops)
        except FoldingError:
            continue
        return Telling(values, known, loops, THIS_TREE)
    return None


def by_groups(values: Values, tree: Tree) -> Telling:
    """The order's own groups, whatever they are.  Raises OrderError where these are not enough."""
    program = values.program
    if program.symbolic is None or program.symbolic.plan.sequence.rules.elimination != "gauss":
        why = "no loops over bodies tell it on this model"
        raise OrderError(f"order {program.name!r}", why, "use elimination 'gauss', whose groups are told")
    made = program.symbolic.plan
    groups = tuple(tuple(map(made.graph.block, group)) for group in groups_of(made))
    return Telling(values, tree, loops_of_groups(len(groups)), THIS_TREE, groups)


def groups_of(made: Plan) -> list[list[int]]:
    """Blocks of each group of an order, by their numbers."""
    ends = np.flatnonzero(np.diff(made.group)) + 1
    return [group.tolist() for group in np.split(made.blocks, ends)]


def sequence(tree: Tree, loop: Loop) -> tuple[str, str]:
    """How the bodies of a loop follow each other, and which bodies these are, as :class:`.sets.Set` says it.

    The words are "tip to base", "base to tip", "all" and others; "listed" where there are none.
    """
    bodies = list(loop.bodies)
    if loop.kinds == GROUP:
        return _either_way("groups", loop.back), ""
    for words, known in (("loops", list(tree.set("loops"))), ("turn", list(tree.turn))):
        if bodies and bodies in (known, known[::-1]):
            return _either_way(words, bodies != known), ""
    inside = set(bodies)
    upward = [k for k in tree.order if k in inside]
    for only in ("", "N", "C"):
        if inside == {k for k in range(tree.n) if tree.admits(only, k)}:
            if not loop.kinds and not loop.back:  # what precedes the pivots
                return "all", only
            if bodies == upward:
                return ENDS[0], only
            return ENDS[1] if bodies == upward[::-1] else "listed", only
    return "listed", ""


def _either_way(words: str, backward: bool) -> str:
    return words + ", last to first" * backward


def _with_larger(
    structure: Structure,
    parents: tuple[int, ...],
    holds_on: str,
    eliminated: Eliminated,
    values: Values,
    tree: Tree,
) -> Telling | None:
    """Lines of the model and a larger tree together; None where these do not make the model's values."""
    try:
        told, told_tree = eliminated(_forest(structure, parents))
        courses = courses_of(told, told_tree)
        if not all(_regular(course, told_tree) for course in courses):
            return None
        folded = loops_of(told, told_tree, courses)
        if nameless(tuple(folded)):
            return None
        place, names = tree.structure.index, told_tree.structure.names
        loops = []
        for loop in folded:
            there = [names[k] for k in loop.bodies if names[k] in place]
            loops += [loop._replace(bodies=tuple(place[body] for body in there))] if there else []
        check(values, tree, tuple(loops))
    except PivotreeError:
        return None
    return Telling(told, told_tree, tuple(loops), holds_on)


def _regular(course: Course, tree: Tree) -> bool:
    """One kind of step, for all bodies or all that move, tip to base or base to tip."""
    bodies, inside = list(course.bodies), set(course.bodies)
    moving = {k for k, N in enumerate(tree.dof) if N}
    upward = [k for k in tree.order if k in inside]
    some = inside == moving or len(inside) == len(tree.parent)
    before = not any(unit.kinds for unit, _ in course.steps)  # what precedes the pivots
    straight = bodies in (upward, upward[::-1])
    return some and (straight or before)


def freedoms(telling: Telling) -> tuple[list[int], list[int]]:
    """N of roots and of other bodies for which lines were folded; 2 stands for 2 to 5."""
    tree = telling.tree
    kinds = [N if N in (0, 1, 6) else 2 for N in tree.dof]
    roots = sorted({N for N, up in zip(kinds, tree.parent, strict=True) if up < 0})
    return roots, sorted({N for N, up in zip(kinds, tree.parent, strict=True) if up >= 0})


def _forest(structure: Structure, parents: tuple[int, ...]) -> Structure:
    """The model's bodies, then the larger tree's: of the model's freedoms, mixed with DOF."""
    n = structure.n
    inner = sorted({int(d) for d in structure.dof[structure.parent >= 0]} | {*DOF})
    roots = sorted({int(d) for d in structure.dof[structure.parent < 0]} | {1, 2})
    dof = []
    for i, up in enumerate(parents):
        some = roots if up < 0 else inner
        dof.append(some[i % len(some)])
    return Structure(
        (*structure.names, *(("larger", i) for i in range(len(parents)))),
        np.concatenate([structure.parent, [up + n if up >= 0 else -1 for up in parents]]),
        np.concatenate([structure.dof, dof]),
        armature=structure.armature.any() & (np.concatenate([structure.dof, dof]) > 0),
    )


def _length(telling: Telling) -> int:
    """How many lines and terms there are."""
    lines = [line for loop in telling.loops for line in loop.lines]
    return len(lines) + sum(len(line.expression.terms) for line in lines)


# -- what is folded is unrolled again: the program's values, each once, after what it needs -----------


def contexts(tree: Tree, line: Line, k: int) -> Iterator[Context]:
    """What the letters of a line stand for, in one step of its loop."""
    start: Context = {"k": k}
    if not tree.holds(line.when, start):
        return
    yield from tree.spread(line.over, start)


def unrolled(tree: Tree, node: Any, context: Context) -> Any:
    """The expression of one context: bodies in the place of letters."""
    if isinstance(node, Sum):
        terms = []
        for term in node.terms:
            for inner in tree.spread(term.over, context):
                if tree.holds(term.when, inner):
                    terms.append(term._replace(node=unrolled(tree, term.node, inner), over=(), when=None))
        return Sum(tuple(terms), node.kind)
    index = tuple(tree.body(i, context) for i in node.index)
    if isinstance(node, Leaf):
        return node._replace(index=index)
    return Node(node.op, tuple(unrolled(tree, a, context) for a in node.args), index, node.info)


def canonical(node: Any) -> Any:
    """Equal for expressions that differ by the order of summands only."""
    if isinstance(node, Sum):
        counted = Counter((term.sign, canonical(term.node)) for term in node.terms)
        return (node.kind, frozenset(counted.items()))
    if isinstance(node, Leaf):
        return node
    return (node.op, node.index, node.info, tuple(canonical(arg) for arg in node.args))


def check(values: Values, tree: Tree, loops: tuple[Loop, ...]) -> None:
    """Raise FoldingError unless the loops make every value of the program, once and in time."""
    where = {(m.family, m.index): m for m in values.members.values()}
    made: set[tuple[Any, ...]] = set()
    for loop in loops:
        for k in loop.bodies:
            for line in loop.lines:
                for context in contexts(tree, line, k):
                    index = tuple(tree.body(i, context) for i in line.index)
                    key = (line.family, index)
                    if key not in where or key in made:
                        raise FoldingError(f"listing: {key} is made twice, or not in the program")
                    folded = unrolled(tree, line.expression, context)
                    wanted = values.tree(where[key].value)
                    if canonical(folded) != canonical(wanted):
                        raise FoldingError(f"listing: {key} is not what the program makes")
                    for leaf in leaves(folded):
                        if leaf.family[0] != "input" and (leaf.family, leaf.index) not in made:
                            raise FoldingError(
                                f"listing: {key} reads {leaf}, which no line before it makes; the "
                                "loops are in the wrong order"
                            )
                    made.add(key)
    if len(made) != len(where):
        raise FoldingError(f"listing: {len(where) - len(made)} values are left out")


MAX_UPDATES = 60_000  # pairs of blocks that are updated; so many take seconds to be listed


@dataclass(frozen=True)
class Listing:
    """An order as formulas; ``loops`` hold lines.

    >>> from pivotree.analysis import listing
    >>> told = listing.of(pt.build(pt.chain(2)), "crbm")
    >>> told.order, told.notation, told.holds_on
    ('crbm', 'featherstone', 'any tree')
    """

    order: str
    source: str
    words: str  # what its author says that the order does; "" for a list of groups
    notation: str
    system: System
    values: Values
    tree: Tree
    telling: Telling  # what the lines were folded from, and where they hold
    loops: tuple[Loop, ...]
    names: Names

    @property
    def holds_on(self) -> str:
        """Where the lines hold: any tree, chains, or this tree."""
        return self.telling.holds_on

    @property
    def problem(self) -> str:
        """What is solved for: qdd, or tau in inverse dynamics."""
        return "tau" if self.values.program.symbolic is None else "qdd"

    def lines(self) -> list[Line]:
        return [line for loop in self.loops for line in loop.lines]

    @property
    def groups(self) -> tuple[tuple[Block, ...], ...]:
        """The groups that the loops run over; none where they run over bodies."""
        return self.telling.groups

    def sequence(self, loop: Loop) -> tuple[str, str]:
        """How the bodies, loops or groups of a loop follow each other, and which bodies these are."""
        return sequence(self.tree, loop)

    @property
    def scalar(self) -> set[Family]:
        """Families whose values are single numbers in this model."""
        if self.groups:
            return set()
        program = self.values.program
        shapes: dict[Family, set[Any]] = {}
        for m in self.values.members.values():
            shapes.setdefault(m.family, set()).add(program.shapes[m.value])
        found = {family for family, s in shapes.items() if s == {(1, 1)}}
        if all(d == 1 for d in self.tree.dof[: self.tree.n]):
            found |= {("input", "tau"), ("input", "A")}
        if all(d == 1 for d in self.tree.dof[self.tree.n :]):
            found |= {("input", "gamma"), ("input", "compliance")}
        return found

    # -- what the texts share ---------------------------------------------------------------------

    def legend(self) -> list[tuple[Symbol, str]]:
        """Symbols in the order in which they come, with what they are."""
        used = {leaf.family for line in self.lines() for leaf in leaves(line.expression)}
        effort = ("input", "tau") if self.problem == "qdd" else ("tau", ())
        less = "" if self.system.tree.terms is None else ", less damping, springs and friction"
        return [
            (symbol, symbol.what + less * (family[:2] == effort))
            for family, symbol in self.names.symbols.items()
            if symbol.what and (family[0] != "input" or family in used)
        ]


def of(system: System, order: OrderLike, notation: str | None = None) -> Listing:
    """As the room's own ``of``, on a robot."""
    require_system(system)
    chosen = as_order(order)
    name = chosen.name
    said = (chosen.__doc__ or "").partition("\n")[0]
    if notation is not None and notation not in NOTATIONS:
        raise OrderError(f"notation {notation!r}", "is unknown", f"use {', '.join(NOTATIONS)}")
    told = notation or DEFAULTS.get(name, "ascher")
    sign = 1 if told == "ascher" else -1  # of pdd: minus the spatial acceleration in (4)
    whole = system.structure
    if whole.armature.any():  # on all joints, so that one line tells all
        whole = replace(whole, armature=whole.dof > 0)

    def eliminated(asked: Structure) -> tuple[Values, Tree]:
        program, structure, position = _program(asked, chosen)
        return Values(program, structure, position, sign), Tree(structure)

    values, tree = eliminated(whole)
    program = values.program
    source = (program.symbolic and program.symbolic.plan.sequence.source) or chosen.source
    general = None if whole.ties else in_general(whole, eliminated, values, tree)
    telling = general or on_this_tree(values, tree) or by_groups(values, tree)
    tree = telling.tree if telling.holds_on == THIS_TREE else tree  # it may know turns
    names = Names(telling.values, telling.loops, told)
    return Listing(program.name, source, said, told, system, values, tree, telling, telling.loops, names)


def _program(structure: Structure, order: Order) -> tuple[Program, Structure, dict[int, int]]:
    """The block program of an order, the structure that it is of, and the place of each block in it."""
    if order.problem == "tau":
        return trace_substitution(order(structure), structure, order.name), structure, {}
    factor = symbolic(plan(order, structure))
    sequence = factor.plan.sequence
    if factor.updates > MAX_UPDATES:
        raise SizeError(
            f"order {sequence.name!r}",
            f"updates {factor.updates:.1e} pairs of blocks on this tree, too many to read",
            "list a smaller tree of the same kind, such as chain:10",
        )
    position = {int(b): t for t, b in enumerate(factor.plan.blocks)}
    return program_of(factor, apart=True), factor.plan.graph.structure, position
