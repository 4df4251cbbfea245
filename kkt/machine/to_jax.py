"""``kkt.to_jax``: forward dynamics by any order as a function of JAX arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ..base.errors import ModelError, nearest
from ..matrix.system import System
from ..model.loops import Loop
from ..order.sequence import OrderLike

DERIVATIVES = ("pivots", "operations")


def to_jax(
    model: Any,
    order: OrderLike,
    *,
    outputs: Sequence[str] = ("qdd",),
    derivatives: str = "pivots",
    loops: Sequence[Loop] | None = None,
) -> Callable[..., Any]:
    """Forward dynamics of a tree by an order: a function (q, qd, tau) -> qdd of JAX arrays.

    ``model`` is a tree, or a :class:`kkt.System` whose gravity, wrenches and implicit step become
    constants; ``order`` is anything that :func:`kkt.eliminate` takes.  The function takes one
    state, q (nx,) with quaternions (x, y, z, w) as :func:`kkt.compile` does, qd (N,) and tau (N,)
    [rad, m, s, N m, N], and gives qdd (N,), or a tuple of the ``outputs`` named: ``qdd`` and
    ``lambda`` (rows,), the multipliers of loops and contacts.  ``loops`` are these, as
    :func:`kkt.compile` takes them; None: the model's own.  ``jax.jit``, ``vmap``, ``grad`` and
    ``jvp`` can be applied.  The precision is that of the arguments: for float64 set
    ``jax_enable_x64``.

    The block program of the order is run in batches of equal operations, so that the code that XLA
    compiles grows with the depth of the tree and not with the number of bodies.  With
    ``derivatives`` "pivots" differentiation solves equation (4), K x = r, once more with the factor
    at hand, dx = K^-1 (dr - dK x); with "operations" JAX differentiates the elimination itself,
    operation by operation.

    The function does not judge its answers.  A robot that is singular in two states drawn at random,
    or regular there by the rounding of its data alone, is refused here.

    Source: equation (4) of Ascher, Pai & Cloutier 1996.  Raises ModelError where JAX is missing,
    the model has general joints or an output is unknown, OrderError for an order with operations
    other than those on blocks, and SingularError where a pivot is zero in any state.

    >>> import jax
    >>> dynamics = pt.kkt.to_jax(pt.chain(3), pt.orderings.get("abm"))
    >>> jax.jacfwd(dynamics, 2)(np.zeros(3), np.zeros(3), np.zeros(3)).shape  # M^-1
    (3, 3)
    """
    try:
        import jax  # noqa: F401
    except ImportError:
        raise ModelError("to_jax", "the package jax is not installed", "python -m pip install jax") from None
    if derivatives not in DERIVATIVES:
        raise ModelError("to_jax", f"derivatives is {derivatives!r}", nearest(derivatives, DERIVATIVES))
    from .forward_dynamics import system_to_trace

    system = system_to_trace(model, loops, what="to_jax")
    known = ("qdd", "lambda") if system.loops else ("qdd",)
    if isinstance(outputs, bytes) or not isinstance(outputs, Iterable):
        raise ModelError("to_jax", f"outputs is {outputs!r}", "give a tuple of names")
    names = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    if not names:
        raise ModelError("to_jax", "outputs is empty", f"ask for one of {', '.join(known)}")
    for name in names:
        if name not in known:
            raise ModelError("to_jax", f"outputs holds {name!r}", nearest(str(name), known))
    solved, dynamics = _function(system, order, derivatives)

    def forward(q: Any, qd: Any, tau: Any) -> Any:
        state = dynamics.checked(q, qd, tau)
        found = dict(zip(("qdd", "lambda"), dynamics.split(solved(*state)), strict=True))
        told = tuple(found[name] for name in names)
        return told[0] if len(told) == 1 else told

    return forward


def _function(system: System, order: OrderLike, derivatives: str) -> tuple[Callable[..., Any], Any]:
    """A function of the state that gives all unknowns, and the dynamics that splits these."""
    import jax

    from .jax_dynamics import Dynamics

    dynamics = Dynamics.of(system, order)

    def plain(q: Any, qd: Any, tau: Any) -> Any:
        return dynamics.solved(*dynamics.checked(q, qd, tau))[0]

    if derivatives == "operations":
        return plain, dynamics

    solved = jax.custom_jvp(plain)

    @solved.defjvp
    def _(state: Any, change: Any) -> Any:
        state = dynamics.checked(*state)
        unknowns, reader = dynamics.solved(*state)
        _, left = jax.jvp(partial(dynamics.left_over, unknowns), state, change)
        return unknowns, dynamics.again(reader, left)

    return solved, dynamics
