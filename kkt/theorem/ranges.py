"""The ranges of a robot's states: joints' limits, and defaults where the model gives none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError, nearest
from ..matrix.system import System
from ..model.fields import Floats, checked
from ..model.loops import Coupling, couplings

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
        raise ModelError("limits", f"is {limits!r}", "give a mapping of bodies to (low, high)")
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
        raise ModelError("limits", f"body {name!r} is unknown", near)
    if system.tree.dof[k] != 1:
        raise ModelError(
            f"limits of body {name!r}",
            f"its joint is {system.tree.joint[k]}",
            "only joints of one freedom have limits",
        )
    if not (low < high and np.isfinite(high - low)):
        raise ModelError(
            f"limits of body {name!r}", f"{low:g} to {high:g} is no range", "give low < high, finite [rad, m]"
        )


def _turning(system: System) -> NDArray[np.bool_]:
    """(N,) whether a coordinate is an angle (a screw's is): its column of S has an angular part."""
    return np.asarray(system.entries.S[:, :3].any(axis=1))
