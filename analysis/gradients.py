"""Forward dynamics by conjugate gradients: M qdd = tau - c, and M is never formed.

>>> from pivotree.analysis import gradients
>>> system = pt.build(pt.chain(3))
>>> gradients.solve(system, preconditioner="abm", by="float32").x.round(3)
array([-1.533, 77.971, 15.55 ])

M v is inverse dynamics without bias, the substitution order ``inverse_dynamics`` on equation (4) at
zero rates and gravity: O(n), nothing filled in (Walker & Orin 1982, method 4; Cloutier 1995,
section 3.2).  In exact arithmetic at most N iterations; in floats as many as roundoff asks.

An elimination of (4) in a cheap format is the preconditioner: r -> M^-1 r by an order, a tape that
is traced once.  What it gets wrong the iteration mends in its own format.
:func:`operator` and :func:`preconditioner` are ``scipy.sparse.linalg.LinearOperator``, for
scipy's cg and others; :func:`descend` rounds each operation by itself and takes fractions too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.kkt import FormatError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.arithmetic.formats import Hardware
from pivotree.kkt.arithmetic.objects import each
from pivotree.kkt.matrix.blocks import Block
from pivotree.kkt.matrix.entries import assemble
from pivotree.kkt.matrix.system import require_system
from pivotree.kkt.program.residual_program import trace_substitution
from pivotree.kkt.tape.player import run
from pivotree.kkt.tape.tape import Tape, lower
from pivotree.kkt.tape.trace import tape_for

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["Descent", "descend", "equation", "operator", "preconditioner", "solve"]

Apply = Callable[[NDArray[Any]], NDArray[Any]]
PER_UNKNOWN = 40  # iterations at most, unless ``most`` says how many


@dataclass(frozen=True, eq=False)
class Descent:
    """The last iterate of conjugate gradients, and the residuals on the way.

    >>> from pivotree.analysis import gradients
    >>> found = gradients.solve(pt.build(pt.chain(3)), format="exact")
    >>> found.iterations, float(found.residuals[-1])  # in fractions
    (3, 0.0)
    """

    x: NDArray[Any]  # (N,) the last iterate
    residuals: NDArray[np.float64]  # (iterations + 1,) norms of the residual over the first
    failed: str | None = None  # why it ended before the residual was as small as asked

    @property
    def iterations(self) -> int:
        return len(self.residuals) - 1


def solve(
    system: System,
    format: str = "float64",
    *,
    preconditioner: Any = None,
    by: str = "float32",
    until: float | None = None,
    most: int | None = None,
) -> Descent:
    """qdd of any tree by conjugate gradients in float64, float32 or exact.

    ``preconditioner`` names the order (or is one) by which (4) is eliminated in the format ``by``.
    Ends where the residual's norm is ``until`` of the first (4 u of the format where None), or
    after ``most`` iterations (40 N).  Raises FormatError for other formats, LoopError for loops,
    and what an order raises.

    >>> from pivotree.analysis import gradients
    >>> system = pt.build(pt.chain(20))
    >>> plain, by_abm = gradients.solve(system), gradients.solve(system, preconditioner="abm")
    >>> plain.iterations > 20 > by_abm.iterations
    True
    """
    times, efforts, _ = equation(system, format)
    solved = None if preconditioner is None else solving(system, preconditioner, by)
    if until is None:
        until = 0.0 if efforts.dtype == object else 2.0 * float(np.finfo(efforts.dtype).eps)
    most = PER_UNKNOWN * len(efforts) if most is None else most
    return descend(times, efforts, most=most, until=until, solved=solved)


def operator(system: System, format: str = "float64") -> LinearOperator:
    """v -> M v in a format, as scipy's solvers take it.

    >>> from pivotree.analysis import gradients
    >>> system = pt.build(pt.two_link())
    >>> M = gradients.operator(system) @ np.eye(2)
    >>> bool(abs(M - M.T).max() < 1e-12 and M[0, 0] > 0.0)
    True
    """
    times, efforts, _ = equation(system, format)
    return _linear(times, len(efforts), efforts.dtype)


def preconditioner(system: System, order: Any = "abm", format: str = "float32") -> LinearOperator:
    """r -> M^-1 r by an order in a format, in and out in float64, as scipy's solvers take it.

    >>> from pivotree.analysis import gradients
    >>> system = pt.build(pt.two_link())
    >>> near = gradients.preconditioner(system, "abm", "float32") @ gradients.operator(system)
    >>> bool(abs(near @ np.eye(2) - np.eye(2)).max() < 1e-5)
    True
    """
    return _linear(solving(system, order, format), len(system.state.tau), np.dtype(float))


def equation(system: System, format: str) -> tuple[Apply, NDArray[Any], int]:
    """v -> M v in a format, the efforts tau - c (N,), and the operations of a product.

    >>> from pivotree.analysis import gradients
    >>> times, efforts, operations = gradients.equation(pt.build(pt.chain(3)), "float64")
    >>> qdd = gradients.descend(times, efforts, most=6).x
    >>> qdd.round(3)
    array([-1.533, 77.971, 15.55 ])
    """
    require_system(system)
    system.structure.require_tree("conjugate gradients")
    order, chosen = orderings.get("inverse_dynamics"), get_format(format)
    if not isinstance(chosen, Hardware) and chosen.kind != "exact":
        raise FormatError(f"format {chosen.name!r}", "conjugate gradients run in float64, float32 or exact")
    still, N = at_rest(system), len(system.state.tau)
    bias = kkt.inverse_dynamics(system, np.zeros(N), order, chosen.name).tau
    if chosen.kind == "exact":
        tau = each(Fraction, system.state.tau)
        return _exactly(still), tau - bias, 0
    tape = lower(trace_substitution(order(still.structure), still.structure, "M v"), still)
    dtype = chosen.dtype
    left = system.state.tau.astype(dtype) - np.asarray(bias, dtype=dtype)
    return _runs(tape, still, chosen), left, tape.flops


def descend(
    times: Apply, b: NDArray[Any], *, most: int, until: float = 0.0, solved: Apply | None = None
) -> Descent:
    """Conjugate gradients from zero (Hestenes & Stiefel 1952), in the number type of b.

    ``solved`` is the preconditioner, r -> about M^-1 r.  Ends after ``most`` iterations, or where
    the residual's norm is ``until`` of the first or 0, or where roundoff has lost definiteness.

    >>> from pivotree.analysis import gradients
    >>> M = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> gradients.descend(lambda v: M @ v, np.array([1.0, 2.0]), most=2).x.round(6)
    array([0.090909, 0.636364])
    """

    def near(r: NDArray[Any]) -> NDArray[Any]:
        return r if solved is None else solved(r).astype(r.dtype)

    x, r = b * 0, b.copy()
    z = near(r)
    p, along, first = z.copy(), _dot(r, z), _norm(r)
    norms, failed = [1.0 if first else 0.0], None
    while norms[-1] > until:
        if len(norms) > most:
            failed = f"the residual is {norms[-1]:.1e} of the first after {most} iterations"
            break
        Mp = times(p)
        curvature = _dot(p, Mp)
        if not (curvature > 0 and along > 0):
            what = "M" if along > 0 else "the preconditioner"
            failed = f"roundoff has taken {what} its definiteness after {len(norms) - 1} iterations"
            break
        step = along / curvature
        x, r = x + step * p, r - step * Mp
        z, before = near(r), along
        along = _dot(r, z)
        p = z + along / before * p
        norms.append(_norm(r) / first)
    return Descent(x, np.array(norms), failed)


def solving(system: System, order: Any, format: str) -> Apply:
    """r -> M^-1 r: (4) without bias, its efforts r scaled to 1 so that no format overflows."""
    chosen = get_format(format)
    if not chosen.on_arrays:
        raise FormatError(f"format {chosen.name!r}", "a preconditioner needs a floating-point format")
    still = at_rest(system)
    run = _runs(tape_for(still, order), still, chosen)

    def solved(r: NDArray[Any]) -> NDArray[Any]:
        size = float(np.max(np.abs(r), initial=0.0)) or 1.0
        return np.asarray(chosen.shown(run(r / size)), dtype=float) * size

    return solved


def _runs(tape: Tape, still: System, chosen: Any) -> Apply:
    """A tape as a function of what stands for tau."""
    names, dof = still.tree.names, still.tree.dof
    blocks = [Block("qdd", name) for name, d in zip(names, dof, strict=True) if d]

    def apply(v: NDArray[Any]) -> NDArray[Any]:
        found, _, _ = run(tape, still.entries._replace(tau=v), chosen)
        return np.concatenate([np.zeros(0, dtype=chosen.dtype), *(found[b] for b in blocks)])

    return apply


def at_rest(system: System) -> System:
    """The same pose at zero rates, efforts, wrenches and gravity, springs at rest."""
    state = system.state
    names = ("qd", "tau", "gravity", "joint_bias", "wrench")
    rest = replace(state, **{name: np.zeros_like(getattr(state, name)) for name in names})
    if state.terms is not None:
        rest = replace(rest, terms=replace(state.terms, rest=np.zeros_like(state.qd)))
    return replace(system, state=rest, entries=assemble(rest, None, system.entries.M))


def _exactly(still: System) -> Apply:
    """M v in fractions: columns are found once, since M is linear."""
    order = orderings.get("inverse_dynamics")
    columns = [kkt.inverse_dynamics(still, unit, order, "exact").tau for unit in np.eye(len(still.state.tau))]
    return lambda v: sum((x * column for x, column in zip(v, columns, strict=True)), v * 0)


def _linear(times: Apply, N: int, dtype: Any) -> LinearOperator:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator((N, N), matvec=lambda v: times(np.ravel(v)), dtype=dtype)


def _dot(x: NDArray[Any], y: NDArray[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.add.accumulate(x * y)[-1] if len(x) else 0.0


def _norm(r: NDArray[Any]) -> float:
    return float(_dot(r, r)) ** 0.5
