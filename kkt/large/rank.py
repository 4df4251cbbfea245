"""Joints whose pivots are singular in any state, though rounded numbers need not say so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SingularError
from ..tree import BodyTree


def require_inertia(tree: BodyTree, order: NDArray[Any]) -> None:
    """Raise SingularError where too little inertia lies beyond a joint for its freedoms.

    A body's articulated inertia has at most the rank of its own and, for each child, of the
    child's less the freedoms of its joint.  ``order`` (n,) has children before their parents.
    """
    mass, inertia = tree.mass, tree.inertia
    whole = (mass != 0.0) & inertia[:, (0, 1, 2), (0, 1, 2)].all(axis=1)
    if whole.all():
        return
    dof = np.diff(tree.offset)
    rank = np.where(whole, 6, 3 * (mass != 0.0) + (inertia != 0.0).any(axis=2).sum(axis=1))
    up = np.where(tree.parent < 0, tree.n, tree.parent)
    behind = np.bincount(up[whole], weights=(6 - dof)[whole], minlength=tree.n + 1).astype(int)
    for k in order[~whole[order]].tolist():
        most = min(6, int(rank[k] + behind[k]))
        if most < dof[k]:
            raise SingularError(
                f"order 'abm': pivot qdd_{tree.names[k]} is singular in any state (rank {most} of "
                f"{dof[k]}); give the massless links an inertia"
            )
        behind[up[k]] += most - dof[k]
