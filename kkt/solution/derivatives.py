"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import Format, get_format
from ..base.errors import ModelError
from ..base.shown import Shown
from ..matrix.system import System
from ..order.sequence import OrderFunction, PivotSequence
from ..tape.derivatives import DERIVATIVES, differentiated, directed, weighed
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .columns import played


@dataclass(frozen=True, repr=False)
class Derivatives(Shown):
    """Of qdd by q, qd and tau: row i is qdd_i, column j a freedom, both in the tree's order.

    From :func:`adjoint_derivatives` they are m rows of weights times these matrices, (m, N).
    Columns of dq are motions of the joint in its tangent space: by S_k in the frame of the body
    that it carries, as its rates qd are.  Where q are angles and lengths that is q itself.

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

    def facts(self) -> dict[str, Any]:
        return {
            "name": f"{self.order} in {self.format}", "freedoms": len(self.qdd),
            "operations": self.operations,
        }  # fmt: skip


def derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    format: str | Format = "float64",
) -> Derivatives:
    """d qdd / dq, dqd and dtau (N, N) of forward dynamics, by the same pivots as qdd.

    Equation (4) of Ascher, Pai & Cloutier 1996 is K x = r, so that dx = K^-1 (dr - dK x): more
    right-hand sides, which follow from the model's own formulas (:mod:`kkt.program.derivatives`).
    Number types as in :func:`kkt.eliminate`; the digits of ``ball:D`` are proved.  Armature,
    damping, springs and implicit steps count; dry friction is constant but for its jump at rest.
    External wrenches keep their components in the frames of their bodies.

    Raises LoopError where there are closed loops or contacts, OrderError for an order by rotations,
    ModelError for a general joint whose motions S are no tangent space, SizeError for trees of
    more than about 300 joints, SingularError where a pivot is zero, FormatError and
    CertificationError as :func:`kkt.eliminate` does.

    >>> system = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0])
    >>> found = pt.derivatives(system, pt.orderings.get("abm"))
    >>> moved = system.refresh(q=[0.3 + 1e-7, 0.5], qd=[1.0, -1.0])
    >>> difference = (pt.eliminate(moved, pt.orderings.get("abm")).qdd - found.qdd) / 1e-7
    >>> np.allclose(difference, found.dq[:, 0], rtol=1e-4)
    True
    """
    chosen = get_format(format)
    base = tape_for(system, order)
    tape, slots, numbers = differentiated(base, system)
    N = int(system.tree.offset[-1])
    wanted = np.concatenate([tape.unknowns(system).qdd[None], *slots.values()])
    found = played(system, tape, chosen, wanted, numbers)
    return Derivatives(
        base.program.name, chosen.name,
        found[0], found[1 : 1 + N], found[1 + N : 1 + 2 * N], found[1 + 2 * N :],
        _operations(base, tape),
    )  # fmt: skip


def directional_derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dtau: ArrayLike | None = None,
    format: str | Format = "float64",
) -> NDArray:
    """The derivative (N, m) of qdd along m motions dq, dqd, dtau (N, m), no matrix ever formed.

    That is ``found.dq @ dq + found.dqd @ dqd + found.dtau @ dtau`` of :func:`derivatives`, by one
    right-hand side of equation (4) more for each motion: dr - dK x is summed from the base to the
    tips first.  ``dq`` (N,) or (N, m) [rad, m], ``dqd`` (N,) or (N, m) [rad/s, m/s] and
    ``dtau`` (N,) or (N, m) [N m, N] have one shape, and those not given are zero.  Returns an
    array of that shape [rad/s^2, m/s^2].  Trees of any size.

    Raises ModelError for motions of another shape, or that are not finite, and what
    :func:`derivatives` raises.

    >>> system, abm = pt.build(pt.rr_arm(), q=[0.3, 0.5], qd=[1.0, -1.0]), pt.orderings.get("abm")
    >>> along = pt.directional_derivatives(system, abm, dq=[1.0, 2.0])
    >>> np.allclose(along, pt.derivatives(system, abm).dq @ [1.0, 2.0])
    True
    """
    chosen, base = get_format(format), tape_for(system, order)
    given = {name: x for name, x in zip(DERIVATIVES, (dq, dqd, dtau), strict=True) if x is not None}
    N = int(system.tree.offset[-1])
    first = np.asarray(next(iter(given.values()), np.zeros(N)))
    width = first.shape[1:]
    columns = width[0] if width else 1
    steps = {name: np.zeros((N, columns)) for name in DERIVATIVES}
    for name, x in given.items():
        steps[name] = _numbers(system, x, (N, *width), name[5:]).reshape(N, columns)
    tape, slots, numbers = directed(base, system, steps)
    return played(system, tape, chosen, slots["qdd"], numbers).reshape(N, *width)


def adjoint_derivatives(
    system: System,
    order: PivotSequence | OrderFunction | Tape | Any,
    weights: ArrayLike,
    format: str | Format = "float64",
) -> Derivatives:
    """Weights (m, N) or (N,) times the derivatives of qdd by q, qd and tau: (m, N) or (N,) each.

    ``weights`` (m, N) or (N,) [s^2/rad, s^2/m, or what else a function of qdd has by qdd] give
    its gradient by one right-hand side, no matrix ever formed: K of equation (4) is symmetric,
    so that weights* K^-1 (dr - dK x) = y* (dr - dK x) with K y = weights in the
    rows of qdd, summed from the tips to the base.  y's part of qdd is the gradient by tau.
    Trees of any size.

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
    tape, slots, numbers = weighed(base, system, rows)
    wanted = np.concatenate([tape.unknowns(system).qdd[None], *slots.values()])
    found = played(system, tape, chosen, wanted, numbers)
    dq, dqd, dtau = (x.reshape(shape) for x in found[1:].reshape(3, *rows.shape))
    own = _operations(base, tape)
    return Derivatives(base.program.name, chosen.name, found[0], dq, dqd, dtau, own)


def _operations(base: Tape, tape: Tape) -> int:
    return base.flops + tape.length - int(tape.first[len(base.program.instructions)])


def _numbers(system: System, given: ArrayLike, shape: tuple[int, ...], name: str) -> NDArray:
    """Doubles of this shape, or a refusal."""
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros((0, 0, 0))
    if found.shape != shape or not np.isfinite(found).all():
        N = int(system.tree.offset[-1])
        raise ModelError(
            f"{system.name}: {name} has shape {found.shape}; give finite numbers of shape {shape}, "
            f"for its {N} freedoms in the tree's order"
        )
    return found
