"""The orders of a model, traced once; models of one pattern share their tapes."""

from __future__ import annotations

from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import LoopError, OrderError, SingularError, SizeError, System, trace
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.matrix.system import LETTERS, Entries
from pivotree.kkt.proof.longer import first_lost
from pivotree.kkt.tape import refusals
from pivotree.kkt.tape.batch import answers
from pivotree.kkt.tape.inputs import near_centres, pivot_rows
from pivotree.kkt.tape.run import first_bad, signed
from pivotree.kkt.tape.tape import Tape

from ..report.measure import pivot_slots, qdd_slots

KEPT = 2_000_000  # slots and operations of the tapes that are kept for the next models
NO_NUMBER = "qdd: overflow or not a number"
Rows = tuple[tuple[int, tuple[int, ...]], ...]  # bodies, and rows of S that split their forces
REFUSED = (LoopError, OrderError, SingularError, SizeError)


class Order:
    """A traced order, with the slots that every run writes and reads, found once."""

    def __init__(self, tape: Tape, system: System) -> None:
        self.tape = tape
        self.others: dict[Rows, Order] = {}  # of the same order, where joints have turned
        self.qdd = qdd_slots(tape, system)
        self.pivots = pivot_slots(tape)
        slots = [np.asarray(getattr(tape.inputs, letter)) for letter in LETTERS]
        slots[0] = np.triu(slots[0])  # M is symmetric
        self.takes = [array > 1 for array in slots]
        self.places = np.concatenate(
            [array[take] for array, take in zip(slots, self.takes, strict=True)]
        )

    @property
    def size(self) -> int:
        return self.tape.length + self.tape.slots

    @cached_property
    def costs(self) -> dict[str, int]:
        """What it costs on this pattern, whatever the numbers."""
        factor = self.tape.program.symbolic
        assert factor is not None
        return {
            "flops": self.tape.flops,
            "fill": factor.fill_blocks,
            "fill_entries": factor.fill_entries,
            "height": factor.height,
        }

    def values(self, system: System) -> NDArray:
        """The entries of (4) as the tape reads them, in float64."""
        entries = (getattr(system.entries, letter) for letter in LETTERS)
        return np.concatenate([x[take] for x, take in zip(entries, self.takes, strict=True)])

    def values_of(self, entries: Entries) -> NDArray:
        """The same of m states, m in front."""
        arrays = (getattr(entries, letter) for letter in LETTERS)
        return np.concatenate([x[:, t] for x, t in zip(arrays, self.takes, strict=True)], axis=1)

    def turned(self, S: NDArray) -> list[Rows]:
        """Where joints of m states, S (m, N, 6), have turned too far for the tape.

        The bodies, and the rows of S that their forces are split by then; empty where it fits.
        """
        factor, inputs = self.tape.program.symbolic, self.tape.inputs
        if factor is None or not factor.plan.along_the_joint:
            return [()] * len(S)
        spans = [slice(*inputs.offset[k : k + 2]) for k in range(len(inputs.names))]
        moving = [k for k, own in enumerate(inputs.subspaces) if (S[:, spans[k]] != own.T).any()]
        rows = ([(k, pivot_rows(one[spans[k]].T)) for k in moving] for one in S)
        return [tuple((k, r) for k, r in own if r != inputs.pivot_rows(k)) for own in rows]

    def run(self, chosen: Format, values: NDArray) -> NDArray:
        """All slots after a run on values that are rounded already."""
        v = np.zeros(self.tape.slots, dtype=chosen.dtype)
        v[1] = 1
        v[self.places] = values
        for number, slot in self.tape.inputs.whole.items():
            v[slot] = number
        runner = chosen.runner(self.tape)
        with np.errstate(all="ignore"):
            for chunk in self.tape.chunks():
                runner.run(chunk, v)
        return v

    def answers(self, chosen: Format, values: NDArray) -> tuple[NDArray, list[str | None]]:
        """qdd (m, N) of m states' values, and why one has none: as :meth:`answer`, m at a time."""
        found = answers(
            self.tape, chosen, self.places, values, np.concatenate([self.qdd, self.pivots])
        )
        qdd, pivots = np.split(found, [len(self.qdd)], axis=1)
        sound = np.isfinite(found).all(axis=1) & (pivots != 0).all(axis=1)
        why: list[str | None] = [None] * len(values)
        for i in np.flatnonzero(~sound):
            ends = np.cumsum([slots.size for slots in self.tape.pivots.values()])[:-1]
            blocks = dict(zip(self.tape.pivots, np.split(pivots[i], ends), strict=True))
            why[i] = first_bad(self.tape, blocks) or NO_NUMBER
        return qdd, why

    def lost(self, chosen: Format, values: NDArray) -> str | None:
        """Why one state's answer, which is far off, is none: a pivot without a right bit."""
        if chosen.kind != "float" or not self.tape.pivots:
            return None
        own = signed(self.run(chosen, values), self.tape.pivot_places[2])
        more = self.run(get_format("dd"), np.asarray(values, dtype=float))
        exact = signed(more, self.tape.pivot_places[2])
        at = first_lost(own, exact.real, exact.imag)
        if at is None:
            return None
        record = self.tape.program.pivots[int(self.tape.pivot_places[1][at])]
        return f"pivot {record.blocks[0]}, step {record.step + 1}: zero for {chosen.name}"

    def answer(self, chosen: Format, values: NDArray) -> tuple[NDArray, str | None]:
        """qdd (N,) of values that are rounded already, and why it is none."""
        v = self.run(chosen, values)
        qdd, pivots = signed(v, self.qdd), signed(v, self.pivots)
        if np.isfinite(qdd).all() and np.isfinite(pivots).all() and (pivots != 0).all():
            return qdd, None
        blocks = {i: signed(v, slots) for i, slots in self.tape.pivots.items()}
        return qdd, first_bad(self.tape, blocks) or NO_NUMBER


class Tracer:
    """Traces orders and keeps them, as long as they need little memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Order] = {}

    def orders(self, system: System, names: tuple[str, ...]) -> dict[str, Order | str]:
        """An order by its name, or the sentence that refuses it on this model."""
        pattern = fingerprint(system)
        return {name: self._order(system, name, pattern) for name in names}

    def fitting(self, order: Order, name: str, system: System) -> Order:
        """The order, or where a joint has turned too far for its tape, one that is traced here."""
        (rows,) = order.turned(system.entries.S[None])
        if rows:  # a tape follows from these rows and the pattern
            if rows not in order.others:
                if len(order.others) * order.size > KEPT:
                    order.others.clear()
                order.others[rows] = Order(trace(system, orderings.get(name)), system)
            order = order.others[rows]
        try:
            order.tape.require(system)
        except OrderError:
            return Order(trace(system, orderings.get(name)), system)
        return order

    def _order(self, system: System, name: str, pattern: str) -> Order | str:
        known = self.kept.get((name, pattern))
        try:
            if known is None:
                known = Order(trace(system, orderings.get(name)), system)
                self._keep((name, pattern), known)
            else:  # what a trace refuses for the sake of the model's numbers
                refusals.unphysical(known.tape.program, system)
                refusals.structurally_singular(known.tape, system)
        except REFUSED as error:
            return " ".join(str(error).split())
        return known

    def _keep(self, key: tuple[str, str], order: Order) -> None:
        size = sum(o.size for o in [order, *self.kept.values()])
        if size > KEPT:
            self.kept.clear()
        self.kept[key] = order


@lru_cache(maxsize=1)
def tracer() -> Tracer:
    """The tracer of this process."""
    return Tracer()


def fingerprint(system: System) -> str:
    """Everything that a tape is made from: equal for systems whose tapes are equal."""
    tree, pattern = system.tree, system.pattern
    parts: list[Any] = [tree.parent, tree.dof, near_centres(tree, pattern), *system.state.S]
    parts += list(vars(pattern).values())
    found = sha256(repr((tree.names, system.structure.ties)).encode())
    for array in map(np.ascontiguousarray, parts):
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(array.tobytes())
    return found.hexdigest()
