"""Section 1: the Stanford arm "is known to exhibit condition numbers as high as 11934".

The number is from Angeles & Ma 1988, whose masses and path we do not have.  Here it is computed for
the masses, centres and moments of Paul 1981, Tables 6.5 and 6.6, and the lengths of Scheinman's
drawing, as Corke's Robotics Toolbox hands them on; that toolbox has the centres of links 2 to 6 ten
times too far out (link 3's at 6.4 m), which are read as the centimetres that Paul prints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, between, value

# twist and offset of the joint (Denavit & Hartenberg), mass [kg], centre [m], moments [kg m^2]
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


def stanford_arm() -> Any:
    """The tree: bodies in frames at their joints, axes z."""
    tree = kkt.new_tree("stanford_arm")
    place, turn = np.zeros(3), np.eye(3)
    for k, (twist, offset, mass, centre, moments) in enumerate(LINKS):
        end, ahead = np.array([0.0, 0.0, offset]), _about_x(twist)
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
            R=turn @ (_quarter() if k == SLIDES else np.eye(3)),
        )
        place, turn = end, ahead
    tree.graph.update(q=np.zeros(6), qd=np.zeros(6), tau=np.zeros(6))
    return tree


def _about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _quarter() -> np.ndarray:
    """The third joint's constant angle, -90 degrees about z."""
    return np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def measure(progress: Progress, *, states: int = 2000, seed: int = 0) -> Results:
    """Condition numbers over random states, the actuators' inertia left out and put in."""
    between("states", states, 1)
    tree = stanford_arm()
    draw = np.random.default_rng(seed)
    q = draw.uniform(-np.pi, np.pi, (states, 6))
    q[:, SLIDES] = draw.uniform(*REACH, states)
    progress(f"{states} states")
    kernel = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia",))
    inertia = kernel(q, np.zeros((states, 6)), None)
    kappa = np.linalg.cond(inertia)
    yield value("largest", kappa.max(), states=states)
    yield value("actuated", np.linalg.cond(inertia + np.diag(ACTUATORS)).max())
