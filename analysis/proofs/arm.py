"""Equation (4) of the planar RR arm of Pasic, Williams & Hui 1999, in full, with letters.

The blocks are those of :mod:`kkt.model.spatial` and :mod:`kkt.matrix.entries`, given the letters of
the paper instead of numbers; the engine's programs run on them.  All is exact: rational functions
of the letters, cosines and sines being letters with c^2 + s^2 = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sympy import QQ
from sympy.polys.fields import FracElement

from pivotree import orderings
from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.matrix.entries import bias
from pivotree.kkt.model.spatial import force_transform, matvec, spatial_inertia
from pivotree.kkt.order.pivots import plan
from pivotree.kkt.program.program import Instruction, Ref
from pivotree.kkt.program.tracer import program_of, remaining
from pivotree.kkt.structure.symbolic import symbolic

from ..algebra.algebra import Undecided

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


def array(entries: Any) -> Any:
    """An array of scalars; numpy itself must not look into them."""
    shape, inner = [], entries
    while isinstance(inner, list):
        shape.append(len(inner))
        inner = inner[0]
    result = np.empty(shape, dtype=object)
    for place in product(*map(range, shape)):
        entry = entries
        for i in place:
            entry = entry[i]
        result[place] = entry
    return result


def is_zero(x: FracElement) -> bool:
    """Whether a rational function of the letters is 0 on the circles.  Raises Undecided at 0/0.

    Both circles are irreducible, also over the complex numbers: there are no divisors of zero.
    """
    if x.denom.rem(CIRCLES) == 0:
        raise Undecided("a denominator is zero")
    return bool(x.numer.rem(CIRCLES) == 0)


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


class Scalars:
    """A block program run on arrays of rational functions of the letters."""

    def __init__(self, instructions: Iterable[Instruction], inputs: Blocks) -> None:
        self.inputs = inputs
        self.values: dict[int, Any] = {}
        for i in instructions:
            self.values[i.out] = self._value(i)

    def __call__(self, ref: Ref) -> Any:
        x = self.values[ref.value]
        x = x.T if ref.transposed else x
        return x if ref.sign > 0 else -x

    def _value(self, i: Instruction) -> Any:
        if i.op == "input":
            return self.inputs[i.info]
        if i.op == "eye":
            return np.eye(i.info[0], dtype=int).astype(object)
        args = [self(ref) for ref in i.args if ref is not None]
        if i.op == "mul":
            return args[0] @ args[1]
        if i.op == "add":
            return args[0] + args[1]
        if i.op in ("factor", "mirror"):
            return args[0]
        if args[0].shape == (1, 1):  # joints of one freedom: L = 1
            d = args[0][0, 0]
            if is_zero(d):
                raise Undecided("a pivot is zero")
            if i.op == "solve":
                return args[1] / d
            if i.op == "inner":
                return args[1].T @ args[2] / d
        raise Undecided(f"the operation {i.op!r} is not one of two joints of one freedom each")
