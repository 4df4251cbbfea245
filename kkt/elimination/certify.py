"""Certified solutions: balls whose precision is doubled until the asked digits are proved.

Ball arithmetic (python-flint; Johansson 2017) encloses every rounding error.  A pivot whose ball
does not hold zero proves that the matrix is nonsingular.  Naive balls widen by some bits a body,
so the accuracy of the result is looked at, never assumed; and the residual of (4), computed from
its blocks and not by the program, must hold zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format, get_format
from ..blocks import Block
from ..errors import CertificationError, SingularError
from ..system import Entries, System, assemble
from .pivots import PivotSequence
from .residual import residual
from .rounding import LETTERS, RangeError, rounded_entries
from .run import run_objects
from .tape import Tape
from .trace import trace

BITS_PER_DIGIT = 3.3219280948873626
MAX_BITS = 1 << 15


@dataclass(frozen=True)
class Certified:
    """The solution of (4) for given data, each number a ball."""

    solution: dict[Block, NDArray]  # balls
    blocks: tuple[Block, ...]  # the qdd blocks, bodies in the tree's order
    system: System
    digits: int  # proved relative digits of every qdd
    bits: int  # precision that it took

    @property
    def qdd(self) -> list[Any]:
        """(N,) balls."""
        return [x for block in self.blocks for x in self.solution[block]]

    def decimals(self, digits: int | None = None) -> list[str]:
        """qdd as decimal strings of the proved digits."""
        count = digits or self.digits
        with flint.ctx.workprec(self.bits):
            return [decimal(x, count) for x in self.qdd]

    def error(self, qdd: NDArray) -> float | None:
        """max |qdd - exact| / max |exact| over all joints; None where a qdd is not a number."""
        exact = self.qdd
        if not len(exact):
            return 0.0
        with flint.ctx.workprec(self.bits):
            off = [_distance(x, y) for x, y in zip(qdd, exact, strict=True)]
            size = max(_magnitude(y) for y in exact)
        if not np.isfinite(off).all():
            return None
        if size == 0.0:
            return 0.0 if max(off) == 0.0 else float("inf")
        return max(off) / size

    def block_error(self, blocks: list[Block], solution: dict[Block, Any]) -> float | None:
        """Largest error of some blocks' unknowns, relative to the largest unknown of the kind."""
        worst: float | None = None
        for block in blocks:
            if block.kind in ("fJ", "fC"):  # the parts of a split force are seen in the force
                block = Block("f", block.body)
            if block not in self.solution or block not in solution:
                continue
            high, low = self._doubles[block]
            with np.errstate(all="ignore"):
                off = np.abs((np.asarray(solution[block], dtype=float) - high) - low).max()
            scale = self._scale[block.kind]
            worst = max(worst or 0.0, float(off / scale) if scale else float(off))
        return worst if worst is None or np.isfinite(worst) else None

    @property
    def _doubles(self) -> dict[Block, tuple[NDArray, NDArray]]:
        if "_pairs" not in self.__dict__:
            pairs = {}
            with flint.ctx.workprec(self.bits):
                for block, balls in self.solution.items():
                    high = np.array([float(x.mid()) for x in balls])
                    low = np.array(
                        [float((x - flint.arb(h)).mid()) for x, h in zip(balls, high, strict=True)]
                    )
                    pairs[block] = (high, low)
            self.__dict__["_pairs"] = pairs
        return self.__dict__["_pairs"]

    @property
    def _scale(self) -> dict[str, float]:
        if "_largest" not in self.__dict__:
            largest: dict[str, float] = {}
            for block, (high, _) in self._doubles.items():
                size = float(np.abs(high).max(initial=0.0))
                largest[block.kind] = max(largest.get(block.kind, 0.0), size)
            self.__dict__["_largest"] = largest
        return self.__dict__["_largest"]


def certify(
    system: System,
    digits: int = 50,
    *,
    tape: Tape | Any = None,
    rounded_to: str | Format | None = None,
) -> Certified:
    """The solution of (4) with ``digits`` proved digits of every qdd.

    The data are the model's doubles, or with ``rounded_to`` (a floating-point format) the
    entries of (4) rounded to that format.  ``tape`` is a traced order or an order; leaf to root
    (articulated body) where None.  Raises CertificationError, naming the pivot, where no precision
    suffices.
    """
    if tape is None:
        leaf_to_root = system.structure.tip_to_base
        groups = [[("pdd", k), ("qdd", k), ("f", k)] for k in leaf_to_root]
        tape = PivotSequence(groups, name="abm")
    if isinstance(tape, Tape):
        tape.require(system)
    else:
        tape = trace(system, tape)
    wanted = digits * BITS_PER_DIGIT
    bits = max(128, int(wanted * 1.2) + 64)
    blocks = tuple(
        Block("qdd", name)
        for name, dof in zip(system.tree.names, system.tree.dof, strict=True)
        if dof
    )
    trouble = "no digit"
    most = max(MAX_BITS, int(8 * wanted))
    while bits <= most:
        with flint.ctx.workprec(bits):
            solution, bad = _solve(system, tape, rounded_to)
            if bad:
                trouble = bad
            else:
                balls = [x for block in blocks for x in solution[block]]
                accuracy = _proved_bits(balls)
                if accuracy >= wanted:
                    return Certified(solution, blocks, system, digits, bits)
                trouble = f"only {max(0, int(accuracy / BITS_PER_DIGIT))} digits"
        bits *= 2
    raise CertificationError(
        f"{system.name}: {trouble} certified at {bits // 2} bits; the joint-space inertia is "
        "singular or nearly so (look for massless links that carry a joint)"
    )


def _solve(
    system: System, tape: Tape, rounded_to: str | Format | None
) -> tuple[dict[Block, NDArray], str | None]:
    if rounded_to is None:
        entries = assemble(system.state, flint.arb)
    else:
        try:
            entries = _rounded(system, get_format(rounded_to))
        except RangeError as error:
            raise CertificationError(str(error)) from None
    try:
        solution, pivots, _ = run_objects(tape, entries, flint.arb)
    except SingularError as error:
        return {}, str(error)
    for i, values in sorted(pivots.items()):
        if any(0 in d or not d.is_finite() for d in values):
            record = tape.program.pivots[i]
            return {}, f"pivot {record.blocks[0]} cannot be told from zero:"
    for block, row in residual(system, entries, solution).items():
        if not all(0 in x for x in row):
            raise CertificationError(
                f"order {tape.program.name!r}: its solution does not satisfy row {block} of "
                "equation (4); this is an error of the program, please report it"
            )
    return solution, None


def _rounded(system: System, format: Format) -> Entries:
    """The entries of (4) rounded to a format, as exact balls."""
    exact = []
    entries = rounded_entries(system, format)
    for letter in LETTERS:
        rounded = getattr(entries, letter)
        flat = [_ball(value) for value in rounded.ravel().tolist()]
        exact.append(np.array([*flat, None], dtype=object)[:-1].reshape(rounded.shape))
    return Entries(*exact)


def _proved_bits(balls: list[Any]) -> float:
    """Least relative accuracy; an exact zero has all, and one far below the largest counts."""
    if not balls:
        return float("inf")
    largest = max(_magnitude(x) for x in balls)
    least = float("inf")
    for x in balls:
        if x.is_exact():
            continue
        accuracy = float(x.rel_accuracy_bits())
        if 0 in x and largest > 0.0:  # zero for all that can be seen: compare with the others
            size = _magnitude(x)
            accuracy = 0.5 * np.log2(largest / size) if size else float("inf")
        least = min(least, accuracy)
    return least


def _ball(x: Any) -> Any:
    if isinstance(x, flint.arb):
        return x
    if isinstance(x, float | np.floating):
        return flint.arb(float(x))
    if isinstance(x, Fraction):
        return flint.arb(flint.fmpq(x.numerator, x.denominator))
    sign, mantissa, exponent, _ = x._mpf_  # mpmath
    ball = flint.arb(flint.fmpz(int(mantissa))) * flint.arb(2) ** int(exponent)
    return -ball if sign else ball


def _distance(x: Any, y: Any) -> float:
    """|x - y| at most; 0 for a fraction that lies in the ball y, since both are exact."""
    difference = _ball(x) - y
    if isinstance(x, Fraction) and 0 in difference:
        return 0.0
    return _magnitude(difference)


def _magnitude(ball: Any) -> float:
    return float(abs(ball).upper()) if ball.is_finite() else float("inf")


def decimal(x: Any, digits: int) -> str:
    """A number as a decimal string of ``digits`` significant digits."""
    import mpmath

    if isinstance(x, flint.arb):
        mantissa, exponent = x.mid().man_exp()
        value = mpmath.MPContext()
        value.dps = digits + 20
        number = value.ldexp(value.mpf(int(mantissa)), int(exponent))
        return mpmath.nstr(number, digits, strip_zeros=False)
    if hasattr(x, "_mpf_"):
        return mpmath.nstr(x, digits, strip_zeros=False)
    context = mpmath.MPContext()
    context.dps = digits + 20
    return mpmath.nstr(context.mpf(x.numerator) / x.denominator, digits, strip_zeros=False)
