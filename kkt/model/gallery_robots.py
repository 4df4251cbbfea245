"""Two legged robots that are no product's, with masses that are usual for their kind.

Frames have x forward, y to the left and z up at q = 0; the bodies are cuboids.
"""

from __future__ import annotations

import networkx as nx

from ..base.errors import ModelError
from ..base.kinds import of_kind
from .default_state import default_state
from .gallery import AXES, box
from .loops import contact
from .tree import add_body, new_tree

Vector = tuple[float, float, float]


def _link(
    tree: nx.DiGraph,
    name: str,
    parent: str | None,
    axis: str,  # a letter of xyz, or "" for the floating base
    p: Vector,  # joint origin in the parent [m]
    mass: float,  # [kg]
    size: Vector,  # edges of the cuboid [m]
    com: Vector = (0.0, 0.0, 0.0),  # [m]
) -> None:
    add_body(
        tree,
        name,
        parent,
        mass=mass,
        com=com,
        inertia=box(mass, size),
        joint="revolute" if axis else "floating",
        axis=AXES[axis or "z"],
        p=p,
    )


@of_kind
def quadruped(feet: int = 0, compliance: float = 0.0) -> nx.DiGraph:
    """A four-legged robot: a floating trunk and three joints a leg, 13 bodies, 18 dof, 33 kg.

    The ends of the first ``feet`` shanks stick to the ground, three rows each, softened by
    ``compliance`` [1/kg].  Raises ModelError for a number of feet beyond 0 to 4, and for a
    compliance below 0 or where no foot is on the ground.

    >>> pt.compile_tree(pt.quadruped())
    <BodyTree quadruped: 13 bodies, 18 freedoms, joints 1 floating, 12 revolute>
    """
    if not 0 <= feet <= 4:
        raise ModelError(f"gallery: quadruped has {feet} feet on the ground; ask for 0 to 4")
    if compliance and not feet:
        raise ModelError("gallery: quadruped has compliance and no foot on the ground; give feet")
    tree = new_tree("quadruped")
    shanks: list[str] = []
    _link(tree, "trunk", None, "", (0.0, 0.0, 0.55), 17.0, (0.60, 0.26, 0.20), (0.01, 0.0, 0.02))
    for fore, x in (("front", 0.28), ("hind", -0.28)):
        for side, y in (("left", 1.0), ("right", -1.0)):
            leg = f"{fore}_{side}"
            hip, thigh, shank = f"{leg}_hip", f"{leg}_thigh", f"{leg}_shank"
            start = (x, 0.10 * y, 0.0)
            _link(tree, hip, "trunk", "x", start, 1.8, (0.12, 0.10, 0.10), (0.02, 0.01 * y, 0.0))
            _link(
                tree, thigh, hip, "y", (0.0, 0.09 * y, 0.0), 1.9, (0.06, 0.06, 0.30), (0.0, -0.01 * y, -0.08)
            )
            _link(tree, shank, thigh, "y", (0, 0, -0.3), 0.3, (0.03, 0.03, 0.30), (0.0, 0.0, -0.13))
            shanks.append(shank)
    if feet:
        across = (AXES["x"], AXES["y"])
        tree.graph["loops"] = tuple(
            contact(shank, (0, 0, -0.28), tangents=across, compliance=compliance, name=f"{shank} on ground")
            for shank in shanks[:feet]
        )
    return default_state(tree, rate=0.5, effort=2.0)


# one limb a table: body, axis, origin, mass, size, centre of mass; y is mirrored on the right
_LEG: list[tuple[str, str, Vector, float, Vector, Vector]] = [
    ("hip_yaw", "z", (0.0, 0.09, -0.08), 1.6, (0.12, 0.10, 0.10), (0.0, 0.0, -0.03)),
    ("hip_roll", "x", (0.0, 0.0, -0.06), 1.8, (0.12, 0.10, 0.12), (-0.02, 0.0, 0.0)),
    ("thigh", "y", (0.0, 0.02, 0.0), 6.4, (0.13, 0.12, 0.38), (0.0, 0.01, -0.17)),
    ("shank", "y", (0.0, 0.0, -0.38), 3.4, (0.10, 0.09, 0.36), (0.01, 0.0, -0.15)),
    ("ankle", "y", (0.0, 0.0, -0.38), 0.9, (0.08, 0.07, 0.07), (0.0, 0.0, 0.0)),
    ("foot", "x", (0.0, 0.0, 0.0), 1.1, (0.24, 0.10, 0.04), (0.03, 0.0, -0.06)),
]
_ARM: list[tuple[str, str, Vector, float, Vector, Vector]] = [
    ("shoulder_pitch", "y", (0.0, 0.17, 0.34), 1.5, (0.10, 0.10, 0.10), (0.0, 0.03, 0.0)),
    ("shoulder_roll", "x", (0.0, 0.07, 0.0), 1.2, (0.10, 0.09, 0.10), (0.0, 0.0, -0.02)),
    ("upper_arm", "z", (0.0, 0.0, -0.06), 1.7, (0.09, 0.08, 0.22), (0.0, 0.0, -0.11)),
    ("elbow", "y", (0.02, 0.0, -0.22), 1.1, (0.08, 0.08, 0.10), (-0.01, 0.0, -0.03)),
    ("forearm", "z", (-0.02, 0.0, -0.06), 1.2, (0.07, 0.07, 0.20), (0.0, 0.0, -0.09)),
    ("wrist_pitch", "y", (0.0, 0.0, -0.20), 0.35, (0.05, 0.05, 0.05), (0.0, 0.0, 0.0)),
    ("palm", "x", (0.0, 0.0, -0.02), 0.45, (0.04, 0.08, 0.10), (0.0, 0.0, -0.06)),
]
_FINGERS: list[tuple[str, str, Vector]] = [
    ("thumb", "z", (0.02, -0.04, -0.04)),
    ("index", "y", (0.0, -0.025, -0.11)),
    ("middle", "y", (0.0, 0.025, -0.11)),
]


def humanoid() -> nx.DiGraph:
    """A humanoid whose light hands have three fingers: 45 bodies, 50 dof, 79 kg.

    The ratio of the heaviest to the lightest body is about 470.

    >>> pt.compile_tree(pt.humanoid())
    <BodyTree humanoid: 45 bodies, 50 freedoms, joints 1 floating, 44 revolute>
    """
    tree = new_tree("humanoid")
    _link(tree, "pelvis", None, "", (0.0, 0.0, 0.95), 9.5, (0.18, 0.26, 0.16), (0.0, 0.0, -0.02))
    _link(tree, "waist_yaw", "pelvis", "z", (0.0, 0.0, 0.09), 1.5, (0.12, 0.12, 0.08))
    _link(tree, "waist_roll", "waist_yaw", "x", (0.0, 0.0, 0.06), 1.5, (0.12, 0.12, 0.08))
    _link(tree, "torso", "waist_roll", "y", (0, 0, 0), 16.5, (0.20, 0.30, 0.40), (0.01, 0.0, 0.20))
    _link(tree, "neck_yaw", "torso", "z", (0.0, 0.0, 0.44), 0.5, (0.06, 0.06, 0.06))
    _link(tree, "neck_roll", "neck_yaw", "x", (0.0, 0.0, 0.04), 0.4, (0.06, 0.06, 0.06))
    _link(tree, "head", "neck_roll", "y", (0, 0, 0.02), 2.8, (0.18, 0.16, 0.22), (0.02, 0.0, 0.10))
    for side, y in (("left", 1.0), ("right", -1.0)):
        for limb, root in ((_LEG, "pelvis"), (_ARM, "torso")):
            parent = root
            for body, axis, p, mass, size, com in limb:
                name = f"{side}_{body}"
                at, centre = (p[0], y * p[1], p[2]), (com[0], y * com[1], com[2])
                _link(tree, name, parent, axis, at, mass, size, centre)
                parent = name
        for finger, axis, p in _FINGERS:
            knuckle, tip = f"{side}_{finger}_proximal", f"{side}_{finger}_distal"
            at, half = (p[0], y * p[1], p[2]), (0.0, 0.0, -0.02)
            _link(tree, knuckle, f"{side}_palm", axis, at, 0.05, (0.02, 0.02, 0.04), half)
            _link(tree, tip, knuckle, "y", (0, 0, -0.045), 0.035, (0.018, 0.018, 0.04), half)
    return default_state(tree, rate=0.5, effort=2.0)
