"""Mechanisms with closed loops, at rest in a state in which their loops are closed.

Each is a tree with cut joints in ``tree.graph["loops"]`` (:mod:`kkt.model.loops`).  Lengths are in
m, masses in kg, angles in rad.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ModelError
from ..base.foreign import of_kind
from .default_state import default_state
from .fields import Floats
from .gallery import AXES, IN_PLANE, box
from .loops import cut_joint
from .spatial import rotation
from .tree import add_body, new_tree

X, Y = AXES["x"], AXES["y"]
PLANAR = (2, 3)  # of a pin's five rows, those that a planar linkage does not satisfy by itself
THICK = 0.1  # a rod's width and height, of its length


@of_kind
def four_bar(
    crank: float = 1.0, coupler: float = 3.0, rocker: float = 2.5, base: float = 3.0, angle: float = 1.0
) -> nx.DiGraph:
    """Crank, coupler and rocker in the x-y plane on a base of length ``base``; one freedom.

    Links weigh 1 kg/m; ``angle`` [rad] is the crank's.  Raises ModelError for lengths that are not
    above zero, and for an angle in which the loop cannot be closed.

    >>> pt.build(pt.four_bar())
    <System four_bar: 3 bodies, 3 freedoms, 41 unknowns, 116 nonzeros, 1 loops>
    """
    for name, value in (("crank", crank), ("coupler", coupler), ("rocker", rocker), ("base", base)):
        if not (value > 0 and math.isfinite(value)):
            raise ModelError(f"gallery: four_bar has {name} = {value}; give more than zero")
    far, towards = _polar(base - crank * math.cos(angle), -crank * math.sin(angle))
    cosine = (coupler**2 + far**2 - rocker**2) / (2 * coupler * far) if far else math.inf
    if not abs(cosine) < 1.0:
        raise ModelError(
            f"gallery: four_bar cannot be closed at angle = {angle}; coupler and rocker do not "
            "meet, so give longer ones or another angle"
        )
    phi = towards + math.acos(cosine)
    tip = (
        crank * math.cos(angle) + coupler * math.cos(phi),
        crank * math.sin(angle) + coupler * math.sin(phi),
    )
    psi = math.atan2(tip[1], tip[0] - base)
    tree = new_tree("four_bar", IN_PLANE)
    _rod(tree, "crank", None, crank)
    _rod(tree, "coupler", "crank", coupler, p=(crank, 0.0, 0.0))
    _rod(tree, "rocker", None, rocker, p=(base, 0.0, 0.0))
    pin = cut_joint("coupler", "rocker", p=(coupler, 0, 0), p_second=(rocker, 0, 0), rows=PLANAR, name="pin")
    return _at_rest(tree, [angle, phi - angle, psi], [pin])


@of_kind
def stewart(height: float = 0.8, stiffness: float = 0.0) -> nx.DiGraph:
    """The platform of Gough 1956 and Stewart 1965 on six legs: 13 bodies, six freedoms.

    A leg is a tube on a universal joint and a piston, whose ball joint at the platform is cut.
    Base and platform have radii 0.6 and 0.35 m; ``height`` [m] is between them, and ``stiffness``
    [N/m] is that of a spring in each leg, at rest at this height.  Raises ModelError for a height
    that is not above zero; :func:`kkt.build` refuses a stiffness below zero.

    >>> pt.build(pt.stewart())
    <System stewart: 13 bodies, 24 freedoms, 198 unknowns, 690 nonzeros, 6 loops>
    """
    if not (height > 0 and math.isfinite(height)):
        raise ModelError(f"gallery: stewart has height = {height}; give more than zero")
    tree = new_tree("stewart")
    _body(tree, "platform", None, 10.0, (0.6, 0.6, 0.05), joint="floating", p=(0.0, 0.0, height))
    q, loops = [0.0] * 6, []
    for leg in range(6):
        third, side = divmod(leg, 2)
        low = _around(0.6, third * 120.0 + (12.0, 108.0)[side])
        high = _around(0.35, third * 120.0 + (48.0, 72.0)[side])
        span = np.array([high[0] - low[0], high[1] - low[1], height])
        length = float(np.linalg.norm(span))
        tube, piston = f"tube{leg + 1}", f"piston{leg + 1}"
        _body(tree, tube, None, 2.0, (0.06, 0.06, 0.4), (0, 0, 0.2), "universal", (X, Y), low)
        spring: dict[str, Any] = {}
        if stiffness:
            spring = {"stiffness": stiffness, "rest": length}
        _body(tree, piston, tube, 1.0, (0.04, 0.04, 0.4), (0, 0, -0.2), "prismatic", **spring)
        q += [*_universal(span / length), length]
        ball = cut_joint(piston, "platform", "spherical", p_second=high, name=f"ball{leg + 1}")
        loops.append(ball)
    return _at_rest(tree, q, loops)


@of_kind
def delta(angle: float = 0.3) -> nx.DiGraph:
    """The parallel robot of Clavel 1988: 3 arms, 6 rods and a platform, three freedoms.

    Each arm turns about a horizontal axis and carries two parallel rods on universal joints, whose
    ball joints at the platform are cut.  ``angle`` [rad] is that of all arms, below the
    horizontal; the rods are long enough for every angle.  Raises nothing for a finite angle.

    >>> pt.build(pt.delta())
    <System delta: 10 bodies, 21 freedoms, 159 unknowns, 846 nonzeros, 6 loops>
    """
    base, arm, rod, plate, apart = 0.2, 0.3, 0.7, 0.06, 0.05
    out = base + arm * math.cos(angle) - plate
    fall = math.sqrt(rod**2 - out**2)
    tree = new_tree("delta")
    down = -(arm * math.sin(angle) + fall)
    _body(tree, "platform", None, 0.4, (0.12, 0.12, 0.02), joint="floating", p=(0, 0, down))
    q, loops = [0.0] * 6, []
    for k in range(3):
        turn = rotation(np.array(AXES["z"]), np.array(math.radians(120.0 * k)))
        upper = f"arm{k + 1}"
        place = turn @ (base, 0.0, 0.0)
        _body(tree, upper, None, 0.5, (arm, 0.03, 0.03), (arm / 2, 0, 0), axis=Y, p=place, R=turn)
        q.append(angle)
        # direction of the rod, which points down along -z of its own frame, in the arm's frame
        away = np.array([-out, 0.0, -fall]) / rod
        along = rotation(np.array(Y), np.array(-angle)) @ away
        for side, y in (("a", apart), ("b", -apart)):
            name = f"rod{k + 1}{side}"
            _body(
                tree,
                name,
                upper,
                0.1,
                (0.01, 0.01, rod),
                (0, 0, -rod / 2),
                "universal",
                (X, Y),
                (arm, y, 0.0),
            )
            q += _universal(-along)
            loops.append(
                cut_joint(
                    name,
                    "platform",
                    "spherical",
                    p=(0, 0, -rod),
                    p_second=turn @ (plate, y, 0.0),
                    name=f"ball{k + 1}{side}",
                )
            )
    return _at_rest(tree, q, loops)


@of_kind
def gripper(angle: float = 0.5) -> nx.DiGraph:
    """A palm that slides upright, and two fingers that parallelograms keep upright: 3 freedoms.

    Crank and follower of a finger (0.08 m) turn on the palm, 0.03 m apart, and carry its tip,
    where one pin is cut; ``angle`` [rad] is how far the fingers are spread.  Raises ModelError for
    an angle at which the parallelogram is flat, or nearly so.

    >>> pt.build(pt.gripper())
    <System gripper: 7 bodies, 7 freedoms, 95 unknowns, 376 nonzeros, 2 loops>
    """
    if not abs(math.sin(math.pi / 2 - angle)) > 0.05:
        raise ModelError(f"gallery: gripper has angle = {angle}; its fingers are flat, use 0 to 1")
    bar, gap = 0.08, 0.03
    tree = new_tree("gripper", IN_PLANE)
    _body(tree, "palm", None, 0.6, (0.12, 0.04, 0.05), joint="prismatic", axis=Y, p=(0, 0.5, 0))
    q, loops = [0.0], []
    for name, side in (("left", -1.0), ("right", 1.0)):
        lean = -math.pi / 2 + side * angle
        crank, follower, tip = (f"{name}_{part}" for part in ("crank", "follower", "tip"))
        at = side * 0.03
        _rod(tree, crank, "palm", bar, 1.0, p=(at, -0.02, 0.0))
        size = (0.01, 0.09, 0.03)
        _body(tree, tip, crank, 0.05, size, (side * gap / 2, -0.03, 0), p=(bar, 0, 0))
        _rod(tree, follower, "palm", bar, 1.0, p=(at + side * gap, -0.02, 0.0))
        q += [lean, -lean, lean]
        pin = cut_joint(
            tip, follower, p=(side * gap, 0, 0), p_second=(bar, 0, 0), rows=PLANAR, name=f"{name}_pin"
        )
        loops.append(pin)
    return _at_rest(tree, q, loops)


def _body(
    tree: nx.DiGraph,
    name: str,
    parent: str | None,
    mass: float,
    size: tuple[float, float, float],
    com: Sequence[float] = (0.0, 0.0, 0.0),
    joint: str = "revolute",
    axis: ArrayLike = AXES["z"],
    p: Sequence[float] | Floats = (0.0, 0.0, 0.0),
    R: Floats | None = None,
    **more: Any,
) -> None:
    """A cuboid of edges ``size``."""
    more |= {} if R is None else {"R": R}
    add_body(
        tree, name, parent, mass=mass, com=com, inertia=box(mass, size), joint=joint, axis=axis, p=p, **more
    )


def _rod(
    tree: nx.DiGraph,
    name: str,
    parent: str | None,
    length: float,
    density: float = 1.0,
    p: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> None:
    """A rod along x that turns about z; ``density`` [kg/m]."""
    size = (length, THICK * length, THICK * length)
    _body(tree, name, parent, density * length, size, (length / 2, 0.0, 0.0), p=p)


def _at_rest(tree: nx.DiGraph, q: Sequence[float], loops: list) -> nx.DiGraph:
    """The tree with its loops, at rest at q, where they are closed; efforts are the default's."""
    default_state(tree)
    tree.graph.update(q=np.array(q), qd=np.zeros(len(q)), loops=tuple(loops))
    tree.graph["state_formulas"] |= {"q": "the state that closes the loops", "qd": "0"}
    return tree


def _universal(direction: Floats) -> list[float]:
    """Angles about x, then y, that turn z into a direction (3,), which is a unit vector."""
    x, y, z = map(float, direction)
    return [math.atan2(-y, z), math.asin(x)]


def _around(radius: float, degrees: float) -> tuple[float, float, float]:
    """A point of a circle in the x-y plane."""
    angle = math.radians(degrees)
    return radius * math.cos(angle), radius * math.sin(angle), 0.0


def _polar(x: float, y: float) -> tuple[float, float]:
    return math.hypot(x, y), math.atan2(y, x)
