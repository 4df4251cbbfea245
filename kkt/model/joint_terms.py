"""What a joint itself adds to row qdd of equation (4): rotor, damping, dry friction, spring.

    H f + A qdd = tau - damping qd - stiffness (q - rest) - friction sign(qd)

``A`` is the armature, the inertia of a rotor that turns with the joint behind a gear and is no body
of the tree (Featherstone 2008, section 9.6, without the gyroscopic part): ratio^2 times the rotor's
own inertia.  Friction is Coulomb's law with sign(0) = 0: a joint at rest feels none, so that
friction does not hold it at rest (MuJoCo's ``frictionloss``, a constraint, does).  A spherical
joint's spring is the same about all axes: q - rest is the rotation vector from the one pose to the
other, the short way round, as in MuJoCo.

With a step h (``kkt.build(..., implicit=h)``) qdd is that of the linearly implicit Euler step
(Baraff & Witkin 1998, equation (6)): damping and spring act at its end, at rates qd + h qdd and
positions q + h qd + h^2 qdd.  The terms in qdd go to the left,

    A = armature + h damping + h^2 stiffness,     the right has - h stiffness qd in addition.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from .fields import Floats, truth_in
from .joints import GENERAL, TYPES, quaternion_to_vector
from .spatial import cross

TERMS = ("armature", "damping", "friction", "stiffness")  # each zero or more
UNITS = {
    "armature": "kg m^2 or kg",
    "damping": "N m s/rad or N s/m",
    "friction": "N m or N",
    "stiffness": "N m/rad or N/m",
    "rest": "rad or m",
}


@dataclass(frozen=True)
class JointTerms:
    """The terms of all joints of a tree, each (N,), bodies in the tree's order."""

    armature: Floats  # [kg m^2, kg]
    damping: Floats  # [N m s/rad, N s/m]
    friction: Floats  # [N m, N]
    stiffness: Floats  # [N m/rad, N/m]
    rest: Floats  # [rad, m] where springs are at rest; in a state, measured from its q

    def at(self, q: Floats, balls: Sequence[int] = ()) -> JointTerms:
        """The terms with ``rest`` measured from q, as a state holds them.

        ``balls`` are the places in q of rotation vectors, which have a spring from pose to pose.
        """
        rest = self.rest - q
        for start in balls:
            own = slice(start, start + 3)
            if q[own].any():
                rest[own] = -_between(self.rest[own], q[own])
        return replace(self, rest=rest)

    def own(self, step: float) -> NDArray[np.bool_]:
        """(N,) freedoms whose qdd has an entry of its own on the diagonal."""
        moving = (self.damping != 0.0) | (self.stiffness != 0.0)
        return np.asarray((self.armature != 0.0) | (moving & (step > 0.0)))

    def diagonal(self, step: float, cast: Any) -> Any:
        """A (N,) in the number type of ``cast``."""
        A = cast(self.armature)
        if step:
            h = cast(np.array([step]))
            A = A + h * cast(self.damping) + h * h * cast(self.stiffness)
        return A

    def effort(self, tau: Any, rates: Floats, step: float, cast: Any) -> Any:
        """The right-hand side (N,) of row qdd, tau in the number type of ``cast``."""
        return tau - self.resistance(rates, step, cast)

    def resistance(self, rates: Floats, step: float, cast: Any) -> Any:
        """Damping, spring and friction (N,) against the motion, in the number type of ``cast``."""
        qd, stretch = cast(rates), -cast(self.rest)
        if step:
            stretch = stretch + cast(np.array([step])) * qd
        found = cast(self.damping) * qd + cast(self.stiffness) * stretch
        if self.friction.any():
            found = found + cast(self.friction * np.sign(rates))
        return found


def joint_terms(
    names: Sequence[Hashable], joint: Sequence[str], offset: NDArray[np.int64], data: Sequence[dict[str, Any]]
) -> JointTerms | None:
    """The terms that bodies' attributes give; None where no joint has any.

    Raises ModelError, one sentence, for a value that is not finite, is negative (but for ``rest``)
    or has another length, and for a spring whose coordinates have other rates than qd.
    """
    fields = (*TERMS, "rest")
    found = {field: np.zeros(int(offset[-1])) for field in fields}
    for k, attributes in enumerate(data):
        for field in fields:
            value = attributes.get(field)
            if value is not None:
                own = slice(offset[k], offset[k + 1])
                found[field][own] = _checked(names[k], joint[k], field, value, own.stop - own.start)
    if not any(found[field].any() for field in TERMS):
        return None
    return JointTerms(*found.values())


def _checked(name: Hashable, kind: str, field: str, value: Any, dof: int) -> Floats:
    what = f"body {name!r}: field {field!r}"
    sign = "finite" if field == "rest" else "zero or more"
    shape = "a number" if dof < 2 else f"a number, or one for each of {dof} freedoms"
    wanted = f"give {shape}, {sign}, in {UNITS[field]}"
    try:
        if truth_in(value):
            raise ValueError
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}; {wanted}") from None
    if array.shape not in ((), (dof,)):
        raise ModelError(f"{what} has shape {array.shape}; {wanted}")
    if dof == 0 and array.any():
        raise ModelError(f"{what} is {value!r}, and a fixed joint has no freedom; leave it out")
    wrong = ~np.isfinite(array) if field == "rest" else ~(np.isfinite(array) & (array >= 0.0))
    if wrong.any():
        raise ModelError(f"{what} holds {np.atleast_1d(array)[np.atleast_1d(wrong)][0]}; {wanted}")
    joint = TYPES.get(kind)
    turning = kind != GENERAL and joint is not None and (joint.orientation or joint.rate)
    alike = kind == "spherical" and (field == "rest" or np.unique(array).size == 1)
    if field in ("stiffness", "rest") and turning and array.any() and not alike:
        raise ModelError(
            f"{what} is {value!r}, and the coordinates of a {kind} joint have other rates than qd; "
            "leave it out, or give the spring's effort as tau"
        )
    return np.broadcast_to(array, (dof,))


def _between(first: Floats, second: Floats) -> Floats:
    """The rotation vector that leads from one orientation to another, both rotation vectors (3,)."""
    (u, a), (v, b) = (_quaternion(x) for x in (-first, second))
    turn = np.append(b * u + a * v + cross(u, v), a * b - u @ v)
    return quaternion_to_vector(turn)


def _quaternion(vector: Floats) -> tuple[Floats, float]:
    half = float(np.sqrt((vector * vector).sum())) / 2.0
    return vector * (np.sinc(half / np.pi) / 2.0), float(np.cos(half))


def tiled(terms: JointTerms | None, times: int) -> JointTerms | None:
    """The terms of copies of a tree, one after another."""
    return None if terms is None else JointTerms(*(np.tile(x, times) for x in astuple(terms)))
