"""Sizes of all that is rounded on the way to qdd, over all states: docs/theory/guarantee_qdd.md.

Forces b^_k count in the norm of M^_k^-1 and accelerations by the lengths of their angular and
linear parts.  An energy's root E moves body k by at most E / sqrt(l), where l is the least
eigenvalue of what its inertia is at least: that bounds accelerations without going from joint to
joint, where bounds would be multiplied.

How large right-hand sides are: forces, accelerations of the frames, and efforts.

Of b_k the size in the norm of M_k^-1 counts, which is an energy's root; of a_k the lengths of its
angular and linear parts; of tau absolute values.  They are known of one state, or bounded over all
states with rates and efforts within ranges.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, nearest
from ..matrix.state import node_field
from ..matrix.system import System
from ..model.tree import BodyTree
from .ranges import Ranges
from .recursion import Behind, at_rest
from .support import UP, Turn, share

Floats = NDArray[np.float64]
ByBody = float | Mapping[Hashable, float]  # for all joints, or by body
EFFORT = 10.0  # [N m, N] where a model gives no largest effort
ROUNDED = 64.0  # units: of entries of (4) that are formed in float64 and rounded to a format


@dataclass(frozen=True)
class RightSides:
    """Upper bounds for n bodies with N freedoms."""

    force: Floats  # (n,) of sqrt(b_k* M_k^-1 b_k)
    turning: Floats  # (n,) of the length of the angular part of a_k
    sliding: Floats  # (n,) of the linear part
    effort: Floats  # (N,) of |tau|


def weight(M: Floats, force: Floats) -> float:
    """The largest sqrt(f* M^-1 f) of all |f| <= ``force``; infinite where M is singular there."""
    return float(np.sqrt(share(M, np.outer(force, force)))) if force.any() else 0.0


def within(
    system: System, ranges: Ranges, rate: Floats, effort: Floats, M: Floats, unit: float
) -> RightSides:
    """Sizes over all states whose rates are at most ``rate`` (N,), and efforts ``effort`` (N,).

    No external forces act.  v_k = Phi* v_parent + S_k qd_k, a_k = v_k x (S_k qd_k), and gravity is
    in a_k of a root; b_k = v_k x* (M_k v_k) is met about the centre of mass, where it is
    m w x v and w x I w.
    """
    tree, grown = system.tree, 1.0 + ROUNDED * unit
    spin, speed = np.zeros(tree.n), np.zeros(tree.n)
    turning, sliding, force = np.zeros(tree.n), np.zeros(tree.n), np.zeros(tree.n)
    for level in tree.levels:
        for k in level.tolist():
            here = tree.freedoms_of(k)
            S, up = system.entries.S[here], int(tree.parent[k])
            own_spin = float(np.linalg.norm(S[:, :3], axis=1) @ rate[here])
            own_speed = float(np.linalg.norm(S[:, 3:], axis=1) @ rate[here])
            spin[k], speed[k] = own_spin, own_speed
            if up >= 0:
                spin[k] += spin[up]
                speed[k] += speed[up] + Turn(system, ranges, k, unit).far * spin[up]
            spin[k], speed[k] = spin[k] * grown, speed[k] * grown
            turning[k] = spin[k] * own_spin * grown
            sliding[k] = (spin[k] * own_speed + speed[k] * own_spin) * grown
            if up < 0:
                sliding[k] += float(np.linalg.norm(tree.gravity)) * grown
            force[k] = _gyroscopic(system, M[k], k, (spin[k], speed[k]), unit)
    return RightSides(force, turning, sliding, effort * (1.0 + unit))


def _gyroscopic(system: System, M: Floats, k: int, at: tuple[float, float], unit: float) -> float:
    """A bound of sqrt(b* M_k^-1 b), b = v x* (M_k v)."""
    spin, speed = at
    if spin == 0.0:
        return 0.0
    exact = system.entries.M[k]
    size, mass, com = np.abs(exact), float(system.tree.mass[k]), system.tree.com[k]
    cross = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
    moments = np.linalg.eigvalsh(exact[:3, :3] - mass * cross @ cross.T)
    # w x I w has the parts (I_j - I_k) w_j w_k, and |w_j w_k| is at most half the square of |w|
    spread = np.array([moments[2] - moments[1], moments[2] - moments[0], moments[1] - moments[0]])
    slack = 1e-9 * float(np.abs(exact[:3, :3]).max())
    # M_k in the format is less than the M_k that it was rounded from, by this share at most
    less = 2.0 * unit * share(M, size)
    if not (moments > slack).all() or mass <= 0.0 or not less <= 0.5:
        return _entrywise(M, size, spin, speed, 1.0 + 2.0 * unit)
    about = float(np.linalg.norm(0.5 * (spread + slack) / np.sqrt(moments - slack))) * spin * spin
    centre = speed + spin * float(np.linalg.norm(com))
    found = math.hypot(about, math.sqrt(mass) * spin * centre) / math.sqrt(1.0 - less)
    return float(found * UP) + _entrywise(M, size, spin, speed, ROUNDED * unit)


def _entrywise(M: Floats, size: Floats, spin: float, speed: float, part: float) -> float:
    """``part`` of b in the norm of M^-1, whatever the signs; ``size`` (6, 6) bounds |M_k|."""
    v = np.array([spin] * 3 + [speed] * 3)
    momentum = size @ v
    turn = np.ones((3, 3)) - np.eye(3)
    b = np.concatenate(
        [spin * (turn @ momentum[:3]) + speed * (turn @ momentum[3:]), spin * (turn @ momentum[3:])]
    )
    return weight(M, part * b * (1.0 + 1e-9))


def pushed(system: System) -> str:
    """That wrenches or a bias of the model act, of which no bound knows, or an empty sentence."""
    for field, told in (("wrench", "an external wrench acts on it"), ("bias", "its joint has a bias")):
        given = node_field(system.tree, system.graph, field).any(axis=1)
        if given.any():
            return f"body {system.tree.names[int(given.argmax())]}: {told}, which the bound leaves out"
    return ""


def sides_of(system: System, ranges: Ranges, rates: ByBody, efforts: ByBody) -> tuple[Ranges, Floats]:
    """The ranges with these largest rates, and the largest efforts (N,)."""
    tree = system.tree
    effort = np.full(tree.N, EFFORT)
    for k, name in enumerate(tree.names):
        here = tree.freedoms_of(k)
        if tree.parent[k] < 0 and tree.dof[k] == 6:
            effort[here] = 0.0
        own = system.graph.nodes[name].get("effort")
        if own is not None and tree.dof[k] == 1:
            effort[here] = own
    rate = _given(system, ranges.rate, rates, "rates")
    return replace(ranges, rate=rate), _given(system, effort, efforts, "efforts")


def _given(system: System, default: Floats, given: ByBody, what: str) -> Floats:
    """``default`` (N,) or what is given; one number for all leaves a floating base's zeros."""
    tree, found = system.tree, default.copy()
    one = not isinstance(given, Mapping)
    each = given if isinstance(given, Mapping) else dict.fromkeys(tree.names, given)
    for name, value in each.items():
        if not isinstance(value, Real):
            raise ModelError(what, f"{value!r} is no number", "give one, or one for each body")
        k = system.structure.index.get(name)
        if k is None:
            raise ModelError(what, f"body {name!r} is unknown", nearest(str(name), map(str, tree.names)))
        if not 0.0 <= value < math.inf:
            raise ModelError(f"{what} of body {name!r}", f"{value:g} is no largest size", "give 0 or more")
        here = tree.freedoms_of(k)
        found[here] = np.where(default[here] == 0.0, 0.0, value) if one else value
    return found


# -- sweeps over bodies ---------------------------------------------------------------------------


PARTS = np.diag([1.0, 1, 1, 0, 0, 0]), np.diag([0.0, 0, 0, 1, 1, 1])


class Sizes:
    """Bounds over all states of n bodies: energies' roots (n,), and lengths (n, 2) of two parts."""

    def __init__(self, system: System, ranges: Ranges, found: Behind, data: RightSides) -> None:
        self.system = system
        self.found = found
        self.data = data
        tree = system.tree
        self.tree: BodyTree = tree
        n = tree.n
        self.turns: list[Turn] = [Turn(system, ranges, k, found.unit) for k in range(n)]
        self.still: NDArray[np.bool_] = at_rest(system)
        self.size: Floats = np.stack(
            [np.linalg.norm(x, axis=1) * UP for x in np.split(found.sizes.size, 2, axis=1)], axis=1
        )
        self.own: Floats = np.stack([data.turning, data.sliding], axis=1)  # of a_k
        self.pivot: list[Floats] = [self._pivot(k) for k in range(n)]  # lower bounds of D_k
        self.unit: Floats = self._units()  # (N,) of qdd_i, where the energy is 1
        self.effort: Floats
        self.pushed: Floats
        self.kicked: Floats
        self.effort, self.pushed, self.kicked = self._efforts()
        self.lifted: Floats = np.einsum("ki,ki->k", self.size, self.own)  # of M^_k a_k
        self.bias: Floats = self.gathered(data.force, self.lifted + self.pushed, self.kicked)
        self.frames: Floats = self._frames()
        self.base: Floats = self._base()  # of M_k w0_k
        self.scale: float = math.hypot(*data.force[~self.still]) + self._pushes() + math.hypot(*self.base)
        self.scale *= UP
        self.reached: Floats = self._reached()
        self.before: Floats = self._before()  # a'_k
        self.seen: Floats = np.einsum("ki,ki->k", self.size, self.before)  # of M^_k a'_k

    def rows(self, k: int) -> Floats:
        return self.system.entries.S[self.tree.freedoms_of(k)]

    def grounded(self, k: int) -> bool:
        """Whether the joint of a moving body is on the ground."""
        return bool(self.tree.parent[k] < 0)

    def _pivot(self, k: int) -> Floats:
        S = self.rows(k)
        D = S @ self.found.least[k] @ S.T
        if self.system.structure.armature[k]:
            D = D + np.diag(self.system.entries.A[self.tree.freedoms_of(k)])
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
        unit = np.zeros(self.tree.N)
        for k in range(self.tree.n):
            for i in range(int(self.tree.dof[k])):
                one = np.eye(int(self.tree.dof[k]))[i]
                unit[self.tree.offset[k] + i] = sum(self.pair(k, one)) * UP
        return unit

    def _efforts(self) -> tuple[Floats, Floats, Floats]:
        n = self.tree.n
        effort, pushed, kicked = np.zeros((3, n))
        for k in range(n):
            tau = self.data.effort[self.tree.freedoms_of(k)]
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
            tau = self.data.effort[self.tree.freedoms_of(k)]
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
        for M in (self.found.M, rounded * self.system.entries.M):  # as the format holds it, and before
            parts = [np.linalg.eigvalsh(M[:, s, s])[:, -1] for s in (slice(0, 3), slice(3, 6))]
            most = np.maximum(most, np.stack(parts, axis=1))
        roots = np.sqrt(most * (1.0 + 1e-9))
        return np.asarray(np.einsum("ki,ki->k", roots, self.frames) * ~self.still)

    def along(self, k: int) -> Floats:
        """(2,) lengths of |H*| |qdd|, at most."""
        q = self.unit[self.tree.freedoms_of(k)] * self.scale
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
