"""Impacts of any tree: rates jump so that no touching point comes nearer (Cloutier 1995, 6.4.2).

>>> tree = pt.new_tree("ball")
>>> pt.add_body(tree, "ball", mass=2.0, inertia=np.eye(3), joint="prismatic", axis=(0, 0, 1))
>>> system = pt.build(tree, qd=[-3.0], loops=[pt.contact("ball", (0, 0, -0.5))])
>>> blow = pt.analysis.contact.impact(system, restitution=0.5)
>>> blow.qd, blow.impulses["world-ball"]
(array([1.5]), array([9.]))

Newton's law without friction holds at all points together, (6.6)-(6.8),

    p >= 0,   v+ + e v- >= 0,   p (v+ + e v-) = 0,        v+ = v- + A p,

with 0 for e v- of a point that moves off before the blow, and so does Poisson's in two phases (Glocker &
Pfeiffer 1995): compression, then a share e of its impulse at least.  With friction points give their blows
one after another, the fastest first, until none comes nearer.  Between blows :func:`forces` is the same
complementarity of normal forces and accelerations, (6.10)-(6.12).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt import FormatError, LoopError, PivotreeError, SingularError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.errors import Refusal, nearest
from pivotree.kkt.matrix.entries import Entries, assemble, pattern_of
from pivotree.kkt.matrix.system import require_system
from pivotree.kkt.model.spatial import force_transform
from pivotree.kkt.tape.trace import tape_for

from ..states.manifold import on_all_rates
from .laws import LAWS, complementary

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """A system without its contacts, and their rows beside it, as unit impulses.

    The closed loops stay rows of equation (4); a contact's rows leave it and come back as efforts J^T p.
    With jumps of velocity in the place of accelerations (4) is the equation of impulses,

        M (v+ - v-) = J^T p,    pdd_k minus the jump of body k's velocity, f_k the joint's impulse,

    and J times the jump of all rates by a unit impulse, one elimination, is a column of A = J M^-1 J^T.
    """

    bare: System  # closed loops are still in it
    contacts: tuple[Any, ...]  # closures of the system that are points
    tape: Any
    format: str

    @staticmethod
    def of(system: System, order: Any, format: str) -> Rows:
        """Raises LoopError where there is no contact, FormatError for fractions and balls."""
        require_system(system)
        chosen = get_format(format)
        if not chosen.on_arrays:
            raise FormatError(f"format {chosen.name!r}", "contacts need a floating-point format")
        contacts = tuple(c for c in system.state.loops if c.loop.point)
        if not contacts:
            raise LoopError(
                "contacts",
                "this system has none",
                "build it with loops=[kkt.contact(body, point), ...], one for each point that touches",
            )
        bare = _without(system)
        return Rows(bare, contacts, tape_for(bare, order), chosen.name)

    @cached_property
    def J(self) -> Floats:
        """(c, N) all rows of the contacts on the rates of the joints."""
        return on_all_rates(self.bare.tree, self.bare.state, self.contacts)

    def accelerations(self, pdd: Floats) -> Floats:
        """(c,) of all rows, by pdd (n, 6), beside those that their motion alone makes."""
        found = []
        for c in self.contacts:
            seen = [-sign * force_transform(c.R[at], c.p[at]).T @ pdd[k] for at, k, sign in c.sides]
            found.append(c.loop.C.T @ sum(seen))
        return np.concatenate(found)

    def solved(self, entries: Entries) -> tuple[Floats, Floats, dict[Any, Floats]]:
        """qdd (N,), pdd (n, 6) and the loops' multipliers for another right-hand side."""
        found = kkt.eliminate(replace(self.bare, entries=entries), self.tape, self.format, records=False)
        if found.failed_at is not None:
            raise SingularError(
                "contacts",
                Refusal(f"order {found.order!r} in {found.format}", found.failed_at),
                "use another order or a longer format",
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
        return e._replace(A=e.A if terms is None or not len(e.A) else terms.armature, **zero)

    def responses(self, A: Floats) -> tuple[Floats, Floats, list[dict[Any, Floats]]]:
        """Jumps of all rates (N, c) by unit impulses, A (c, c), and impulses of loops by each.

        ``A`` stands beside H M H^T: that of jumps, or the system's own, of accelerations.
        """
        found = [self.solved(self.still._replace(tau=row, A=A)) for row in self.J]
        jumps = np.stack([qdd for qdd, _, _ in found], axis=1)
        own = self.J @ jumps
        soft = np.concatenate([closure.loop.compliance for closure in self.contacts])
        return jumps, (own + own.T) / 2 + np.diag(soft), [held for _, _, held in found]

    @cached_property
    def tied(self) -> Floats:
        """(rows, N) all rows of the closed loops on the rates of the joints."""
        return on_all_rates(self.bare.tree, self.bare.state, self.bare.state.loops)


def _without(system: System) -> System:
    """The system without its contacts: its matrix without their rows and columns."""
    loops = tuple(loop for loop in system.loops if not loop.point)
    state = replace(system.state, loops=tuple(c for c in system.state.loops if not c.loop.point))
    entries = assemble(state, None, system.entries.M)
    pattern = pattern_of(system.tree, state, entries.a)
    names = {c.loop.name for c in state.loops}
    ties = tuple(tie for tie in system.structure.ties if tie.name in names)
    structure = replace(system.structure, ties=ties)
    return replace(
        system, state=state, structure=structure, pattern=pattern, entries=entries, loops=loops, plans={}
    )


def chosen(value: Any, contacts: Sequence[Any], what: str, most: float = float("inf")) -> list[float]:
    """One number for each contact, from a number or a mapping from contacts' names."""
    names = [c.loop.name for c in contacts]
    each = value if isinstance(value, Mapping) else dict.fromkeys(names, value)
    for name, number in each.items():
        if name not in names:
            told = ", ".join(map(repr, names))
            raise LoopError("contacts", f"{what} names {name!r}", f"the contacts are {told}")
        if not isinstance(number, int | float | np.number) or not 0.0 <= number <= most:
            top = " or more" if most == float("inf") else f" to {most:g}"
            raise LoopError("contacts", f"{what} of {name!r} is {number!r}", f"give a number from 0{top}")
    return [float(each.get(name, 0.0)) for name in names]


Numbers = float | Mapping[Hashable, float]
REST = 1e-12  # of the first speeds: points that come down no faster have no blow left
MOST = 10_000  # blows, one after another


@dataclass(frozen=True, eq=False)
class Impact:
    """Rates, impulses and energy after a blow at some points.

    >>> from pivotree.analysis.contact import impact
    >>> foot = pt.contact("j2", (0.1, 0.0, 0.0), name="foot")
    >>> blow = impact(pt.build(pt.chain(2, axes="y"), qd=[1.0, 1.0], loops=[foot]))
    >>> blow.before["foot"] < 0.0, abs(blow.after["foot"]) < 1e-12, blow.gain < 0.0
    (array([ True]), array([ True]), True)
    """

    qd: Floats  # (N,) rates after it
    impulses: dict[Hashable, Floats]  # of each contact, normal first [N s]
    loops: dict[Hashable, Floats]  # of each closed loop, by its rows [N m s, N s]
    before: dict[Hashable, Floats]  # velocity of each contact along its rows [m/s]
    after: dict[Hashable, Floats]
    gain: float  # kinetic energy that it adds [J]
    blows: int  # 1 where all points act together


@dataclass(frozen=True, eq=False)
class Forces:
    """Accelerations without friction, and the forces of the contacts that press.

    >>> from pivotree.analysis.contact import forces
    >>> foot = pt.contact("j2", (0.1, 0.0, 0.0), name="foot")
    >>> arm = pt.chain(2, axes="y")
    >>> lifted = pt.build(arm, q=[0, 0], qd=[0, 0], tau=[-9.0, -9.0], loops=[foot])
    >>> forces(lifted).forces["foot"]  # it opens
    0.0
    """

    qdd: Floats  # (N,)
    forces: dict[Hashable, float]  # along each normal [N]; 0 where it opens
    accelerations: dict[Hashable, float]  # along each normal [m/s^2]; 0 where it presses
    loops: dict[Hashable, Floats]  # forces of each closed loop, by its rows


def impact(
    system: System,
    *,
    restitution: Numbers = 0.0,
    friction: Numbers = 0.0,
    law: str = "newton",
    order: Any = "abm",
    format: str = "float64",
) -> Impact:
    """Rates after blows at all contacts of a system, by ``law`` newton or poisson.

    ``restitution`` (0 to 1) and Coulomb's ``friction`` are one number for all contacts, or a
    mapping from their names; a contact has friction along the tangents that it was given.  Closed
    loops keep to their rows; where their velocities did not agree before, an impulse makes them.
    Every blow is linear in equation (4), eliminated by ``order`` in ``format``.

    Raises LoopError, one sentence, for systems without contacts and what is no law or coefficient.

    >>> from pivotree.analysis.contact import impact
    >>> foot = pt.contact("j2", (0.1, 0.0, 0.0), name="foot")
    >>> system = pt.build(pt.chain(2, axes="y"), qd=[1.0, 1.0], loops=[foot])
    >>> back = impact(system, restitution=1.0)
    >>> np.allclose(back.after["foot"], -back.before["foot"])
    True
    """
    if law not in LAWS:
        raise LoopError("impact", f"law is {law!r}", nearest(str(law), tuple(LAWS)))
    rows = Rows.of(system, order, format)
    e = chosen(restitution, rows.contacts, "restitution", 1.0)
    mu = chosen(friction, rows.contacts, "friction")
    rubs = [m > 0.0 and c.rows > 1 for m, c in zip(mu, rows.contacts, strict=True)]
    for closure, rub in zip(rows.contacts, rubs, strict=True):
        if rub:
            _require_frame(closure)
    qd = system.state.qd
    start, _, held = rows.solved(rows.still._replace(gamma=-rows.tied @ qd))  # as closed loops ask
    jumps, A, shares = rows.responses(rows.still.A)
    normal = np.cumsum([0, *(c.rows for c in rows.contacts)])[:-1]
    v = rows.J @ (qd + start)
    if any(rubs) and len(rows.contacts) > 1:
        p, blows = _one_by_one(A, v, normal, e, mu, law)
    elif any(rubs):
        p, blows = (LAWS[law](A, v, e[0], mu[0]) if v[0] < 0.0 else np.zeros(len(v))), 1
    else:
        p, blows = np.zeros(len(v)), 1
        p[normal] = _together(A[np.ix_(normal, normal)], v[normal], np.array(e), law)
    after = qd + start + jumps @ p
    held = _with(held, p, shares)
    pushed = p @ rows.J + np.concatenate([np.zeros(0), *held.values()]) @ rows.tied
    return Impact(
        after,
        _named(rows, p),
        held,
        _named(rows, rows.J @ qd),
        _named(rows, rows.J @ after),
        float(pushed @ (qd + after)) / 2,
        blows,
    )


def forces(system: System, *, order: Any = "abm", format: str = "float64") -> Forces:
    """qdd where contacts may press and open, without friction: which of them hold is found.

    Each contact is taken as touching, its normal velocity as zero; where it moves off, leave it
    out.  Raises LoopError for contacts with tangents: sticking is a law of its own.

    >>> from pivotree.analysis.contact import forces
    >>> foot = pt.contact("j2", (0.1, 0.0, 0.0), name="foot")
    >>> held = forces(pt.build(pt.chain(2, axes="y"), q=[0.0, 0.0], qd=[0.0, 0.0], loops=[foot]))
    >>> held.forces["foot"] > 0.0, held.accelerations["foot"]  # it presses, and stays
    (True, 0.0)
    """
    rows = Rows.of(system, order, format)
    for closure in rows.contacts:
        if closure.rows > 1:
            raise LoopError(
                f"loop {closure.loop.name!r}",
                "has tangents, and forces() is without friction",
                "give the normal alone, or keep it a row of equation (4)",
            )
    jumps, A, shares = rows.responses(rows.bare.entries.A)
    qdd, pdd, held = rows.solved(rows.bare.entries)
    contact = np.concatenate([np.full(c.rows, c.loop.point) for c in system.state.loops])
    b = rows.accelerations(pdd) - system.entries.gamma[contact]
    p = complementary(A, b)
    names = [c.loop.name for c in rows.contacts]
    left = np.where(p > 0.0, 0.0, A @ p + b)
    return Forces(
        qdd + jumps @ p,
        dict(zip(names, map(float, p), strict=True)),
        dict(zip(names, map(float, left), strict=True)),
        _with(held, p, shares),
    )


def _with(held: dict[Any, Floats], p: Floats, shares: list[dict[Any, Floats]]) -> dict[Any, Floats]:
    """What loops hold, with their shares of the contacts' impulses or forces."""
    pairs = list(zip(p, shares, strict=True))
    return {name: sum((amount * share[name] for amount, share in pairs), x) for name, x in held.items()}


def _together(A: Floats, v: Floats, e: Floats, law: str) -> Floats:
    """Impulses along the normals at all points at once."""
    if law == "newton":
        return complementary(A, v + np.minimum(e * v, 0.0))
    pressed = complementary(A, v)
    returned = e * pressed  # at least; more where the point would go under all the same
    return pressed + returned + complementary(A, v + A @ (pressed + returned))


def _one_by_one(
    A: Floats, v: Floats, normal: NDArray[np.int64], e: list[float], mu: list[float], law: str
) -> tuple[Floats, int]:
    """Blows of one point at a time, the one that comes down fastest next."""
    p, total, v = np.zeros(len(v)), np.append(normal, len(v)), v.copy()
    least = REST * float(np.abs(v).max(initial=0.0))
    for blows in range(MOST):
        i = int(np.argmin(v[normal]))
        if v[normal[i]] >= -least:
            return p, blows
        own = np.arange(total[i], total[i + 1])
        given = LAWS[law](A[np.ix_(own, own)], v[own], e[i], mu[i])
        p[own] += given
        v += A[:, own] @ given
    raise PivotreeError("impact", f"points still come nearer after {MOST} blows", "lower the friction")


def _require_frame(closure: Any) -> None:
    C = closure.loop.C[3:]
    if np.abs(C.T @ C - np.eye(closure.rows)).max() > 1e-9:
        raise LoopError(
            f"loop {closure.loop.name!r}",
            "friction needs tangents across the normal and each other",
            "give such directions",
        )


def _named(rows: Rows, x: Floats) -> dict[Hashable, Floats]:
    parts = np.split(x, np.cumsum([c.rows for c in rows.contacts])[:-1])
    return {c.loop.name: part for c, part in zip(rows.contacts, parts, strict=True)}
