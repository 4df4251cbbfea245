"""RNEA and ABA as the slides write them: numpy, all vectors in one frame, link after link.

Typed from the slides and not from the engine: the engine keeps every vector in its body's frame,
here all are in the world's.  Links are those of a :class:`kkt.System`, on any tree; a joint may
have several freedoms, its s one column each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt

Floats = NDArray[np.float64]


def skew(x: Floats) -> Floats:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def cross(v: Floats) -> Floats:
    """v x for motions (6, 6), angular first; for forces it is -cross(v).T."""
    return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])


def carried(R: Floats, p: Floats) -> Floats:
    """Phi of a pose: forces (6,) of its frame in the world's; its transpose brings motions back."""
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


@dataclass(frozen=True)
class Links:
    """Links in the world's frame, parents before children."""

    up: list[int]  # place of the parent, -1 for a root
    body: list[int]  # index in the system
    s: list[Floats]  # (6, N_i)
    I: list[Floats]  # (6, 6)  # noqa: E741
    v: list[Floats]  # (6,) absolute velocities
    c: list[Floats]  # (6,) v_i x s_i q'_i, and what s_i itself turns
    fx: list[Floats]  # (6,) external forces
    g: Floats  # (6,) gravity as an acceleration
    pose: list[tuple[Floats, Floats]]  # orientation (3, 3) and origin (3,) in the world

    @classmethod
    def of(cls, system: kkt.System) -> Links:
        state = system.state
        order = [int(k) for k in system.structure.order[::-1]]
        place = {k: i for i, k in enumerate(order)}
        links = cls([], order, [], [], [], [], [], np.r_[np.zeros(3), state.gravity], [])
        for k in order:
            up = place.get(int(state.parent[k]), -1)
            R0, p0 = links.pose[up] if up >= 0 else (np.eye(3), np.zeros(3))
            R, p = R0 @ state.R[k], p0 + R0 @ state.p[k]
            links.pose.append((R, p))
            force = carried(R, p)
            motion = np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])
            s = motion @ state.S[k]
            first = system.tree.offset[k]
            rate = s @ state.qd[first : first + s.shape[1]]
            v = rate if up < 0 else links.v[up] + rate
            links.up.append(up)
            links.s.append(s)
            links.I.append(force @ _inertia(state, k) @ force.T)
            links.v.append(v)
            links.c.append(cross(v) @ rate + motion @ state.joint_bias[k])
            links.fx.append(force @ state.wrench[k])
        return links

    def net(self, i: int) -> Floats:
        """v_i x I_i v_i."""
        return np.asarray(-cross(self.v[i]).T @ self.I[i] @ self.v[i])


def _inertia(state: kkt.State, k: int) -> Floats:
    d, m = skew(state.com[k]), state.mass[k]
    return np.block([[state.inertia[k] - m * d @ d, m * d], [-m * d, m * np.eye(3)]])


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
