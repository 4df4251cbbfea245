"""Robots of the gallery: the papers' own examples, legged robots, mechanisms, and trees drawn at random.

Mechanisms with closed loops are trees with cut joints in ``tree.graph["loops"]``
(:mod:`kkt.model.loops`), at rest in a state in which their loops are closed.  At the end stands the
list of every name that :func:`kkt.load` knows.
"""

from __future__ import annotations

import inspect
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..base.foreign import of_kind
from ..base.reading import read_json
from . import robots
from .fields import Floats
from .gallery import AXES, IN_PLANE, box, count, joint_type, need
from .joints import GENERAL
from .load import EXAMPLES, arguments_of, builder
from .spatial import rotation
from .tree import add_body, count_dof, default_state, new_tree

# the papers' examples: bodies 1 (tip) and 2 (base), numbered as in Ascher 1996 -----------------


def _two_links(
    name: str, lengths: Floats, masses: Floats, width: float, q: tuple[float, float], tilt: float
) -> nx.DiGraph[Any]:
    """Two rectangular links in the x-y plane at rest; arguments as (base, tip) pairs.

    ``tilt`` turns all frames, the world's among them, by that angle about x: the same arm in
    coordinates where the joint axis is (0, sin tilt, cos tilt) instead of z.
    """
    turn = rotation(np.array([1.0, 0.0, 0.0]), np.array(-tilt))
    tree = new_tree(name, tuple(turn @ IN_PLANE))
    for k, body in enumerate((2, 1)):
        length = float(lengths[k])
        inertia = turn @ box(float(masses[k]), (length, width, width)) @ turn.T
        add_body(
            tree,
            body,
            None if k == 0 else 2,
            mass=float(masses[k]),
            com=(length / 2, 0.0, 0.0),
            inertia=(inertia + inertia.T) / 2,
            axis=turn @ (0.0, 0.0, 1.0),
            p=(0.0, 0.0, 0.0) if k == 0 else (float(lengths[0]), 0.0, 0.0),
        )
    tree.graph.update(q=np.array(q), qd=np.zeros(2), tau=np.zeros(2))
    return tree


@of_kind
def two_link(r: float = 0.1, tilt: float = 0.0) -> nx.DiGraph[Any]:
    """The arm of Ascher 1996, Table 1: l2 = m2 = r (base), l1 = m1 = 1 - r (tip), width 0.1 m.

    At rest from q = 0, gravity in the plane of motion and orthogonal to the arm.  Raises
    ModelError for a ratio ``r`` that is not between 0 and 1.

    >>> pt.compile_tree(pt.two_link(r=0.1)).mass
    array([0.1, 0.9])
    """
    need(0.0 < r < 1.0, f"two_link has r = {r}", "give a ratio of lengths between 0 and 1")
    sizes = np.array([r, 1.0 - r])
    return _two_links(f"two_link_{r!r}", sizes, sizes, 0.1, (0.0, 0.0), tilt)


@of_kind
def example1(
    q1: float = 0.0,
    tilt: float = 0.0,
    m1: float = 10.0,
    l1: float = 2.0,
    m2: float = 0.1,
    l2: float = 0.02,
    width: float = 0.02,
) -> nx.DiGraph[Any]:
    """Ascher 1996, Example 1 and Fig. 1: tip 2 m, 10 kg; base 0.02 m, 0.1 kg; widths 0.02 m.

    ``q1`` [rad] is the angle of the tip joint, which Fig. 1 sweeps from 0 to 2 pi; torques are
    zero.  Raises ModelError for a mass or a length that is not above zero.

    >>> pt.compile_tree(pt.example1(q1=0.5)).mass
    array([ 0.1, 10. ])
    """
    for name, value in (("m1", m1), ("l1", l1), ("m2", m2), ("l2", l2), ("width", width)):
        need(math.isfinite(value) and value > 0, f"example1 has {name} = {value}", "give above zero")
    lengths, masses = np.array([l2, l1]), np.array([m2, m1])
    return _two_links("example1", lengths, masses, width, (0.0, float(q1)), tilt)


@of_kind
def example2(m1: float = 1e8) -> nx.DiGraph[Any]:
    """Ascher 1996, Example 2: two collinear prismatic joints, Phi_21 = 1, m2 = 1.

    ``m1`` [kg].  Raises ModelError where it is not above zero.

    >>> system = pt.build(pt.example2(m1=1e8))
    >>> pt.eliminate(system, pt.orderings.get("modified_abm"), "float32").qdd
    array([-971.19,  971.19], dtype=float32)
    """
    need(m1 > 0 and math.isfinite(m1), f"example2 has m1 = {m1}", "give a mass above zero")
    tree = example3(m1, 1)
    tree.graph["name"] = "example2"
    return tree


@of_kind
def example3(m1: float = 1e8, case: int = 1, angle: float = math.nan) -> nx.DiGraph[Any]:
    """Ascher 1996, Example 3 and Table 2: M_k = m_k times the 6 x 6 identity, a = b = 0.

    H = (0, 0, 0, 0, sin, cos) of ``angle`` [degrees], in single precision as in the paper's
    computation; the default is 0 in case 1, 45 in case 2.  In exact arithmetic D_2 = H H*.
    Raises ModelError for a mass ``m1`` [kg] that is not above zero, and for another case.

    >>> system = pt.build(pt.example3(m1=1e8, case=1))
    >>> pt.eliminate(system, pt.orderings.get("abm"), "float32").qdd
    array([-971.19,  971.19], dtype=float32)
    """
    need(m1 > 0 and math.isfinite(m1), f"example3 has m1 = {m1}", "give a mass above zero")
    need(case in (1, 2), f"example3 has case = {case}", "the paper has 1 and 2")
    turn = math.radians((0.0 if case == 1 else 45.0) if math.isnan(angle) else angle)
    H = [[0.0]] * 4 + [[float(np.float32(f(turn)))] for f in (math.sin, math.cos)]
    tree = new_tree("example3", (0.0, 0.0, 0.0))
    for body, parent, mass in ((2, None, 1.0), (1, 2, float(m1))):
        add_body(tree, body, parent, mass=mass, inertia=mass * np.eye(3), joint=GENERAL, S=H)
    tree.graph.update(q=np.zeros(2), qd=np.zeros(2), tau=np.array([9.81, 981.0]))
    return tree


def rr_arm() -> nx.DiGraph[Any]:
    """The planar arm of Pasic, Williams & Hui 1999, section 4.1, at the start: rest, theta = 0.

    Its torques are 0.4 t and 0.1 t, zero at the start.  The paper prints I_33 alone, and no other
    moment has an effect; the other two are chosen so that the links are slender.

    >>> system = pt.build(pt.rr_arm(), tau=[1.0, 0.0])
    >>> pt.eliminate(system, pt.orderings.get("abm")).qdd.round(3)
    array([-30.039,  43.273])
    """
    return _of_file("rr_arm")


# two legged robots that are no product's, with masses that are usual for their kind, and mechanisms


def _of_file(name: str, rate: float = 0.2, effort: float = 0.1) -> nx.DiGraph[Any]:
    """A robot of the folder ``robots``: arguments of add_body and, of loops, those of a file of loops.

    A mechanism is at rest at the file's q, where its loops are closed; a paper's robot is in its state.
    """
    from .modelfile import loops_from

    held = read_json(Path(__file__).with_name("robots") / f"{name}.json")
    tree = new_tree(name, held["gravity"])
    for body in held["bodies"]:
        add_body(tree, **body)
    if "state" in held:
        tree.graph.update({key: np.array(x) for key, x in held["state"].items()})
        return tree
    default_state(tree, rate, effort)
    if "loops" in held:
        q = np.array(held["q"])
        tree.graph.update(q=q, qd=np.zeros(len(q)), loops=loops_from(held["loops"], tree))
        tree.graph["state_formulas"] |= {"q": "the state that closes the loops", "qd": "0"}
    return tree


@of_kind
def quadruped(feet: int = 0, compliance: float = 0.0) -> nx.DiGraph[Any]:
    """A four-legged robot: a floating trunk and three joints a leg, 13 bodies, 18 dof, 33 kg.

    The ends of the first ``feet`` shanks stick to the ground, three rows each, softened by
    ``compliance`` [1/kg].  Raises ModelError for a number of feet beyond 0 to 4, and for a
    compliance below 0 or where no foot is on the ground.

    >>> pt.compile_tree(pt.quadruped())
    <BodyTree quadruped: 13 bodies, 18 freedoms, joints 1 floating, 12 revolute>
    """
    need(0 <= feet <= 4, f"quadruped has {feet} feet on the ground", "ask for 0 to 4")
    need(not compliance or feet > 0, "quadruped has compliance and no foot on the ground", "give feet")
    tree = _of_file("quadruped", 0.5, 2.0)
    if feet:
        from .loops import contact

        across = (AXES["x"], AXES["y"])
        shanks = [body for body in tree if body.endswith("shank")][:feet]
        tree.graph["loops"] = tuple(
            contact(shank, (0, 0, -0.28), tangents=across, compliance=compliance, name=f"{shank} on ground")
            for shank in shanks
        )
    return tree


def humanoid() -> nx.DiGraph[Any]:
    """A humanoid whose light hands have three fingers: 45 bodies, 50 dof, 79 kg.

    The ratio of the heaviest to the lightest body is about 470.

    >>> pt.compile_tree(pt.humanoid())
    <BodyTree humanoid: 45 bodies, 50 freedoms, joints 1 floating, 44 revolute>
    """
    return _of_file("humanoid", 0.5, 2.0)


def four_bar() -> nx.DiGraph[Any]:
    """Crank 1 m, coupler 3 m and rocker 2.5 m in the x-y plane on a base of 3 m; one freedom.

    Links weigh 1 kg/m; the crank stands at 1 rad.

    >>> pt.build(pt.four_bar())
    <System four_bar: 3 bodies, 3 freedoms, 41 unknowns, 116 nonzeros, 1 loops>
    """
    return _of_file("four_bar")


def stewart() -> nx.DiGraph[Any]:
    """The platform of Gough 1956 and Stewart 1965 on six legs: 13 bodies, six freedoms.

    A leg is a tube on a universal joint and a piston, whose ball joint at the platform is cut.
    Base and platform have radii 0.6 and 0.35 m, and are 0.8 m apart.

    >>> pt.build(pt.stewart())
    <System stewart: 13 bodies, 24 freedoms, 198 unknowns, 690 nonzeros, 6 loops>
    """
    return _of_file("stewart")


def delta() -> nx.DiGraph[Any]:
    """The parallel robot of Clavel 1988: 3 arms, 6 rods and a platform, three freedoms.

    Each arm turns about a horizontal axis, stands 0.3 rad below the horizontal, and carries two
    parallel rods on universal joints, whose ball joints at the platform are cut.

    >>> pt.build(pt.delta())
    <System delta: 10 bodies, 21 freedoms, 159 unknowns, 846 nonzeros, 6 loops>
    """
    return _of_file("delta")


def gripper() -> nx.DiGraph[Any]:
    """A palm that slides upright, and two fingers that parallelograms keep upright: 3 freedoms.

    Crank and follower of a finger (0.08 m) turn on the palm, 0.03 m apart, and carry its tip,
    where one pin is cut; the fingers are spread by 0.5 rad.

    >>> pt.build(pt.gripper())
    <System gripper: 7 bodies, 7 freedoms, 95 unknowns, 376 nonzeros, 2 loops>
    """
    return _of_file("gripper")


# -- drawn at random -----------------------------------------------------------------------------

MIXTURE = "revolute+revolute+revolute+prismatic+cylindrical+universal+spherical+planar+floating"


@of_kind
def random_tree(n: int, seed: int = 0, mass_ratio: float = 1.0, joints: str = MIXTURE) -> nx.DiGraph[Any]:
    """n bodies, each on a parent drawn among the eight before it, everything else drawn too.

    Masses are log-uniform in [1, mass_ratio], bodies are cuboids of density 1000 kg/m^3 in a
    random pose; joint types are drawn from ``joints``, names joined with ``+`` (a name given
    twice is twice as likely).  The same seed gives the same tree everywhere: only
    ``random.Random.random`` is drawn from, whose sequence Python guarantees.  Raises ModelError
    for no body or too many, a ratio that is not above 0, an unknown joint, and joints that are
    all fixed.

    >>> pt.compile_tree(pt.random_tree(20, seed=1, mass_ratio=1e4, joints="revolute"))
    <BodyTree random_20_seed_1: 20 bodies, 20 freedoms, joints 20 revolute>
    """
    count(n, f"random_tree has {n} bodies")
    need(mass_ratio > 0 and math.isfinite(mass_ratio), f"mass_ratio is {mass_ratio}", "give > 0")
    kinds = [joint_type(kind) for kind in joints.split("+")]
    draw = random.Random(seed).random

    def direction() -> NDArray[np.float64]:
        z, angle = 2.0 * draw() - 1.0, 2.0 * math.pi * draw()
        r = math.sqrt(1.0 - z * z)
        return np.array([r * math.cos(angle), r * math.sin(angle), z])

    tree = new_tree(f"random_{n}_seed_{seed}")
    for k in range(n):
        mass = mass_ratio ** draw()
        size = [0.5 + draw() for _ in range(3)]
        scale = (mass / 1000.0 / math.prod(size)) ** (1.0 / 3.0)
        edges = (scale * size[0], scale * size[1], scale * size[2])
        turn = rotation(direction(), np.array(math.pi * draw()))
        inertia = turn @ box(mass, edges) @ turn.T
        kind = kinds[int(len(kinds) * draw())]
        first, second = direction(), direction()
        reach = 0.0 if k == 0 else edges[0]
        add_body(
            tree,
            f"b{k + 1}",
            None if k == 0 else f"b{k - int(min(k, 8) * draw())}",
            mass=mass,
            com=edges[0] * direction(),
            inertia=(inertia + inertia.T) / 2,
            joint=kind,
            axis=(first, second) if kind == "universal" else first,
            R=rotation(direction(), np.array(math.pi * draw())),
            p=reach * direction(),
        )
    if count_dof(tree) == 0:
        raise ModelError("gallery", "random_tree has no degree of freedom", "draw a moving joint too")
    return default_state(tree)


# -- by name ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """One name that :func:`kkt.load` knows.

    >>> pt.named_models()[0]
    Named(source='gallery', name='chain', example='chain:100', what='n rods, one after another, ...
    """

    source: str  # gallery, or example-robot-data
    name: str
    example: str  # as load() takes it
    what: str  # of a gallery's builder, its first line; else the format of the robot's file
    arguments: dict[str, str]  # of a gallery's builder: name -> default, "" where it has none
    floating: bool | None  # of a robot's URDF: whether its base floats by default


def named_models() -> list[Named]:
    """The gallery, and the robots of example-robot-data if it is installed.

    Reads no robot; raises nothing.

    >>> [model.example for model in pt.named_models() if model.name == "four_bar"]
    ['four_bar']
    """
    found = []
    for name in EXAMPLES:
        build = builder(name)
        what = (inspect.getdoc(build) or "").partition("\n")[0].replace("``", "")
        found.append(Named("gallery", name, EXAMPLES[name], what, arguments_of(build), None))
    files = robots.robot_files() if robots.robots_folder() is not None else {}
    for name, (_, floats) in sorted(files.items()):
        found.append(Named(robots.PACKAGE, name, f"robot:{name}", "urdf", {}, floats))
    return found
