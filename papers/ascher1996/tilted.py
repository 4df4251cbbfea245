"""Sections 3 and 4: rotated coordinates, eq (11), and the projection of eq (10).

The paper: with inertias written in frames turned by 45 degrees ABM breaks down where CRBM does,
and the modified ABM, eq (11), "addresses this problem"; Table 2, case 2 is its evidence.  Here eq
(11), taken literally, does not: it keeps its digits at 45 degrees and with M_k = m_k 1 by luck of
rounding.  D = H M H* + E M~ E*, with the part E of H beside the lost direction, eq (10), does; so
does elimination by rotations.  What stands in the way is one lost direction only: more joints
after a heavy body lose more (docs/study).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import kkt
import orderings

from ..paper import Progress
from ..row import Row
from .sweep import Sweep, sweep

ORDERS = ("abm", "modified_abm", "projected_abm", "square_root_abm", "crbm", "virtual_work")
AXES = ("abm", "modified_abm", "projected_abm", "square_root_abm")
LEANING = 0.5  # [rad] of the base link
KEPT = 5.0  # digits that count as kept


@dataclass(frozen=True)
class Found:
    """Example 1 in frames turned about x and about the axis itself, Example 3 on random axes."""

    tilt: float  # [degrees]
    level: Sweep
    tilted: Sweep
    leaning: Sweep  # tilted too, the base link no longer perpendicular to gravity; virtual work
    axes: int  # random directions of H
    digits: dict[str, list[float]]  # order -> digits of qdd_1 for each direction


def measure(
    progress: Progress, *, tilt: float = 45.0, angles: int = 101, axes: int = 200,
    m1: float = 1e8, seed: int = 0,
) -> Found:  # fmt: skip
    """Example 1 tilted by degrees, and Example 3 with H along random directions of translation."""
    level = sweep(progress, ORDERS, angles)
    tilted = sweep(progress, ORDERS, angles, math.radians(tilt))
    leaning = sweep(progress, ("virtual_work",), angles, math.radians(tilt), base_angle=LEANING)
    digits: dict[str, list[float]] = {order: [] for order in AXES}
    for i, axis in enumerate(directions(axes, seed)):
        progress(f"axis {i} of {axes}")
        system = kkt.build(along(axis, m1))
        exact = kkt.certify(system, 20, rounded_to="float32")
        for order in AXES:
            result = kkt.eliminate(system, orderings.get(order), "float32", records=False)
            error = math.inf if result.failed_at else exact.error(result.qdd) or 0.0
            digits[order].append(max(0.0, -math.log10(max(error, 1e-16))))
    return Found(tilt, level, tilted, leaning, axes, digits)


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


def rows(found: Found) -> list[Row]:
    level, tilted, at = found.level, found.tilted, f"{found.tilt:g} degrees"
    worse = tilted.rms("abm")
    share = {order: float(np.mean(np.array(d) >= KEPT)) for order, d in found.digits.items()}
    literal = tilted.rms("modified_abm")
    projected = tilted.rms("projected_abm")
    return [
        Row("ABM, frames along the axes, rms", "keeps its digits", level.rms("abm"),
            "at most 2e-7", level.rms("abm") <= 2e-7),
        Row(f"ABM, {at}, rms", "breaks down as CRBM does", worse,
            "1e-4 to 3e-3, as CRBM", 1e-4 <= worse <= 3e-3),
        Row(f"eq (11), {at}, rms", "addresses this problem", literal,
            "none: the claim does not reproduce", None,
            "eq (11) taken literally loses as many digits as ABM in turned frames; it keeps H M H* "
            "apart from H M~ H*, but M~ itself, rounded in turned frames, no longer vanishes along "
            "the lost direction"),
        Row(f"eq (10) with E, {at}, rms", None, projected, "at most 2e-5", projected <= 2e-5),
        Row(f"rotations, {at}, rms", None, tilted.rms("square_root_abm"), "at most 2e-5",
            tilted.rms("square_root_abm") <= 2e-5),
        Row(f"virtual work, {at}, rms", None, tilted.rms("virtual_work"), "none: beside the paper",
            None),
        Row(f"virtual work, {at}, base link at {LEANING} rad, rms", None,
            found.leaning.rms("virtual_work"), "at least 10 times that above",
            found.leaning.rms("virtual_work") >= 10 * tilted.rms("virtual_work"),
            "virtual work looks insensitive to the tilt while gravity is perpendicular to the base "
            "link, and only then"),
        Row("Example 3, random axes: eq (11) keeps 5 digits, share", "all (of one axis)",
            share["modified_abm"], "at most 0.1", share["modified_abm"] <= 0.1,
            f"of {found.axes} random directions of H; 45 degrees in one plane is luck"),
        Row("Example 3, random axes: ABM, share", None, share["abm"], "at most 0.1",
            share["abm"] <= 0.1),
        Row("Example 3, random axes: eq (10) with E, share", None, share["projected_abm"],
            "1", share["projected_abm"] == 1.0),
        Row("Example 3, random axes: rotations, share", None, share["square_root_abm"],
            "1", share["square_root_abm"] == 1.0),
    ]  # fmt: skip


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import curves, kept

    names = {"abm": "ABM", "modified_abm": "eq (11)", "projected_abm": "eq (10) with E"}
    return {
        "tilted": curves(found.tilted, names, style),
        "axes": kept(found.digits, style),
    }
