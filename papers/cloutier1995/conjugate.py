"""Section 3.2: conjugate gradients on M qdd = tau - b; M v is inverse dynamics without bias.

The products (Walker & Orin 1982, method 4) are the substitution order ``inverse_dynamics`` on
equation (4) at zero rates and gravity: O(n) each, nothing filled in.  In exact arithmetic at most
n iterations; in floats as many as roundoff asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import orderings
from kkt import System, build, inverse_dynamics
from kkt.arithmetic import get_format
from kkt.blocks import Block
from kkt.elimination.run import run_floats
from kkt.elimination.substitution import trace_substitution
from kkt.elimination.tape import lower


@dataclass(frozen=True)
class Descent:
    """What an iteration went through."""

    x: NDArray  # (N,) the last iterate
    residuals: NDArray[
        np.float64
    ]  # (iterations + 1,) norms of the recursive residual over the first

    @property
    def iterations(self) -> int:
        return len(self.residuals) - 1


def equation(system: System, format: str) -> tuple[Callable[[NDArray], NDArray], NDArray, int]:
    """v -> M v in a format, the efforts tau - b (N,), and the operations of a product."""
    order = orderings.get("inverse_dynamics")
    still = system.graph.copy()
    still.graph["gravity"] = (0.0, 0.0, 0.0)
    N = int(system.tree.offset[-1])
    rest = build(still, q=_angles(system), qd=np.zeros(N), tau=np.zeros(N))
    bias = inverse_dynamics(system, np.zeros(N), order, format).tau
    chosen = get_format(format)
    if not chosen.on_arrays:
        tau = np.array([Fraction(float(t)) for t in system.state.tau], dtype=object)
        return _exactly(rest), tau - bias, 0
    tape = lower(trace_substitution(order(rest.structure), rest.structure, "M v"), rest)
    blocks = [Block("qdd", name) for name in rest.tree.names]

    def times(v: NDArray) -> NDArray:
        found, _, _ = run_floats(tape, replace(rest.entries, tau=v), chosen)
        return np.concatenate([found[block] for block in blocks])

    dtype = chosen.dtype
    return times, system.state.tau.astype(dtype) - np.asarray(bias, dtype=dtype), tape.flops


def _exactly(rest: System) -> Callable[[NDArray], NDArray]:
    """M v in fractions: columns are found once, since M is linear."""
    order = orderings.get("inverse_dynamics")
    unit = np.eye(len(rest.state.tau))
    M = np.stack([inverse_dynamics(rest, e, order, "exact").tau for e in unit], 1)
    return lambda v: np.array([sum(row * v, Fraction(0)) for row in M], dtype=object)


def descend(
    times: Callable[[NDArray], NDArray], b: NDArray, *, most: int, until: float = 0.0
) -> Descent:
    """Conjugate gradients from zero (Hestenes & Stiefel 1952), in the number type of b.

    Ends after ``most`` iterations, or where the residual's norm is ``until`` of the first or 0.
    """
    x, r = b * 0, b.copy()
    p, square = r.copy(), _dot(r, r)
    first = float(square) ** 0.5 or 1.0
    norms = [1.0 if square else 0.0]
    while len(norms) <= most and square != 0 and norms[-1] > until:
        if not np.isfinite(float(square)):
            break
        Mp = times(p)
        curvature = _dot(p, Mp)
        if not curvature > 0:  # roundoff has lost the definiteness
            break
        step = square / curvature
        x, r = x + step * p, r - step * Mp
        square, before = _dot(r, r), square
        p = r + square / before * p
        norms.append(float(square) ** 0.5 / first)
    return Descent(x, np.array(norms))


def _dot(x: NDArray, y: NDArray) -> Any:
    with np.errstate(all="ignore"):
        return np.add.accumulate(x * y)[-1]


def _angles(system: System) -> NDArray[np.float64]:
    """q of a chain about z: R are its turns."""
    R = system.state.R
    return np.arctan2(R[:, 1, 0], R[:, 0, 0])
