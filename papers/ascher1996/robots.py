"""Robots whose joint-space inertia is ill-conditioned: the Stanford arm, longer arms, a shoulder."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, above, between, picture, value
from ..measures import condition, errors

# The Stanford arm: twist and offset of the joint (Denavit & Hartenberg), mass [kg], centre [m], moments
# [kg m^2], for the masses, centres and moments of Paul 1981, Tables 6.5 and 6.6, and the lengths of
# Scheinman's drawing, as Corke's Robotics Toolbox hands them on; that toolbox has the centres of links 2 to
# 6 ten times too far out (link 3's at 6.4 m), which are read as the centimetres that Paul prints.
LINKS = (
    (-np.pi / 2, 0.412, 9.29, (0.0, 0.0175, -0.1105), (0.276, 0.255, 0.071)),
    (np.pi / 2, 0.154, 5.01, (0.0, -0.1054, 0.0), (0.108, 0.018, 0.100)),
    (0.0, 0.0, 4.25, (0.0, 0.0, -0.6447), (2.51, 2.51, 0.006)),
    (-np.pi / 2, 0.0, 1.08, (0.0, 0.0092, -0.0054), (0.002, 0.001, 0.001)),
    (np.pi / 2, 0.0, 0.63, (0.0, 0.0, 0.0566), (0.003, 0.003, 0.0004)),
    (0.0, 0.263, 0.51, (0.0, 0.0, 0.1554), (0.013, 0.013, 0.0003)),
)
ACTUATORS = (0.953, 2.193, 0.782, 0.106, 0.097, 0.020)  # inertia at each joint
SLIDES = 2  # the third joint
REACH = 0.305, 1.270  # [m] that it slides: 12 to 50 inches
QUARTER = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # its constant angle about z

# The shoulder: orders, angles between its first and third axis [rad], axes
NAMES = {"crbm": "CRBM", "abm": "ABM", "modified_abm": "eq (11)", "square_root_abm": "rotations"}
ANGLES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def stanford_arm() -> Any:
    """The tree: bodies in frames at their joints, axes z."""
    tree = kkt.new_tree("stanford_arm")
    place, turn = np.zeros(3), np.eye(3)
    for k, (twist, offset, mass, centre, moments) in enumerate(LINKS):
        end, (c, s) = np.array([0.0, 0.0, offset]), (np.cos(twist), np.sin(twist))
        ahead = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=mass,
            com=end + ahead @ np.array(centre),
            inertia=ahead @ np.diag(moments) @ ahead.T,
            axis=(0.0, 0.0, 1.0),
            joint="prismatic" if k == SLIDES else "revolute",
            p=place,
            R=turn @ (QUARTER if k == SLIDES else np.eye(3)),
        )
        place, turn = end, ahead
    tree.graph.update(q=np.zeros(6), qd=np.zeros(6), tau=np.zeros(6))
    return tree


def stanford(progress: Progress, *, states: int = 2000, seed: int = 0) -> Results:
    """Section 1: the Stanford arm "is known to exhibit condition numbers as high as 11934".

    The number is from Angeles & Ma 1988, whose masses and path we do not have.  Here it is computed over
    random states, the actuators' inertia left out and put in.
    """
    between("states", states, 1)
    draw = np.random.default_rng(seed)
    q = draw.uniform(-np.pi, np.pi, (states, 6))
    q[:, SLIDES] = draw.uniform(*REACH, states)
    progress(f"{states} states")
    kernel = kkt.compile(stanford_arm(), orderings.get("crbm"), outputs=("inertia",))
    inertia = kernel(q, np.zeros((states, 6)), None)
    yield value("largest", np.linalg.cond(inertia).max(), states=states)
    yield value("actuated", np.linalg.cond(inertia + np.diag(ACTUATORS)).max())


def longer(r: float, more: int) -> Any:
    """:func:`kkt.two_link` with ``more`` links like its tip behind it."""
    tree = kkt.two_link(r)
    own = {name: tree.nodes[1][name] for name in ("mass", "com", "inertia", "axis")}
    tip: Any = 1
    for j in range(more):
        kkt.add_body(tree, ("more", j), tip, p=(1.0 - r, 0.0, 0.0), **own)
        tip = ("more", j)
    n = 2 + more
    tree.graph.update(q=np.zeros(n), qd=np.zeros(n), tau=np.zeros(n))
    return tree


def links(
    progress: Progress,
    *,
    ratios: tuple[float, ...] = (0.1, 0.01, 0.002),
    most: int = 6,
    states: int = 40,
    seed: int = 0,
) -> Results:
    """Section 3: more links at the tip end of an ill-conditioned arm make the conditioning worse.

    The paper verified it with SD/FAST.  Here it is the joint-space inertia of Table 1's arm: medians over
    random angles of the joints, for 0 to ``most`` links more.
    """
    between("most", most, 1)
    between("states", states, 1)
    kappa: dict[float, list[float]] = {r: [] for r in ratios}
    for r, more in ((r, more) for r in ratios for more in range(most + 1)):
        progress(f"r = {r:g}, {more} links more")
        tree, draw = longer(r, more), np.random.default_rng((seed, more))
        q = draw.uniform(0.0, 2.0 * np.pi, (states, 2 + more))
        kappa[r].append(float(np.median(condition(tree, q))))
    for r, each in kappa.items():
        worse = all(a < b for a, b in pairwise(each))
        yield value("kappa", [f"{k:.1e}" for k in each], worse, r=f"{r:g}", most=most)


def light_shoulder(angle: float, mass: float) -> Any:
    """Two links of 0.1 kg, and an arm of 1 m on the third axis, its middle angle ``angle`` [rad]."""
    tree = kkt.new_tree("shoulder")
    small = np.diag([1e-4, 1e-4, 1e-4])
    for body, axis in enumerate(AXES[:2]):
        kkt.add_body(tree, body, body - 1 if body else None, mass=0.1, inertia=small, axis=axis)
    slender = mass / 12.0 * np.diag([1e-3, 1.0, 1.0])
    kkt.add_body(tree, 2, 1, mass=mass, com=(0.5, 0.1, 0.05), inertia=slender, axis=AXES[2])
    tree.graph.update(q=np.array([0.4, angle, 0.7]), qd=np.zeros(3), tau=np.zeros(3))
    return tree


def shoulder(progress: Progress, *, angles: tuple[float, ...] = ANGLES, mass: float = 10.0) -> Results:
    """Section 3, Example 2: a shoulder of three revolute joints, two of them nearly collinear.

    "Such bad cases can occur in practice": at a shoulder singularity the first and the third axis lie
    on one line, two light links carry a heavy arm, and H_2 is in the space that joint 1 has already
    taken away.  The arm hangs on axes z, y, z of one point; the middle angle is brought to zero.
    """
    above("kg", mass=mass)
    orders = {name: orderings.get(order) for order, name in NAMES.items()}
    kappa: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in orders}
    for angle in angles:
        progress(f"axes {angle:g} rad apart")
        system = kkt.build(light_shoulder(angle, mass))
        kappa.append(float(np.linalg.cond(kkt.joint_space_inertia(system, orderings.get("crbm")))))
        for name, error in errors(system, orders).items():
            found[name].append(error)
    crbm, abm = found["CRBM"], found["ABM"]
    shown = ", ".join(f"{angle:g}" for angle in angles)
    yield value("kappa", [f"{x:.1e}" for x in kappa], kappa[-1] >= 100 * kappa[0], angles=shown)
    yield value("crbm", [crbm[0], crbm[-1]], crbm[-1] >= 100 * crbm[0])
    yield value("abm", [max(abm), max(crbm)], max(abm) <= 0.1 * max(crbm))
    yield picture("shoulder", "approach", angles, kappa, found)
