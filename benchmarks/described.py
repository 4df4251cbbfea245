"""A tree of hinges and slides as URDF and as SDF, with every number written out in full."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

HINGED = {"revolute", "continuous", "prismatic"}
NONE = "0 0 0 0 0 0"
GROUND = "ground"  # the link that a fixed base hangs on; it has a mass, which some readers ask for
ENTRY = {"urdf": '{0}="{1}" ', "sdf": "<{0}>{1}</{0}>"}
LINK = {
    "urdf": '<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass!r}"/>'
    "<inertia {six}/></inertial></link>",
    "sdf": f'<link name="{{name}}"><pose{{at}}>{NONE}</pose><inertial><pose>{{com}} 0 0 0</pose>'
    "<mass>{mass!r}</mass><inertia>{six}</inertia></inertial></link>",
}
JOINT = {
    "urdf": '<joint name="{joint}" type="{moves}"><origin xyz="{place}" rpy="{turn}"/>'
    '<parent link="{parent}"/><child link="{name}"/><axis xyz="{axis}"/>'
    '<limit lower="-100" upper="100" effort="1e6" velocity="1e6"/></joint>',
    "sdf": '<joint name="{joint}" type="{moves}"><pose relative_to="{parent}">{place} {turn}</pose>'
    "<parent>{parent}</parent><child>{name}</child><axis><xyz>{axis}</xyz>"
    "<limit><lower>-100</lower><upper>100</upper></limit></axis></joint>",
}


def text(x: ArrayLike) -> str:
    return " ".join(map(repr, np.asarray(x, dtype=float).ravel().tolist()))


def joint_of(name: object) -> str:
    """The name of the joint that carries a body."""
    return f"to_{name}"


def described(tree: Any, kind: str) -> str:
    """The file of a ``System.tree``, of ``kind`` "urdf" or "sdf".

    A floating root is the first link, without a joint.  Raises ValueError for other joints.
    """
    free = tree.joint[0] == "floating"
    if set(tree.joint[free:]) - HINGED:
        raise ValueError("hinges and slides alone are written for it")
    parts = [] if free else [_link(kind, GROUND, 1.0, np.zeros(3), np.eye(3), True)]
    if kind == "sdf" and not free:
        parts.append(
            f'<joint name="hold" type="fixed"><pose>{NONE}</pose><parent>world</parent>'
            f"<child>{GROUND}</child></joint>"
        )
    for k, name in enumerate(map(str, tree.names)):
        root = free and k == 0
        parts.append(_link(kind, name, float(tree.mass[k]), tree.com[k], tree.inertia[k], root))
        if not root:
            parent = GROUND if tree.parent[k] < 0 else str(tree.names[tree.parent[k]])
            turn = Rotation.from_matrix(tree.R[k]).as_euler("xyz")
            moves = "prismatic" if tree.joint[k] == "prismatic" else "revolute"
            told = {"place": text(tree.p[k]), "turn": text(turn), "axis": text(tree.axis[k, 0])}
            told |= {"joint": joint_of(name), "name": name, "parent": parent, "moves": moves}
            parts.append(JOINT[kind].format(**told))
    inside = "".join(parts)
    if kind == "urdf":
        return f'<robot name="robot">{inside}</robot>'
    return f'<sdf version="1.9"><model name="robot"><pose>{NONE}</pose>{inside}</model></sdf>'


def _link(kind: str, name: str, mass: float, com: Any, J: Any, root: bool) -> str:
    at = "" if root else f' relative_to="{joint_of(name)}"'
    pairs = [(f"i{'xyz'[i]}{'xyz'[j]}", float(J[i, j])) for i in range(3) for j in range(i, 3)]
    six = "".join(ENTRY[kind].format(*pair) for pair in pairs).strip()
    return LINK[kind].format(name=name, mass=mass, com=text(com), six=six, at=at)
