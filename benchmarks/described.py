"""A tree of hinges and slides as URDF and as SDF, with every number written out in full."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from pivotree import kkt

HINGED = {"revolute", "continuous", "prismatic"}
NONE = "0 0 0 0 0 0"
GROUND = "ground"  # the link that a fixed base hangs on; it has a mass, which some readers ask for


def text(x: ArrayLike) -> str:
    return " ".join(map(repr, np.asarray(x, dtype=float).ravel().tolist()))


def joint_of(name: object) -> str:
    """The name of the joint that carries a body."""
    return f"to_{name}"


def described(tree: kkt.Tree, kind: str) -> str:
    """The file, of ``kind`` "urdf" or "sdf"; a floating root is the first link, without a joint.

    Raises ValueError for other joints.
    """
    free = tree.joint[0] == "floating"
    if set(tree.joint[free:]) - HINGED:
        raise ValueError("hinges and slides alone are written for it")
    link, joint = (_urdf_link, _urdf_joint) if kind == "urdf" else (_sdf_link, _sdf_joint)
    parts = [] if free else [link(GROUND, 1.0, np.zeros(3), np.eye(3), True)]
    if kind == "sdf" and not free:
        parts.append(
            f'<joint name="hold" type="fixed"><pose>{NONE}</pose><parent>world</parent>'
            f"<child>{GROUND}</child></joint>"
        )
    for k, name in enumerate(map(str, tree.names)):
        root = free and k == 0
        parts.append(link(name, float(tree.mass[k]), tree.com[k], tree.inertia[k], root))
        if not root:
            parent = GROUND if tree.parent[k] < 0 else str(tree.names[tree.parent[k]])
            turn = Rotation.from_matrix(tree.R[k]).as_euler("xyz")
            moves = "prismatic" if tree.joint[k] == "prismatic" else "revolute"
            parts.append(joint(name, parent, moves, text(tree.p[k]), text(turn), text(tree.axis[k, 0])))
    inside = "".join(parts)
    if kind == "urdf":
        return f'<robot name="robot">{inside}</robot>'
    return f'<sdf version="1.9"><model name="robot"><pose>{NONE}</pose>{inside}</model></sdf>'


def _six(J: Any) -> list[tuple[str, str]]:
    return [(f"i{'xyz'[i]}{'xyz'[j]}", repr(float(J[i, j]))) for i in range(3) for j in range(i, 3)]


def _urdf_link(name: str, mass: float, com: Any, J: Any, root: bool) -> str:
    six = " ".join(f'{entry}="{x}"' for entry, x in _six(J))
    origin = f'<origin xyz="{text(com)}"/>'
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass!r}"/><inertia {six}/></inertial></link>'


def _urdf_joint(name: str, parent: str, moves: str, place: str, turn: str, axis: str) -> str:
    return (
        f'<joint name="{joint_of(name)}" type="{moves}"><origin xyz="{place}" rpy="{turn}"/>'
        f'<parent link="{parent}"/><child link="{name}"/><axis xyz="{axis}"/>'
        '<limit lower="-100" upper="100" effort="1e6" velocity="1e6"/></joint>'
    )


def _sdf_link(name: str, mass: float, com: Any, J: Any, root: bool) -> str:
    at = "" if root else f' relative_to="{joint_of(name)}"'
    six = "".join(f"<{entry}>{x}</{entry}>" for entry, x in _six(J))
    inertial = f"<pose>{text(com)} 0 0 0</pose><mass>{mass!r}</mass><inertia>{six}</inertia>"
    return f'<link name="{name}"><pose{at}>{NONE}</pose><inertial>{inertial}</inertial></link>'


def _sdf_joint(name: str, parent: str, moves: str, place: str, turn: str, axis: str) -> str:
    return (
        f'<joint name="{joint_of(name)}" type="{moves}"><pose relative_to="{parent}">{place} {turn}</pose>'
        f"<parent>{parent}</parent><child>{name}</child><axis><xyz>{axis}</xyz>"
        "<limit><lower>-100</lower><upper>100</upper></limit></axis></joint>"
    )
