"""The residual of equation (4), row by row, for any number type.

It is computed from the blocks of (4) themselves, not from a program, so that an error in tracing
or lowering, which every number type would share, cannot hide from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Block
from ..spatial import matvec, transpose
from ..system import Entries, System


def residual(system: System, entries: Entries, solution: dict[Block, Any]) -> dict[Block, NDArray]:
    """A x - b of every block row, named by the block that stands on its diagonal.

    ``solution`` holds pdd (6,), qdd (N_k,) and f (6,) of every body, lam (m,) of every loop.
    """
    names, parent, offset = system.tree.names, system.tree.parent, system.tree.offset
    pdd = np.array([solution[Block("pdd", name)] for name in names], dtype=object)
    f = np.array([solution[Block("f", name)] for name in names], dtype=object)
    force = matvec(entries.M, pdd) + f - entries.b
    motion = pdd + entries.a
    inner = np.flatnonzero(parent >= 0)
    if inner.size:
        carried = matvec(entries.Phi[inner], f[inner])
        motion[inner] = motion[inner] - matvec(transpose(entries.Phi[inner]), pdd[parent[inner]])
        for up, moved in zip(parent[inner], carried, strict=True):
            force[up] = force[up] - moved
    rows: dict[Block, NDArray] = {}
    first = side = 0
    for tie in system.structure.ties:
        lam = np.array(solution[Block("lam", tie.name)], dtype=object)
        own = slice(first, first + tie.rows)
        closed = entries.gamma[own] - entries.compliance[own] * lam
        for k, sign in zip(tie.bodies, tie.signs, strict=True):
            G = entries.G[side : side + tie.rows] * sign
            closed = closed + matvec(G, pdd[k])
            force[k] = force[k] + matvec(G.T, lam)
            side += tie.rows
        rows[Block("lam", tie.name)] = closed
        first += tie.rows
    for k, name in enumerate(names):
        S = entries.S[offset[k] : offset[k + 1]]
        if len(S):
            motion[k] = motion[k] + matvec(S.T, solution[Block("qdd", name)])
            rows[Block("qdd", name)] = matvec(S, f[k]) - entries.tau[offset[k] : offset[k + 1]]
        rows[Block("pdd", name)] = force[k]
        rows[Block("f", name)] = motion[k]
    return rows
