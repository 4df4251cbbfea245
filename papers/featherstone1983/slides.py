"""RNEA and ABA as the slides write them: numpy, all vectors in one frame, link after link.

Typed from the slides and not from the engine: the engine keeps every vector in its body's frame,
here all are in the world's.  Links are those of a :class:`kkt.System`, on any tree; a joint may
have several freedoms, its s one column each.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt

from ..measures import Floats
from ..world import Links, cross


def rnea(system: kkt.System, qdd: Floats, *, gravity: str = "base", pseudocode: bool = False) -> Floats:
    """Q (N,) for given q'' (N,).

    ``gravity``: "base", a_0 = -g; "force", I_i g on every link.  ``pseudocode`` takes its last
    loop as printed: f_i starts as f_i*, without external force, and the parent's f is
    f_i + f_parent* - f_i^x.
    """
    links, offset = Links.of(system), system.tree.offset
    a: list[Floats] = []
    f: list[Floats] = []
    fx = list(links.fx)
    for i, k in enumerate(links.body):
        s = links.s[i]
        base = a[links.up[i]] if links.up[i] >= 0 else (-links.g if gravity == "base" else 0.0)
        a.append(base + links.c[i] + s @ qdd[offset[k] : offset[k] + s.shape[1]])
        if gravity == "force":
            fx[i] = fx[i] + links.I[i] @ links.g
        f.append(links.I[i] @ a[i] + links.net(i) - (0.0 if pseudocode else fx[i]))
    Q = np.zeros(len(qdd))
    for i in range(len(f) - 1, -1, -1):
        k, s = links.body[i], links.s[i]
        Q[offset[k] : offset[k] + s.shape[1]] = s.T @ f[i]
        if links.up[i] >= 0:
            f[links.up[i]] = f[links.up[i]] + f[i] - (fx[i] if pseudocode else 0.0)
    return Q


def aba(system: kkt.System, *, bias: str = "p") -> Floats:
    """q'' (N,) for the system's Q; external forces are part of p.

    ``bias`` "v x I^A v" takes the relation above (2) of the joint acceleration as printed,
    f = I^A a + v x I^A v, in the place of f = I^A a + p.
    """
    links, offset, n = Links.of(system), system.tree.offset, len(system.tree.names)
    Q = [system.entries.tau[offset[k] : offset[k + 1]] for k in links.body]
    I_A = [np.array(x) for x in links.I]
    p = [links.net(i) - links.fx[i] for i in range(n)]
    for i in range(n - 1, -1, -1):  # inertia & bias forces (3)
        up, s, c = links.up[i], links.s[i], links.c[i]
        if up >= 0:
            gain = I_A[i] @ s @ np.linalg.inv(s.T @ I_A[i] @ s)
            p[up] = p[up] + p[i] + I_A[i] @ c + gain @ (Q[i] - s.T @ (I_A[i] @ c + p[i]))
            I_A[up] = I_A[up] + I_A[i] - gain @ s.T @ I_A[i]
    qdd = np.zeros(len(system.entries.tau))
    a: list[Floats] = []
    for i, k in enumerate(links.body):  # joint acceleration (2), (V)
        s = links.s[i]
        carried = (a[links.up[i]] if links.up[i] >= 0 else -links.g) + links.c[i]
        force = p[i] if bias == "p" else -cross(links.v[i]).T @ I_A[i] @ links.v[i]
        own = np.linalg.solve(s.T @ I_A[i] @ s, Q[i] - s.T @ (I_A[i] @ carried + force))
        qdd[offset[k] : offset[k] + s.shape[1]] = own
        a.append(carried + s @ own)
    return qdd
