"""How large right-hand sides are: forces, accelerations of the frames, and efforts.

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
from ..matrix.entries import Entries
from ..matrix.ranges import Ranges
from ..matrix.state import node_field
from ..matrix.system import System
from .loewner import share
from .reach import UP, Turn

Floats = NDArray[np.float64]
Given = float | Mapping[Hashable, float]  # for all joints, or by body
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


def of_state(entries: Entries, M: Floats) -> RightSides:
    """The sizes of one state's own right-hand side; M (n, 6, 6) as the format holds it."""
    force = np.array([weight(x, np.abs(b)) for x, b in zip(M, entries.b, strict=True)])
    turning, sliding = (np.linalg.norm(x, axis=1) * UP for x in (entries.a[:, :3], entries.a[:, 3:]))
    return RightSides(force, turning, sliding, np.abs(entries.tau))


def within(
    system: System,
    ranges: Ranges,
    rate: Floats,
    effort: Floats,
    M: Floats,
    unit: float,
    light: System | None = None,
) -> RightSides:
    """Sizes over all states whose rates are at most ``rate`` (N,), and efforts ``effort`` (N,).

    ``light`` is the robot with its least payloads, where it carries any of masses in ranges;
    ``system`` has the greatest, and inertias M (n, 6, 6) are at least the format's of any.

    No external forces act.  v_k = Phi* v_parent + S_k qd_k, a_k = v_k x (S_k qd_k), and gravity is
    in a_k of a root; b_k = v_k x* (M_k v_k) is met about the centre of mass, where it is
    m w x v and w x I w.
    """
    tree, grown = system.tree, 1.0 + ROUNDED * unit
    spin, speed = np.zeros(tree.n), np.zeros(tree.n)
    turning, sliding, force = np.zeros(tree.n), np.zeros(tree.n), np.zeros(tree.n)
    for level in tree.levels:
        for k in level.tolist():
            here = slice(int(tree.offset[k]), int(tree.offset[k + 1]))
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
            force[k] = _gyroscopic(system, light or system, M[k], k, (spin[k], speed[k]), unit)
    return RightSides(force, turning, sliding, effort * (1.0 + unit))


def _gyroscopic(
    heavy: System, light: System, M: Floats, k: int, at: tuple[float, float], unit: float
) -> float:
    """A bound of sqrt(b* M_k^-1 b), b = v x* (M_k v), with any of the payloads.

    Masses m at points r add m w x (v + w x r) to b.  The square of a sum of forces in the norm of
    the inverse of a sum of inertias is at most the sum of the squares, each in its own: at most
    m |w|^2 (|v| + |w| |r|)^2 for these.
    """
    spin, speed = at
    if spin == 0.0:
        return 0.0
    exact, most = light.entries.M[k], heavy.entries.M[k]
    size, added = np.abs(exact), 0.0
    if light is not heavy and (exact != most).any():
        root = np.sqrt(np.diagonal(most))
        size = np.outer(root, root)  # |M_ij| with any of them
        mass = float(most[3, 3] - exact[3, 3] + 1e-14 * most[3, 3])
        moment = 0.5 * float(np.trace((most - exact)[:3, :3]) + 1e-14 * np.trace(most[:3, :3]))
        added = spin * (math.sqrt(mass) * speed + math.sqrt(moment) * spin)
    mass, com = float(light.tree.mass[k]), light.tree.com[k]
    cross = np.array([[0, -com[2], com[1]], [com[2], 0, -com[0]], [-com[1], com[0], 0]])
    moments = np.linalg.eigvalsh(exact[:3, :3] - mass * cross @ cross.T)
    # w x I w has the parts (I_j - I_k) w_j w_k, and |w_j w_k| is at most half the square of |w|
    spread = np.array([moments[2] - moments[1], moments[2] - moments[0], moments[1] - moments[0]])
    slack = 1e-9 * float(np.abs(exact[:3, :3]).max())
    # as the format holds it M_k is less than what it was rounded from, by this share at most
    less = 2.0 * unit * share(M, size)
    if not (moments > slack).all() or mass <= 0.0 or not less <= 0.5:
        return _entrywise(M, size, spin, speed, 1.0 + 2.0 * unit)
    about = float(np.linalg.norm(0.5 * (spread + slack) / np.sqrt(moments - slack))) * spin * spin
    centre = speed + spin * float(np.linalg.norm(com))
    found = math.hypot(about, math.sqrt(mass) * spin * centre, added) / math.sqrt(1.0 - less)
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


def sides_of(system: System, ranges: Ranges, rates: Given, efforts: Given) -> tuple[Ranges, Floats]:
    """The ranges with these largest rates, and the largest efforts (N,)."""
    tree = system.tree
    effort = np.full(int(tree.offset[-1]), EFFORT)
    for k, name in enumerate(tree.names):
        here = slice(int(tree.offset[k]), int(tree.offset[k + 1]))
        if tree.parent[k] < 0 and tree.dof[k] == 6:
            effort[here] = 0.0
        own = system.graph.nodes[name].get("effort")
        if own is not None and tree.dof[k] == 1:
            effort[here] = own
    rate = _given(system, ranges.rate, rates, "rates")
    return replace(ranges, rate=rate), _given(system, effort, efforts, "efforts")


def _given(system: System, default: Floats, given: Given, what: str) -> Floats:
    """``default`` (N,) or what is given; one number for all leaves a floating base's zeros."""
    tree, found = system.tree, default.copy()
    one = not isinstance(given, Mapping)
    each = given if isinstance(given, Mapping) else dict.fromkeys(tree.names, given)
    for name, value in each.items():
        if not isinstance(value, Real):
            raise ModelError(f"{what}: {value!r} is no number; give one, or one for each body")
        k = system.structure.index.get(name)
        if k is None:
            near = nearest(str(name), map(str, tree.names))
            raise ModelError(f"{what}: body {name!r} is unknown; {near}")
        if not 0.0 <= value < math.inf:
            raise ModelError(f"{what} of body {name!r}: {value:g} is no largest size; give 0 or more")
        here = slice(int(tree.offset[k]), int(tree.offset[k + 1]))
        found[here] = np.where(default[here] == 0.0, 0.0, value) if one else value
    return found
