"""Section 3, Example 2: a shoulder of three revolute joints, two of them nearly collinear.

"Such bad cases can occur in practice": at a shoulder singularity the first and the third axis lie
on one line, two light links carry a heavy arm, and H_2 is in the space that joint 1 has already
taken away.  The arm hangs on axes z, y, z of one point; the middle angle is brought to zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, above, picture, value
from ..measures import errors

NAMES = {"crbm": "CRBM", "abm": "ABM", "modified_abm": "eq (11)", "square_root_abm": "rotations"}
ANGLES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # between the first and the third axis [rad]
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def shoulder(angle: float, mass: float, length: float) -> Any:
    """Two light links of 0.1 kg, and an arm on the third axis, its middle angle ``angle`` [rad]."""
    tree = kkt.new_tree("shoulder")
    small = np.diag([1e-4, 1e-4, 1e-4])
    for body, axis in enumerate(AXES[:2]):
        kkt.add_body(tree, body, body - 1 if body else None, mass=0.1, inertia=small, axis=axis)
    slender = mass * length**2 / 12.0 * np.diag([1e-3, 1.0, 1.0])
    kkt.add_body(tree, 2, 1, mass=mass, com=(length / 2, 0.1, 0.05), inertia=slender, axis=AXES[2])
    tree.graph.update(q=np.array([0.4, angle, 0.7]), qd=np.zeros(3), tau=np.zeros(3))
    return tree


def measure(
    progress: Progress,
    *,
    angles: tuple[float, ...] = ANGLES,
    mass: float = 10.0,
    length: float = 1.0,
    format: str = "float32",
) -> Results:
    """Errors of the orders on the way to the singularity; mass [kg], length [m]."""
    above("kg", mass=mass)
    above("m", length=length)
    orders = {name: orderings.get(order) for order, name in NAMES.items()}
    kappa: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in orders}
    for angle in angles:
        progress(f"axes {angle:g} rad apart")
        system = kkt.build(shoulder(angle, mass, length))
        kappa.append(float(np.linalg.cond(kkt.joint_space_inertia(system, orderings.get("crbm")))))
        for name, error in errors(system, orders, format).items():
            found[name].append(error)
    crbm, abm = found["CRBM"], found["ABM"]
    shown = ", ".join(f"{angle:g}" for angle in angles)
    yield value("kappa", [f"{x:.1e}" for x in kappa], kappa[-1] >= 100 * kappa[0], angles=shown)
    yield value("crbm", [crbm[0], crbm[-1]], crbm[-1] >= 100 * crbm[0])
    yield value("abm", [max(abm), max(crbm)], max(abm) <= 0.1 * max(crbm))
    yield picture("shoulder", "approach", angles, kappa, found)
