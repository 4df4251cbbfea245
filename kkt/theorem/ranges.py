"""The ranges of a robot's states: joints' limits, and defaults where the model gives none.

A payload is a point mass on a body, between a least and a greatest mass.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, nearest
from ..matrix.system import System
from ..model.fields import Floats, checked, require_name
from ..model.loops import Coupling, couplings
from ..model.spatial import Mass, combine
from ..model.tree import compile_tree

Limits = Mapping[Hashable, tuple[float, float]]

# turning joints [rad, rad/s, rad/s^2], sliding ones [m, m/s, m/s^2]
ANGLE, RATE, ACCELERATION = np.pi, 2.0, 10.0
SHIFT, SPEED, THRUST = 0.5, 0.5, 5.0
LONGEST = 1000.0  # [m] limits of slides that are wider than twice this are placeholders, and are named
ATTITUDE = ("spherical", "floating")  # the first three coordinates are a rotation vector


@dataclass(frozen=True)
class Ranges:
    """The ranges that coordinates, rates and accelerations are drawn from; N degrees of freedom."""

    lower: Floats  # (N,) [rad, m]
    upper: Floats  # (N,)
    rate: Floats  # (N,) largest magnitude [rad/s, m/s]
    acceleration: Floats  # (N,) largest magnitude [rad/s^2, m/s^2]
    attitudes: tuple[int, ...]  # where a rotation vector starts
    limited: int  # joints whose limits the model gives
    coupled: tuple[Coupling, ...]  # joints that follow others
    placeholders: tuple[Hashable, ...]  # bodies of slides whose limits are so wide that they say nothing

    def positions_in_words(self) -> str:
        """Where joints may be."""
        where = any_pose = f"within ±π and ±{SHIFT:g} m"
        if self.limited:
            where = f"within the model's limits ({self.limited} joints)"
            where += f", else {any_pose}" if self.limited < len(self.lower) else ""
        if self.placeholders:
            named = ", ".join(map(str, self.placeholders[:3]))
            more = f" and {len(self.placeholders) - 3} more" if self.placeholders[3:] else ""
            where += f" (limits wider than {2 * LONGEST:g} m are taken for none: {named}{more})"
        return where + (", attitudes over all rotations" if self.attitudes else "")

    def in_words(self) -> str:
        """The distribution, in one sentence."""
        return (
            f"positions uniform {self.positions_in_words()}; rates uniform within {RATE:g} rad/s and "
            f"{SPEED:g} m/s, or the joint's own limit; efforts those that give accelerations uniform "
            f"within {ACCELERATION:g} rad/s² and {THRUST:g} m/s² (at a floating base they stand for "
            "the contacts)"
        )


def ranges_of(system: System, limits: Limits = MappingProxyType({})) -> Ranges:
    """The ranges of a robot, from its joints' types and limits.

    ``limits`` are (low, high) [rad, m] of bodies' joints, in the place of the model's.  Raises
    ModelError for an unknown body, a joint that has not one freedom, and an empty range.

    >>> from pivotree.analysis import states
    >>> states.ranges_of(pt.build(pt.two_link())).upper.round(2)
    array([3.14, 3.14])
    """
    if not isinstance(limits, Mapping):
        raise ModelError(f"limits: is {limits!r}; give a mapping of bodies to (low, high)")
    for name, pair in limits.items():
        _check(system, name, *checked(f"limits of body {name!r}", "range", pair, (2,)))
    tree = system.tree
    turning = _turning(system)
    upper = np.where(turning, ANGLE, SHIFT)
    lower = -upper
    rate = np.where(turning, RATE, SPEED)
    limited, attitudes, placeholders = 0, [], []
    for k, name in enumerate(tree.names):
        here = int(tree.offset[k])
        if tree.joint[k] in ATTITUDE:
            attitudes.append(here)
        if name in limits:
            lower[here], upper[here] = limits[name]
            limited += 1
            continue
        own = system.graph.nodes[name].get("limits")
        if own is None or tree.dof[k] != 1:
            continue
        low, high, fastest = own
        # lower = upper = 0 and a speed of 0 are what files write where nothing is known
        if fastest > 0.0:
            rate[here] = min(rate[here], fastest)
        if low < high and np.isfinite(high - low):
            widest = 2.0 * ANGLE if turning[here] else 2.0 * LONGEST
            if high - low <= widest:
                lower[here], upper[here] = low, high
                limited += 1
            elif not turning[here]:
                placeholders.append(name)
    acceleration = np.where(turning, ACCELERATION, THRUST)
    coupled = couplings(tree, system.loops)
    for one in reversed(coupled):
        _narrow(lower, upper, one)
    return Ranges(lower, upper, rate, acceleration, tuple(attitudes), limited, coupled, tuple(placeholders))


def _narrow(lower: Floats, upper: Floats, one: Coupling) -> None:
    """Keep a joint to where those that follow it stay within their limits, if there is such a range."""
    if one.to < 0 or not one.ratio:
        return
    ends = sorted((end[one.place] - one.offset) / one.ratio for end in (lower, upper))
    low, high = max(lower[one.to], ends[0]), min(upper[one.to], ends[1])
    if low < high:
        lower[one.to], upper[one.to] = low, high


def _check(system: System, name: Hashable, low: float, high: float) -> None:
    k = system.structure.index.get(name)
    if k is None:
        near = nearest(str(name), map(str, system.tree.names))
        raise ModelError(f"limits: body {name!r} is unknown; {near}")
    if system.tree.dof[k] != 1:
        raise ModelError(
            f"limits of body {name!r}: its joint is {system.tree.joint[k]}; only joints of one "
            "freedom have limits"
        )
    if not (low < high and np.isfinite(high - low)):
        raise ModelError(
            f"limits of body {name!r}: {low:g} to {high:g} is no range; give low < high, finite [rad, m]"
        )


def _turning(system: System) -> NDArray[np.bool_]:
    """(N,) whether a coordinate is an angle (a screw's is): its column of S has an angular part."""
    return np.asarray(system.entries.S[:, :3].any(axis=1))


@dataclass(frozen=True)
class Payload:
    """A point mass of ``least`` to ``most`` [kg] at the point ``at`` (3,) [m] of a body's frame.

    The body may be a link that was merged into another.  Raises ModelError for masses that are not
    0 <= least <= most, and for a point that has not three finite numbers.

    >>> pt.kkt.Payload("gripper", 5.0).least
    0.0
    """

    body: Hashable
    most: float
    least: float = 0.0
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        require_name(self.body, "payload")
        where = f"payload of body {self.body!r}"
        for field in ("most", "least"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ModelError(f"{where}: field {field!r} is {value!r}; give a mass in kg")
        if not (0.0 <= self.least <= self.most and isfinite(self.most)):
            raise ModelError(
                f"{where}: from {self.least:g} to {self.most:g} kg; give finite masses, 0 <= least <= most"
            )
        checked(where, "at", self.at, (3,))


def carrying(tree: nx.DiGraph[Any], payloads: Sequence[Payload], most: bool = True) -> nx.DiGraph[Any]:
    """The tree with its payloads at their greatest masses, or without ``most`` at their least.

    A payload may be on a link that was merged into a body.  Raises ModelError for a payload on an
    unknown body, or on a link fixed to the world, and for a tree that is wrong.
    """
    if not isinstance(payloads, Sequence):
        raise ModelError(f"payloads: is {payloads!r}; give a list of kkt.Payload(body, kg)")
    if not payloads:
        return tree
    loaded, merged = nx.DiGraph(tree), tree.graph.get("merged", {})
    for payload in payloads:
        if not isinstance(payload, Payload):
            raise ModelError(f"payloads: {payload!r} is none; give kkt.Payload(body, kg)")
    flat, parts = compile_tree(tree), dict[Hashable, list[tuple[Mass, Floats, Floats]]]()
    for payload in payloads:
        body, R, p = merged.get(payload.body, (payload.body, np.eye(3), np.zeros(3)))
        if body is None:
            raise ModelError(
                f"payload of {payload.body!r}: this link is fixed to the world, and what is on it "
                "moves with nothing; leave it out"
            )
        if body not in loaded:
            raise ModelError(f"payload: body {body!r} is unknown; {nearest(str(body), map(str, loaded))}")
        if body not in parts:
            k = flat.names.index(body)
            own = Mass(float(flat.mass[k]), flat.com[k], flat.inertia[k])
            parts[body] = [(own, np.eye(3), np.zeros(3))]
        mass = payload.most if most else payload.least
        parts[body].append((Mass(mass, np.array(payload.at, dtype=float), np.zeros((3, 3))), R, p))
    for body, some in parts.items():
        whole = combine(some)
        loaded.nodes[body].update(mass=whole.mass, com=whole.com, inertia=whole.inertia)
    return loaded
