"""Friction in joints: viscous, and dry with sticking, by Coulomb's law (Cloutier 1995, 6.3).

>>> tree = pt.chain(2)
>>> rub = pt.analysis.contact.JointFriction.of(tree, dry=2.0, viscous={"j1": 0.3})
>>> rub.solve(pt.build(tree, qd=[0.0, 0.0])).qdd  # both stick
array([0., 0.])

A joint that turns is held back by its dry friction c; one that stands takes any effort up to c
that keeps it standing, and if none does, c against what moves it:

    |f| <= c,    qdd = 0 where |f| < c,    f qdd <= 0,        qdd = qdd_0 + M^-1 f.

That is least squares in a box, with columns of M^-1 from one elimination of (4) each.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import ModelError, SingularError, System
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.tape.trace import tape_for

from ..gradients import solving

Floats = NDArray[np.float64]
Numbers = float | Mapping[Hashable, Any]
STANDS = 1e-9  # [rad/s, m/s]
SLIP = 1e-3  # [rad/s, m/s]


@dataclass(frozen=True)
class Rubbed:
    """Accelerations with friction, and what it does."""

    qdd: Floats  # (N,)
    friction: Floats  # (N,) efforts of it [N m, N]
    sticks: NDArray[np.bool_]  # (N,) freedoms that stand and stay


@dataclass(frozen=True)
class JointFriction:
    """Coefficients of every freedom of a tree.

    >>> from pivotree.analysis.contact import JointFriction
    >>> arm = pt.chain(2)
    >>> held = JointFriction.of(arm, dry=50.0).solve(pt.build(arm, qd=[0.0, 0.0], tau=[1.0, 1.0]))
    >>> held.sticks
    array([ True,  True])
    """

    dry: Floats  # (N,) [N m, N]
    viscous: Floats  # (N,) [N m s, N s/m]

    @staticmethod
    def of(tree: Any, *, dry: Numbers = 0.0, viscous: Numbers = 0.0) -> JointFriction:
        """One number for all freedoms, or by body a number or one for each of its freedoms.

        Raises ModelError, one sentence, for an unknown body and for a coefficient below zero.
        """
        compiled = kkt.compile_tree(tree)
        return JointFriction(_each(compiled, "dry", dry), _each(compiled, "viscous", viscous))

    def efforts(self, qd: Floats, slip: float = SLIP) -> Floats:
        """(..., N) for integrators: smooth below the speed ``slip``, and so creeping, not sticking.

        >>> rub = JointFriction.of(pt.chain(1), dry=2.0)
        >>> rub.efforts(np.array([0.0])), rub.efforts(np.array([1.0])).round(3)  # [N m]
        (array([-0.]), array([-2.]))
        """
        return -self.viscous * qd - self.dry * qd / np.sqrt(qd**2 + slip**2)

    def solve(
        self, system: System, *, order: Any = "abm", format: str = "float64", stands: float = STANDS
    ) -> Rubbed:
        """qdd by Coulomb's law itself; freedoms slower than ``stands`` may stick.

        Raises LoopError for closed loops, SingularError where the elimination fails.
        """
        system.structure.require_tree("friction in joints")
        qd = system.state.qd
        found = orderings.get(order) if isinstance(order, str) else order
        still = np.flatnonzero((np.abs(qd) <= stands) & (self.dry > 0.0))
        f = -self.viscous * qd - self.dry * np.sign(qd)
        f[still] = -self.viscous[still] * qd[still]
        tape = tape_for(system, found)
        solved = kkt.eliminate(
            replace(system, entries=replace(system.entries, tau=system.entries.tau + f)),
            tape,
            format,
            records=False,
        )
        if solved.failed_at is not None:
            raise SingularError(
                f"joint friction: order {solved.order!r} in {solved.format}: {solved.failed_at}; "
                "use another order or a longer format"
            )
        qdd, sticks = np.asarray(solved.qdd, float), np.zeros(len(qd), dtype=bool)
        if still.size:
            inverse, unit = solving(system, found, format)[0], np.eye(len(qd))
            moved = np.stack([inverse(unit[i]) for i in still], axis=1)
            own = _in_box(moved[still], qdd[still], self.dry[still])
            f[still] += own
            qdd = qdd + moved @ own
            sticks[still] = np.abs(own) < self.dry[still]
            qdd[sticks] = 0.0
        return Rubbed(qdd, f, sticks)


def _in_box(A: Floats, b: Floats, c: Floats) -> Floats:
    """f within c, A f + b = 0 where it is inside and against f elsewhere; A positive definite."""
    from scipy.optimize import lsq_linear

    L = np.linalg.cholesky((A + A.T) / 2)
    f = lsq_linear(L.T, -np.linalg.solve(L, b), bounds=(-c, c), method="bvls", tol=1e-15).x
    inside = np.abs(f) < c * (1.0 - 1e-9)
    f = np.where(inside, f, np.copysign(c, f))
    if inside.any():  # by their own equations
        rest = b[inside] + A[np.ix_(inside, ~inside)] @ f[~inside]
        f[inside] = np.linalg.solve(A[np.ix_(inside, inside)], -rest)
    return np.asarray(f)


def _each(tree: kkt.BodyTree, field: str, value: Numbers) -> Floats:
    each = value if isinstance(value, Mapping) else dict.fromkeys(tree.names, value)
    known, result = {name: k for k, name in enumerate(tree.names)}, np.zeros(int(tree.offset[-1]))
    for name, given in each.items():
        if name not in known:
            told = nearest(str(name), tuple(map(str, known)))
            raise ModelError(f"joint friction: body {name!r} is unknown; {told}")
        k = known[name]
        dof = int(tree.dof[k])
        try:
            numbers = np.broadcast_to(np.asarray(given, dtype=float), (dof,))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if not (np.isfinite(numbers).all() and (numbers >= 0.0).all()):
            raise ModelError(
                f"body {name!r}: field {field!r} is {given!r}; give a number, or {dof}, of zero or more"
            )
        result[tree.offset[k] : tree.offset[k + 1]] = numbers
    return result
