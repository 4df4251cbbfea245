"""Section 3.3.1: force and acceleration propagators, (3.10) to (3.14), run as a method.

The propagators of the thesis, with the bias from inverse dynamics, on any tree of joints with one
freedom or more: P_F = 1 - I s (s' I s)^-1 s' and P_A = 1 - s (s' I s)^-1 s' I.  Held against them
is the engine: certified accelerations, and ABM's pivots.  The thesis calls P_A a weighted least
squares projection; that is solved as a least squares problem by LAPACK.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, value
from ..measures import Floats, error
from .robot import two_links

MODELS = ("chain:8", "chain:40", "rr_arm", "binary:4", "humanoid", "random_tree:n=20,seed=3")
SECOND = 1e2  # l_2 = m_2 of the arm of Figure 5.3


@dataclass(frozen=True)
class Propagated:
    """Both recursions on one system; arrays by body."""

    qdd: Floats  # (N,) [rad/s^2, m/s^2]
    inertia: dict[int, Floats]  # (6, 6) articulated inertias, (3.11)
    D: dict[int, Floats]  # (N_k, N_k) s' I s
    force: dict[int, Floats]  # (6, 6) P_F, (3.10)
    acceleration: dict[int, Floats]  # (6, 6) P_A, (3.13)


def propagate(system: kkt.System) -> Propagated:
    """(3.10) to (3.14)."""
    e, tree = system.entries, system.tree
    M, X, S = e.M, e.Phi, e.S
    still = kkt.inverse_dynamics(system, np.zeros(len(S)), orderings.get("inverse_dynamics")).tau
    push = (e.tau - still)[:, None]  # tau - b
    inertia = {k: M[k].copy() for k in range(tree.n)}
    p = {k: np.zeros((6, 1)) for k in range(tree.n)}
    D, force, acceleration, gain = {}, {}, {}, {}
    order = [tree.names.index(name) for name in system.structure.tip_to_base]
    for k in order:
        own = slice(tree.offset[k], tree.offset[k + 1])
        s, up = S[own].T, int(tree.parent[k])
        Is = inertia[k] @ s
        D[k] = s.T @ Is
        gain[k] = np.linalg.solve(D[k], Is.T)  # (s' I s)^-1 s' I
        force[k] = np.eye(6) - gain[k].T @ s.T
        acceleration[k] = np.eye(6) - s @ gain[k]
        if up >= 0:
            inertia[up] = inertia[up] + X[k] @ force[k] @ inertia[k] @ X[k].T
            p[up] = p[up] + X[k] @ (force[k] @ p[k] + Is @ np.linalg.solve(D[k], push[own]))
    qdd = np.zeros((len(S), 1))
    a: dict[int, Floats] = {}
    for k in reversed(order):
        own = slice(tree.offset[k], tree.offset[k + 1])
        s, up = S[own].T, int(tree.parent[k])
        carried = X[k].T @ a[up] if up >= 0 else np.zeros((6, 1))
        pushed = np.linalg.solve(D[k], push[own] - s.T @ p[k])
        qdd[own] = pushed - gain[k] @ carried
        a[k] = acceleration[k] @ carried + s @ pushed
    return Propagated(qdd[:, 0], inertia, D, force, acceleration)


def measure(
    progress: Progress, *, models: tuple[str, ...] = MODELS, seed: int = 0, second: float = SECOND
) -> Results:
    """On models as on the command line, and the two links of Figure 5.3, l_2 = m_2 = ``second``."""
    draw = np.random.default_rng(seed)
    trees = [kkt.load(model) for model in models] + [two_links(second)]
    worst: dict[str, float] = {}
    for tree in trees:
        system = kkt.build(tree)
        progress(system.name)
        for name, off in check(system, draw).items():
            worst[name] = max(off, worst.get(name, 0.0))
    for name, off in worst.items():
        yield value(name, off, robots=len(trees))


def check(system: kkt.System, draw: np.random.Generator) -> dict[str, float]:
    """Relative differences, by the names of the rows.

    Of qdd from certified ones; of s' I s from ABM's D_k; of P_A from P_A^2 and of P_F from P_A's
    transpose; of P_A x from the least squares solution.
    """
    wide, exact = propagate(system), kkt.certify(system, 20)
    abm = kkt.eliminate(system, orderings.get("abm"))
    pivots = squares = projections = 0.0
    diagonals = {step.blocks[0].body: np.asarray(step.pivots, dtype=float) for step in abm.steps}
    for k, body in enumerate(system.tree.names):
        s = system.entries.S[system.tree.offset[k] : system.tree.offset[k + 1]].T
        if not s.shape[1]:
            continue
        product_of = float(np.prod(diagonals[body]))
        pivots = max(pivots, abs(float(np.linalg.det(wide.D[k])) / product_of - 1.0))
        P, x = wide.acceleration[k], draw.normal(size=6)
        size = max(1.0, float(np.abs(P).max()))  # zero where all six freedoms are the joint's
        for other in (P @ P, wide.force[k].T):
            projections = max(projections, float(np.abs(other - P).max()) / size)
        root = np.linalg.cholesky(wide.inertia[k]).T
        best = x - s @ np.linalg.lstsq(root @ s, root @ x, rcond=None)[0]
        squares = max(squares, float(np.abs(P @ x - best).max() / np.abs(x).max() / size))
    qdd = error(exact, wide.qdd)
    return {"qdd": qdd, "pivots": pivots, "projections": projections, "squares": squares}
