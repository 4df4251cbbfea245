"""Sections 3 and 4: rotated coordinates, eq (11), and the projection of eq (10).

The paper: with inertias written in frames turned by 45 degrees ABM breaks down where CRBM does,
and the modified ABM, eq (11), "addresses this problem"; Table 2, case 2 is its evidence.  Here eq
(11), taken literally, does not.  Summed in the child's frame, w* Mbar w with w = Phi* H*, it does
at 45 degrees about x or y and nowhere near: there two entries of H are equal and cancel exactly.
D = H M H* + E M~ E*, with the part E of H beside the lost direction, eq (10), does at any angle;
so does elimination by rotations.  What stands in the way is one lost direction only: more joints
after a heavy body lose more (docs/study).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, above, between, picture, value
from ..measures import errors
from .sweep import sweep, turned

ORDERS = ("abm", "modified_abm", "child_frame", "projected_abm", "square_root_abm", "crbm", "virtual_work")
AXES = ("abm", "modified_abm", "projected_abm", "square_root_abm")
NAMES = {
    "abm": "ABM",
    "modified_abm": "eq (11)",
    "child_frame": "eq (11) in the child's frame",
    "projected_abm": "eq (10) with E",
    "square_root_abm": "rotations",
}
ABOUT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}
LEANING = 0.5  # [rad] of the base link
KEPT = 5.0  # digits that count as kept
BESIDE = 1.0  # [degrees] from the tilt, where luck has ended


def measure(
    progress: Progress,
    *,
    tilt: float = 45.0,
    angles: int = 101,
    axes: int = 200,
    m1: float = 1e8,
    seed: int = 0,
    every: float = 9.0,
) -> Results:
    """Example 1 tilted by degrees, and Example 3 with H along random directions of translation.

    The picture of the tilt takes an angle ``every`` so many degrees up to 90, and those beside.
    """
    between("every", every, 0.1, 90.0)
    above("kg", m1=m1)

    def frames(about: str, degrees: float) -> Any:
        return turned(kkt.example1(), ABOUT[about], math.radians(degrees))

    at, tilted = f"{tilt:g} degrees", sweep(progress, ORDERS, angles, frames("x", tilt))
    abm, crbm = tilted.rms("abm"), tilted.rms("crbm")
    yield value("level", sweep(progress, ORDERS[:1], angles).rms("abm"))
    yield value("abm", [abm, crbm], 0.1 <= abm / crbm <= 10.0, at=at)
    yield value("eq11", tilted.rms("modified_abm"), at=at)
    near = (tilt - BESIDE, tilt, tilt + BESIDE)
    wanted = {("x", float(x)) for x in (*np.arange(0.0, 90.0 + every / 2, every), *near)}
    turns = {}
    for about, degrees in sorted(wanted | {("y", float(x)) for x in near}):
        progress(f"frames turned by {degrees:g} degrees about {about}")
        few = max(21, angles // 4)
        turn = turns[about, degrees] = sweep(lambda text: None, ORDERS[:4], few, frames(about, degrees))
        if abs(degrees - tilt) <= BESIDE:
            yield value("eq11_child", turn.rms("child_frame"), degrees=f"{degrees:g}", about=about)
    yield value("eq10", tilted.rms("projected_abm"), at=at)
    yield value("rotations", tilted.rms("square_root_abm"), at=at)
    # the base link no longer perpendicular to gravity
    leaning = sweep(progress, ("virtual_work",), angles, frames("x", tilt), base_angle=LEANING)
    virtual, other = tilted.rms("virtual_work"), leaning.rms("virtual_work")
    yield value("virtual_work", [virtual, other], other >= 10 * virtual, at=at)
    digits: dict[str, list[float]] = {order: [] for order in AXES}
    for i, axis in enumerate(directions(axes, seed)):
        progress(f"axis {i} of {axes}")
        orders = {order: orderings.get(order) for order in AXES}
        for order, error in errors(kkt.build(along(axis, m1)), orders).items():
            digits[order].append(max(0.0, -math.log10(max(error, 1e-16))))
    for order in ("modified_abm", "abm", "projected_abm", "square_root_abm"):
        share = float(np.mean(np.array(digits[order]) >= KEPT))
        yield value(f"axes_{order}", share, share == 1.0, axes=axes)
    about_x = {degrees: turn for (about, degrees), turn in sorted(turns.items()) if about == "x"}
    yield picture("tilted", "curves", tilted, {order: NAMES[order] for order in AXES[:3]})
    yield picture("tilts", "turns", about_x, {order: NAMES[order] for order in ORDERS[:4]})
    yield picture("axes", "kept", digits, NAMES)


def directions(count: int, seed: int) -> Any:
    """Unit vectors (count, 3), uniformly distributed, rounded to single precision."""
    x = np.random.default_rng(seed).normal(size=(count, 3))
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def along(axis: Any, m1: float) -> Any:
    """Example 3 with H = (0, 0, 0, axis) for both joints."""
    tree = kkt.example3(m1, 2)
    for body in tree.nodes:
        tree.nodes[body]["S"] = [[0.0]] * 3 + [[float(x)] for x in axis]
    return tree
