"""Contacts of a system as unit impulses: what they add to all rates, by one elimination each.

The closed loops stay rows of equation (4); a contact's rows leave it and come back as efforts J^T p.
With jumps of velocity in the place of accelerations (4) is the equation of impulses,

    M (v+ - v-) = J^T p,    pdd_k minus the jump of body k's velocity, f_k the joint's impulse,

and J times the jump of all rates by a unit impulse is a column of A = J M^-1 J^T.
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
from pivotree.kkt.matrix.entries import Entries
from pivotree.kkt.model.spatial import force_transform
from pivotree.kkt.tape.trace import tape_for

from ..states.manifold import on_all_rates

Floats = NDArray[np.float64]


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
    def J(self) -> Floats:
        """(c, N) all rows of the contacts on the rates of the joints."""
        return on_all_rates(self.bare.tree, self.bare.state, self.contacts)

    def parts(self, x: Floats) -> list[Floats]:
        """The numbers of each contact, of one for each row (c,)."""
        return np.split(x, np.cumsum([c.rows for c in self.contacts])[:-1])

    def accelerations(self, pdd: Floats) -> Floats:
        """(c,) of all rows, by pdd (n, 6), beside those that their motion alone makes."""
        found = []
        for closure in self.contacts:
            for place, k, sign in closure.sides:
                G = closure.loop.C.T @ force_transform(closure.R[place], closure.p[place]).T
                found.append((closure, -sign * G @ pdd[k]))
        return np.concatenate([sum(x for own, x in found if own is c) for c in self.contacts])

    def solved(self, entries: Entries) -> tuple[Floats, Floats, dict[Any, Floats]]:
        """qdd (N,), pdd (n, 6) and the loops' multipliers for another right-hand side."""
        found = kkt.eliminate(replace(self.bare, entries=entries), self.tape, self.format, records=False)
        if found.failed_at is not None:
            raise SingularError(
                f"contacts: order {found.order!r} in {found.format}: {found.failed_at}; use "
                "another order or a longer format"
            )
        lam, held = np.asarray(found.lam, float), {}
        for closure in self.bare.state.loops:
            held[closure.loop.name], lam = lam[: closure.rows], lam[closure.rows :]
        return np.asarray(found.qdd, float), np.asarray(found.pdd, float), held

    @cached_property
    def still(self) -> Entries:
        """Equation (4) of jumps: no bias, no effort, loops that keep their velocity.

        Of what stands beside H M H^T armatures alone are left: an implicit step's damping and
        springs make no jump.
        """
        e, terms = self.bare.entries, self.bare.state.terms
        zero = {name: np.zeros_like(getattr(e, name)) for name in ("a", "b", "tau", "gamma")}
        return replace(e, A=e.A if terms is None or not len(e.A) else terms.armature, **zero)

    @cached_property
    def responses(self) -> tuple[Floats, Floats, list[dict[Any, Floats]]]:
        """Jumps of all rates (N, c) by unit impulses, A (c, c), and impulses of loops by each."""
        found = [self.solved(replace(self.still, tau=row)) for row in self.J]
        jumps = np.stack([qdd for qdd, _, _ in found], axis=1)
        A = self.J @ jumps
        soft = np.concatenate([closure.loop.compliance for closure in self.contacts])
        return jumps, (A + A.T) / 2 + np.diag(soft), [held for _, _, held in found]

    def closed(self, qd: Floats) -> tuple[Floats, dict[Any, Floats], float]:
        """The jump of all rates (N,) after which closed loops keep to their rows, and its energy [J]."""
        loops = self.bare.state.loops
        J = on_all_rates(self.bare.tree, self.bare.state, loops)
        if not (J @ qd).any():
            return np.zeros_like(qd), {c.loop.name: np.zeros(c.rows) for c in loops}, 0.0
        jump, _, held = self.solved(replace(self.still, gamma=-J @ qd))
        return jump, held, float(np.concatenate([*held.values()]) @ J @ (qd + jump / 2))


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
        pattern=replace(
            pattern, G=pattern.G[side], G_one=pattern.G_one[side], compliance=pattern.compliance[row]
        ),
        entries=replace(e, G=e.G[side], gamma=e.gamma[row], compliance=e.compliance[row]),
        loops=tuple(loop for loop in system.loops if not loop.point),
        plans={},
    )


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
