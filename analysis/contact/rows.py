"""Contacts of a system as unit impulses: what they add to all rates, by one elimination each.

The closed loops stay rows of equation (4); a contact's rows leave it and come back on its right
side.  With jumps of velocity in the place of accelerations (4) is the equation of impulses,

    M (v+ - v-) = J^T p,    pdd_k minus the jump of body k's velocity, f_k the joint's impulse,

and G pdd of the contacts' rows, from a unit impulse each, is a column of A = J M^-1 J^T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt import FormatError, LoopError, SingularError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import Entries, joint_rates, velocities
from pivotree.kkt.matrix.pattern import Pattern
from pivotree.kkt.model.spatial import force_transform, matvec
from pivotree.kkt.tape.trace import tape_for

Floats = NDArray[np.float64]
Side = tuple[int, int, Floats]  # a body, its sign and its rows of G


@dataclass(frozen=True)
class Rows:
    """A system without its contacts, and their rows beside it."""

    bare: System  # closed loops are still in it
    contacts: tuple[Any, ...]  # closures of the system that are points
    tape: Any
    format: str

    @staticmethod
    def of(system: System, order: Any, format: str) -> Rows:
        """Raises LoopError where there is no contact, FormatError for fractions and balls."""
        chosen = get_format(format)
        if not chosen.on_arrays:
            raise FormatError(f"format {chosen.name!r}: contacts need a floating-point format")
        contacts = tuple(c for c in system.state.loops if c.loop.point)
        if not contacts:
            raise LoopError(
                "contacts: this system has none; build it with loops=[kkt.contact(body, point), "
                "...], one for each point that touches"
            )
        bare = _without(system)
        tape = tape_for(bare, order)
        return Rows(bare, contacts, tape, chosen.name)

    @cached_property
    def sides(self) -> list[list[Side]]:
        """For each contact, the bodies that it has rows on."""
        found = []
        for closure in self.contacts:
            one = []
            for place, k, sign in closure.sides:
                R, p = closure.R[place], closure.p[place]
                one.append((k, sign, closure.loop.C.T @ force_transform(R, p).T))
            found.append(one)
        return found

    def along(self, six: Floats) -> list[Floats]:
        """(rows,) of each contact: motion (n, 6) of the second body less the first's."""
        return [
            sum((s * G @ six[k] for k, s, G in one), np.zeros(c.rows))
            for one, c in zip(self.sides, self.contacts, strict=True)
        ]

    def velocity(self, qd: Floats) -> Floats:
        """(n, 6) spatial velocities of all bodies."""
        state, n = self.bare.state, self.bare.tree.n
        owner = np.repeat(np.arange(n), self.bare.tree.dof)
        column = np.arange(len(qd)) - self.bare.tree.offset[owner]
        rates = joint_rates(state.S.columns, owner, column, qd, n)
        return velocities(state.parent, self.bare.entries.Phi, rates)

    def kinetic(self, qd: Floats) -> float:
        """[J]"""
        v, rotors = self.velocity(qd), self._rotors
        turning = float(qd**2 @ rotors) if rotors.size else 0.0
        return 0.5 * (float((v * matvec(self.bare.entries.M, v)).sum()) + turning)

    @property
    def _rotors(self) -> Floats:
        """(N,) armatures, or (0,); an implicit step's damping and springs make no jump."""
        terms, A = self.bare.state.terms, self.bare.entries.A
        return A if terms is None or not len(A) else terms.armature

    def solved(self, entries: Entries) -> tuple[Floats, Floats, dict[Any, Floats]]:
        """qdd (N,), minus pdd (n, 6) and the loops' multipliers for another right-hand side."""
        found = kkt.eliminate(replace(self.bare, entries=entries), self.tape, self.format, records=False)
        if found.failed_at is not None:
            raise SingularError(
                f"contacts: order {found.order!r} in {found.format}: {found.failed_at}; use "
                "another order or a longer format"
            )
        lam, held = np.asarray(found.lam, float), {}
        for closure in self.bare.state.loops:
            held[closure.loop.name], lam = lam[: closure.rows], lam[closure.rows :]
        return np.asarray(found.qdd, float), -np.asarray(found.pdd, float), held

    @cached_property
    def still(self) -> Entries:
        """Equation (4) of jumps: no bias, no effort, loops that keep their velocity."""
        e = self.bare.entries
        zero = {name: np.zeros_like(getattr(e, name)) for name in ("a", "b", "tau", "gamma")}
        return replace(e, A=self._rotors, **zero)

    @cached_property
    def responses(self) -> tuple[Floats, Floats, list[dict[Any, Floats]]]:
        """Jumps of all rates (N, c) by unit impulses, A (c, c), and impulses of loops by each."""
        jumps, columns, held = [], [], []
        for one, closure in zip(self.sides, self.contacts, strict=True):
            for i in range(closure.rows):
                b = np.zeros_like(self.still.b)
                for k, sign, G in one:
                    b[k] -= sign * G[i]
                qd, six, loops = self.solved(replace(self.still, b=b))
                jumps.append(qd)
                columns.append(np.concatenate(self.along(six)))
                held.append(loops)
        A = np.stack(columns, axis=1)
        soft = np.concatenate([closure.loop.compliance for closure in self.contacts])
        return np.stack(jumps, axis=1), (A + A.T) / 2 + np.diag(soft), held

    def closed(self, qd: Floats) -> tuple[Floats, dict[Any, Floats]]:
        """The jump of all rates (N,) after which closed loops keep to their rows."""
        v, gamma = self.velocity(qd), []
        for closure in self.bare.state.loops:
            rows = np.zeros(closure.rows)
            for place, k, sign in closure.sides:
                X = force_transform(closure.R[place], closure.p[place]).T
                rows -= sign * closure.loop.C.T @ X @ v[k]
            gamma.append(rows)
        if not gamma or not np.concatenate(gamma).any():
            return np.zeros_like(qd), {c.loop.name: np.zeros(c.rows) for c in self.bare.state.loops}
        jump, _, held = self.solved(replace(self.still, gamma=np.concatenate(gamma)))
        return jump, held


def _without(system: System) -> System:
    """The system without its contacts: its matrix without their rows and columns."""
    kept = tuple(c for c in system.state.loops if not c.loop.point)
    rows = [np.full(c.rows, not c.loop.point) for c in system.state.loops]
    sides = [np.full(c.rows * len(c.ends), not c.loop.point) for c in system.state.loops]
    row, side = np.concatenate(rows), np.concatenate(sides)
    e, pattern = system.entries, system.pattern
    names = {c.loop.name for c in kept}
    return replace(
        system,
        state=replace(system.state, loops=kept),
        structure=replace(system.structure, ties=tuple(t for t in system.structure.ties if t.name in names)),
        pattern=_sliced(pattern, side, row),
        entries=replace(e, G=e.G[side], gamma=e.gamma[row], compliance=e.compliance[row]),
        loops=tuple(loop for loop in system.loops if not loop.point),
        plans={},
    )


def _sliced(pattern: Pattern, side: NDArray[np.bool_], row: NDArray[np.bool_]) -> Pattern:
    return replace(pattern, G=pattern.G[side], G_one=pattern.G_one[side], compliance=pattern.compliance[row])


def chosen(value: Any, contacts: Sequence[Any], what: str, most: float = float("inf")) -> list[float]:
    """One number for each contact, from a number or a mapping from contacts' names."""
    names = [c.loop.name for c in contacts]
    each = value if isinstance(value, Mapping) else dict.fromkeys(names, value)
    for name, number in each.items():
        if name not in names:
            told = ", ".join(map(repr, names))
            raise LoopError(f"contacts: {what} names {name!r}; the contacts are {told}")
        if not isinstance(number, int | float | np.number) or not 0.0 <= number <= most:
            top = "" if most == float("inf") else f" to {most:g}"
            more = " or more" if most == float("inf") else ""
            raise LoopError(f"contacts: {what} of {name!r} is {number!r}; give a number from 0{top}{more}")
    return [float(each.get(name, 0.0)) for name in names]
