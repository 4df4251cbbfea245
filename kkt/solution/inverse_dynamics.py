"""Joint efforts for given joint accelerations, in floating point, fractions and mpmath numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arithmetic import get_format
from ..arithmetic.objects import each
from ..base.errors import FormatError, OrderError
from ..base.foreign import foreign
from ..matrix.blocks import Structure
from ..matrix.system import System, require_system
from ..model.fields import checked
from ..order.sequence import Order, as_order
from ..program.residual_program import Substitution, trace_substitution
from ..tape.player import read_in, rounded_entries, run
from ..tape.tape import Tape, Unknowns, lower


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Joint efforts ``tau`` (N,) [N m, N], ``pdd`` and ``f`` (n, 6) for given joint accelerations.

    >>> system = pt.build(pt.chain(3))
    >>> found = pt.inverse_dynamics(system, np.zeros(3), pt.orderings.get("inverse_dynamics"))
    >>> found.tau.shape, found.f.shape, found.flops
    ((3,), (3, 6), 159)
    """

    format: str
    tau: NDArray[Any] = field(repr=False)  # (N,) [N m, N]
    pdd: NDArray[Any] = field(repr=False)  # (n, 6) minus the spatial accelerations
    f: NDArray[Any] = field(repr=False)  # (n, 6) spatial forces [N m, N]
    flops: int
    fill: int = 0  # the matrix is block triangular, so that there is no fill-in


def inverse_dynamics(
    system: System, qdd: ArrayLike, order: Callable[[Structure], Substitution] | str, format: str = "float64"
) -> InverseDynamics:
    """Joint efforts tau of (4) for given accelerations, by a substitution order.

    tau also overcomes damping, springs and friction of the joints, where there are any.

    ``qdd`` (N,) [rad/s^2, m/s^2], bodies in the tree's order; tau comes back in [N m, N].  Raises
    ModelError for another shape or a number that is not finite, OrderError for an order of
    pivots, and FormatError for an unknown format, for balls and for classes of numbers.

    >>> system = pt.build(pt.chain(3))
    >>> qdd = pt.eliminate(system, pt.orderings.get("abm")).qdd
    >>> found = pt.inverse_dynamics(system, qdd, pt.orderings.get("inverse_dynamics"))
    >>> np.allclose(found.tau, system.state.tau)
    True
    """
    require_system(system)
    wanted = checked("state", "qdd", qdd, system.entries.tau.shape)
    order = as_order(order) if isinstance(order, str) else order
    if not callable(order):
        raise OrderError(
            f"order {order!r}", "is no function of a structure", "give orderings.get('inverse_dynamics')"
        )
    name = as_order(order).name
    if isinstance(order, Order) and order.problem != "tau":
        raise OrderError(f"order {name!r}", "solves for qdd", "use orderings.get('inverse_dynamics')")
    with foreign(f"order {name!r}"):
        substitution = order(system.structure)
    program = trace_substitution(substitution, system.structure, name)
    tape: Tape = lower(program, system)
    chosen = get_format(format)
    if chosen.kind in ("ball", "object"):
        raise FormatError(
            f"format {chosen.name!r}", "inverse_dynamics needs a floating-point format, exact or mp"
        )
    if chosen.on_arrays:
        rounded_entries(system, chosen)  # raises where an entry overflows
        if not np.isfinite(chosen.cast(wanted)).all():
            raise FormatError("state", f"field 'qdd' overflows {chosen.name}", "use a larger range")
        entries = system.entries._replace(tau=wanted)
        solution, _, _ = run(tape, entries, chosen)
    else:
        number, entries = read_in(system, chosen)
        solution, _, _ = run(tape, entries._replace(tau=each(number, wanted)), number)
    pdd, tau, f, _ = Unknowns.of(system, solution, chosen.dtype or object)
    state = system.state
    if state.terms is not None:  # the effort also overcomes damping, springs and friction
        if chosen.kind == "dd":  # shown as numbers of mpmath, whose sum keeps the pair's digits
            tau = chosen.shown(tau)
            number = type(tau[0]) if len(tau) else float
        if chosen.on_arrays and chosen.kind != "dd":
            resistance = state.terms.resistance(state.qd, state.step, lambda x: x)
            tau = chosen.cast(chosen.shown(tau) + resistance)
        else:
            tau = tau + state.terms.resistance(state.qd, state.step, lambda x: each(number, x))
    return InverseDynamics(chosen.name, chosen.shown(tau), chosen.shown(pdd), chosen.shown(f), tape.flops)
