"""Section 3, Example 2: a shoulder of three revolute joints, two of them nearly collinear.

"Such bad cases can occur in practice": at a shoulder singularity the first and the third axis lie
on one line, two light links carry a heavy arm, and H_2 is in the space that joint 1 has already
taken away.  The arm hangs on axes z, y, z of one point; the middle angle is brought to zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..measures import eliminated
from ..paper import Progress
from ..row import Value, value
from ..settings import above

ORDERS = ("crbm", "abm", "modified_abm", "square_root_abm")
NAMES = {"crbm": "CRBM", "abm": "ABM", "modified_abm": "eq (11)", "square_root_abm": "rotations"}
ANGLES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # between the first and the third axis [rad]
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Found:
    angles: tuple[float, ...]
    kappa: list[float]  # 2-norm condition number of the joint-space inertia
    errors: dict[str, list[float]]  # order -> error of qdd in single precision


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
) -> Found:
    """Errors of the orders on the way to the singularity; mass [kg], length [m]."""
    above("kg", mass=mass)
    above("m", length=length)
    kappa: list[float] = []
    errors: dict[str, list[float]] = {order: [] for order in ORDERS}
    for angle in angles:
        progress(f"axes {angle:g} rad apart")
        system = kkt.build(shoulder(angle, mass, length))
        inertia = kkt.joint_space_inertia(system, orderings.get("crbm"))
        kappa.append(float(np.linalg.cond(inertia)))
        exact = kkt.certify(system, 20, rounded_to=format)
        for order in ORDERS:
            errors[order].append(eliminated(exact, system, orderings.get(order), format))
    return Found(tuple(angles), kappa, errors)


def values(found: Found) -> Iterator[Value]:
    crbm, abm = found.errors["crbm"], found.errors["abm"]
    kappa, angles = [f"{x:.1e}" for x in found.kappa], ", ".join(f"{a:g}" for a in found.angles)
    yield value("kappa", kappa, found.kappa[-1] >= 100 * found.kappa[0], angles=angles)
    yield value("crbm", [crbm[0], crbm[-1]], crbm[-1] >= 100 * crbm[0])
    for order in ORDERS[2:]:
        yield value("other", max(found.errors[order]), name=NAMES[order])
    yield value("abm", [max(abm), max(crbm)], max(abm) <= 0.1 * max(crbm))


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import approach

    named = {NAMES[order]: errors for order, errors in found.errors.items()}
    return {"shoulder": approach(found.angles, found.kappa, named, style)}
