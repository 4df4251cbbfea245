"""The numbers that a compiled program takes for joint positions, and their rates of change.

There is one number for each freedom, as in q, but orientations are quaternions (x, y, z, w):

=====================  =====================================================
spherical              quaternion
floating               position [m], quaternion
general                as in q where its motions commute, such as slides; else
                       position [m], quaternion of the joint's pose
all others             as in q
=====================  =====================================================

A quaternion may have any length but zero, so that an integrator need not normalise it.  Rates qd
are those of :mod:`kkt.model.joints`: for spherical, floating and planar joints, velocities in the
body's frame.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.errors import ModelError
from ..model.joints import GENERAL, TYPES
from ..model.rotations import commute, exponential, from_quaternion, quaternion_to_vector, to_quaternion
from ..model.spatial import cross, matvec
from ..model.tree import BodyTree
from .state import coordinates
from .system import System

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Configuration:
    """The places of each joint's numbers, and conversions to and from q and of rates."""

    tree: BodyTree
    graph: nx.DiGraph[Any]

    def turns(self, k: int) -> bool:
        """Whether the joint of body k has a quaternion among its numbers."""
        return self._turning[k]

    @cached_property
    def _turning(self) -> list[bool]:
        joints = enumerate(self.tree.joint)
        return [
            not commute(self.tree.S[k]) if kind == GENERAL else TYPES[kind].orientation for k, kind in joints
        ]

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """(n + 1,) start of each body's numbers."""
        kinds, dof = self.tree.joint, self.tree.dof
        sizes = [
            (7 if kind == GENERAL else int(dof[k]) + 1) if self.turns(k) else int(dof[k])
            for k, kind in enumerate(kinds)
        ]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def size(self) -> int:
        return int(self.offset[-1])

    def of(self, k: int) -> slice:
        return slice(int(self.offset[k]), int(self.offset[k + 1]))

    @cached_property
    def special(self) -> list[int]:
        """Bodies for which dx/dt is not simply qd."""
        return [k for k in range(self.tree.n) if self.turns(k) or self._rate_of(k) is not None]

    def _rate_of(self, k: int) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] | None:
        kind = self.tree.joint[k]
        return None if kind == GENERAL else TYPES[kind].rate

    @cached_property
    def plain(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places in x and in q of the numbers that are the same in both."""
        bodies = [k for k in range(self.tree.n) if not self.turns(k)]
        at = [np.arange(*self.of(k).indices(self.size)) for k in bodies]
        N = self.tree.N
        to = [np.arange(*self.tree.freedoms_of(k).indices(N)) for k in bodies]
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *at]), np.concatenate([none, *to])

    def unit(self, x: NDArray[Any]) -> NDArray[Any]:
        """x (..., nx) with quaternions of length 1; x itself where there are no quaternions."""
        ends = [self.of(k).stop for k in range(self.tree.n) if self.turns(k)]
        x = x.copy() if ends else x
        for end in ends:
            at = slice(end - 4, end)
            x[..., at] /= np.sqrt((x[..., at] ** 2).sum(-1, keepdims=True))
        return x

    def from_coordinates(self, q: Any) -> Floats:
        """(nx,) configuration numbers from anything that :func:`kkt.build` takes as q."""
        position = coordinates(self.tree, self.graph, q)
        x = np.zeros(self.size)
        at, to = self.plain
        x[at] = position[to]
        for k, kind in enumerate(self.tree.joint):
            if self.turns(k):
                qk = position[self.tree.freedoms_of(k)]
                if kind == GENERAL:
                    twist = matvec(self.tree.S[k], qk)
                    vector, shift = twist[:3], exponential(twist)[1]
                else:
                    vector, shift = qk[:3], qk[3:]
                x[self.of(k)] = np.concatenate([shift, to_quaternion(vector)])
        return x

    def to_coordinates(self, x: ArrayLike) -> Floats:
        """(N,) coordinates of :func:`kkt.build`, rotation vectors no longer than pi."""
        numbers = np.asarray(x, dtype=float)
        q = np.zeros(self.tree.N)
        at, to = self.plain
        q[to] = numbers[at]
        for k, kind in enumerate(self.tree.joint):
            if self.turns(k):
                xk = numbers[self.of(k)]
                vector = quaternion_to_vector(xk[-4:])
                if kind == GENERAL:
                    q[self.tree.freedoms_of(k)] = self._screw(k, vector, xk[:3])
                else:
                    q[self.tree.freedoms_of(k)] = np.concatenate([vector, xk[:-4]])
        return q

    def _screw(self, k: int, vector: Floats, position: Floats) -> Floats:
        """The coordinates of a general joint in a pose; raises ModelError where it has none."""
        turned = np.stack([exponential(np.concatenate([vector, e]))[1] for e in np.eye(3)], axis=1)
        twist = np.concatenate([vector, np.linalg.solve(turned, position)])
        S = self.tree.S[k]
        q = np.linalg.lstsq(S, twist, rcond=None)[0]
        if np.abs(S @ q - twist).max() > 1e-9 * max(1.0, np.abs(twist).max()):
            raise ModelError(
                f"body {self.tree.names[k]!r}",
                "no coordinates of its general joint give this pose",
                "its motions do not commute, so that it leaves the screws that S q can name",
            )
        return q

    def rate(self, x: NDArray[Any], qd: NDArray[Any]) -> NDArray[Any]:
        """dx/dt (..., nx) [per s], in the type of x."""
        if not self.special:
            return qd.astype(x.dtype)
        at, to = self.plain
        result = np.empty(x.shape, dtype=x.dtype)
        result[..., at] = qd[..., to]
        for k in self.special:
            xk, speed = x[..., self.of(k)], qd[..., self.tree.freedoms_of(k)]
            own = self._rate_of(k)
            if own is not None:
                result[..., self.of(k)] = own(xk, speed)
                continue
            if self.tree.joint[k] == GENERAL:
                speed = matvec(self.tree.S[k].astype(x.dtype), speed)
            parts = [_quaternion_rate(xk[..., -4:], speed[..., :3])]
            if xk.shape[-1] > 4:
                parts.insert(0, matvec(from_quaternion(xk[..., 3:]), speed[..., 3:]))
            result[..., self.of(k)] = np.concatenate(parts, axis=-1)
        return result


def _quaternion_rate(quaternion: NDArray[Any], omega: NDArray[Any]) -> NDArray[Any]:
    """1/2 quaternion * omega, omega in the body's frame [rad/s]."""
    v, w = quaternion[..., :3], quaternion[..., 3:]
    scalar = -(v * omega).sum(-1, keepdims=True)
    return np.concatenate([w * omega + cross(v, omega), scalar], axis=-1) * v.dtype.type(0.5)


def in_general(system: System) -> System:
    """The system in a state where no zero of (4) is there by chance: for what holds in all states.

    A general joint's pose may have zeros at q = 0 that it does not have elsewhere.
    """
    tree = system.tree
    if GENERAL not in tree.joint:
        return system
    q = coordinates(tree, system.graph, None)
    for k in tree.by_joint[GENERAL].tolist():
        q[tree.freedoms_of(k)] = 0.7 + 0.1 * np.arange(int(tree.dof[k]))
    return system.refresh(q, f_ext=system.state.wrench)
