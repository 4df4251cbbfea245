"""Composite inertias as ten numbers: a sum of rigid inertias is rigid.

As long as no joint has been eliminated behind body k, M^_k is the inertia of one rigid body, ten
numbers, where a symmetric 6 x 6 block holds 21.  A sequence says which ten by its ``composites``:

    "rigid"   mass, first moment and moments about the joint (:mod:`kkt.tape.rigid`)
    "centre"  mass, centre of mass and moments about it (:mod:`kkt.tape.rigid`), about the joint by
              the parallel-axis theorem where M^_k is used

"general" stands for the 6 x 6 block, carried by Phi M Phi^T.  This is rigid where R R^T = 1, an
identity of values and not of their pattern.  Rotations that have been rounded satisfy it to
rounding only, so that ten numbers belong to programs that start from joint positions
(:func:`kkt.compile`), and to formats no finer than the doubles that hold the rotations; no digit
can be certified with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..base.errors import FormatError
from .program import Instruction, Place, Program, Ref


def with_composites(program: Program, composites: str) -> Program:
    """The same program, Phi M^ Phi^T and sums of M^ formed from ten numbers where M^ is rigid."""
    if composites == "general":
        return program
    found = list(_rigid(program))
    if composites == "rigid":
        names = {"input": "input", "mul": "shift", "add": "join"}
        instructions = [i._replace(op=names[i.op], args=a) if a is not None else i for i, a in found]
        return replace(program, instructions=tuple(instructions), composites=composites)
    return _about_centres(program, found)


def _rigid(program: Program) -> Iterator[tuple[Instruction, tuple[Ref, ...] | None]]:
    """Every instruction, and, where its result is rigid, the operands that it follows from."""
    by_value = {i.out: i for i in program.instructions}
    rigid: set[int] = set()
    for i in program.instructions:
        args: tuple[Ref, ...] | None = None
        if i.op == "input" and i.info[0] == "M":
            args = ()
        elif i.op == "add" and i.symmetric and all(_plain(ref, rigid) for ref in i.args):
            args = tuple(ref for ref in i.args if ref is not None)
        elif i.op == "mul" and i.symmetric:
            args = _congruence(i, by_value, rigid)
        if args is not None:
            rigid.add(i.out)
        yield i, args


def _about_centres(program: Program, found: list[tuple[Instruction, tuple[Ref, ...] | None]]) -> Program:
    """Form each rigid inertia from the same inertia about its centre of mass, which is added."""
    instructions: list[Instruction] = []
    places: list[Place] = []
    shapes = list(program.shapes)
    centre: dict[int, Ref] = {}  # rigid inertia -> the same about its centre of mass

    def write(i: Instruction, op: str, *args: Ref) -> Ref:
        shapes.append((6, 6))
        instructions.append(Instruction(op, len(shapes) - 1, args, i.step, True))
        return Ref(len(shapes) - 1)

    for (i, args), place in zip(found, program.places, strict=True):
        before = len(instructions)
        if args is None:
            instructions.append(i)
        else:
            if i.op == "input":
                shapes.append((6, 6))
                instructions.append(i._replace(out=len(shapes) - 1))
                centre[i.out] = write(i, "centred", Ref(len(shapes) - 1))
            elif i.op == "mul":
                centre[i.out] = write(i, "carried", args[0], centre[args[1].value])
            else:
                centre[i.out] = write(i, "met", *(centre[ref.value] for ref in args))
            instructions.append(Instruction("about_joint", i.out, (centre[i.out],), i.step, True))
        places += [place] * (len(instructions) - before)
    return replace(
        program,
        instructions=tuple(instructions),
        shapes=tuple(shapes),
        places=tuple(places),
        composites="centre",
    )


def require_general(program: Program, what: str) -> None:
    """Raise FormatError where a program assumes R R^T = 1, which does not hold in ``what``."""
    if program.composites != "general":
        raise FormatError(
            f"order {program.name!r}: traced with composites {program.composites!r}, which takes "
            f"R R^T = 1, and rounded rotations are not so in {what}; give it composites 'general'"
        )


def _plain(ref: Ref | None, rigid: set[int]) -> bool:
    return ref is not None and ref.value in rigid and ref.sign > 0


def _congruence(i: Instruction, by_value: dict[int, Instruction], rigid: set[int]) -> tuple[Ref, Ref] | None:
    """(Phi, M) where an instruction is Phi (M Phi^T) of a rigid M, else None."""
    left, right = i.args
    if left is None or right is None or left.transposed or right.transposed:
        return None
    outer, inner = by_value[left.value], by_value[right.value]
    if outer.op != "input" or outer.info[0] != "Phi" or inner.op != "mul":
        return None
    M, Phi = inner.args
    if M is None or Phi is None or M.value not in rigid:
        return None
    positive = left.sign * right.sign * M.sign * Phi.sign > 0
    same = Phi.value == left.value and Phi.transposed
    return (Ref(left.value), Ref(M.value)) if positive and same else None
