"""The implicit midpoint rule in q and the momenta p = M(q) qd: symplectic, for long runs.

Hamilton's equations with qd = M(q)^-1 p and dp/dt = tau + dL/dq.  The gradient of the kinetic
energy comes from accelerations alone: with c(u, v) the bilinear form of the velocity products,
M(q) times what rates add to the accelerations, it is u . c(e_i, u) in component i.
Hairer, Lubich & Wanner 2006, sec. VI.4 (the rule is symplectic).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt

from .record import Floats, Record

ITERATIONS = 100
ENOUGH, CLOSE = 1e-15, 1e-11  # changes of a step, relative to it, at which it is solved


@dataclass(frozen=True)
class Midpoint:
    """The rule for one motion, in steps of one length.

    >>> from pivotree.analysis.simulation import Integration, simulate
    >>> half = Integration(seconds=0.5, integrator="midpoint", step=0.01)
    >>> swing = simulate(pt.chain(2), integration=half)
    >>> swing.records[0].accepted
    50
    """

    motion: Any
    inertia: Any  # gives M(q): kkt.compile(..., outputs=("inertia",))
    first: float = 0.01  # [s]

    name = "midpoint"

    def __call__(
        self,
        rates: Any,
        y: NDArray,
        seconds: float,
        settle: Any = None,
        tick: Callable[[float], None] = lambda t: None,
    ) -> list[Record]:
        """Each row of y (m, 2 N) by itself; ``rates`` and ``settle`` are the motion's own."""
        if self.motion.kernel.places.special:
            raise kkt.ModelError(
                "integrator midpoint: needs joints whose rates are the derivatives of their "
                "positions (revolute, prismatic, cylindrical); use cash_karp"
            )
        return [self._one(row.astype(float), seconds, tick) for row in y]

    def _one(self, y: Floats, seconds: float, tick: Callable[[float], None]) -> Record:
        N = len(y) // 2
        count = max(1, round(seconds / self.first))
        h = seconds / count
        q: NDArray = y[:N]
        qd: NDArray = y[N:]
        p: NDArray = self.mass(q) @ qd
        kept, times, evaluations, failed = [y], [0.0], 0, None
        moved: NDArray = h * qd
        forced: NDArray = np.zeros(N)
        for step in range(count):
            last = np.inf
            for _ in range(ITERATIONS):  # from the step before, until rounding stops it
                middle = q + moved / 2
                M = self.mass(middle)
                speed = np.linalg.solve(M, p + forced / 2)
                now = h * speed, h * self.force(middle, speed, M)
                change = max(np.abs(now[0] - moved).max(), np.abs(now[1] - forced).max())
                scale = max(np.abs(now[0]).max(), np.abs(now[1]).max(), 1e-300)
                moved, forced = now
                evaluations += 2 * N + 2
                if not change > ENOUGH * scale or (change >= last and change < CLOSE * scale):
                    break
                last = change
            else:
                failed = f"the step does not converge at t = {step * h:.4g} s"
                break
            q, p = q + moved, p + forced
            qd = np.linalg.solve(self.mass(q), p)
            tick(h * (step + 1))
            if not np.isfinite(qd).all():
                failed = f"an acceleration is not a number at t = {step * h:.4g} s"
                break
            kept.append(np.concatenate([q, qd]))
            times.append(h * (step + 1))
        made = step if failed else count
        starts = np.linspace(0.0, seconds, count, endpoint=False)[:made]
        return Record(evaluations, made, 0, np.array(times), np.array(kept), starts, np.full(made, h), failed)

    def mass(self, q: NDArray) -> Floats:
        """M(q), (N, N)"""
        return np.asarray(self.inertia(q, np.zeros_like(q), None), dtype=float)

    def force(self, q: NDArray, u: NDArray, M: Floats) -> Floats:
        """tau + dL/dq at rates u, M = M(q): efforts, gravity, gradient of the kinetic energy."""
        N = len(q)
        speeds = np.concatenate([np.zeros((1, N)), u[None], np.eye(N), u + np.eye(N)])
        x = np.broadcast_to(q, speeds.shape)
        found = np.asarray(self.motion.kernel(x, speeds, self.motion.tau), dtype=float)
        rest = M @ found[0]  # tau less gravity
        product = (found[0] - found[1:]) @ M  # c(v, v), v = u, e_i, u + e_i
        pairs = (product[1 + N :] - product[1 : 1 + N] - product[0]) / 2  # c(e_i, u)
        return rest + pairs @ u - self.motion.damping * u  # linear in u: not among the pairs
