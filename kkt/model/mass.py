"""Mass, centre of mass and inertia of a body that consists of several parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fields import Floats
from .parents import levels
from .spatial import matmul, matvec, transpose

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Mass:
    """The mass of one body, in a frame."""

    mass: float  # [kg]
    com: Floats  # (3,) [m]
    inertia: Floats  # (3, 3) about com [kg m^2]


def combine(pieces: list[tuple[Mass, Floats, Floats]]) -> Mass:
    """One mass from several, each with its pose (R, p) in the common frame.

    The parallel-axis theorem takes each part's inertia to the common centre of mass.
    """
    moved = [
        Mass(part.mass, p + matvec(R, part.com), turned_inertia(R, part.inertia))
        for part, R, p in pieces
        if part.mass != 0.0 or part.inertia.any()
    ]
    if len(moved) == 0:
        return pieces[0][0]
    if len(moved) == 1:
        return moved[0]
    total = sum(part.mass for part in moved)
    com = sum((part.mass * part.com for part in moved), np.zeros(3))
    com = com / total if total > 0.0 else moved[0].com
    inertia = np.zeros((3, 3))
    for part in moved:
        d = part.com - com
        inertia = inertia + part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(total, com, inertia)


def locked_inertia(parent: Integers, Phi: Floats, M: Floats, S: Floats, owner: Integers) -> Floats:
    """(N,) the inertia [kg m^2, kg] that each freedom moves, all joints beyond it locked.

    ``Phi``, ``M`` (n, 6, 6) are the bodies' force transforms and inertias, ``S`` (N, 6) the motions of
    bodies ``owner`` (N,).  It is the diagonal of the joint-space inertia.
    """
    subtree = M.copy()
    for level in reversed(levels(parent)[1:]):
        own = Phi[level]
        np.add.at(subtree, parent[level], own @ subtree[level] @ transpose(own))
    return np.asarray((S * (subtree[owner] @ S[:, :, None])[:, :, 0]).sum(axis=1))


def turned_inertia(R: Floats, inertia: Floats) -> Floats:
    """R J R^T, symmetric to the last bit; J itself where R is the identity."""
    if (np.eye(3) == R).all():
        return inertia
    J = matmul(matmul(R, inertia), R.T)
    return (J + J.T) / 2
