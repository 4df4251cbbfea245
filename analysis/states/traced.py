"""A traced order, read in many states at a time: answers, errors, and what is said of them.

An answer is qdd (N,), or with the quantity "derivatives" qdd and its matrices (4, N N): rows of
``FIELDS``, each relative to its own largest entry, or what counts in its place where a robot nearly
holds still (:mod:`kkt.matrix.system`).  Errors are held against the leaf-to-root (articulated
body) program in double-double on the data rounded to the format, some 30 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import flint
import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import OrderError, SymbolicFactor, System, certify, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.arithmetic.binary import Binary
from pivotree.kkt.arithmetic.formats import Hardware, Runner
from pivotree.kkt.arithmetic.objects import column
from pivotree.kkt.matrix.entries import LETTERS, RIGHT_HAND_SIDE, Entries
from pivotree.kkt.matrix.system import least_size
from pivotree.kkt.proof.soundness import OTHERWISE, by_chance, named, rows_of
from pivotree.kkt.proof.trust import Longer, bound, longer_name, mark
from pivotree.kkt.solution.columns import enclosed
from pivotree.kkt.tape.derivatives import differentiated, numbers_of
from pivotree.kkt.tape.inputs import pivot_rows
from pivotree.kkt.tape.player import entered, first_bad, played, signed
from pivotree.kkt.tape.tape import Tape

KEPT = 2_000_000  # slots and operations of the tapes that are kept for later states
NO_NUMBER = "qdd: overflow or not a number"
FIELDS = {"qdd": ("qdd",), "derivatives": ("qdd", "dq", "dqd", "dtau")}  # of each quantity
Floats = NDArray[np.float64]
UNKNOWNS = ("a", "tau", "b", "gamma")  # rows of (4) that are as many as pdd, qdd, f and lambda
Rows = tuple[tuple[int, tuple[int, ...]], ...]  # bodies, and rows of S that split their forces


@dataclass(frozen=True)
class Pair:
    """Double-double numbers (..., N)."""

    high: Floats
    low: Floats
    least: Floats | float = 0.0  # (..., 1) sizes that errors are relative to, where no number is larger

    def at(self, here: Any) -> Pair:
        """Some of the states, or one."""
        least = self.least if np.ndim(self.least) < np.ndim(self.high) else np.asarray(self.least)[here]
        return Pair(self.high[here], self.low[here], least)

    @staticmethod
    def none(m: int, order: TracedOrder) -> Pair:
        """Answers of m states, none of which is known: they are nan."""
        high = np.full((m, *order.answer.shape), np.nan)
        return Pair(high, np.zeros(high.shape), np.zeros((*high.shape[:-1], 1)))

    def put(self, here: NDArray[Any], part: Pair) -> None:
        """The answers of some of the states."""
        self.high[here], self.low[here], np.asarray(self.least)[here] = part.high, part.low, part.least

    @property
    def known(self) -> NDArray[np.bool_]:
        """(m,) states that have an answer."""
        return np.asarray(np.isfinite(self.high).all(axis=tuple(range(1, self.high.ndim))))

    @staticmethod
    def of_balls(balls: NDArray[Any], bits: int) -> Pair:
        """The middles of balls (...), found with so many bits."""
        with flint.ctx.workprec(bits):
            high = np.array([float(x.mid()) for x in balls.flat])
            low = [float((x - flint.arb(h)).mid()) for x, h in zip(balls.flat, high, strict=True)]
        return Pair(high.reshape(balls.shape), np.reshape(low, balls.shape))

    def differences(self, x: NDArray[Any], low: NDArray[Any] | float = 0.0) -> Floats:
        """(..., N) x + low - this, with their signs."""
        with np.errstate(all="ignore"):
            return (np.asarray(x, dtype=float) - self.high) + (low - self.low)

    def error(self, x: NDArray[Any], low: NDArray[Any] | float = 0.0) -> Floats:
        """(..., N) |x + low - this|, relative to their sizes."""
        with np.errstate(all="ignore"):
            off, size = np.abs(self.differences(x, low)), self.sizes
            return np.where(size > 0.0, off / size, np.where(off == 0.0, 0.0, np.inf))

    @property
    def sizes(self) -> Floats:
        """(..., 1) what errors are relative to."""
        largest = np.abs(self.high).max(axis=-1, initial=0.0, keepdims=True)
        return np.asarray(np.maximum(largest, self.least))

    def largest(self, x: NDArray[Any], low: NDArray[Any] | float = 0.0) -> Floats:
        """(...,) the largest of these errors."""
        return np.asarray(self.error(x, low).max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class Equations:
    """(4) of m states of one system's tree with its entries rounded to a format, m in front of each.

    What answers leave of it is by the rows of :func:`kkt.proof.soundness.backward_error`, in numpy's
    longest float where the answers have the digits of float64, and in float64 where they are shorter.
    """

    system: System
    entries: Entries
    norms: NDArray[Any]  # (m,) largest row sum of |A|
    rights: NDArray[Any]  # (m,) largest entry of |b|

    @classmethod
    def of(cls, system: System, entries: Entries, chosen: Format) -> Equations:
        """``entries`` (m, ...) in float64; what overflows the format leaves states without norm."""
        wide: Any = float if longer_name(chosen) == "float64" else np.longdouble
        given = Entries(*(np.asarray(chosen.cast(x), dtype=float).astype(wide) for x in entries))
        sizes = Entries(*map(np.abs, given))
        right = {x: getattr(sizes, x) for x in RIGHT_HAND_SIDE}
        alone = sizes._replace(**{x: np.zeros_like(size) for x, size in right.items()})
        ones: Any = tuple(np.ones_like(getattr(given, x)) for x in UNKNOWNS)
        with np.errstate(all="ignore"):
            norms = _largest(rows_of(system, alone, ones, 1))
        return cls(system, given, norms, _largest([*right.values()]))

    def backward_errors(self, here: NDArray[np.int64], *unknowns: NDArray[Any]) -> Floats:
        """(k,) max |A x - b| / (max row sum of |A| times max |x| + max |b|) of k answers.

        ``here`` (k,) are their states, ``unknowns`` pdd (k, 6 n), qdd (k, N), f (k, 6 n) and lambda
        (k, multipliers).  Rigal & Gaches 1967; not a number where an unknown is none.
        """
        at = Entries(*(x[here] for x in self.entries))
        rows = (getattr(at, name) for name in UNKNOWNS)
        pairs = zip(unknowns, rows, strict=True)
        x: Any = tuple(np.asarray(u, dtype=float).astype(r.dtype).reshape(r.shape) for u, r in pairs)
        left = _largest(rows_of(self.system, at, x, -1))
        size = self.norms[here] * _largest(x) + self.rights[here]
        return np.asarray(np.divide(left, size, out=np.zeros_like(left), where=size != 0), dtype=float)


def _largest(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """(m,) the largest magnitude in each state; not a number where one is none."""
    each = [np.abs(part).reshape(len(part), -1) for part in parts]
    return np.asarray(np.concatenate(each, axis=1).max(axis=1, initial=0))


class Said(NamedTuple):
    """Of one answer."""

    failed_at: str | None = None  # why there is none: a pivot is zero for the format
    marked: str | None = None  # why it should not be relied on
    singular: bool = False  # there is none, whatever the order and the format


def said(
    tape: Tape,
    chosen: Format,
    errors: Floats,
    left: Floats,
    pivots: NDArray[Any],
    longer: Callable[[NDArray[np.int64]], NDArray[Any]],
) -> list[Said]:
    """Of each of m answers of a tape in a format of floats.

    ``errors`` (m,) are those of qdd, ``left`` (m,) normwise backward errors in (4), ``pivots``
    (m, P) those of ``tape.pivot_slots``; ``longer`` gives them in twice the digits for the answers
    that are named to it, pairs high + low i of double-double among them.
    """
    most = bound(chosen.unit)
    found = [Said()] * len(errors)
    doubtful = np.flatnonzero(~((errors <= most) & (left <= most)))
    if not len(doubtful):
        return found
    for i, exact in zip(doubtful.tolist(), longer(doubtful), strict=True):
        pairs = np.asarray(exact.real, dtype=float), np.asarray(exact.imag, dtype=float)
        lost = Longer(pairs, None).against(tape, blocks_of(tape, pivots[i]), chosen)
        if lost is not None and lost.zero and (lost.nothing or not errors[i] <= most):
            found[i] = Said(failed_at=named(tape, chosen, lost, OTHERWISE))
        else:
            found[i] = Said(marked=mark(errors[i], left[i], chosen.name, chosen.unit))
    return found


def blocks_of(tape: Tape, pivots: NDArray[Any]) -> dict[int, NDArray[Any]]:
    """Pivots (P,) of ``tape.pivot_slots`` by their records."""
    ends = np.cumsum([len(slots) for slots in tape.pivots.values()])
    return dict(zip(tape.pivots, np.split(pivots, ends[:-1]), strict=False))


class Answers(NamedTuple):
    """Answers of an order in a format, in k states."""

    found: NDArray[Any]  # (k, N) qdd
    pivots: NDArray[Any]  # (k, P)
    errors: Floats  # (k,) against a reference
    left: Floats  # (k,) backward errors in (4), normwise
    said: list[Said]


class TracedOrder:
    """A traced order, with the slots that every run writes and reads, found once."""

    def __init__(self, tape: Tape, system: System, quantity: str = "qdd") -> None:
        """Raises what :func:`kkt.derivatives` raises where there are no derivatives."""
        self.quantity: str = quantity
        self.operations: int = tape.flops
        self.others: dict[Rows, TracedOrder] = {}  # tapes of the same order where joints have turned
        self.beside: tuple[str, ...] = ()  # names of inputs that are not in (4)
        matrices = []
        if quantity == "derivatives":
            further = differentiated(tape, system)
            self.operations, tape = further.operations(tape), further.tape
            self.beside = further.names
            matrices = [further.slots[f"dqdd_{by}"] for by in FIELDS[quantity][1:]]
        self.tape = tape
        pdd, qdd, f, lam = tape.unknowns(system)
        self.qdd: NDArray[Any] = qdd
        self.answer: NDArray[Any] = self.qdd  # signed slots
        if matrices:
            first = np.zeros_like(matrices[0])  # qdd_i in row i, and nothing beside it
            first[:, :1] = self.qdd[:, None]
            self.answer = np.stack([first, *matrices]).reshape(len(matrices) + 1, first.size)
        self.wanted: tuple[Any, ...] = (qdd, tape.pivot_slots, pdd.ravel(), f.ravel(), lam)
        slots = [np.asarray(tape.inputs.slots(letter)) for letter in LETTERS]
        slots[0] = np.triu(slots[0])  # M is symmetric
        if quantity == "derivatives":
            slots.append(np.asarray(tape.inputs.slots("beside")))
        self.takes: list[NDArray[np.bool_]] = [array > 1 for array in slots]
        self.places: NDArray[Any] = np.concatenate(
            [array[take] for array, take in zip(slots, self.takes, strict=True)]
        )

    @property
    def size(self) -> int:
        return self.tape.length + self.tape.slots

    @cached_property
    def costs(self) -> dict[str, int]:
        """Operations, fill and height on this pattern of zeros, whatever the numbers."""
        return {
            "flops": self.operations,
            "fill": self.factor.fill_blocks,
            "fill_entries": self.factor.fill_entries,
            "height": self.factor.height,
        }

    def values(self, system: System) -> NDArray[Any]:
        """The entries of (4) as the tape reads them, and what stands beside them, in float64."""
        entries = list(system.entries)
        if self.quantity == "derivatives":
            entries.append(numbers_of(self.tape, system))
        return np.concatenate([x[take] for x, take in zip(entries, self.takes, strict=True)])

    def values_of(self, entries: Entries) -> NDArray[Any]:
        """The same of m states, m in front."""
        return np.concatenate([x[:, t] for x, t in zip(entries, self.takes, strict=True)], axis=1)

    def turned(self, S: NDArray[Any]) -> list[Rows]:
        """Where joints of m states, S (m, N, 6), have turned too far for the tape.

        The bodies, and the rows of S that their forces are split by then; empty where it fits.
        """
        inputs = self.tape.inputs
        if not self.factor.plan.along_the_joint:
            return [()] * len(S)
        spans = [*map(inputs.freedoms_of, range(len(inputs.names)))]
        moving = [k for k, own in enumerate(inputs.subspaces) if (S[:, spans[k]] != own.T).any()]
        rows = ([(k, pivot_rows(one[spans[k]].T)) for k in moving] for one in S)
        return [tuple((k, r) for k, r in own if r != inputs.pivot_rows(k)) for own in rows]

    def fitting(self, system: System) -> TracedOrder:
        """The order, or where a joint has turned too far for its tape, one that is traced here."""
        (rows,) = self.turned(system.entries.S[None])
        if not rows:
            return self._required(system)
        if rows not in self.others:  # a tape follows from these rows and the pattern
            if len(self.others) * self.size > KEPT:
                self.others.clear()
            self.others[rows] = self._anew(system)
        return self.others[rows]._required(system)

    def _required(self, system: System) -> TracedOrder:
        try:
            self.tape.require(system)
        except OrderError:
            return self._anew(system)
        return self

    def _anew(self, system: System) -> TracedOrder:
        return TracedOrder(trace(system, self.factor.plan.sequence), system)

    @property
    def factor(self) -> SymbolicFactor:
        return self.tape.program.factor

    def found(self, chosen: Format, values: NDArray[Any], *wanted: NDArray[np.int64]) -> list[NDArray[Any]]:
        """(k, w) the numbers in signed slots (w,) in k states, for each array of slots.

        ``values`` (k, p) are theirs, rounded to the format already.
        """
        ends = np.cumsum([len(slots) for slots in wanted])[:-1]
        every = answers(self.tape, chosen, self.places, values, np.concatenate(wanted))
        return np.split(every, ends, axis=1)

    def given(self, system: System) -> dict[str, NDArray[Any]]:
        """The inputs that are not in (4), by letter."""
        derived = self.quantity == "derivatives"
        return {"beside": numbers_of(self.tape, system)} if derived else {}

    def answered(self, chosen: Format, values: NDArray[Any]) -> NDArray[Any]:
        """(k, *) answers in k states, whose values (k, p) are rounded to the format already."""
        (found,) = self.found(chosen, values, self.answer.ravel())
        return found.reshape(len(values), *self.answer.shape)

    def pairs(self, values: NDArray[Any]) -> Pair:
        """(m, *) answers for m states' values (m, p) in double-double."""
        found = self.answered(get_format("dd"), np.asarray(values, dtype=float))
        return Pair(found.real.copy(), found.imag.copy())

    def certified(self, system: System, digits: int, rounded_to: Format | None = None) -> Pair:
        """The answer for the data, or those rounded to a format, of so many proved digits.

        Held to some 32 digits.  Raises CertificationError where none can be proved.
        """
        if self.quantity == "qdd":
            proof = certify(system, digits, rounded_to=rounded_to, order=self.tape)
            found = column(proof.qdd), proof.bits
        else:
            numbers = numbers_of(self.tape, system)
            found = enclosed(system, self.tape, self.answer, numbers, digits, rounded_to)
        return self.beside_least(Pair.of_balls(*found), least_size(system))

    def beside_least(self, pair: Pair, least: Floats | float) -> Pair:
        """The pair with the sizes (...,) [as qdd] that errors of qdd are at least relative to."""
        sizes = np.asarray(least, dtype=float)[..., None]
        if self.quantity == "derivatives":  # the matrices have none
            sizes = np.stack([sizes, *[np.zeros_like(sizes)] * (len(self.answer) - 1)], axis=-2)
        return replace(pair, least=sizes)

    def truth(self, chosen: Format, values: NDArray[Any], least: Floats) -> Pair:
        """The answers of m states' values (m, p) rounded to a format; nan where they overflow it.

        ``least`` (m,) are the sizes that errors of qdd are at least relative to.
        """
        rounded = np.asarray(chosen.cast(values).real, dtype=float)
        whole, pair = np.isfinite(rounded).all(axis=1), Pair.none(len(values), self)
        pair.put(whole, self.beside_least(self.pairs(rounded[whole]), least[whole]))
        return pair

    def answers(
        self,
        chosen: Format,
        values: NDArray[Any],
        equations: Equations,
        here: NDArray[np.int64],
        errors_of: Callable[[NDArray[Any]], Floats],
        system_of: Callable[[int], System] | None,
    ) -> Answers:
        """Answers in k states of ``equations`` that are named ``here`` (k,), and what is said.

        ``values`` (k, p) are theirs, in float64; ``errors_of`` gives (k,) errors of answers (k, *),
        and ``system_of`` (4) in a state of that name, None where it is singular in none.
        """
        values = chosen.cast(values)
        qdd, pivots, pdd, f, lam = self.found(chosen, values, *self.wanted)
        sound = np.isfinite(qdd).all(axis=1)
        sound &= np.isfinite(pivots).all(axis=1) & (pivots != 0).all(axis=1)
        with np.errstate(all="ignore"):
            errors = errors_of(qdd)
            left = equations.backward_errors(here, pdd, qdd, f, lam)
        held = np.flatnonzero(sound)

        def longer(some: NDArray[np.int64]) -> NDArray[Any]:
            data = values[held[some]].astype(float)
            (found,) = self.found(get_format(longer_name(chosen)), data, self.wanted[1])
            return found

        told = [Said(NO_NUMBER)] * len(values)
        of_held = said(self.tape, chosen, errors[held], left[held], pivots[held], longer)
        for i, one in zip(held.tolist(), of_held, strict=True):
            told[i] = one
        for i in np.flatnonzero(~sound).tolist():
            told[i] = Said(first_bad(self.tape, blocks_of(self.tape, pivots[i])) or NO_NUMBER)
        for i, name in enumerate(here.tolist() if system_of else []):
            if system_of and (chance := by_chance(system_of(name))) is not None:
                told[i] = Said(failed_at=chance, singular=True)
        return Answers(qdd, pivots, errors, left, told)


# -- a tape run on many states at a time, with the results of single runs, bit for bit --------------

LANES, ROOM = 64, 1 << 19  # states of a block, and numbers that it may hold


def answers(
    tape: Tape, chosen: Format, places: NDArray[np.int64], values: NDArray[Any], wanted: NDArray[np.int64]
) -> NDArray[Any]:
    """(m, w) values of the signed slots ``wanted`` (w,) after a run on each state.

    ``values`` (m, p) are the entries of (4) in the slots ``places`` (p,), rounded already.  float64,
    float32, formats of at most 25 bits rounded to nearest, and double-double go through the
    operations with a block of states side by side; other formats go state after state.
    """
    from pivotree.kkt.arithmetic import grids

    m = len(values)
    if m == 1:  # alone is faster without the others' room
        v = played(tape, chosen.runner(tape), entered(tape, chosen, places, values[0]))
        return signed(v, wanted)[None]
    lanes = max(1, min(LANES, ROOM // tape.slots))
    out = np.empty((m, len(wanted)), dtype=chosen.dtype)
    sign, slots = np.sign(wanted)[:, None], np.abs(wanted)
    carrier = get_format("float64") if chosen.kind == "dd" else chosen
    start = entered(tape, carrier, places, values[:lanes].T)
    desk, low = pair = np.stack([start, np.zeros_like(start)])  # the lower half for double-double alone
    with np.errstate(all="ignore"):
        for at in range(0, m, lanes):
            block = values[at : at + lanes]
            here, k = slice(at, at + lanes), len(block)
            desk[places, :k] = block.T  # columns beyond the last state repeat earlier ones
            if chosen.kind != "dd":
                _run(tape, chosen, desk, k)
                out[here] = (sign * desk[slots, :k]).T
            else:
                low[places] = 0.0
                played(tape, Runner(grids.lanes_pairs), pair)
                out.real[here] = (sign * desk[slots, :k]).T
                out.imag[here] = (sign * low[slots, :k]).T
    return out


def _run(tape: Tape, chosen: Format, v: NDArray[Any], states: int) -> None:
    from pivotree.kkt.arithmetic import grids

    if isinstance(chosen, Hardware):
        played(tape, Runner(grids.lanes_native), v)
    elif isinstance(chosen, Binary) and chosen.rounding == "nearest":
        played(tape, Runner(grids.lanes_nearest, chosen.grid), v)
    else:
        for column in v.T[:states]:
            column[:] = played(tape, chosen.runner(tape), column.copy())
