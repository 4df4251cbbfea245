"""Examples 1 to 3 of Ascher 1996 over mass ratio and tilt: entries of (4) and exact answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt.model import gallery

from .entries import certified, entries_of

TILTS = (0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0)  # [degrees]
RATIOS = tuple(10.0**k for k in range(10))  # mass of the tip over that of the base
WITHIN = ("float64", "float32", "bfloat16")  # formats whose range holds all frames


def frames_of(name: str, progress: Callable[[str], None]) -> dict[str, Any] | None:
    """Frames of an example by its name, ratio after ratio and tilt after tilt; None for others."""
    match = re.match(r"example([123])", name or "")
    if match is None:
        return None
    frames = []
    for ratio in RATIOS:
        for tilt in TILTS:
            progress(f"ratio {ratio:.0e}, tilt {tilt:.0f} degrees")
            system = kkt.build(_example(int(match[1]), ratio, tilt))
            proof = kkt.trace(system, orderings.get("abm"))
            frames.append({"entries": entries_of(system), "exact": certified(system, proof, WITHIN)})
    return {"ratio": list(RATIOS), "tilt": list(TILTS), "frames": frames}


def _example(number: int, ratio: float, tilt: float) -> Any:
    """Examples 2 and 3 turn H itself; Example 1 turns the frames that all is written in."""
    if number > 1:  # of one direction of both joints: Example 2 where the tilt is 0
        return gallery.example3(m1=ratio, angle=tilt)
    tree = gallery.example1(tilt=float(np.deg2rad(tilt)))
    base = tree.nodes[2]["mass"]
    factor = ratio * base / tree.nodes[1]["mass"]
    for key in ("mass", "inertia"):
        tree.nodes[1][key] = tree.nodes[1][key] * factor
    return tree
