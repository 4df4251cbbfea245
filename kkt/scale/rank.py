"""Finds joints whose pivots are singular in any state, which rounded pivots need not show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import SingularError
from ..model.tree import BodyTree


def require_inertia(
    tree: BodyTree, order: NDArray[Any], name: str = "abm", own: NDArray[np.bool_] | None = None
) -> None:
    """Raise SingularError where the bodies behind a joint have too little inertia for its freedoms.

    The rank of a body's articulated inertia is at most that of its own inertia plus, for each
    child, the rank of the child's articulated inertia less the freedoms of its joint that have no
    inertia of their own.  ``own`` (N,) says which freedoms have one; none has where it is None or
    empty.  ``order`` (n,) has children before parents.
    """
    mass, inertia = tree.mass, tree.inertia
    full = (mass != 0.0) & inertia[:, (0, 1, 2), (0, 1, 2)].all(axis=1)
    if full.all():
        return
    free = np.diff(tree.offset)
    if own is not None and len(own):
        free = free - np.bincount(np.repeat(np.arange(tree.n), tree.dof)[own], minlength=tree.n)
    rank = np.where(full, 6, 3 * (mass != 0.0) + (inertia != 0.0).any(axis=2).sum(axis=1))
    up = np.where(tree.parent < 0, tree.n, tree.parent)
    behind = np.bincount(up[full], weights=(6 - free)[full], minlength=tree.n + 1).astype(int)
    for k in order[~full[order]].tolist():
        most = min(6, int(rank[k] + behind[k]))
        if most < free[k]:
            raise SingularError(
                f"order {name!r}: pivot qdd_{tree.names[k]} is singular in any state (rank "
                f"{most} of {free[k]}); give the massless links an inertia"
            )
        behind[up[k]] += most - free[k]
