"""Derivatives of the joint accelerations by the pivots of an order, in any number type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.shown import Shown
from ..matrix.system import System
from ..order.sequence import OrderFunction, PivotSequence
from ..tape.derivatives import differentiated
from ..tape.tape import Tape
from ..tape.trace import tape_for
from .columns import played


@dataclass(frozen=True, repr=False)
class Derivatives(Shown):
    """Of qdd by q, qd and tau: row i is qdd_i, column j a freedom, both in the tree's order.

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
    own = int(tape.first[len(base.program.instructions)])
    return Derivatives(
        base.program.name, chosen.name,
        found[0], found[1 : 1 + N], found[1 + N : 1 + 2 * N], found[1 + 2 * N :],
        base.flops + tape.length - own,
    )  # fmt: skip
