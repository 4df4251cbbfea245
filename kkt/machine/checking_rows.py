"""A check whether rows of loops and contacts depend on each other in a state, by pivots of J J*.

J (m, N) are the rigid rows as functions of the joints' rates.  Where a row depends on those before
it, the matrix of lambda, J M^-1 J*, has a zero pivot, whatever the masses are, and so has J J*,
which is cheaper.  This is the rule of :mod:`kkt.matrix.state` for systems, here as operations
of a program.  The r-th pivot of L D L* is wrong by up to r + 1 roundings of the row's size (Higham
2002, theorem 10.3); that size is computed with it.  Rows with a compliance have a nonzero pivot in
any state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.entries import Entries
from ..matrix.system import System
from ..model.parents import paths
from ..model.spatial import matmul
from ..tape.tape import Tape


def rigid_rows(system: System) -> list[tuple[int, int]]:
    """Loop and row of each multiplier without a compliance."""
    return [
        (c, r) for c, loop in enumerate(system.loops) for r in np.flatnonzero(loop.compliance == 0.0).tolist()
    ]


def places_of_rows(tape: Tape, system: System) -> NDArray[np.int64]:
    """(P, 3) of each rigid row: its loop, its number there, and the step of its multiplier."""
    steps = {
        block.body: record.step
        for record in tape.program.pivots
        for block in record.blocks
        if block.kind == "lam"
    }
    names = system.structure.constraints
    found = [(c, r, steps.get(names[c], 0)) for c, r in rigid_rows(system)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def pivots_of_rows(system: System, traced: Entries) -> tuple[list[Any], list[Any]]:
    """The pivots of J J*, one for each rigid row, and the size of each row times r + 1."""
    rates, sizes = _rates(system, traced)
    m = len(rates)
    A: dict[tuple[int, int], Any] = {}
    for r in range(m):
        for s in range(r + 1):
            for j in rates[r].keys() & rates[s].keys():
                _add(A, (r, s), rates[r][j] * rates[s][j])
    for t in range(m):
        for r in range(t + 1, m):
            if (r, t) in A:
                factor = A[r, t] / A[t, t]
                for s in range(t + 1, r + 1):
                    if (s, t) in A:
                        _add(A, (r, s), -(factor * A[s, t]))
    return [A[r, r] for r in range(m)], [size * (r + 1.0) for r, size in enumerate(sizes)]


def _rates(system: System, traced: Entries) -> tuple[list[dict[int, Any]], list[Any]]:
    """J by row and joint rate, and for each row the sum of |g|^2 |S|^2 over joints that move it."""
    tree, offset = system.tree, system.tree.offset
    rows: list[dict[int, Any]] = []
    sizes: list[Any] = []
    first = 0
    for c, tie in enumerate(system.structure.ties):
        g: dict[int, Any] = {}
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            block = traced.G[first : first + tie.rows]
            _add(g, k, block if sign > 0 else -block)
            first += tie.rows
        found: list[dict[int, Any]] = [{} for _ in range(tie.rows)]
        size: list[Any] = [0.0] * tie.rows
        moving = set(paths(tie.bodies, tree.parent))
        for k in (k for k in system.structure.order.tolist() if k in moving):
            S = traced.S[offset[k] : offset[k + 1]]
            J, square = matmul(g[k], S.T), (S * S).sum()
            for r in range(tie.rows):
                found[r].update(enumerate(J[r], int(offset[k])))
                size[r] = size[r] + (g[k][r] * g[k][r]).sum() * square
            if int(tree.parent[k]) in (*moving, *tie.bodies):
                _add(g, int(tree.parent[k]), matmul(g[k], traced.Phi[k].T))
        for r in np.flatnonzero(system.loops[c].compliance == 0.0).tolist():
            rows.append(found[r])
            sizes.append(size[r])
    return rows, sizes


def _add(sums: dict[Any, Any], key: Any, x: Any) -> None:
    sums[key] = sums[key] + x if key in sums else x
