"""Equation (4) of the planar RR arm of Pasic, Williams & Hui 1999, in full, with letters.

The blocks are those of :mod:`kkt.model.spatial` and :mod:`kkt.matrix.entries`, given the letters of
the paper instead of numbers; the engine's programs run on them.  All is exact: rational functions
of the letters, cosines and sines being letters with c^2 + s^2 = 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from sympy import QQ, Expr, Symbol

from pivotree import orderings
from pivotree.kkt import Block, Structure, plan, symbolic
from pivotree.kkt.matrix.entries import bias
from pivotree.kkt.model.spatial import force_transform, matvec, spatial_inertia
from pivotree.kkt.program.program import Instruction, Ref
from pivotree.kkt.program.readers import BlockReader, remaining
from pivotree.kkt.program.tracer import program_of

from ..algebra.algebra import Undecided
from .scalars import Letters, on_circle

MOMENTS = ("11", "12", "13", "22", "23", "33")
WRENCH = ("n_3x", "n_3y", "n_3z", "f_3x", "f_3y", "f_3z")
LETTERS = (
    *("c_1", "s_1", "c_2", "s_2"),  # of theta_1 and theta_2
    *("l_1", "l_2", "l_c1", "l_c2", "m_1", "m_2", "g"),
    *("thetad_1", "thetad_2", "tau_1", "tau_2"),
    *(f"I_{k}{e}" for k in (1, 2) for e in MOMENTS),  # about the centre of mass
    *WRENCH,  # exerted by the hand, in axes of link 2
    *("x_3", "y_3"),  # where it acts, if that is left open
    "l_c3",  # which the arm does not have
)
FIELD = QQ.frac_field(*LETTERS)
RING = FIELD.field.ring
_c1, _s1, _c2, _s2 = RING.gens[:4]
# leading terms c_1^2 and c_2^2 have no common factor: a Groebner basis, so that remainders decide
CIRCLES = [_c1**2 + _s1**2 - 1, _c2**2 + _s2**2 - 1]

Scalar = Any  # of one field
Blocks = dict[tuple[str, object], Any]  # (letter, index of the link) -> (rows, columns)


def blocks(of: Callable[[str], Scalar], hand: tuple[str | None, str | None]) -> Blocks:
    """M, H, Phi, a, b and tau of both links; ``of`` gives the letters' values in a field.

    Link 2 exerts the wrench (n_3, f_3) on its surroundings at the point ``hand`` of its frame,
    None for 0.  Gravity points along -y of the base; links and centres of mass lie on the x axes.
    """
    zero = of("g") * 0
    one = zero + 1

    def at(name: str | None) -> Scalar:
        return zero if name is None else of(name)

    R = [
        [[at(f"c_{k}"), -at(f"s_{k}"), zero], [at(f"s_{k}"), at(f"c_{k}"), zero], [zero, zero, one]]
        for k in (1, 2)
    ]
    Phi = force_transform(array(R), array([[zero] * 3, [at("l_1"), zero, zero]]))
    J = [[[at(f"I_{k}{min(i, j)}{max(i, j)}") for j in (1, 2, 3)] for i in (1, 2, 3)] for k in (1, 2)]
    com = [[at(f"l_c{k}"), zero, zero] for k in (1, 2)]
    M = spatial_inertia(array([at("m_1"), at("m_2")]), array(com), array(J))
    S = array([[zero, zero, one, zero, zero, zero]] * 2)
    rates = S * array([at("thetad_1"), at("thetad_2")])[:, None]
    axes = [[[one, zero, zero], [zero, one, zero], [zero, zero, one]]]
    tip = force_transform(array(axes), array([[at(hand[0]), at(hand[1]), zero]]))[0]
    outside = np.stack([S[0] * 0, -matvec(tip, array([at(name) for name in WRENCH]))])
    a, b = bias(np.array([-1, 0]), M, Phi, rates, S * 0, outside, array([zero, -at("g"), zero]))
    result: Blocks = {}
    for k in (0, 1):
        result |= {("M", k): M[k], ("Phi", k): Phi[k], ("H", k): S[k][None, :]}
        result |= {("a", k): a[k][:, None], ("b", k): b[k][:, None]}
        result["tau", k] = array([[at(f"tau_{k + 1}")]])
    return result


array = partial(np.array, dtype=object)


@cache
def left_of(order: str, steps: int | None) -> tuple[tuple[Instruction, ...], dict[str, Ref]]:
    """The engine's instructions for the two links, and its values by name.

    After ``steps`` groups the names are "qdd_1,qdd_2" and "rhs qdd_1"; with None, of the solution,
    "qdd_1".
    """
    structure = Structure((1, 2), np.array([-1, 0]), np.array([1, 1]))
    factor = symbolic(plan(orderings.get(order), structure))
    if steps is None:
        program = program_of(factor)
        return program.instructions, {str(b): ref for b, ref in program.solution.items()}
    left = remaining(factor, steps)
    refs = {f"{i},{j}": ref for (i, j), ref in left.entries.items()}
    refs |= {f"rhs {Block(*i)}": ref for i, ref in left.rhs.items()}
    return left.instructions, refs


class Arm(Letters):
    """The arm in its letters, and at exact points, with what the engine makes of it."""

    letters: ClassVar[tuple[str, ...]] = (*LETTERS, "c_12")
    domain: ClassVar[Any] = FIELD
    seed = "arm"

    def __init__(self, hand: tuple[str | None, str | None] = ("l_2", None)) -> None:
        """``hand``: where (n_3, f_3) acts on link 2."""
        self.hand = hand

    def engine(self, order: str, steps: int | None, name: str) -> Expr:
        """A value of the engine, as a symbol; see :func:`left_of` for names."""
        return Symbol(f"{order}:{'' if steps is None else steps}:{name}")

    def made(self, of: Callable[[str], Scalar]) -> Made:
        return Made(self, of)

    def drawn(self, draw: random.Random) -> dict[str, fmpq]:
        """Random rationals for all letters, (c_i, s_i) on the circle."""
        known = super().drawn(draw)
        known.pop("c_12")  # is made of others
        for k in (1, 2):
            known[f"c_{k}"], known[f"s_{k}"] = on_circle(draw)
        return known

    def is_zero(self, x: Any) -> bool:
        """Whether a function of the letters is 0 on the circles, or a number.

        Both circles are irreducible, also over the complex numbers: there are no divisors of zero.
        Raises Undecided at 0/0.
        """
        if isinstance(x, fmpq):
            return bool(x == 0)
        if x.denom.rem(CIRCLES) == 0:
            raise Undecided("a denominator is zero")
        return bool(x.numer.rem(CIRCLES) == 0)


class Made(dict[str, Any]):
    """What the engine makes of the arm's letters, each value when it is first asked for."""

    def __init__(self, arm: Arm, of: Callable[[str], Scalar]) -> None:
        super().__init__()
        self.arm = arm
        self.of = of
        self.runs: dict[tuple[str, int | None], Scalars] = {}

    def __missing__(self, name: str) -> Scalar:
        if name == "c_12":
            c_1, s_1, c_2, s_2 = map(self.of, ("c_1", "s_1", "c_2", "s_2"))
            return c_1 * c_2 - s_1 * s_2
        order, after, what = name.split(":")
        steps = int(after) if after else None
        instructions, refs = left_of(order, steps)
        if (order, steps) not in self.runs:
            self.runs[order, steps] = Scalars(self.arm, instructions, blocks(self.of, self.arm.hand))
        return self.runs[order, steps](refs[what])[0, 0]


class Scalars(BlockReader):
    """A block program run on arrays of scalars, for joints of one freedom each."""

    def __init__(self, arm: Arm, instructions: Iterable[Instruction], inputs: Blocks) -> None:
        super().__init__()
        self.arm = arm
        self.inputs = inputs
        self.read(instructions)

    def unread(self, i: Instruction) -> Exception:
        return Undecided(f"the operation {i.op!r} is not one of two joints of one freedom each")

    def _input(self, i: Instruction) -> Any:
        return self.inputs[i.info]

    def _eye(self, i: Instruction) -> Any:
        return np.eye(i.info[0], dtype=int).astype(object)

    def _solve(self, i: Instruction, a: Any, c: Any) -> Any:
        return c / self._pivot(i, a)

    def _inner(self, i: Instruction, a: Any, y: Any, z: Any) -> Any:
        return y.T @ z / self._pivot(i, a)

    def _pivot(self, i: Instruction, a: Any) -> Scalar:
        if a.shape != (1, 1):
            raise self.unread(i)
        if self.arm.is_zero(a[0, 0]):
            raise Undecided("a pivot is zero")
        return a[0, 0]
