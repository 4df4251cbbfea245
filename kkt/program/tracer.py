"""Eliminate once on structure: a plan becomes a block program.

The forward pass eliminates group after group; the backward pass solves for their unknowns in the
reverse order.  Reading order: :func:`program_of`, ``Tracer.group`` (which of the two ways),
``Tracer.sequential`` (one pivot after another) and :class:`kkt.program.bracket.Bracket`.

Composite inertias may be ten numbers, since a sum of rigid inertias is rigid.  As long as no joint
has been eliminated behind body k, M^_k is the inertia of one rigid body, where a symmetric 6 x 6 block
holds 21 numbers.  A sequence says which ten by its ``composites``:

    "rigid"   mass, first moment and moments about the joint (:mod:`kkt.tape.rigid`)
    "centre"  mass, centre of mass and moments about it (:mod:`kkt.tape.rigid`), about the joint by
              the parallel-axis theorem where M^_k is used

"counted" and "general" stand for the 6 x 6 block, carried by Phi M Phi^T, whose operations "counted"
tells as "rigid" takes them.  The block is rigid where R R^T = 1, an
identity of values and not of their pattern.  Rotations that have been rounded satisfy it to
rounding only, so that ten numbers belong to programs that start from joint positions
(:func:`kkt.compile`), and to formats no finer than the doubles that hold the rotations; no digit
can be certified with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..base.errors import FormatError
from ..matrix.blocks import FC, FJ, LAM, PDD, QDD, Block, F
from ..order.sequence import TEN, BlockGraph, Plan, Rules
from ..structure.symbolic import PAIR_FIRST, SINGLE, SymbolicFactor
from .bracket import RHS, BasePivot, Bracket, DensePivot, Fronts, PairPivot, SomeBlocks, present
from .orthogonal import orthogonal_program
from .program import Instruction, PivotRecord, Place, Program, Ref, Writer


def with_composites(program: Program, composites: str) -> Program:
    """The same program, Phi M^ Phi^T and sums of M^ formed from ten numbers where M^ is rigid."""
    if composites not in TEN:
        return replace(program, composites=composites)
    found, instructions = _rigid(program), list(program.instructions)
    if composites == "centre":
        return _about_centres(program, found)
    if not any(instructions[place].op == "mul" for place in found):
        return replace(program, composites=composites)
    names = {"input": "input", "mul": "shift", "add": "join"}
    for place, args in found.items():
        i = instructions[place]
        instructions[place] = i._replace(op=names[i.op], args=args)
    return replace(program, instructions=tuple(instructions), composites=composites)


def _rigid(program: Program) -> dict[int, tuple[Ref, ...]]:
    """The values that are rigid, with the operands that they follow from; a value's place is its number."""
    found: dict[int, tuple[Ref, ...]] = {}
    for i in program.instructions:
        if not i.symmetric:
            continue
        args: tuple[Ref, ...] | None = None
        if i.op == "input" and i.info[0] == "M":
            args = ()
        elif i.op == "add" and all(ref.value in found and ref.sign > 0 for ref in i.present):
            args = i.present
        elif i.op == "mul":
            args = _congruence(i, program.instructions)
            args = args if args and args[1].value in found else None
        if args is not None:
            found[i.out] = args
    return found


def _about_centres(program: Program, found: dict[int, tuple[Ref, ...]]) -> Program:
    """Form each rigid inertia from the same inertia about its centre of mass, which is added."""
    instructions: list[Instruction] = []
    places: list[Place] = []
    shapes = list(program.shapes)
    centre: dict[int, Ref] = {}  # rigid inertia -> the same about its centre of mass

    def write(i: Instruction, op: str, *args: Ref) -> Ref:
        shapes.append((6, 6))
        instructions.append(Instruction(op, len(shapes) - 1, args, i.step, True))
        return Ref(4 * (len(shapes) - 1))

    for n, i in enumerate(program.instructions):
        before = len(instructions)
        if n not in found:
            instructions.append(i)
        else:
            if i.op == "input":
                shapes.append((6, 6))
                instructions.append(i._replace(out=len(shapes) - 1))
                centre[i.out] = write(i, "centred", Ref(4 * (len(shapes) - 1)))
            elif i.op == "mul":
                centre[i.out] = write(i, "carried", found[n][0], centre[found[n][1].value])
            else:
                centre[i.out] = write(i, "met", *(centre[ref.value] for ref in found[n]))
            instructions.append(Instruction("about_joint", i.out, (centre[i.out],), i.step, True))
        places += [program.places[n]] * (len(instructions) - before)
    return replace(
        program,
        instructions=tuple(instructions),
        shapes=tuple(shapes),
        places=tuple(places),
        composites="centre",
    )


def as_counted(program: Program) -> Program:
    """What the operations of a program are counted from: ten numbers, where an order leaves it open."""
    if program.composites != "counted":
        return program
    by_ten = with_composites(program, "rigid")
    return program if by_ten.instructions is program.instructions else by_ten


def require_general(program: Program, what: str) -> None:
    """Raise FormatError where a program assumes R R^T = 1, which does not hold in ``what``."""
    if program.composites in TEN:
        raise FormatError(
            f"order {program.name!r}",
            f"traced with composites {program.composites!r}, which takes R R^T = 1, and rounded rotations "
            f"are not so in {what}",
            "give it composites 'counted'",
        )


def _congruence(i: Instruction, written: tuple[Instruction, ...]) -> tuple[Ref, Ref] | None:
    """(Phi, M) where an instruction is Phi (M Phi^T), else None."""
    left, right = i.args
    if left is None or right is None or left.transposed or right.transposed:
        return None
    outer, inner = written[left.value], written[right.value]
    if outer.op != "input" or outer.info[0] != "Phi" or inner.op != "mul":
        return None
    M, Phi = inner.args
    if M is None or Phi is None:
        return None
    positive = left.sign * right.sign * M.sign * Phi.sign > 0
    same = Phi.value == left.value and Phi.transposed
    return (Ref(4 * left.value), Ref(4 * M.value)) if positive and same else None


def program_of(symbolic: SymbolicFactor, apart: bool = False) -> Program:
    """The block program of a sequence; raises OrderError for a pivot that cannot be used.

    ``apart`` is for readers of the program as formulas: every joint that ends the sequence is a
    pivot of its own, every assembled entry and unknown is a value of its own, and composites stay
    general, since formulas are of blocks, whatever numbers these hold.
    """
    sequence = symbolic.plan.sequence
    if sequence.rules.elimination == "orthogonal":
        program = orthogonal_program(symbolic, apart)
    else:
        program = Tracer(symbolic, apart).program()
    return program if apart else with_composites(program, sequence.composites)


class Tracer:
    """Runs a plan on fronts, group after group, and writes what it does."""

    def __init__(self, symbolic: SymbolicFactor, apart: bool = False) -> None:
        self.symbolic = symbolic
        self.plan: Plan = symbolic.plan
        self.graph: BlockGraph = self.plan.graph
        self.rules: Rules = self.plan.sequence.rules
        self.n: int = self.graph.structure.n
        self.joints: int = int((self.graph.structure.dof > 0).sum())
        self.write: Writer = Writer(apart, self.rules.symmetry == "mirrored")
        self.fronts: Fronts = Fronts(self.write, self.plan, self.rules.assembly == "right_looking")
        self.records: list[PivotRecord] = []
        self.backward: list[Callable[[], None]] = []  # one a pivot or bracket, run in reverse
        self.x: dict[int, Ref] = {}  # the solution, by block
        self.inertia: Ref | None = None
        self.inertia_blocks: tuple[int, ...] = ()
        self.basis: dict[int, tuple[Ref | None, Ref | None]] = {}
        self.factored: dict[tuple[Block, ...], Ref] = {}  # dense pivots, before they are factored
        self.last: Bracket | None = None  # bracket that was eliminated last

    def program(self) -> Program:
        # equation (4) enters the fronts, and its groups leave them in the order of the plan
        self.enter_matrix()
        groups = self.base_groups(merge=not self.write.apart)
        for members in groups:
            self.group(members)
        # the unknowns follow on the way back, those of the last group first
        while self.backward:  # which else would keep this tracer, and it them, as a cycle
            self.backward.pop()()
        return replace(
            self.write.program(self.plan.sequence.name, self.solution(), self.plan.groups),
            gain=self.rules.rank_update == "gain",
            symbolic=self.symbolic,
            pivots=tuple(self.records),
            inertia=self.inertia,
            inertia_bodies=tuple(self.graph.block(b).body for b in self.inertia_blocks),
        )

    # -- the matrix ---------------------------------------------------------------------------

    def enter_matrix(self) -> None:
        """Equation (4), with forces split along the joint axes where the plan asks for it."""
        n, w, fronts = self.n, self.write, self.fronts
        structure = self.graph.structure
        for k in range(n):
            body, massless = int(structure.copy_of[k]), structure.carrier[k]
            first = body == k or massless  # behind the body's own joint; other pieces are welded
            # row pdd_k: M_k and b_k, of a piece of a link its share
            if not massless:
                M = w.input("M", body, (6, 6))
                b = w.input("b", body, (6, 1))
                if structure.pieces[k] > 1:
                    M, b = (w.divide(x, int(structure.pieces[k])) for x in (M, b))
                fronts.set(PDD * n + k, PDD * n + k, M)
                fronts.set_rhs(PDD * n + k, b)
            # row qdd_k: H_k, tau_k, and A_k where the joint has an armature
            dof = int(structure.dof[body]) if first else 0
            H = w.input("H", body, (dof, 6)) if dof else None
            if dof and not massless:
                fronts.set_rhs(QDD * n + k, w.input("tau", body, (dof, 1)))
            if dof and not massless and structure.armature[k]:
                fronts.set(QDD * n + k, QDD * n + k, w.input("A", body, (dof, dof)))
            # row f_k couples the body with its joint and its parent, by 1, H_k and -Phi_k
            a = -w.input("a", body, (6, 1)) if first else None
            up = int(structure.parent[k])
            Phi: Ref | None = None
            if up >= 0:
                Phi = w.input("Phi", body, (6, 6)) if first else w.eye(6)
            if self.graph.split:
                self.enter_split_force(k, up, H, Phi, a)
            else:
                fronts.set(PDD * n + k, F * n + k, w.eye(6))
                fronts.set(QDD * n + body, F * n + k, H)
                fronts.set_rhs(F * n + k, a)
                if Phi is not None:
                    fronts.set(PDD * n + up, F * n + k, -Phi)
        self.enter_constraints()

    def enter_constraints(self) -> None:
        """G_2 pdd_2 - G_1 pdd_1 - compliance lambda = -gamma, and its transpose."""
        n, w, fronts, structure = self.n, self.write, self.fronts, self.graph.structure
        for number, side in enumerate(structure.sides):
            G = w.input("G", number, (structure.ties[side.tie].rows, 6))
            fronts.set(LAM * n + side.tie, PDD * n + side.body, G if side.sign > 0 else -G)
        for c, tie in enumerate(structure.ties):
            own = LAM * n + c
            if tie.compliant:
                fronts.set(own, own, -w.input("compliance", c, (tie.rows, tie.rows)))
            fronts.set_rhs(own, -w.input("gamma", c, (tie.rows, 1)))

    def enter_split_force(self, k: int, up: int, H: Ref | None, Phi: Ref | None, a: Ref | None) -> None:
        """f = B fJ + C fC with H B = 1 and H C = 0, so that fJ = tau (Yamane & Nakamura, (11))."""
        n, w, fronts = self.n, self.write, self.fronts
        dof = int(self.graph.structure.dof[k])
        if H is None:
            self.basis[k] = (None, w.eye(6))
        else:
            self.basis[k] = (
                w.emit("along", (H,), (6, dof)),
                w.emit("across", (H,), (6, 6 - dof)) if dof < 6 else None,
            )
            fronts.set(QDD * n + k, FJ * n + k, w.eye(dof))
        for kind, basis in zip((FJ, FC), self.basis[k], strict=True):
            if basis is None:
                continue
            fronts.set(PDD * n + k, kind * n + k, basis)
            w.at("split", kind * n + k, RHS)
            fronts.set_rhs(kind * n + k, w.mul(basis.T, a))
            if Phi is not None:
                w.at("split", PDD * n + up, kind * n + k)
                fronts.set(PDD * n + up, kind * n + k, w.neg(w.mul(Phi, basis)))

    def solution(self) -> dict[Block, Ref]:
        """pdd, qdd, f of the tree's own bodies, and lam; split forces are put together again."""
        n, w, structure = self.n, self.write, self.graph.structure
        carriers = structure.carriers
        result: dict[Block, Ref] = {}
        for k in range(n):
            if structure.copy_of[k] != k:
                continue
            name = structure.names[k]
            w.at("force", F * n + k)
            result[Block("pdd", name)] = self.x[PDD * n + k]
            if structure.dof[k]:
                result[Block("qdd", name)] = self.x[QDD * n + k]
            if self.graph.split:
                parts = [
                    w.mul(basis, self.x.get(kind * n + k))
                    for kind, basis in zip((FJ, FC), self.basis[k], strict=True)
                ]
                force = w.add(*parts)
            else:
                carried = self.x.get(F * n + carriers[k]) if k in carriers else None
                force = w.add(self.x[F * n + k], carried)
            assert force is not None
            result[Block("f", name)] = force
        for c, name in enumerate(structure.constraints):
            result[Block("lam", name)] = self.x[LAM * n + c]
        return result

    # -- groups -------------------------------------------------------------------------------

    def base_groups(self, merge: bool = True) -> list[list[tuple[int, ...]]]:
        """Groups of base pivots: (x, z) for a pair, else one dense pivot of one or more blocks.

        With ``merge``, single groups of qdd and lam blocks that end a sequence become one dense
        pivot: the same scalar operations in the same order, without a block for every pair.
        """
        blocks, pivot, group = self.plan.blocks, self.symbolic.pivot, self.plan.group
        groups: list[list[tuple[int, ...]]] = []
        last = -1
        # the symbolic factor says which blocks are pairs; others of a group are one dense pivot
        for t in range(len(blocks)):
            if group[t] != last:
                groups.append([])
                last = int(group[t])
            if pivot[t] == PAIR_FIRST:
                groups[-1].append((int(blocks[t]), int(blocks[t + 1])))
            elif pivot[t] == SINGLE:
                before = groups[-1][-1] if groups[-1] else None
                if before is not None and not self.is_pair(before):
                    groups[-1][-1] = (*before, int(blocks[t]))
                else:
                    groups[-1].append((int(blocks[t]),))
        # joints and multipliers at the end are one pivot, too
        tail: list[int] = []
        while merge and len(groups) > 1 and len(groups[-1]) == 1 and self.merges(groups[-1][0]):
            tail = [*groups.pop()[0], *tail]
        return [*groups, [tuple(tail)]] if tail else groups

    def is_pair(self, pivot: tuple[int, ...]) -> bool:
        return len(pivot) == 2 and bool(self.symbolic.pivot[self.fronts.position[pivot[0]]] == PAIR_FIRST)

    def merges(self, pivot: tuple[int, ...]) -> bool:
        return all(self.graph.kind[b] in (QDD, LAM) for b in pivot)

    def joints_of(self, pivot: tuple[int, ...]) -> tuple[int, ...]:
        """The qdd blocks that a pivot begins with, where nothing but multipliers follows them."""
        first = tuple(b for b in pivot if self.graph.kind[b] == QDD)
        return first if first == pivot[: len(first)] and self.merges(pivot) else ()

    def group(self, members: list[tuple[int, ...]]) -> None:
        rows = [b for pivot in members for b in pivot]
        self.write.step = int(self.plan.group[self.fronts.position[rows[0]]])
        self.fronts.open(rows)
        carried = self.rules.couple == "carried" or self.rules.assembly == "right_looking"
        if len(members) == 1 or carried:
            self.sequential(members, rows)
        else:
            self.bracket(members, rows)
        self.fronts.close()

    def make(self, blocks: tuple[int, ...], A: SomeBlocks) -> BasePivot:
        """The base pivot on blocks whose own square block is A[b][c]; recorded."""
        w = self.write
        step = w.step
        w.pivot = len(self.records)
        w.at("pivot", *blocks)
        names = tuple(self.graph.block(b) for b in blocks)
        if self.is_pair(blocks):
            own, coupling = A[blocks[0]].values()
            plain = blocks[0] // self.n == blocks[1] // self.n  # two unknowns of a matrix, not of (4)
            unit = w.factor(coupling, ()) if plain and coupling is not None else None
            value = -1 if unit is None else unit.value
            self.records.append(PivotRecord(names, step, True, value, (0, int(plain))))
            return PairPivot(w, blocks, own, unit)
        sizes = [int(self.graph.size[b]) for b in blocks]
        whole = w.square([[A[b][c] for c in blocks] for b in blocks], sizes)
        if self.joints and len(self.joints_of(blocks)) == self.joints:
            self.inertia, self.inertia_blocks = whole, self.joints_of(blocks)
        self.factored[names] = whole
        steps = [int(self.plan.group[self.fronts.position[b]]) for b in blocks]
        factor = w.factor(whole, tuple(s for s, m in zip(steps, sizes, strict=True) for _ in range(m)))
        first = 0
        for name, s, size in zip(names, steps, sizes, strict=True):
            self.records.append(PivotRecord((name,), s, False, factor.value, (first, first + size)))
            first += size
        return DensePivot(w, blocks, sizes, factor, self.rules.rank_update == "gain")

    # -- one pivot after another --------------------------------------------------------------

    def sequential(self, members: list[tuple[int, ...]], rows: list[int]) -> None:
        """Each pivot updates at once all blocks coupled with it, inside the group and outside."""
        w, fronts = self.write, self.fronts
        for i, blocks in enumerate(members):
            # the pivot's own block, and its couplings C to what is left
            rest = [b for pivot in members[i + 1 :] for b in pivot]
            own: SomeBlocks = {b: {c: fronts.get(b, c) for c in blocks} for b in blocks}
            pivot = self.make(blocks, own)
            columns = [*rest, *fronts.outside]
            C = {o: present({b: fronts.get(b, o) for b in blocks}) for o in columns}
            C = {o: self.scaled(pivot, column, o) for o, column in C.items() if column}
            y = self.scaled(pivot, {b: fronts.rhs(b) for b in blocks}, RHS)
            # C^T A^-1 C and C^T A^-1 y leave the rest at once
            for o1, o2 in pivot.coupled(C):
                w.at("update", blocks[0], o1, o2)
                fronts.update(o1, o2, w.neg(pivot.quadratic(C[o1], C[o2], o1, o2)))
            for o1 in C:
                w.at("update", blocks[0], o1, RHS)
                fronts.update_rhs(o1, w.neg(pivot.quadratic(C[o1], y, o1, RHS)))
            # and x = A^-1 (y - C x) waits for the way back
            self.backward.append(partial(self.back, pivot, C, y, w.step, w.pivot))

    def scaled(self, pivot: BasePivot, column: Any, o: int) -> Any:
        """A column in which z of a pair (x, z) is divided by what couples the two, where that is not 1."""
        if isinstance(pivot, DensePivot) or pivot.unit is None:
            return column
        z = pivot.blocks[1]
        with self.write.within("half", pivot.blocks[0], o):
            return column | present({z: self.write.solve(pivot.unit, column.get(z))})

    def back(
        self, pivot: BasePivot, C: dict[int, dict[int, Ref]], y: dict[int, Ref | None], step: int, number: int
    ) -> None:
        """x = A^-1 (y - C x_outside) for one pivot."""
        w = self.write
        w.step, w.pivot, w.back = step, number, True
        right = dict(y)
        for o, rows in C.items():
            for b, ref in rows.items():
                right[b] = w.at("right", b).sub(right[b], w.mul(ref, self.x.get(o)))
        w.at("x", *pivot.blocks)
        found = self.scaled(pivot, pivot.apply(right), RHS)
        self.x.update(present({b: w.named(x, "x", b) for b, x in found.items()}))

    def bracket(self, members: list[tuple[int, ...]], rows: list[int]) -> None:
        """The bracket's inverse by itself, then the couplings, then the update."""
        bracket = self.last = Bracket(self.write, self.fronts, rows, self.rules)
        for blocks in members:
            A, E, W = bracket.block(blocks)
            bracket.border(self.make(blocks, A), E, W)
        bracket.update_outside()
        self.backward.append(partial(bracket.solve, self.x))
