"""What holds a body up in every state: a lower bound of M^_k that does not depend on q.

A child that turns about an axis hands Phi Mbar_c Phi* to its parent, and Mbar_c is at least what it
would be of any lower bound of M^_c.  Averaged over all turns about the axis it commutes with the
turn; so much of the average as is below it in the Loewner order stays below it in every state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System
from ..model.spatial import skew

Floats = NDArray[np.float64]
EPS = 2.0**-52
KEPT = 1.0 - 1e-6  # of what float64 finds


def support(system: System, M: Floats, rigid: bool = False) -> Floats:
    """(n, 6, 6) with M_k <= support_k <= M^_k in every state.

    ``rigid``: at most the composite, whose joints let nothing go, in the place of M^_k.
    """
    tree = system.tree
    L = M.copy()
    for level in reversed(tree.levels[1:]):
        for k in level.tolist():
            held = handed_on(system, L[k], k, rigid)
            if held is not None:
                L[tree.parent[k]] += placed(system, held, k)
    return L


def placed(system: System, X: Floats, k: int) -> Floats:
    """What turns into itself at the joint of k, in its parent's frame, less what is rounded."""
    R, zero = system.tree.R[k], np.zeros((3, 3))
    Phi = np.block([[R, skew(system.tree.p[k]) @ R], [zero, R]])
    more = Phi @ X @ Phi.T
    # what float64 rounds here is at most 100 EPS t t*, and that at most its 6 diag(t^2)
    t = np.abs(Phi) @ np.sqrt(np.abs(np.diagonal(X)))
    return np.asarray(0.5 * (more + more.T) - np.diag(600.0 * EPS * t * t))


def axis_of(system: System, k: int) -> int | None:
    """The axis of its frame that the joint of body k turns about; None: it does something else."""
    unit = np.flatnonzero(np.abs(system.tree.axis[k, 0]) == 1.0)
    turns = system.tree.joint[k] in ("revolute", "continuous") and len(unit) == 1
    return int(unit[0]) if turns else None


def handed_on(system: System, L: Floats, k: int, rigid: bool = False) -> Floats | None:
    """What body k hands on at least, whatever its joint does; None where nothing is known."""
    if system.tree.joint[k] == "fixed":
        return L
    z = axis_of(system, k)
    if z is None or not L[z, z] > 0.0:
        return None
    return turned_to_itself(L, z) if rigid else turned_to_itself(let_go(L, z), z, L)


def let_go(L: Floats, z: int) -> Floats:
    """S(L) of a joint that turns about z and has no armature."""
    N = np.asarray(L - np.outer(L[z], L[z]) / L[z, z])
    N[z] = N[:, z] = 0.0
    return N


def turned_to_itself(N: Floats, z: int, source: Floats | None = None) -> Floats | None:
    """A part of N's mean over all turns about z that is at most N; ``source``: N is S of it."""
    rest = [i for i in range(6) if source is None or i != z]
    mean = averaged(N, z)
    size = np.diagonal(N if source is None else source)[rest]
    part = _part(N[np.ix_(rest, rest)], mean[np.ix_(rest, rest)], size)
    return part * mean if part > 0.0 else None


def averaged(N: Floats, z: int) -> Floats:
    """The mean of T N T* over all rotations T = diag(T3, T3) about coordinate axis z."""
    x, y = (z + 1) % 3, (z + 2) % 3
    mean = np.zeros((6, 6))
    for a in (0, 3):
        for b in (0, 3):
            even = 0.5 * (N[a + x, b + x] + N[a + y, b + y])
            odd = 0.5 * (N[a + x, b + y] - N[a + y, b + x])
            mean[a + x, b + x] = mean[a + y, b + y] = even
            mean[a + x, b + y], mean[a + y, b + x] = odd, -odd
            mean[a + z, b + z] = N[a + z, b + z]
    return mean


def _part(N: Floats, mean: Floats, size: Floats) -> float:
    """A number c with c mean <= N, proved by a Cholesky factor; 0 where none is found.

    ``size`` is the diagonal of what N was made of, whose rounding it holds.
    """
    if not (np.diagonal(mean) > 0.0).all():
        return 0.0
    scale = np.sqrt(np.diagonal(mean))
    A, C = N / np.outer(scale, scale), mean / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(C)
    if values[0] <= 64.0 * 36.0 * EPS:
        return 0.0
    root = vectors / np.sqrt(values)
    part = float(np.linalg.eigvalsh(root.T @ A @ root)[0]) * KEPT
    shift = 1e3 * EPS * float((np.abs(A).max() + np.abs(C).max() + size / scale**2).max())
    if part <= 0.0:
        return 0.0
    try:
        np.linalg.cholesky(A - part * KEPT * C - shift * np.eye(len(A)))
    except np.linalg.LinAlgError:
        return 0.0
    return part * KEPT * KEPT
