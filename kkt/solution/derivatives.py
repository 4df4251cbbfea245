"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..base.errors import ModelError
from ..base.shown import Shown
from ..matrix.system import System, require_system
from ..model.fields import checked, shape_of
from ..model.spatial import spatial_inertia
from ..order.sequence import OrderFunction, PivotSequence
from ..program.derivatives import WIDTHS, column_shapes
from ..proof.soundness import Part
from ..tape.derivatives import BY, Differentiated, differentiated, directed, weighed
from ..tape.tape import Solved, Tape
from ..tape.trace import tape_for
from ..tape.trust import size_of, weight_of
from .columns import Worth, matrix, worth


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
    From :func:`adjoint_derivatives` they are m rows of weights times these matrices, (m, N).
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

    def played_in(chosen: Format) -> Derivatives:
        values, told = _values(system, tape, chosen, slots, numbers)
        own, *more = (
            _shaped(system, {by: values[f"d{of}_d{by}"] for by in (*BY, *asked)}, None) for of in kinds
        )
        dlam = Jacobians(**more[0]) if more else None
        return _derivatives(base, found, chosen, told, values["qdd"], own, dlam)

    return played_in


def directional_derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dtau: ArrayLike | None = None,
    format: str | Format = "float64",
    *,
    dparameters: ArrayLike | None = None,
    dgravity: ArrayLike | None = None,
    dwrench: ArrayLike | None = None,
    of: str = "qdd",
) -> Solved:
    """The derivative (N, m) of qdd along m motions dq, dqd, dtau (N, m), without a matrix.

    That is ``found.dq @ dq + found.dqd @ dqd + found.dtau @ dtau`` of :func:`derivatives`, by one
    further right-hand side of equation (4) for each motion: dr - dK x is summed from the base to
    the tips first.  ``dq`` (N,) or (N, m) [rad, m], ``dqd`` (N,) or (N, m) [rad/s, m/s] and
    ``dtau`` (N,) or (N, m) [N m, N] have one shape, and those not given are zero.  ``values`` of
    what is returned have that shape [rad/s^2, m/s^2].  ``dparameters`` (n, 10) or (n, 10, m) as
    :func:`inertial_parameters`, ``dgravity`` (3,) or (3, m) [m/s^2] and ``dwrench`` (n, 6) or
    (n, 6, m) [N m, N] are added likewise.  Trees may have any size.  ``of`` "lambda" gives the
    derivative of the multipliers of loops and contacts, (rows, m), in place of qdd's.

    Raises ModelError for motions of another shape, or that are not finite, and what
    :func:`derivatives` raises.

    >>> system, abm = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0]), pt.orderings.get("abm")
    >>> along = pt.directional_derivatives(system, abm, dq=[1.0, 2.0])
    >>> np.allclose(along, pt.derivatives(system, abm).dq @ [1.0, 2.0])
    True
    """
    kind = {"qdd": "qdd", "lambda": "lam"}.get(of) if isinstance(of, str) else None
    if kind is None or (kind == "lam" and not system.loops):
        known = "'qdd' or 'lambda'" if system.loops else "'qdd': there are no loops and no contacts"
        raise ModelError(f"{system.name}: derivatives of {of!r} are asked for; give {known}")
    chosen, base = get_format(format), tape_for(system, order)
    shapes = _shapes(system)
    moves = (dq, dqd, dtau, dparameters, dgravity, dwrench)
    given = {by: x for by, x in zip(shapes, moves, strict=True) if x is not None}
    # the first motion given says how many there are
    width = next((shape_of(x)[len(shapes[by]) :][:1] for by, x in given.items()), ())
    steps = {
        by: _numbers(system, x, (*shapes[by], *width), f"d{by}").reshape(prod(shapes[by]), *(width or (1,)))
        for by, x in given.items()
    }
    tape, slots, numbers, _ = directed(base, system, steps, kind)
    floor = floor_of(system, "dlambda" if kind == "lam" else "dqdd")
    return matrix(system, tape, chosen, slots[kind].reshape(len(slots[kind]), *width), numbers, floor)


def adjoint_derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    weights: ArrayLike,
    format: str | Format = "float64",
    *,
    also: Sequence[str] = (),
    multipliers: ArrayLike | None = None,
) -> Derivatives:
    """Weights (m, N) or (N,) times the derivatives of qdd by q, qd and tau: (m, N) or (N,) each.

    ``weights`` (m, N) or (N,) [s^2/rad, s^2/m, or any unit per unit of qdd] are gradients of
    functions by qdd; the results are their gradients by q, qd and tau, from one right-hand side
    each and without a matrix.  K of equation (4) is symmetric, so that weights* K^-1 (dr - dK x) =
    y* (dr - dK x), where K y = weights in the rows of qdd; this is summed from the tips to the
    base.  y in the rows of qdd is the gradient by tau.  ``also`` as in :func:`derivatives`:
    gradients by parameters (m, n, 10), gravity (m, 3) and wrenches (m, n, 6).  Trees may have any
    size.  ``multipliers`` (m, rows) or (rows,) [1/N, 1/(N m)] are weights of the loops' lambda, for
    functions of both.

    Raises ModelError for weights of another shape, or that are not finite, and what
    :func:`derivatives` raises.

    >>> system, abm = pt.build(pt.chain(3), qd=[1.0, 0.5, -1.0]), pt.orderings.get("abm")
    >>> gradient = pt.adjoint_derivatives(system, abm, [1.0, 0.0, 2.0])
    >>> np.allclose(gradient.dq, [1.0, 0.0, 2.0] @ pt.derivatives(system, abm).dq)
    True
    """
    asked = _asked(also)
    chosen, base = get_format(format), tape_for(system, order)
    shape = shape_of(weights)
    front = shape[:-1] if len(shape) in (1, 2) else ()
    sizes = {"weights": int(system.tree.offset[-1]), "multipliers": len(system.entries.gamma)}
    rows = {
        kind: _numbers(system, x, (*front, sizes[name]), name).reshape(prod(front), sizes[name])
        for name, kind, x in (("weights", "qdd", weights), ("multipliers", "lam", multipliers))
        if x is not None or kind == "qdd"
    }
    found = weighed(base, system, rows, asked)
    tape, slots, numbers = found.tape, found.slots, found.numbers
    values, told = _values(system, tape, chosen, slots, numbers)
    own = _shaped(system, {by: values[by] for by in (*BY, *asked)}, front)
    return _derivatives(base, found, chosen, told, values["qdd"], own)


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
    return 1.0 / size_of(system.entries.M) if name in ("tau", "dqdd_dtau") else of


def _shapes(system: System) -> dict[str, tuple[int, ...]]:
    """The shapes of all quantities by which is differentiated."""
    return column_shapes(int(system.tree.offset[-1]), system.tree.n)


def _shaped(
    system: System, values: Mapping[str, NDArray], front: tuple[int, ...] | None
) -> dict[str, NDArray]:
    """Derivatives in the shapes that users see, with axes ``front``; None is one axis of rows."""
    shapes = _shapes(system)
    return {
        f"d{by}": x.reshape(*((len(x),) if front is None else front), *shapes[by]) for by, x in values.items()
    }


def _derivatives(
    base: Tape,
    found: Differentiated,
    chosen: Format,
    told: Worth,
    qdd: NDArray,
    own: Mapping[str, Any],
    dlam: Jacobians | None = None,
) -> Derivatives:
    return Derivatives(
        order=base.program.name,
        format=chosen.name,
        qdd=qdd,
        operations=found.operations(base),
        dlam=dlam,
        error_estimate=told.error,
        marked=told.marked,
        **own,
    )


def _numbers(system: System, given: ArrayLike | None, shape: tuple[int, ...], name: str) -> NDArray:
    """Doubles of this shape; raises ModelError for anything else."""
    N, n, rows = int(system.tree.offset[-1]), system.tree.n, len(system.entries.gamma)
    lambdas = f", and {rows} rows of loops" if rows else ""
    owners = f"for its {N} freedoms and {n} bodies in the tree's order{lambdas}"
    return checked(system.name, name, given, shape, f"finite numbers of shape {shape}, {owners}")
