"""Families of robots that grow by one link at a time, all of whose links are alike.

Links have a full inertia and a centre of mass off every axis, so that no zero is a coincidence of
the family; what is zero or one comes from the frames and the joints.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt.base.errors import ModelError, nearest
from pivotree.kkt.model.spatial import rotation
from pivotree.kkt.model.tree import default_state

Floats = NDArray[np.float64]

COM = (0.1, 0.2, 0.3)
INERTIA = np.diag([1.0, 2.0, 2.5]) + 0.1 * (np.ones((3, 3)) - np.eye(3))
TWIST = rotation(np.array([1.0, 0.0, 0.0]), np.array(0.7))  # Denavit-Hartenberg's alpha, generic
SKEW = rotation(np.array([2.0, 3.0, 6.0]) / 7.0, np.array(0.8))  # a turn without zeros
AXIS = (2.0, -3.0, 6.0)
ALONG, OFFSET = np.array([0.3, 0.0, 0.0]), np.array([0.0, 0.0, 0.2])  # a and d
REACH = np.array([0.3, 0.1, 0.2])


@dataclass(frozen=True)
class Family:
    """Robots of n links; bodies are named n, or (n, part) for frames that belong to link n.

    >>> from pivotree.analysis.counts import Family
    >>> rods = Family("rods", "rods that turn about z", lambda n: pt.chain(n, axes="z"))
    >>> rods.system(3).tree.n, [rods.size(i) for i in (1, 2, 3)]
    (3, [1, 2, 3])
    """

    name: str
    what: str  # one line
    build: Callable[[int], nx.DiGraph[Any]]
    chain: bool = True  # link n + 1 hangs on link n
    doubles: bool = False  # n = 2^h - 1, for h = 1, 2 ...
    variable: str = "links"

    def size(self, i: int) -> int:
        """n of the i-th member, i = 1, 2 ..."""
        return 2**i - 1 if self.doubles else i

    def system(self, n: int) -> kkt.System:
        return kkt.build(default_state(self.build(n)))


def link_of(body: Hashable) -> int:
    """The link that a body of a family belongs to."""
    link: Any = body[0] if isinstance(body, tuple) else body
    return int(link)


def _add(tree: nx.DiGraph[Any], name: Hashable, parent: Hashable | None, **joint: object) -> None:
    kkt.add_body(tree, name, parent, mass=1.0, com=COM, inertia=INERTIA, **joint)  # type: ignore[arg-type]


def _frame(tree: nx.DiGraph[Any], name: Hashable, parent: Hashable, R: Floats, p: Floats) -> None:
    """A massless frame, fixed in its parent: one factor of Phi."""
    kkt.add_body(tree, name, parent, mass=0.0, joint="fixed", R=R, p=p)


def denavit_hartenberg(n: int) -> nx.DiGraph[Any]:
    """Rot_x(alpha) Trans_x(a) Trans_z(d) Rot_z(q), each factor of Phi applied by itself."""
    tree = kkt.new_tree(f"denavit_hartenberg_{n}")
    still, here = np.eye(3), np.zeros(3)
    _add(tree, 1, None)
    for k in range(2, n + 1):
        _frame(tree, (k, "a"), k - 1, still, ALONG)
        _frame(tree, (k, "alpha"), (k, "a"), TWIST, here)
        _frame(tree, (k, "d"), (k, "alpha"), still, OFFSET)
        _add(tree, k, (k, "d"))
    return tree


def _chain(name: str, n: int, R: Floats = SKEW, p: Floats = REACH, **joint: object) -> nx.DiGraph[Any]:
    tree = kkt.new_tree(f"{name}_{n}")
    for k in range(1, n + 1):
        place = {"R": R, "p": p} if k > 1 else {}
        _add(tree, k, k - 1 if k > 1 else None, **place, **joint)
    return tree


def floating(n: int) -> nx.DiGraph[Any]:
    """Link 0 floats and carries a chain of n links."""
    tree = kkt.new_tree(f"floating_{n}")
    _add(tree, 0, None, joint="floating")
    for k in range(1, n + 1):
        _add(tree, k, k - 1, R=SKEW, p=REACH, axis=AXIS)
    return tree


def planar(n: int) -> nx.DiGraph[Any]:
    """Rods in a plane, as in Ascher, Pai & Cloutier 1996, Example 1."""
    tree = kkt.chain(n, axes="z")
    return nx.relabel_nodes(tree, {f"j{k}": k for k in range(1, n + 1)})


def star(n: int, **joint: object) -> nx.DiGraph[Any]:
    """Link 0 carries n leaves."""
    tree = kkt.new_tree(f"star_{n}")
    joint = joint or {"axis": AXIS}
    for k in range(n + 1):
        place = {"R": SKEW, "p": REACH} if k else {}
        _add(tree, k, 0 if k else None, **joint, **place)
    return tree


def binary(n: int) -> nx.DiGraph[Any]:
    """A full binary tree of n = 2^h - 1 links."""
    tree = kkt.new_tree(f"binary_{n}")
    for k in range(1, n + 1):
        place = {"R": SKEW, "p": REACH} if k > 1 else {}
        _add(tree, k, k // 2 if k > 1 else None, axis=AXIS, **place)
    return tree


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "dh",
            "revolute joints, Denavit-Hartenberg frames, Phi kept in its four factors",
            denavit_hartenberg,
        ),
        Family(
            "dh_whole",
            "the same with Phi as one 6 x 6 block",
            partial(_chain, "denavit_hartenberg_whole", R=TWIST, p=ALONG + TWIST @ OFFSET),
        ),
        Family("revolute", "revolute joints on skew axes", partial(_chain, "revolute", axis=AXIS)),
        Family("planar", "rods in a plane, parallel revolute joints", planar),
        Family(
            "prismatic",
            "sliding joints in skew directions",
            partial(_chain, "prismatic", joint="prismatic", axis=AXIS),
        ),
        Family("spherical", "ball joints", partial(_chain, "spherical", joint="spherical")),
        Family("floating", "a floating link and n revolute joints after it", floating),
        Family("star", "a hub with n leaves, revolute", star, chain=False, variable="leaves"),
        Family(
            "star_spherical",
            "a hub with n leaves on ball joints",
            partial(star, joint="spherical"),
            chain=False,
            variable="leaves",
        ),
        Family(
            "binary", "full binary trees of n = 2^h - 1 links, revolute", binary, chain=False, doubles=True
        ),
    )
}
"""Families of robots whose counts are tabled, by name.

>>> from pivotree.analysis.counts import FAMILIES
>>> FAMILIES["planar"].what
'rods in a plane, parallel revolute joints'
"""


def family_of(name: str) -> Family:
    """A family by its name, with ``+armature`` or ``+contact`` of :data:`MORE` after it, or both.

    Raises ModelError with the nearest names.

    >>> from pivotree.analysis.counts import family_of
    >>> family_of("planar+armature").what
    'rods in a plane, parallel revolute joints; armature on every joint'
    """
    plain, *more = name.split("+")
    if plain not in FAMILIES:
        raise ModelError(f"family {plain!r}", "is unknown", nearest(plain, FAMILIES))
    family = FAMILIES[plain]
    for word in more:
        if word not in MORE:
            known = " or ".join(f"{plain}+{one}" for one in MORE)
            raise ModelError(f"family {name!r}", f"{word!r} is unknown", f"write {known}")
        what, change = MORE[word]
        family = replace(
            family,
            name=f"{family.name}+{word}",
            what=f"{family.what}; {what}",
            build=partial(_changed, family.build, change),
        )
    return family


def _changed(
    build: Callable[[int], nx.DiGraph[Any]], change: Callable[[nx.DiGraph[Any]], None], n: int
) -> nx.DiGraph[Any]:
    tree = build(n)
    change(tree)
    return tree


def _geared(tree: nx.DiGraph[Any]) -> None:
    for _, data in tree.nodes(data=True):
        if data["joint"] != "fixed":
            data["armature"] = 0.1


def _held(tree: nx.DiGraph[Any]) -> None:
    last = max(tree, key=link_of)  # rows are soft: of one joint they would follow from each other
    across = np.eye(3)[:2]
    tree.graph["loops"] = [kkt.contact(last, REACH, tangents=across, compliance=1e-3, name="contact")]


MORE = {
    "armature": ("armature on every joint", _geared),
    "contact": ("a point of the last link held by three soft rows", _held),
}
