"""Links of a robot in the world's frame, typed from slides and not from the engine.

The engine keeps every vector in its body's frame; here all are in the world's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pivotree import kkt
from pivotree.kkt.model import skew

from .measures import Floats


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
            rate = s @ state.qd[system.tree.freedoms_of(k)]
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
