"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.errors import ModelError
from ..base.shown import Shown
from ..matrix.system import System, require_system
from ..model.spatial import spatial_inertia
from ..order.sequence import OrderFunction, PivotSequence
from ..program.derivatives import WIDTHS, column_shapes
from ..proof.soundness import Part
from ..tape.derivatives import BY, differentiated
from ..tape.tape import Tape
from ..tape.trace import tape_for
from ..tape.trust import size_of, weight_of
from .columns import Worth, worth


@dataclass(frozen=True)
class Jacobians:
    """Derivatives of m unknowns by q, qd and tau; columns are the N freedoms in the tree's order.

    The last three fields are None unless they were asked for with ``also``.  Bodies are in the
    tree's order; :func:`inertial_parameters` lists the ten parameters of a body.

    >>> found = pt.derivatives(pt.build(pt.chain(3)), pt.orderings.get("abm"), also=["gravity"])
    >>> found.dgravity.shape, found.dwrench is None
    ((3, 3), True)
    """

    dq: NDArray  # (m, N)
    dqd: NDArray  # (m, N)
    dtau: NDArray  # (m, N)
    dparameters: NDArray | None = field(default=None, kw_only=True)  # (m, n, 10): m, m c, I
    dgravity: NDArray | None = field(default=None, kw_only=True)  # (m, 3) in the world frame
    dwrench: NDArray | None = field(default=None, kw_only=True)  # (m, n, 6), moment first


@dataclass(frozen=True, repr=False)
class Derivatives(Shown, Jacobians):
    """Derivatives of qdd by q, qd and tau: row i is qdd_i, column j a freedom, in the tree's order.

    ``dq`` (N, N) [1/s^2] and, where lengths and angles meet, [m/s^2] or [1/(m s^2)]; ``dqd``
    (N, N) [1/s] and so on; ``dtau`` (N, N) [1/(kg m^2), 1/(kg m), 1/kg], symmetric: M^-1, and with
    loops that of the motions that they allow.
    Columns of dq are motions of a joint in its tangent space: along S_k in the frame of the body
    that it carries, as its rates qd are.  Where q are angles and lengths that is q itself.
    ``dlam`` has the same derivatives of the multipliers; None where there are no loops.

    >>> system = pt.build(pt.chain(3))
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> found.dq.shape, np.array_equal(found.dtau, found.dtau.T)
    ((3, 3), True)
    >>> closed = pt.derivatives(pt.build(pt.four_bar()), pt.orderings.get("abm"))
    >>> closed.dq.shape, closed.dlam.dq.shape
    ((3, 3), (2, 3))
    """

    order: str
    format: str
    qdd: NDArray  # (N,) [rad/s^2, m/s^2]
    operations: int  # scalar operations, those of qdd included
    dlam: Jacobians | None = None  # of lambda, m rows of loops and contacts
    error_estimate: float | None = None  # of the worst matrix: its distance to itself in twice the digits
    marked: str | None = None  # why the matrices should not be relied on, though there are some

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "name": f"{self.order} in {self.format}",
            "freedoms": len(self.qdd),
            "operations": self.operations,
        }
        return facts | ({"marked:": self.marked} if self.marked else {})


def derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    format: str | Format = "float64",
    *,
    also: Sequence[str] = (),
) -> Derivatives:
    """d qdd / dq, dqd and dtau (N, N) of forward dynamics, by the same pivots as qdd.

    Equation (4) of Ascher, Pai & Cloutier 1996 is K x = r, so that dx = K^-1 (dr - dK x): further
    right-hand sides, which follow from the model's formulas (:mod:`kkt.program.derivatives`).
    Number types are those of :func:`kkt.eliminate`; the digits of ``ball:D`` are proved.  Armature,
    damping, springs and implicit steps count; dry friction is constant but for its jump at rest.
    External wrenches keep their components in the frames of their bodies.  ``also`` names further
    derivatives: "parameters" (inertial ones, by the regressor of Atkeson, An & Hollerbach 1986),
    "gravity" and "wrench".

    With closed loops and contacts (4) has rows of lambda, and ``dlam`` their derivatives
    (:mod:`kkt.program.derivatives`).  The rows are differentiated as functions of any state: q and qd
    vary freely, whether the loop stays closed or not.  Rows are those of the loop's frame c, whose
    compliance and gains are constant.

    Tracing takes time and memory in proportion to joints times bodies, each with the blocks of its
    column of the factor: O(n^2) for n bodies by abm, O(n^3) by crbm on a chain.

    ``marked`` says why the matrices should not be relied on, by the rule of :func:`kkt.eliminate`,
    each judged by its own largest entry, and ``error_estimate`` the error of the worst.

    Raises OrderError for an order by rotations, ModelError for a general joint whose motions S are
    no tangent space, LoopError for joints that follow others by a curve, SizeError for trees of more
    than about 300 joints (95 bodies with parameters), SingularError where a pivot is zero, but for
    rounding too, or (4) is singular, FormatError and CertificationError as :func:`kkt.eliminate` does.

    >>> system = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> moved = system.refresh(q=[0.3 + 1e-7, 0.5], qd=[1.0, -1.0])
    >>> difference = (pt.eliminate(moved, pt.orderings.get("abm")).qdd - found.qdd) / 1e-7
    >>> np.allclose(difference, found.dq[:, 0], rtol=1e-4)
    True
    """
    chosen = get_format(format)
    return traced_derivatives(system, order, also)(chosen)


def traced_derivatives(
    system: System, order: PivotSequence | OrderFunction | Tape | Any, also: Sequence[str] = ()
) -> Callable[[Format], Derivatives]:
    """:func:`derivatives`, traced once: the function returned runs them in any format."""
    base, asked = tape_for(system, order), _asked(also)
    kinds = ("qdd", "lambda") if system.loops else ("qdd",)
    wanted = [f"d{of}_d{by}" for of in kinds for by in (*BY, *asked)]
    found = differentiated(base, system, wanted)
    tape, slots, numbers = found.tape, found.slots, found.numbers
    shapes = column_shapes(int(system.tree.offset[-1]), system.tree.n)

    def played_in(chosen: Format) -> Derivatives:
        values, told = _values(system, tape, chosen, slots, numbers)
        named = ({by: values[f"d{of}_d{by}"] for by in (*BY, *asked)} for of in kinds)
        own, *more = ({f"d{by}": x.reshape(len(x), *shapes[by]) for by, x in one.items()} for one in named)
        return Derivatives(
            order=base.program.name,
            format=chosen.name,
            qdd=values["qdd"],
            operations=found.operations(base),
            dlam=Jacobians(**more[0]) if more else None,
            error_estimate=told.error,
            marked=told.marked,
            **own,
        )

    return played_in


def inertial_parameters(system: System) -> NDArray:
    """The ten inertial parameters (n, 10) of every body, in which equation (4) is linear.

    They are m [kg], m c (3) [kg m], and I_xx, I_xy, I_yy, I_xz, I_yz, I_zz [kg m^2], the inertia
    about the origin of the body's joint frame and not about its centre of mass c; all in that
    frame.  Atkeson, An & Hollerbach (1986) identify these; Pinocchio's dynamic parameters are the
    same, in the same order.  Raises nothing: the system has been checked.

    >>> system = pt.build(pt.two_link(), qd=[1.0, 2.0], tau=[0.3, 0.1])
    >>> theta = pt.inertial_parameters(system)
    >>> theta[:, 0]
    array([0.1, 0.9])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"), also=["parameters"])
    >>> change = np.tensordot(found.dparameters, theta, 2) + found.dtau @ system.state.tau
    >>> np.allclose(change, 0.0)  # twice the masses under twice the efforts: the same motion
    True
    """
    require_system(system)
    state = system.state
    M = spatial_inertia(state.mass, state.com, state.inertia)
    row, column = np.tril_indices(3)
    return np.concatenate([state.mass[:, None], state.mass[:, None] * state.com, M[:, row, column]], axis=1)


def _asked(also: Sequence[str]) -> tuple[str, ...]:
    """The names in ``also``, in the order of WIDTHS; raises ModelError for an unknown one."""
    asked: tuple[Any, ...] = (also,)
    if isinstance(also, Iterable) and not isinstance(also, str):
        asked = tuple(also)
    for name in asked:
        if not isinstance(name, str) or name not in WIDTHS:
            raise ModelError(f"derivatives: also names {name!r}; use {', '.join(map(repr, WIDTHS))}")
    return tuple(by for by in WIDTHS if by in asked)


def _values(
    system: System, tape: Tape, chosen: Format, slots: Mapping[str, NDArray], numbers: NDArray
) -> tuple[dict[str, NDArray], Worth]:
    """The values of these slots, and qdd (N,), of one run; and what they are worth, qdd apart."""
    parts = {"qdd": Part(tape.unknowns(system).qdd, np.inf)}  # kkt.eliminate judges it
    parts |= {name: Part(x.ravel(), floor_of(system, name)) for name, x in slots.items()}
    found = worth(system, tape, chosen, list(parts.values()), numbers)
    shapes = {"qdd": (-1,), **{name: x.shape for name, x in slots.items()}}
    pairs = zip(found.parts, shapes.items(), strict=True)
    return {name: part.reshape(shape) for part, (name, shape) in pairs}, found


def floor_of(system: System, name: str) -> float:
    """What derivatives are judged by where they are zero but for rounding: gravity and rates."""
    of = weight_of(system.entries) if name.startswith("dlambda") else size_of(system.entries.a)
    return 1.0 / size_of(system.entries.M) if name == "dqdd_dtau" else of
