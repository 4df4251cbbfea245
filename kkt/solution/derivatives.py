"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..base.errors import ModelError
from ..base.shown import Shown
from ..matrix.system import System
from ..model.spatial import spatial_inertia
from ..order.sequence import OrderFunction, PivotSequence
from ..program.model_data import WIDTHS
from ..tape.derivatives import DATA, DERIVATIVES, differentiated, directed, weighed
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .columns import played


@dataclass(frozen=True, repr=False)
class Derivatives(Shown):
    """Of qdd by q, qd and tau: row i is qdd_i, column j a freedom, both in the tree's order.

    From :func:`adjoint_derivatives` they are m rows of weights times these matrices, (m, N).
    Columns of dq are motions of the joint in its tangent space: by S_k in the frame of the body
    that it carries, as its rates qd are.  Where q are angles and lengths that is q itself.
    The last three are None unless they were asked for with ``also``; of n bodies, in the tree's
    order, :func:`inertial_parameters` says which ten numbers a body has.

    >>> system = pt.build(pt.chain(3))
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> found.dq.shape, np.array_equal(found.dtau, found.dtau.T)
    ((3, 3), True)
    """

    order: str
    format: str
    qdd: NDArray  # (N,) [rad/s^2, m/s^2]
    dq: NDArray  # (N, N) [1/s^2] and, where lengths and angles meet, [m/s^2] or [1/(m s^2)]
    dqd: NDArray  # (N, N) [1/s] and so on
    dtau: NDArray  # (N, N) [1/(kg m^2), 1/(kg m), 1/kg], symmetric: M^-1
    operations: int  # scalar operations, those of qdd included
    dparameters: NDArray | None = None  # (N, n, 10) by m, m c and I of every body
    dgravity: NDArray | None = None  # (N, 3) by gravity [m/s^2] in the world frame
    dwrench: NDArray | None = None  # (N, n, 6) by external wrenches [N m, N], moment first

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}", "freedoms": len(self.qdd),
            "operations": self.operations,
        }  # fmt: skip


def derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    format: str | Format = "float64",
    *,
    also: Sequence[str] = (),
) -> Derivatives:
    """d qdd / dq, dqd and dtau (N, N) of forward dynamics, by the same pivots as qdd.

    Equation (4) of Ascher, Pai & Cloutier 1996 is K x = r, so that dx = K^-1 (dr - dK x): more
    right-hand sides, which follow from the model's own formulas (:mod:`kkt.program.derivatives`).
    Number types as in :func:`kkt.eliminate`; the digits of ``ball:D`` are proved.  Armature,
    damping, springs and implicit steps count; dry friction is constant but for its jump at rest.
    External wrenches keep their components in the frames of their bodies.  ``also`` names further
    derivatives: "parameters" (inertial ones, by the regressor of Atkeson, An & Hollerbach 1986),
    "gravity" and "wrench".

    Raises LoopError where there are closed loops or contacts, OrderError for an order by rotations,
    ModelError for a general joint whose motions S are no tangent space, SizeError for trees of
    more than about 300 joints (95 bodies with parameters), SingularError where a pivot is zero,
    FormatError and CertificationError as :func:`kkt.eliminate` does.

    >>> system = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> moved = system.refresh(q=[0.3 + 1e-7, 0.5], qd=[1.0, -1.0])
    >>> difference = (pt.eliminate(moved, pt.orderings.get("abm")).qdd - found.qdd) / 1e-7
    >>> np.allclose(difference, found.dq[:, 0], rtol=1e-4)
    True
    """
    chosen, base = get_format(format), tape_for(system, order)
    tape, slots, numbers = differentiated(base, system, wanted=_wanted(also))
    N = int(system.tree.offset[-1])
    values = _values(system, tape, chosen, slots, numbers)
    return _shaped(system, base, tape, chosen, values, (N,))


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
) -> NDArray:
    """The derivative (N, m) of qdd along m motions dq, dqd, dtau (N, m), no matrix ever formed.

    That is ``found.dq @ dq + found.dqd @ dqd + found.dtau @ dtau`` of :func:`derivatives`, by one
    right-hand side of equation (4) more for each motion: dr - dK x is summed from the base to the
    tips first.  ``dq`` (N,) or (N, m) [rad, m], ``dqd`` (N,) or (N, m) [rad/s, m/s] and
    ``dtau`` (N,) or (N, m) [N m, N] have one shape, and those not given are zero.  Returns an
    array of that shape [rad/s^2, m/s^2].  ``dparameters`` (n, 10) or (n, 10, m) as
    :func:`inertial_parameters`, ``dgravity`` (3,) or (3, m) [m/s^2] and ``dwrench`` (n, 6) or
    (n, 6, m) [N m, N] count likewise.  Trees of any size.

    Raises ModelError for motions of another shape, or that are not finite, and what
    :func:`derivatives` raises.

    >>> system, abm = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0]), pt.orderings.get("abm")
    >>> along = pt.directional_derivatives(system, abm, dq=[1.0, 2.0])
    >>> np.allclose(along, pt.derivatives(system, abm).dq @ [1.0, 2.0])
    True
    """
    chosen, base = get_format(format), tape_for(system, order)
    n, N = system.tree.n, int(system.tree.offset[-1])
    shapes: dict[str, tuple[int, ...]] = {"dq": (N,), "dqd": (N,), "dtau": (N,)}
    shapes |= {"dparameters": (n, 10), "dgravity": (3,), "dwrench": (n, 6)}
    moves = (dq, dqd, dtau, dparameters, dgravity, dwrench)
    given = {name: x for name, x in zip(shapes, moves, strict=True) if x is not None}
    width: tuple[int, ...] = ()
    for name, x in given.items():  # the first one says how many motions there are
        width = np.shape(x)[len(shapes[name]) :][:1]
        break
    columns = width[0] if width else 1
    steps = {name: np.zeros((N, columns)) for name in DERIVATIVES}
    for name, x in given.items():
        own = _numbers(system, x, (*shapes[name], *width), name)
        steps[f"dqdd_{name}"] = own.reshape(-1, columns)
    tape, slots, numbers = directed(base, system, steps)
    return played(system, tape, chosen, slots["qdd"], numbers).reshape(N, *width)


def adjoint_derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    weights: ArrayLike,
    format: str | Format = "float64",
    *,
    also: Sequence[str] = (),
) -> Derivatives:
    """Weights (m, N) or (N,) times the derivatives of qdd by q, qd and tau: (m, N) or (N,) each.

    ``weights`` (m, N) or (N,) [s^2/rad, s^2/m, or what else a function of qdd has by qdd] give
    its gradient by one right-hand side, no matrix ever formed: K of equation (4) is symmetric,
    so that weights* K^-1 (dr - dK x) = y* (dr - dK x) with K y = weights in the
    rows of qdd, summed from the tips to the base.  y's part of qdd is the gradient by tau.
    ``also`` as in :func:`derivatives`: gradients by parameters (m, n, 10), gravity (m, 3) and
    wrenches (m, n, 6).  Trees of any size.

    Raises ModelError for weights of another shape, or that are not finite, and what
    :func:`derivatives` raises.

    >>> system, abm = pt.build(pt.chain(3), qd=[1.0, 0.5, -1.0]), pt.orderings.get("abm")
    >>> gradient = pt.adjoint_derivatives(system, abm, [1.0, 0.0, 2.0])
    >>> np.allclose(gradient.dq, [1.0, 0.0, 2.0] @ pt.derivatives(system, abm).dq)
    True
    """
    chosen, base = get_format(format), tape_for(system, order)
    N, shape = int(system.tree.offset[-1]), np.shape(np.asarray(weights))
    shape = (*shape[:-1], N) if len(shape) in (1, 2) else (N,)
    rows = _numbers(system, weights, shape, "weights").reshape(-1, N)
    tape, slots, numbers = weighed(base, system, rows, _wanted(also))
    values = _values(system, tape, chosen, slots, numbers)
    return _shaped(system, base, tape, chosen, values, shape[:-1])


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
    state = system.state
    M = spatial_inertia(state.mass, state.com, state.inertia)
    row, column = np.tril_indices(3)
    return np.concatenate(
        [state.mass[:, None], state.mass[:, None] * state.com, M[:, row, column]], axis=1
    )


def _wanted(also: Sequence[str]) -> tuple[str, ...]:
    """Names of outputs, or a refusal."""
    asked = (also,) if isinstance(also, str) else tuple(also)
    for name in asked:
        if name not in WIDTHS:
            raise ModelError(
                f"derivatives: also names {name!r}; use {', '.join(map(repr, WIDTHS))}"
            )
    return (*DERIVATIVES, *(output for output, name in DATA.items() if name in asked))


def _values(
    system: System, tape: Tape, chosen: Format, slots: Mapping[str, NDArray], numbers: NDArray
) -> dict[str, NDArray]:
    """The numbers in these slots, and qdd (N,), of one run."""
    wanted = {"qdd": tape.unknowns(system).qdd, **slots}
    flat = np.concatenate([x.ravel() for x in wanted.values()])
    found = played(system, tape, chosen, flat, numbers)
    parts = np.split(found, np.cumsum([x.size for x in wanted.values()])[:-1])
    return {
        name: part.reshape(x.shape) for (name, x), part in zip(wanted.items(), parts, strict=True)
    }


def _shaped(
    system: System, base: Tape, tape: Tape, chosen: Format, values: Mapping[str, NDArray],
    rows: tuple[int, ...],
) -> Derivatives:  # fmt: skip
    """All of them in the shapes that users see, with these axes in front."""
    n, N = system.tree.n, int(system.tree.offset[-1])
    shapes = {"parameters": (n, 10), "gravity": (3,), "wrench": (n, 6)}
    dq, dqd, dtau = (values[output].reshape(*rows, N) for output in DERIVATIVES)
    further = {
        f"d{name}": values[output].reshape(*rows, *shapes[name])
        for output, name in DATA.items()
        if output in values
    }
    name, own = base.program.name, _operations(base, tape)
    return Derivatives(name, chosen.name, values["qdd"], dq, dqd, dtau, own, **further)


def _operations(base: Tape, tape: Tape) -> int:
    return base.flops + tape.length - int(tape.first[len(base.program.instructions)])


def _numbers(system: System, given: ArrayLike, shape: tuple[int, ...], name: str) -> NDArray:
    """Doubles of this shape, or a refusal."""
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros((0, 0, 0))
    if found.shape != shape or not np.isfinite(found).all():
        N, n = int(system.tree.offset[-1]), system.tree.n
        raise ModelError(
            f"{system.name}: {name} has shape {found.shape}; give finite numbers of shape {shape}, "
            f"for its {N} freedoms and {n} bodies in the tree's order"
        )
    return found
