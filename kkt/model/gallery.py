"""A gallery of trees: families for tests and sweeps.  Single robots are in :mod:`kkt.model.examples`.

Every builder returns a networkx.DiGraph made with :func:`kkt.model.tree.add_body` and puts a state
into ``tree.graph`` as ``q``, ``qd`` and ``tau``, in the order of the graph's nodes: the paper's
where a paper prescribes one, else :func:`kkt.model.tree.default_state`.  Lengths are in m,
masses in kg, angles in rad.  :func:`kkt.model.load.from_spec` builds from a text such as
``chain:100``.
"""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from ..base.errors import ModelError, nearest
from ..base.foreign import of_kind
from .fields import Floats
from .joints import TYPES
from .tree import STANDARD_GRAVITY, add_body, default_state, new_tree

MOST_BODIES = 10_000_000  # bodies of a graph; larger trees come from arrays
IN_PLANE = (0.0, -9.81, 0.0)  # gravity [m/s^2] for arms that move in the x-y plane
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def box(mass: float, size: tuple[float, float, float]) -> Floats:
    """Inertia (3, 3) [kg m^2] about the centre of a homogeneous cuboid of edges ``size`` [m]."""
    x, y, z = (edge * edge for edge in size)
    return mass * np.diag([(y + z) / 12, (x + z) / 12, (x + y) / 12])


def need(ok: bool, what: str, remedy: str) -> None:
    if not ok:
        raise ModelError("gallery", what, remedy)


def count(n: int, what: str, least: int = 1) -> None:
    need(least <= n <= MOST_BODIES, what, f"ask for {least} to {MOST_BODIES:,}")


def joint_type(joint: str) -> str:
    if joint not in TYPES:
        raise ModelError("gallery", f"joint {joint!r} is unknown", nearest(joint, TYPES))
    return joint


# families -------------------------------------------------------------------------------------


def _rods(
    name: str,
    parents: list[int],
    joint: str = "revolute",
    axes: str = "zy",
    length: float = 0.1,
    width: float = 0.02,
    mass: float = 1.0,
    gravity: tuple[float, float, float] = STANDARD_GRAVITY,
) -> nx.DiGraph[Any]:
    """Equal rods along x, ``j1`` ...; ``parents`` are indices from 0, -1 for the world.

    The k-th joint turns about the letter of ``axes`` that its depth picks, so that all joints of
    one level are alike.
    """
    need(len(parents) > 0, f"{name} has no bodies", "ask for at least one")
    need(axes != "" and set(axes) <= set(AXES), f"axes is {axes!r}", "use letters of xyz")
    for what, value in (("length", length), ("width", width), ("mass", mass)):
        need(value > 0 and math.isfinite(value), f"{what} is {value}", "give more than zero")
    tree = new_tree(name, gravity)
    rod: dict[str, Any] = {"mass": mass, "com": (length / 2, 0.0, 0.0), "joint": joint_type(joint)}
    rod["inertia"] = box(mass, (length, width, width))
    depth: list[int] = []
    for k, parent in enumerate(parents):
        depth.append(0 if parent < 0 else depth[parent] + 1)
        axis: Any = AXES[axes[depth[k] % len(axes)]]
        if joint == "universal":
            axis = (axis, AXES[axes[(depth[k] + 1) % len(axes)]])
        before, tip = (None, 0.0) if parent < 0 else (f"j{parent + 1}", length)
        add_body(tree, f"j{k + 1}", before, axis=axis, p=(tip, 0.0, 0.0), **rod)
    return default_state(tree)


@of_kind
def chain(
    n: int,
    joint: str = "revolute",
    axes: str = "zy",
    length: float = 0.1,
    width: float = 0.02,
    mass: float = 1.0,
    gravity: tuple[float, float, float] = STANDARD_GRAVITY,
) -> nx.DiGraph[Any]:
    """n rods, one after another, base to tip; axes alternate along ``axes``, z first.

    ``length`` and ``width`` [m] and ``mass`` [kg] are those of a rod, ``gravity`` (3,) [m/s^2].
    ``axes="z"`` makes a planar chain (give it ``gravity=IN_PLANE`` to let it swing).  Raises
    ModelError for no body or too many, an unknown joint or axis, and sizes that are not above zero.

    >>> pt.compile_tree(pt.chain(100))
    <BodyTree chain_100: 100 bodies, 100 freedoms, joints 100 revolute>
    """
    count(n, f"chain has {n} bodies")
    return _rods(f"chain_{n}", list(range(-1, n - 1)), joint, axes, length, width, mass, gravity)


@of_kind
def star(n: int, joint: str = "revolute") -> nx.DiGraph[Any]:
    """A hub and n leaves: n + 1 bodies.

    Raises ModelError for no leaf or too many, and for an unknown joint.

    >>> pt.compile_tree(pt.star(4)).parent
    array([-1,  0,  0,  0,  0])
    """
    count(n, f"star has {n} leaves")
    return _rods(f"star_{n}", [-1] + [0] * n, joint)


@of_kind
def binary(depth: int, joint: str = "revolute") -> nx.DiGraph[Any]:
    """Every body above the last level carries two: 2^(depth + 1) - 1 bodies.

    Raises ModelError for a depth beyond 0 to 24, and for an unknown joint.

    >>> len(pt.binary(3))
    15
    """
    need(0 <= depth <= 24, f"binary has depth {depth}", "ask for 0 to 24")
    return _rods(f"binary_{depth}", [-1] + [k // 2 for k in range(2 ** (depth + 1) - 2)], joint)


@of_kind
def comb(n: int, joint: str = "revolute") -> nx.DiGraph[Any]:
    """A chain of n bodies, each with one leaf as its tooth: 2 n bodies.

    Raises ModelError for no body or too many, and for an unknown joint.

    >>> pt.compile_tree(pt.comb(5))
    <BodyTree comb_5: 10 bodies, 10 freedoms, joints 10 revolute>
    """
    count(n, f"comb has {n} teeth")
    parents = [2 * (k // 2 - 1) if k % 2 == 0 else k - 1 for k in range(2 * n)]
    return _rods(f"comb_{n}", [max(parent, -1) for parent in parents], joint)
