"""Sizes of all that is rounded on the way to qdd, over all states: docs/guarantee_qdd.md.

Forces b^_k count in the norm of M^_k^-1 and accelerations by the lengths of their angular and
linear parts.  An energy's root E moves body k by at most E / sqrt(l), where l is the least
eigenvalue of what its inertia is at least: that bounds accelerations without going from joint to
joint, where bounds would be multiplied.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..matrix.ranges import Ranges
from ..matrix.system import System
from .loewner import share
from .reach import UP, Turn
from .recursion import Behind, at_rest
from .rightsides import RightSides, weight

Floats = NDArray[np.float64]
PARTS = np.diag([1.0, 1, 1, 0, 0, 0]), np.diag([0.0, 0, 0, 1, 1, 1])


class Sizes:
    """Bounds over all states of n bodies: energies' roots (n,), and lengths (n, 2) of two parts."""

    def __init__(self, system: System, ranges: Ranges, found: Behind, data: RightSides) -> None:
        self.system, self.found, self.data = system, found, data
        tree = self.tree = system.tree
        n = tree.n
        self.turns = [Turn(system, ranges, k, found.unit) for k in range(n)]
        self.still = at_rest(system)
        self.size = np.stack(
            [np.linalg.norm(x, axis=1) * UP for x in np.split(found.sizes.size, 2, axis=1)], axis=1
        )
        self.own = np.stack([data.turning, data.sliding], axis=1)  # of a_k
        self.pivot = [self._pivot(k) for k in range(n)]  # lower bounds of D_k
        self.unit = self._units()  # (N,) of qdd_i, where the energy is 1
        self.effort, self.pushed, self.kicked = self._efforts()
        self.lifted = np.einsum("ki,ki->k", self.size, self.own)  # of M^_k a_k
        self.bias = self.gathered(data.force, self.lifted + self.pushed, self.kicked)
        self.frames = self._frames()
        self.base = self._base()  # of M_k w0_k
        self.scale = math.hypot(*data.force[~self.still]) + self._pushes() + math.hypot(*self.base)
        self.scale *= UP
        self.reached = self._reached()
        self.before = self._before()  # a'_k
        self.seen = np.einsum("ki,ki->k", self.size, self.before)  # of M^_k a'_k

    def rows(self, k: int) -> Floats:
        tree = self.tree
        return self.system.entries.S[tree.offset[k] : tree.offset[k + 1]]

    def here(self, k: int) -> slice:
        return slice(int(self.tree.offset[k]), int(self.tree.offset[k + 1]))

    def grounded(self, k: int) -> bool:
        """Whether the joint of a moving body is on the ground."""
        return bool(self.tree.parent[k] < 0)

    def _pivot(self, k: int) -> Floats:
        S = self.rows(k)
        D = S @ self.found.least[k] @ S.T
        own = self.system.structure.armature
        if own is not None and own[k]:
            D = D + np.diag(self.system.entries.A[self.here(k)])
        return 0.5 * (D + D.T)

    def held(self, k: int, effort: Floats) -> tuple[Floats, Floats]:
        """(6,) forces that have these efforts along the joint: on body k, and on its parent."""
        S = self.rows(k)
        force = np.abs(S.T @ np.linalg.inv(S @ S.T)) @ effort * (1.0 + 8.0 * self.found.unit)
        return force, self.turns[k].apply(force)

    def pair(self, k: int, effort: Floats) -> tuple[float, float]:
        """Energies of an effort at the joint of k: of its action, and of its reaction."""
        least, up = self.found.least, int(self.tree.parent[k])
        if up < 0:
            return weight(self.pivot[k], effort), 0.0
        on, back = self.held(k, effort)
        plain = weight(least[k], on), 0.0 if self.still[up] else weight(least[up], back)
        # or what the body itself hands on, M^ H* D^-1 tau: no more than the roots of its diagonal
        t = weight(self.pivot[k], effort)
        back = self.found.sizes.carried[k] * t
        other = t, 0.0 if self.still[up] else weight(least[up], back)
        return min(plain, other, key=sum)

    def _units(self) -> Floats:
        unit = np.zeros(int(self.tree.offset[-1]))
        for k in range(self.tree.n):
            for i in range(int(self.tree.dof[k])):
                one = np.eye(int(self.tree.dof[k]))[i]
                unit[self.tree.offset[k] + i] = sum(self.pair(k, one)) * UP
        return unit

    def _efforts(self) -> tuple[Floats, Floats, Floats]:
        n = self.tree.n
        effort, pushed, kicked = np.zeros((3, n))
        for k in range(n):
            tau = self.data.effort[self.here(k)]
            if tau.any():
                effort[k] = weight(self.pivot[k], tau)
                pushed[k], kicked[k] = self.pair(k, tau)
        return effort, pushed, kicked

    def _pushes(self) -> float:
        """The norm of tau in that of the inverse of Mass."""
        together = float(np.sum(self.pushed + self.kicked))
        n, parent = self.tree.n, self.tree.parent
        bodies, roots = np.zeros(n), 0.0
        for k in range(n):
            tau = self.data.effort[self.here(k)]
            if not tau.any():
                continue
            if parent[k] < 0:
                roots += self.pushed[k]
                continue
            on, back = self.held(k, tau)
            bodies[k] += weight(self.found.M[k], on)
            if not self.still[parent[k]]:
                bodies[parent[k]] += weight(self.found.M[parent[k]], back)
        return min(together, math.hypot(*bodies) + roots)

    def gathered(self, force: Floats, sent: Floats, kicked: Floats) -> Floats:
        """(n,) |b^_k| in the norm of M^_k^-1, of forces (n,) and what joints send on, or react."""
        tree = self.tree
        handed, back, bias = np.zeros((3, tree.n))
        for level in reversed(tree.levels):
            for k in level[~self.still[level]].tolist():
                bias[k] = (math.hypot(force[k], math.sqrt(handed[k])) + back[k]) * UP
                up = int(tree.parent[k])
                if up >= 0:
                    handed[up] += (bias[k] + sent[k]) ** 2
                    back[up] += kicked[k]
        return bias

    def step(self, k: int, x: Floats) -> Floats:
        """(2,) lengths of Phi_k* x."""
        return np.array([x[0], x[1] + self.turns[k].far * x[0]]) * (1.0 + 16.0 * self.found.unit)

    def _frames(self) -> Floats:
        """(n, 2) accelerations of the bodies where qdd = 0."""
        frames = self.own.copy()
        for level in self.tree.levels[1:]:
            for k in level.tolist():
                frames[k] += self.step(k, frames[self.tree.parent[k]])
        return frames

    def _base(self) -> Floats:
        rounded = 1.0 + 4.0 * self.found.unit  # a block's norm, at most
        most = np.zeros((self.tree.n, 2))
        for M in (self.found.M, rounded * self.system.entries.M):  # with the least payloads, or all
            parts = [np.linalg.eigvalsh(M[:, s, s])[:, -1] for s in (slice(0, 3), slice(3, 6))]
            most = np.maximum(most, np.stack(parts, axis=1))
        roots = np.sqrt(most * (1.0 + 1e-9))
        return np.asarray(np.einsum("ki,ki->k", roots, self.frames) * ~self.still)

    def along(self, k: int) -> Floats:
        """(2,) lengths of |H*| |qdd|, at most."""
        q = self.unit[self.here(k)] * self.scale
        S = self.rows(k)
        return np.array([np.linalg.norm(x, axis=1) @ q for x in (S[:, :3], S[:, 3:])])

    def _reached(self) -> Floats:
        """(n, 2) accelerations of the bodies, as the motion's energy lets them be."""
        reached = self.frames.copy()
        for level in self.tree.levels:
            for k in level[~self.still[level]].tolist():
                reached[k] += [math.sqrt(share(self.found.least[k], x)) * self.scale for x in PARTS]
                stepped = self.along(k) + self.own[k]
                if not self.grounded(k):
                    stepped += self.step(k, reached[self.tree.parent[k]])
                reached[k] = np.minimum(reached[k], stepped)
        return reached

    def _before(self) -> Floats:
        before = self.own.copy()
        for k in np.flatnonzero(self.tree.parent >= 0).tolist():
            stepped = self.step(k, self.reached[self.tree.parent[k]]) + self.own[k]
            before[k] = np.minimum(stepped, self.reached[k] + self.along(k))
        return before
