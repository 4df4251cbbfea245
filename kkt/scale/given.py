"""Poses of joints that are not revolute, prismatic or fixed, for a pass over the bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.joints import GENERAL, TYPES, exponential
from ..model.tree import BodyTree
from .moving import PLAIN, joints

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """Poses and motion subspaces by body; only those of the given joints are written."""

    tree: BodyTree
    bodies: dict[str, NDArray[np.int64]]  # by type of joint
    turn: Floats  # (n, 3, 3)
    shift: Floats  # (n, 3)
    slip: Floats  # (n, 6) S° qd, S° the rate of change of S in the body's frame
    S: Floats  # (N, 6)

    def update(self, q: Floats, qd: Floats) -> None:
        """Write the poses, and the motion subspaces that depend on q, at q and qd (N,)."""
        tree = self.tree
        for kind, bodies in self.bodies.items():
            if kind == GENERAL:
                for k in bodies.tolist():
                    qk = q[tree.offset[k] : tree.offset[k + 1]]
                    self.turn[k], self.shift[k] = exponential((tree.S[k] * qk).sum(axis=1))
                continue
            joint = TYPES[kind]
            take = tree.offset[bodies, None] + np.arange(joint.dof)
            axis = tree.axis[bodies]
            self.turn[bodies], self.shift[bodies] = joint.pose(axis, q[take])
            if joint.bias is not None:
                self.S[take] = np.swapaxes(joint.subspace(axis, q[take]), 1, 2)
                self.slip[bodies] = joint.bias(axis, q[take], qd[take])


def given(tree: BodyTree) -> Given:
    """The joints of a tree whose poses are given; without such joints the arrays are empty."""
    kinds = np.array(tree.joint)
    other = np.flatnonzero(joints(tree) == len(PLAIN))
    bodies = {kind: other[kinds[other] == kind] for kind in sorted(set(kinds[other].tolist()))}
    n, N = (tree.n, int(tree.offset[-1])) if bodies else (0, 0)
    it = Given(tree, bodies, np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 6)), np.zeros((N, 6)))
    for kind, of_kind in bodies.items():
        for k in of_kind.tolist() if kind == GENERAL else ():
            it.S[tree.offset[k] : tree.offset[k + 1]] = tree.S[k].T
        if kind != GENERAL:
            joint = TYPES[kind]
            take = tree.offset[of_kind, None] + np.arange(joint.dof)
            it.S[take] = np.swapaxes(joint.subspace(tree.axis[of_kind], np.zeros(take.shape)), 1, 2)
    return it
