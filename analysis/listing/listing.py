"""An order told as an algorithm: loops, lines and symbols."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pivotree.kkt.base.errors import OrderError, SizeError
from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.matrix.system import System, require_system
from pivotree.kkt.order.pivots import plan
from pivotree.kkt.order.sequence import Order, as_order
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.residual_program import trace_substitution
from pivotree.kkt.program.tracer import program_of
from pivotree.kkt.structure.symbolic import symbolic

from ..symbols import DEFAULTS, NOTATIONS, Symbol
from .general import THIS_TREE, Telling, by_groups, in_general, on_this_tree, sequence
from .loops import Line, Loop
from .names import Names
from .nodes import Family, leaves
from .sets import Tree
from .values import Values

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


def of(system: System, order: Any, notation: str | None = None) -> Listing:
    """The listing of an order (a function, a sequence, or a name) on the system's tree.

    ``notation`` is "ascher", "featherstone" or "yamane"; without it, the one in which the order is
    known.  Raises OrderError for an order that cannot be eliminated or an unknown notation, and
    SizeError for one that fills in too much to be read.

    >>> from pivotree.analysis import listing
    >>> listing.of(pt.build(pt.chain(2)), "abm", notation="ascher").notation
    'ascher'
    """
    require_system(system)
    chosen = as_order(order)
    name = chosen.name
    said = (chosen.__doc__ or "").partition("\n")[0]
    if notation is not None and notation not in NOTATIONS:
        raise OrderError(f"notation {notation!r} is unknown; use {', '.join(NOTATIONS)}")
    told = notation or DEFAULTS.get(name, "ascher")
    sign = 1 if told == "ascher" else -1  # of pdd: minus the spatial acceleration in (4)
    whole = _with_armature_everywhere(system.structure)
    program, structure, position, source = _program(whole, chosen)
    values, tree = Values(program, structure, position, sign), Tree(structure)

    def eliminated(larger: Structure) -> tuple[Values, Tree]:
        program, structure, position, _ = _program(larger, chosen)
        return Values(program, structure, position, sign), Tree(structure)

    general = None if whole.ties else in_general(whole, eliminated, values, tree)
    telling = general or on_this_tree(values, tree) or by_groups(values, tree)
    tree = telling.tree if telling.holds_on == THIS_TREE else tree  # it may know turns
    names = Names(telling.values, telling.loops, told)
    return Listing(program.name, source, said, told, system, values, tree, telling, telling.loops, names)


def _with_armature_everywhere(structure: Structure) -> Structure:
    """The structure with armature on all joints if any has it, so that one line tells all."""
    if not structure.armature.any():
        return structure
    return replace(structure, armature=structure.dof > 0)


def _program(structure: Structure, order: Order) -> tuple[Program, Structure, dict[Any, Any] | None, str]:
    name, source = order.name, order.source
    if order.problem == "tau":
        program = trace_substitution(order(structure), structure, name)
        return program, structure, None, source
    factor = symbolic(plan(order, structure))
    sequence = factor.plan.sequence
    if factor.updates > MAX_UPDATES:
        raise SizeError(
            f"order {sequence.name!r}: updates {factor.updates:.1e} pairs of blocks on this tree, "
            f"too many to read; list a smaller tree of the same kind, such as chain:10"
        )
    program = program_of(factor, apart=True)
    position = {int(b): t for t, b in enumerate(factor.plan.blocks)}
    return program, factor.plan.graph.structure, position, sequence.source or source
