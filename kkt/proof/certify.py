"""Certified solutions: balls whose precision is doubled until the asked digits are proved.

Ball arithmetic (python-flint; Johansson 2017) encloses every rounding error.  A pivot whose ball
does not hold zero proves that the matrix is nonsingular.  Naive balls widen by some bits a body,
so the accuracy of the result is looked at, never assumed; and the residual of (4), computed from
its blocks and not by the program, must hold zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.errors import CertificationError, SingularError
from ..base.shown import Shown
from ..matrix.blocks import Block
from ..matrix.entries import UNIT, Entries, assemble, size_of, weight_of
from ..matrix.system import System, least_size, require_system
from ..program.tracer import require_general
from ..tape.player import RangeError, rounded_entries, run
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .soundness import residual
from .trust import DecimalBall, as_balls, ball_of, decimal, decimal_ball, distance, magnitude

BITS_PER_DIGIT = 3.3219280948873626
SPARE_BITS = 2  # so that a midpoint may be rounded to decimals
MAX_BITS = 1 << 15
MOST_DIGITS = 1_000_000


@dataclass(frozen=True)
class Nonsingular:
    """What proves that the matrix is nonsingular: no pivot's ball holds zero.

    The pairs (pdd f), used through an exact inverse, have determinant +-1 whatever the numbers.
    """

    pivots: int  # scalar pivots of all dense blocks
    block: Block | None  # of the smallest one
    least: float  # a lower bound of its magnitude

    def __str__(self) -> str:
        text = f"no ball of {self.pivots} pivots holds zero"
        return f"{text}; |{self.block}| >= {self.least:.2g}" if self.block else text


@dataclass(frozen=True, eq=False, repr=False)
class Certified(Shown):
    """The solution of (4) for given data, each number a ball.

    >>> system = pt.build(pt.chain(2))
    >>> proved = pt.certify(system, digits=20)
    >>> proved.decimals()[0]
    '2.9353589253326827732'
    >>> proved.error(pt.eliminate(system, pt.orderings.get("abm")).qdd) < 1e-15
    True
    """

    solution: dict[Block, NDArray[Any]]  # balls
    blocks: tuple[Block, ...]  # the qdd blocks, bodies in the tree's order
    system: System
    digits: int  # proved relative digits of every qdd and lambda
    bits: int  # precision that it took
    order: str  # whose tape the balls read
    nonsingular: Nonsingular

    def __getstate__(self) -> dict[str, Any]:  # a radius may come back longer by 2e-9 of itself
        parts = {
            block: [(x.mid().man_exp(), x.rad().man_exp()) for x in xs] for block, xs in self.solution.items()
        }
        return vars(self) | {"solution": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = {block: np.array([flint.arb(*x) for x in xs]) for block, xs in state["solution"].items()}
        vars(self).update(state, solution=found)

    def facts(self) -> dict[str, Any]:
        """What a line about it tells."""
        return {"name": self.system.name, "digits": self.digits, "bits": self.bits, "order": self.order}

    @property
    def qdd(self) -> list[Any]:
        """(N,) balls."""
        return [x for block in self.blocks for x in self.solution[block]]

    @property
    def lam(self) -> list[Any]:
        """Balls of the multipliers, loop by loop, row by row; empty without loops."""
        return _multipliers(self.system, self.solution)

    def decimals(self, digits: int | None = None) -> list[str]:
        """qdd as decimal strings of the proved digits, or of so many of them.

        Of a number that may be zero no digit is proved, and it is shown as 0.
        """
        with flint.ctx.workprec(self.bits):
            right = [math.floor(x.rel_accuracy_bits() * math.log10(2.0)) for x in self.qdd]
            told = ((x, max(1, min(digits or self.digits, r))) for x, r in zip(self.qdd, right, strict=True))
            return ["0" if x.contains(0) else decimal(x, count) for x, count in told]

    def balls(self, kind: str = "qdd") -> list[DecimalBall]:
        """(N,) decimal balls that hold the exact qdd, or with ``kind`` "lam" the multipliers.

        The midpoint has one digit more than those proved, so that rounding it spoils none: the
        radius is at most 10^-digits times the midpoint, where it is not 0.
        """
        found = self.lam if kind == "lam" else self.qdd
        return [decimal_ball(x, self.digits + 1) for x in found]

    def error(self, qdd: NDArray[Any]) -> float | None:
        """max |qdd - exact| over all joints, relative to ``size``; None where a qdd is no number."""
        with flint.ctx.workprec(self.bits):
            off = max((distance(x, y) for x, y in zip(qdd, self.qdd, strict=True)), default=0.0)
        return off / self.size if np.isfinite(off) else None

    @cached_property
    def size(self) -> float:
        """max |qdd|, or what :mod:`kkt.matrix.system` says where that is more; 1 where all are 0."""
        with flint.ctx.workprec(self.bits):
            return max([*map(magnitude, self.qdd), least_size(self.system)]) or 1.0

    def differences(self, qdd: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
        """(N,) qdd - exact, with their signs; nan or infinite where a qdd is not a number."""
        with flint.ctx.workprec(self.bits):
            off = [(x, ball_of(x) - y) for x, y in zip(qdd, self.qdd, strict=True)]
            return np.array([float(d.mid() if d.is_finite() else x) for x, d in off], dtype=float)

    def block_error(self, blocks: list[Block], solution: dict[Block, Any]) -> float | None:
        """Largest error of some blocks' unknowns, relative to the largest unknown of the kind."""
        worst: float | None = None
        with flint.ctx.workprec(self.bits):
            for block in blocks:
                if block.kind in ("fJ", "fC"):  # the parts of a split force are seen in the force
                    block = Block("f", block.body)
                if block not in self.solution or block not in solution:
                    continue
                apart = zip(solution[block].tolist(), self.solution[block], strict=True)
                off = max((distance(x, y) for x, y in apart), default=0.0)
                worst = max(worst or 0.0, off / (self._scale[block.kind] or 1.0))
        return worst if worst is None or np.isfinite(worst) else None

    @cached_property
    def _scale(self) -> dict[str, float]:
        largest: dict[str, float] = {}
        for block, balls in self.solution.items():
            largest[block.kind] = max(largest.get(block.kind, 0.0), *map(magnitude, balls))
        return largest


def certify(
    system: System | Any, digits: int = 50, *, order: Any = None, rounded_to: str | Format | None = None
) -> Certified:
    """The solution of (4) with ``digits`` proved digits of every qdd, and of every lambda.

    Digits of a multiplier that cannot be told from zero are counted from the largest force in a
    joint or a loop: such a row carries nothing.  The data are the model's doubles, or with
    ``rounded_to`` (a floating-point format) the entries of (4) rounded to that format.  ``order``
    may be a traced one; None is leaf to root (articulated body).  Raises
    CertificationError, naming the pivot, where no precision suffices, and FormatError for a
    ``rounded_to`` that rounds no data: fractions, mpmath numbers and balls.

    It takes the order's operations, once for each time that the bits are doubled; the bits that are
    needed grow with the digits and with the depth of the tree: O(n^2) for a chain of n bodies.

    >>> proved = pt.certify(pt.build(pt.chain(100)), digits=30)
    >>> proved.decimals()[0]
    '1.93769926768805699307796351744'
    """
    own: Any = system if hasattr(system, "left") else None  # a matrix of one's own (:func:`pivotree.matrix`)
    if own is None:
        require_system(system)
    whole = isinstance(digits, int | np.integer) and not isinstance(digits, bool)
    if not whole or not 1 <= digits <= MOST_DIGITS:
        where = f"{digits!r} certified digits"
        raise CertificationError(where, "is no number of digits", f"ask for 1 to {MOST_DIGITS}")
    tape = own.traced(order) if own else tape_for(system, order)
    wanted, precisions = bits_for(digits, 0 if own else int(system.structure.depth.max(initial=0)))
    blocks: tuple[Block, ...] = (Block("x", "all"),)
    if own is None:
        require_general(tape.program, "balls")
        dof = zip(system.tree.names, system.tree.dof, strict=True)
        blocks = tuple(Block("qdd", name) for name, count in dof if count)
    trouble = "no digit is certified"
    for bits in precisions:
        with flint.ctx.workprec(bits):
            solution, proof = _solve(system, own, tape, rounded_to)
            if isinstance(proof, str):
                trouble = proof
            else:
                balls = [x for block in blocks for x in solution[block]]
                accuracy = proved_bits(balls)
                if own is None:
                    # where all qdd are zero, beside what gravity and rates do to bodies alone
                    still = size_of(system.entries.a) if all(0 in x for x in balls) else None
                    accuracy = min(proved_bits(balls, still), _bits_of_multipliers(system, solution))
                if accuracy >= wanted:
                    name = tape.program.name
                    return Certified(solution, blocks, system, digits, bits, name, proof)
                trouble = f"only {max(0, int(accuracy / BITS_PER_DIGIT))} digits are certified"
    data = "" if rounded_to is None else f" for the data rounded to {get_format(rounded_to).name}"
    why = "the joint-space inertia is singular or nearly so (look for massless links that carry a joint)"
    if own:
        why = "the matrix is singular or nearly so, or a pivot is zero"
        if rounded_to is not None and get_format(rounded_to).unit > get_format("float64").unit:
            why += "; rounded to float64 it may not be"
    else:
        from .idle import idle_motion

        idle = idle_motion(system, system.entries, UNIT)
        why = why if idle is None else f"equation (4) is singular: {idle.why}"
    raise CertificationError(system.name, f"{trouble} at {bits} bits{data}", why)


def bits_for(digits: int, depth: int = 0) -> tuple[float, list[int]]:
    """The bits that so many digits take, and precisions of balls that may prove them, each doubled.

    A body takes some three bits from those behind it; the first precision leaves them to ``depth`` bodies.
    """
    wanted = digits * BITS_PER_DIGIT + SPARE_BITS
    least, most = max(128, int(wanted * 1.2) + 64), max(MAX_BITS, int(8 * wanted))
    found = [least << times for times in range((most // least).bit_length())]
    return wanted, [bits for bits in found if bits >= wanted + 3 * depth] or found[-1:]


def _solve(
    system: System, own: Any, tape: Tape, rounded_to: str | Format | None
) -> tuple[dict[Block, NDArray[Any]], Nonsingular | str]:
    """The solution in balls and the proof of nonsingularity, or what went wrong."""
    given = {"beside": own.numbers_in_balls(rounded_to)} if own else {}
    entries = own.entries if own else entries_in_balls(system, rounded_to)
    try:
        solution, pivots, _ = run(tape, entries, flint.arb, given)
    except SingularError as error:
        return {}, str(error)
    for i, values in pivots.items():
        if any(0 in d or not d.is_finite() for d in values):
            return {}, f"pivot {tape.program.pivots[i].blocks[0]} cannot be told from zero"
    sizes = [(float(abs(d).lower()), i) for i, values in pivots.items() for d in values]
    least, smallest = min(sizes, default=(float("inf"), -1))
    left = own.left(solution, **given) if own else residual(system, entries, solution)
    for block, row in left.items():
        if not all(0 in x for x in row):
            what = f"its solution does not satisfy row {block} of its equations"
            told = "this is an error of the program, please report it"
            raise CertificationError(f"order {tape.program.name!r}", what, told)
    block = tape.program.pivots[smallest].blocks[0] if sizes else None
    return solution, Nonsingular(len(sizes), block, least)


def entries_in_balls(system: System, rounded_to: str | Format | None = None) -> Entries:
    """The entries of (4) as balls, those of a format exact; CertificationError where one overflows it."""
    if rounded_to is None:
        return assemble(system.state, flint.arb)
    format = get_format(rounded_to)
    try:
        return as_balls(rounded_entries(system, format), format)
    except RangeError as error:
        raise CertificationError(error) from None


def _multipliers(system: System, solution: dict[Block, NDArray[Any]]) -> list[Any]:
    return [x for name in system.structure.constraints for x in solution[Block("lam", name)]]


def _bits_of_multipliers(system: System, solution: dict[Block, NDArray[Any]]) -> float:
    """Proved bits of lambda, zeros beside the largest force of all.

    Where all forces are zero, as in free fall, beside the weight of a body.
    """
    balls = _multipliers(system, solution)
    forces = [x for block, row in solution.items() if block.kind == "f" for x in row]
    if all(0 in x for x in [*balls, *forces]):
        return proved_bits(balls, weight_of(system.entries))
    return proved_bits(balls, max(map(magnitude, [*balls, *forces]), default=0.0))


def proved_bits(balls: list[Any], largest: float | None = None) -> float:
    """Least relative accuracy; an exact zero has all, and one far below ``largest`` counts.

    ``largest`` is the largest of the balls where None.
    """
    if not balls:
        return float("inf")
    largest = max(magnitude(x) for x in balls) if largest is None else largest
    least = float("inf")
    for x in balls:
        if x.is_exact():
            continue
        accuracy = float(x.rel_accuracy_bits())
        if 0 in x and largest > 0.0:  # zero for all that can be seen: compare with the others
            size = magnitude(x)
            accuracy = 0.5 * np.log2(largest / size) if size else float("inf")
        least = min(least, accuracy)
    return least
