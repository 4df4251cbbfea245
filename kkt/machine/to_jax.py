"""``kkt.to_jax``: forward dynamics by any order as a function of JAX arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.errors import ModelError, nearest
from ..matrix.system import System

DERIVATIVES = ("pivots", "operations")


def to_jax(model: Any, order: Any, *, derivatives: str = "pivots") -> Callable[..., Any]:
    """Forward dynamics of a tree by an order: a function (q, qd, tau) -> qdd of JAX arrays.

    ``model`` is a tree, or a :class:`kkt.System` whose gravity, wrenches and implicit step become
    constants; ``order`` is whatever :func:`kkt.eliminate` takes.  The function takes one state, q
    (nx,) with quaternions (x, y, z, w) as :func:`kkt.compile` does, qd (N,) and tau (N,) [rad, m,
    s, N m, N], and gives qdd (N,); ``jax.jit``, ``vmap``, ``grad`` and ``jvp`` take it.  It
    computes in the precision of what it is given: for float64 set ``jax_enable_x64``.

    The block program of the order is read operation by operation, equal operations side by side, so
    that what XLA compiles grows with the height of the tree and not with its bodies.  With
    ``derivatives`` "pivots" differentiation solves equation (4), K x = r, once more with the
    factor that is there, dx = K^-1 (dr - dK x); with "operations" JAX differentiates the
    elimination itself, operation by operation.

    Source: equation (4) of Ascher, Pai & Cloutier 1996.  Raises ModelError where JAX is missing or
    the model has loops or general joints, OrderError where an order is not one of blocks.

    >>> import jax
    >>> dynamics = pt.kkt.to_jax(pt.chain(3), pt.orderings.get("abm"))
    >>> jax.jacfwd(dynamics, 2)(np.zeros(3), np.zeros(3), np.zeros(3)).shape  # M^-1
    (3, 3)
    """
    try:
        import jax  # noqa: F401
    except ImportError:
        raise ModelError(
            "to_jax: the package jax is not installed; python -m pip install jax"
        ) from None
    if derivatives not in DERIVATIVES:
        raise ModelError(f"to_jax: derivatives is {derivatives!r}; "
                         f"{nearest(derivatives, DERIVATIVES)}")  # fmt: skip
    from .forward_dynamics import system_to_trace

    system = system_to_trace(model, what="to_jax")
    system.structure.require_tree("to_jax", "compile it with kkt.compile")
    return _function(system, order, derivatives)


def _function(system: System, order: Any, derivatives: str) -> Callable[..., Any]:
    import jax

    from .jax_dynamics import Dynamics

    dynamics = Dynamics.of(system, order)

    def plain(q: Any, qd: Any, tau: Any) -> Any:
        return dynamics.solved(*dynamics.checked(q, qd, tau))[0]

    if derivatives == "operations":
        return plain

    solved = jax.custom_jvp(plain)

    @solved.defjvp
    def _(state: Any, change: Any) -> Any:
        state = dynamics.checked(*state)
        qdd, reader = dynamics.solved(*state)
        _, left = jax.jvp(partial(dynamics.left_over, qdd), state, change)
        return qdd, dynamics.again(reader, left)

    return solved
