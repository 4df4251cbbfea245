"""How far the data of an elimination move where a robot's kinematics are computed in a format.

A bound for one order starts from the entries of (4) as the format holds them.  Here is the way to
them: sines and cosines, rotations, positions, axes and inertias, all in the format.  In exact
arithmetic after that, every pivot moves by a relative amount that no order can change.  A change
dPhi moves |Phi* x| in the norm of Mbar_c by at most |dPhi* x|, and |Phi* x|^2 is at most x* M^_k x:
so what enters is the square root of what rho_k is, but it adds up along a path.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format
from ..matrix.system import System
from ..model.joints import GENERAL
from ..model.spatial import skew
from .guarantee import Guarantee, singular
from .joint_inertia import LARGEST, SECOND
from .ranges import Ranges
from .support import Turn, reach, share, support

Floats = NDArray[np.float64]
SINE = 4.0  # units: a sine or cosine is within two units in the last place
TURN, ATTITUDE = 24.0, 60.0  # units of an entry of a rotation: about any axis; of a rotation vector
SHIFT = 24.0  # units of the distance that a joint slides
IN_PLANE = 8.0  # units of the vectors that complete a planar joint's normal, which are computed


def kinematics(light: System, heavy: System, chosen: Format, ranges: Ranges) -> Guarantee:
    """Relative changes of M^_k and of pivots that no state within the ranges exceeds.

    Of the same robot in exact arithmetic, q being a number of the format; ``light`` and ``heavy``
    carry the least and the greatest payloads.
    """
    tree, unit = heavy.tree, chosen.unit
    n = tree.n
    why = _refusal(heavy, unit)
    if why:
        return Guarantee(np.full(n, np.inf), np.full(n, np.inf), None, why)
    M, sizes = light.entries.M, reach(heavy, ranges, unit)
    held, turns = support(light, M), [Turn(heavy, ranges, k, unit) for k in range(n)]
    off = _rounded(light, heavy, chosen)
    inertia, pivot, added = np.zeros(n), np.zeros(n), np.zeros(n)
    for level in reversed(tree.levels):
        for k in level.tolist():
            S = heavy.entries.S[tree.offset[k] : tree.offset[k + 1]]
            spread = np.zeros((6, 6))
            for c in np.flatnonzero(tree.parent == k).tolist():
                inertia[k] = max(inertia[k], inertia[c])
                moved = _moved(turns[c], sizes.handed[c])
                moved += _tilt(heavy, held[c], sizes.size[c], c) * sizes.carried[c]
                spread += np.outer(moved, moved)
            own, near, change = M[k], held[k], off[k]
            if tree.parent[k] < 0:  # on the ground the directions of its joint alone matter
                H = np.abs(S)
                own, near = S @ own @ S.T, S @ near @ S.T
                spread, change = H @ spread @ H.T, H @ change @ H.T
            added[k] = SECOND * 2.0 * unit * math.sqrt(share(near, spread))
            inertia[k] = max(inertia[k], SECOND * share(own, change)) + added[k]
            pivot[k] = inertia[k]
            pivot[k] += SECOND * 2.0 * unit * _tilt(heavy, held[k], sizes.size[k], k)
    worst = tree.names[int(added.argmax())]
    if not pivot.max(initial=0.0) <= LARGEST:
        most = float(pivot.max())
        return Guarantee(
            np.full(n, np.inf),
            np.full(n, np.inf),
            None,
            singular(heavy, held[int(added.argmax())], int(added.argmax()))
            or f"body {worst}: rounded positions and rotations may change its inertia by {most:.1g}",
        )
    return Guarantee(inertia, pivot * (1.0 + LARGEST), worst, "")


def _refusal(system: System, unit: float) -> str:
    tree = system.tree
    if system.structure.ties:
        return "loops are closed, and the bound is for trees"
    if unit * tree.n > 1e-3:
        return f"the format has too few digits for {tree.n} bodies"
    for k in range(tree.n):
        if tree.joint[k] != "universal" and (tree.joint[k] != GENERAL or tree.parent[k] < 0):
            continue
        return f"joint {tree.names[k]}: {tree.joint[k]}, whose pose is not bounded"
    return ""


def _rounded(light: System, heavy: System, chosen: Format) -> Floats:
    """(n, 6, 6) by how much entries of M_k, constants of the format, are off at most."""
    if light is heavy:
        M = light.entries.M
        return np.asarray(np.abs(np.asarray(chosen.cast(M), dtype=float) - M))
    return chosen.unit * np.maximum(np.abs(light.entries.M), np.abs(heavy.entries.M))


def _tilt(system: System, L: Floats, size: Floats, k: int) -> float:
    """Of a joint whose axes are rounded |dH* z| over u |H* z|, sqrt(eta) of a constant; or 0."""
    S = system.entries.S[system.tree.offset[k] : system.tree.offset[k + 1]]
    if not len(S) or ((np.abs(S) == 1.0) | (S == 0.0)).all():
        return 0.0
    sigma = np.abs(S) @ size
    own = S @ L @ S.T
    rounds = IN_PLANE if system.tree.joint[k] == "planar" else 1.0
    return rounds * math.sqrt(share(0.5 * (own + own.T), np.outer(sigma, sigma)))


def _moved(turn: Turn, x: Floats) -> Floats:
    """(6,) |dPhi| x in units, at most, over all states.

    R = R0 T takes three products an entry, p~ R two; R0 and p0 are rounded, T is off by entries.
    """
    angular, linear = x[:3], x[3:]
    p = np.abs(turn.p0) + turn.slide
    off = 2.0 * p + SHIFT * np.linalg.norm(turn.slide)
    if not turn.slide.any():
        off = np.abs(turn.p0)
    turned = turn.rotated(turn.R, linear)
    lever = np.abs(skew(p)) @ (_of_rotation(turn, linear) + 2.0 * turned)
    return np.concatenate(
        [_of_rotation(turn, angular) + lever + np.abs(skew(off)) @ turned, _of_rotation(turn, linear)]
    )


def _of_rotation(turn: Turn, x: Floats) -> Floats:
    """(3,) |dR| x in units."""
    R = np.abs(turn.R)
    if turn.kind in ("fixed", "prismatic"):
        return np.asarray(R @ x)
    entries, off = np.ones((3, 3)), np.ones((3, 3))
    if turn.along is not None:
        z = turn.along
        entries[z] = entries[:, z] = off[z] = off[:, z] = 0.0
        entries[z, z] = 1.0
        off *= SINE
    else:
        off *= ATTITUDE if turn.kind in ("spherical", "floating") else TURN
    return np.asarray(R @ ((4.0 * entries + off) @ x))
