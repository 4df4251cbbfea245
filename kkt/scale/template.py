"""The operations of one body in an order, cut out of the program of a tree of a few bodies.

A body with its parent and its children is traced as any tree is (:mod:`kkt.program.tracer`), so
that its bracket is the tracer's.  In the elimination (the way there), an
instruction belongs to the body nearest to the root whose values it reads; in the substitution (the
way back), to the one farthest from the root.  On the way there the body reads values that its
children hand on, on the way back its parent's acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import DIV
from ..base.compiled import interpreted
from ..machine.recorder import Recorder
from ..matrix.blocks import Block, Structure
from ..order.sequence import PivotSequence, Rules, plan
from ..program.program import Instruction, Program, Ref
from ..program.tracer import program_of
from ..structure.symbolic import symbolic
from ..tape.emit import Emitter, Scalars, folded
from ..tape.lowering import arranged, emitted

NONE = -1  # an identity belongs to no body
Groups = tuple[tuple[str, ...], ...]  # groups of one body: the kinds of their blocks
Name = tuple[Any, ...]  # where a value comes from: operation, place, and blocks by their role
Parts = NDArray[np.int64]  # places in a block of the numbers that are handed on


@dataclass(frozen=True)
class Bodywise:
    """An order that goes body by body: the groups of a body, by its freedoms, and the rules."""

    name: str
    rules: Rules
    groups: tuple[tuple[int, Groups], ...]  # (freedoms, groups)

    def of(self, dof: int) -> Groups:
        """The groups of a body with so many freedoms."""
        return dict(self.groups)[dof]

    @property
    def is_abm(self) -> bool:
        """The operations are those of the articulated body method."""
        own = articulated(frozenset(dof for dof, _ in self.groups))
        alike = [(dof, [set(group) for group in groups]) for dof, groups in self.groups]
        same = [(dof, [set(group) for group in groups]) for dof, groups in own.groups]
        return self.rules == own.rules and alike == same

    @cached_property
    def told(self) -> bool:
        """Whether pivots of joints have factors of their own, so that a zero one can be named."""
        return all(template(self, dof, (), False).pivots for dof, _ in self.groups if dof)

    @cached_property
    def merges(self) -> bool:
        """Whether a body reads its children's updates only as their sum."""
        return all(template(self, dof, (dof, dof), False).merges for dof, _ in self.groups)

    @cached_property
    def alike(self) -> bool:
        """Whether a body hands on the same values with and without a block A_k of its joint."""
        for dof, _ in self.groups:
            plain, armed = (template(self, dof, (), False, has) for has in (False, True))
            if list(plain.handed) != list(armed.handed):
                return False
            shapes = [
                [(list(it.room()[i]), it.program.shapes[value]) for i, value in enumerate(it.handed.values())]
                for it in (plain, armed)
            ]
            if shapes[0] != shapes[1]:
                return False
        return True

    @cached_property
    def update(self) -> int:
        """The largest count of numbers that a body hands to its parent."""
        made = (template(self, dof, (), False) for dof, _ in self.groups)
        return max(sum(map(len, it.room())) for it in made)

    @cached_property
    def richest(self) -> int:
        """The freedoms of a body that hands on the most numbers."""

        def numbers(dof: int) -> int:
            return sum(map(len, template(self, dof, (), False).room()))

        return max((dof for dof, _ in self.groups), key=numbers)


@cache
def articulated(freedoms: frozenset[int]) -> Bodywise:
    """The articulated body method: one bracket (pdd qdd f) a body."""
    groups = ((n, (("pdd", "qdd", "f") if n else ("pdd", "f"),)) for n in sorted(freedoms))
    return Bodywise("abm", Rules(), tuple(groups))


@dataclass(frozen=True)
class Template:
    """The instructions of one body of a small tree, and the values that it shares with others."""

    program: Program
    body: int
    there: tuple[Instruction, ...]  # of the elimination
    back: tuple[Instruction, ...]  # of the substitution
    received: tuple[dict[Name, int], ...]  # values of each child that the body reads
    handed: dict[Name, int]  # the body's values that the parent reads
    signs: tuple[int, ...]  # with which the parent reads them
    kept: tuple[int, ...]  # the body's values that the way back reads
    up: Ref | None  # the parent's pdd
    merges: bool  # whether the body reads its children's values only as sums

    @property
    def solution(self) -> dict[str, Ref]:
        """pdd, qdd and f of the body."""
        known = self.program.solution
        blocks = {kind: Block(kind, self.body) for kind in ("pdd", "qdd", "f")}
        return {kind: known[block] for kind, block in blocks.items() if block in known}

    @property
    def pivots(self) -> list[tuple[int, slice]]:
        """Factors whose diagonal holds the pivots of the joint, and the rows of these."""
        return [
            (record.factor, slice(*record.rows))
            for record in self.program.pivots
            if record.blocks == (Block("qdd", self.body),) and record.factor >= 0
        ]

    def room(self) -> list[Parts]:
        """Of each value that is handed on, the places of the numbers that determine it."""
        return [_told(self.program, value) for value in self.handed.values()]


@lru_cache(maxsize=512)
def template(
    order: Bodywise, dof: int, children: tuple[int, ...], root: bool, armed: bool = False
) -> Template:
    """The template of a body with ``dof`` freedoms, and with children of given freedoms.

    ``armed`` says that the body's joint has a block A_k; that of a child changes nothing for the
    body (:attr:`Bodywise.alike`).  In any order that :func:`.plan.bodywise` accepts, bodies
    share no other values than these.
    """
    body, most = int(not root), max(dof for dof, _ in order.groups)
    freedoms = [*([] if root else [most]), dof, *children]
    parent = [*([] if root else [-1]), body - 1, *(body for _ in children)]
    names = tuple(range(len(parent)))
    armature = (np.array(names) == body) & bool(armed and dof)
    structure = Structure(names, np.array(parent), np.array(freedoms), armature=armature)
    turn = [*range(body + 1, len(parent)), body, *([] if root else [0])]
    groups = [[(kind, k) for kind in group] for k in turn for group in order.of(int(structure.dof[k]))]
    sequence = PivotSequence(groups, order.name, rules=order.rules)
    program = program_of(symbolic(plan(sequence, structure)))
    return _cut(program, structure, body)


def _cut(program: Program, structure: Structure, body: int) -> Template:
    """Find the body to which each instruction belongs, and cut out those of one body."""
    depth, back = structure.depth, [place.back for place in program.places]
    owner = [NONE] * len(program.shapes)
    late = [False] * len(program.shapes)  # made on the way back
    read: list[tuple[Instruction, int]] = []  # instructions that read a value of another body
    for i, is_back in zip(program.instructions, back, strict=True):
        args = [ref.value for ref in i.args if ref is not None]
        of = {owner[value] for value in args if owner[value] != NONE}
        if i.op == "input":
            of = {i.info[1]}
        late[i.out] = is_back
        if is_back and of:
            of = {max(of, key=depth.__getitem__)}
        elif len(of) > 1:
            low = min(depth[k] for k in of)
            nearest = [k for k in of if depth[k] == low]
            of = {nearest[0] if len(nearest) == 1 else int(structure.parent[nearest[0]])}
        owner[i.out] = next(iter(of), NONE)
        read += [(i, value) for value in args if owner[value] not in (NONE, owner[i.out])]
    return _template(program, structure, body, owner, late, read)


def _template(
    program: Program,
    structure: Structure,
    body: int,
    owner: list[int],
    late: list[bool],
    read: list[tuple[Instruction, int]],
) -> Template:
    parent = structure.parent
    solution = {program.solution[Block("pdd", k)].value for k in range(structure.n)}
    # on the way there: values of each body that its parent reads, and their signs
    crossing: dict[int, dict[int, int]] = {k: {} for k in range(structure.n)}
    for i, value in read:
        child, above = owner[value], owner[i.out]
        if not late[i.out] and int(parent[child]) == above:
            signs = [ref.sign for ref in i.args if ref is not None and ref.value == value]
            crossing[child].setdefault(value, signs[0])
        elif not (late[i.out] and parent[above] == child and value in solution):
            raise AssertionError(f"order {program.name!r}: does not go body by body")
    children = [k for k in range(structure.n) if parent[k] == body]
    received = tuple(_named(program, structure, k, sorted(crossing[k])) for k in children)
    own = [i for i in program.instructions if owner[i.out] == body and i.op != "input"]
    there = tuple(i for i in own if not late[i.out])
    backward = tuple(i for i in own if late[i.out])
    used = {ref.value for i in backward for ref in i.args if ref is not None}
    used |= {program.solution[b].value for b in program.solution if b.body == body}
    kept = sorted(v for v in used if owner[v] == body and not late[v])
    up, handed = int(parent[body]), sorted(crossing[body].items())
    return Template(
        program,
        body,
        there,
        backward,
        received,
        _named(program, structure, body, [value for value, _ in handed]),
        tuple(sign for _, sign in handed),
        tuple(kept),
        program.solution[Block("pdd", up)] if up >= 0 else None,
        _merges(received, there),
    )


def _named(program: Program, structure: Structure, body: int, values: list[int]) -> dict[Name, int]:
    """Values of a body, named by where they come from: the names are the same in every tree."""
    named: dict[Name, int] = {}
    for value in values:
        at = next(t for t, i in enumerate(program.instructions) if i.out == value)
        made, place = program.instructions[at], program.places[at]
        blocks = [(b // structure.n, b % structure.n == body) if b >= 0 else b for b in place.blocks]
        name = (made.op, made.info[0]) if made.op == "input" else (made.op, place.label, *blocks)
        while name in named:
            name = (*name, "again")
        named[name] = value
    return named


def _merges(received: tuple[dict[Name, int], ...], there: tuple[Instruction, ...]) -> bool:
    """Whether the values of two children are read only in sums of one child's and the other's."""
    if len(received) != 2 or list(received[0]) != list(received[1]):
        return False
    partner = dict(zip(received[0].values(), received[1].values(), strict=True))
    partner |= {b: a for a, b in partner.items()}
    for i in there:
        values = [ref.value for ref in i.args if ref is not None and ref.value in partner]
        if not values:
            continue
        if i.op != "add" or len(values) != 2 or partner[values[0]] != values[1]:
            return False
        one, two = i.args
        assert one is not None and two is not None
        if (one.sign, one.transposed) != (two.sign, two.transposed):
            return False
    return True


def _told(program: Program, value: int) -> Parts:
    """Places of the numbers that determine a block: of a symmetric one, the upper triangle."""
    rows, columns = program.shapes[value]
    made = next(i for i in program.instructions if i.out == value)
    if made.symmetric:
        i, j = np.triu_indices(rows)
        return i * columns + j
    return np.arange(rows * columns)


class Writing(Emitter):
    """An emitter of block operations whose scalars are a recorder's."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(0)
        self.recorder = recorder

    def run(self, kernel: Any, most: int, *blocks: Any) -> None:
        """The kernel's own loops, in which each operation is the recorder's."""
        loops = interpreted(kernel)
        FunctionType(loops.__code__, loops.__globals__ | {"put": self._put})(*blocks, (), 0, 0)

    def _put(self, op: int, a: int, b: int, *_: Any) -> tuple[int, int]:
        (known, o, x, y, sign), result = interpreted(folded)(op, int(a), int(b))
        if known:
            return result, 0
        # a pivot that is zero for all bodies of the kind is refused later
        none = o == DIV and y == 0
        wrote = self.recorder._write(o, x, self.recorder.constant(float("nan")) if none else y)
        return 0 if none else sign * wrote, 0


class Play:
    """Block values of one body as references of a recorder."""

    def __init__(self, template: Template, recorder: Recorder) -> None:
        self.template: Template = template
        self.write: Writing = Writing(recorder)
        self.values: dict[int, Scalars] = {}
        for i in template.program.instructions:
            if i.op == "eye":
                self.values[i.out] = np.eye(i.info[0], dtype=np.int64)
            elif i.op != "input" and all(ref is None or ref.value in self.values for ref in i.args):
                self.run((i,))  # of identities alone: no body's own

    def enter(self, blocks: dict[str, Scalars]) -> None:
        """The body's entries of (4), by letter."""
        for i in self.template.program.instructions:
            if i.op == "input" and i.info[1] == self.template.body and i.info[0] in blocks:
                self.values[i.out] = blocks[i.info[0]].reshape(self.template.program.shapes[i.out])

    def receive(self, numbers: Scalars, layout: Template) -> None:
        """Take the sum of what the children hand on, in the layout of a child's template."""
        (values,) = self.template.received
        first, left = 0, dict(values)
        for (name, theirs), told in zip(layout.handed.items(), layout.room(), strict=True):
            if name in left:
                rows, columns = layout.program.shapes[theirs]
                block = np.zeros((rows, columns), dtype=np.int64)
                block.ravel()[told] = numbers[first : first + len(told)]
                if len(told) < rows * columns:
                    block = np.triu(block) + np.triu(block, 1).T
                self.values[left.pop(name)] = block
            first += len(told)
        if left:
            raise AssertionError(f"order {self.template.program.name!r}: does not go body by body")

    def run(self, instructions: tuple[Instruction, ...]) -> None:
        """Write the operations of instructions."""
        program = self.template.program
        for i in instructions:
            if i.op == "eye":
                continue
            out = arranged(i, self.take, program.shapes[i.out][1])
            if out is None:
                blocks = [self.take(ref) for ref in i.args if ref is not None]
                out = emitted(self.write, i.op, i.symmetric, blocks, (), program.gain)
            self.values[i.out] = out

    def take(self, ref: Ref | None) -> Scalars:
        assert ref is not None
        block = self.values[ref.value]
        block = block.T if ref.transposed else block
        return block if ref.sign > 0 else -block

    def handed(self, layout: Template) -> Scalars:
        """The numbers that are handed to the parent, in the layout of another template."""
        own = list(zip(self.template.handed.values(), self.template.signs, strict=True))
        numbers = []
        theirs = zip(layout.handed.values(), layout.room(), layout.signs, strict=True)
        for value, told, their_sign in theirs:
            shape = layout.program.shapes[value]
            block = np.zeros(shape, dtype=np.int64)
            if own and self.template.program.shapes[own[0][0]] == shape:
                mine, sign = own.pop(0)
                block = sign * their_sign * self.values[mine]
            numbers.append(block.ravel()[told])
        if own:
            raise AssertionError(f"order {self.template.program.name!r}: does not go body by body")
        return np.concatenate(numbers)
