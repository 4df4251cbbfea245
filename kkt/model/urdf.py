"""Read robots from URDF files (the Unified Robot Description Format of ROS).

A link becomes a body named as the link, in the frame of the joint above it, which is the URDF
frame of the link; the joint's own name stands in the node's attribute ``joint_name``.  The root
link belongs to the world and is no body, unless it floats.  Visual and collision elements are
ignored, limits become attributes, and joints' damping and friction are read on request.

URDF files written as xacro, expanded by an installed xacro (ROS's, or ``pip install xacro``).

xacro asks ROS 2's package index, ``ament_index_python``, for the folder of ``$(find NAME)``.  A module
of that name stands in for it, so that it works without ROS: it knows the packages that are given, the
folders ``share/NAME`` of AMENT_PREFIX_PATH, where ROS's are, and folders called NAME above the file
or beside one that is above it.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import networkx as nx
import numpy as np

from ..base.errors import ModelError, PivotreeWarning, UnreadableError, nearest
from ..base.files import write_together
from ..base.foreign import of_kind
from ..base.reading import read_bytes, read_number
from ..base.xml import root_of
from .fields import NONE, Floats, check_names
from .joints import TYPES
from .loops import coupled_joints, follow
from .spatial import matmul, matvec, rotation
from .tree import add_body, default_state, new_tree

SECONDS = 60  # that an expansion may take
FIND = """
import os, pathlib

def get_package_share_directory(name):
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    places = [os.path.join(prefix, "share") for prefix in prefixes if prefix] + [*pathlib.Path(FILE).parents]
    for folder in [GIVEN.get(name, ""), *(os.path.join(place, name) for place in places)]:
        if os.path.isdir(folder):
            return folder
    raise LookupError(f"package {name!r} is not found; give its folder: --urdf package:{name}=FOLDER")
"""


def expanded(file: str, packages: Mapping[str, str] = NONE, arguments: Mapping[str, str] = NONE) -> bytes:
    """The URDF that xacro makes of a file.  Raises ModelError, one sentence.

    ``packages`` are folders by the name in ``$(find NAME)``, ``arguments`` the values of <xacro:arg>
    by name, at their defaults where they are not given.
    """
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    tool = shutil.which("xacro", path=places)
    if tool is None:
        instead = "pip install xacro, or expand it elsewhere (xacro in.xacro > out.urdf)"
        raise ModelError("is a xacro file, and no xacro is installed", remedy=instead)
    for name, folder in packages.items():
        if not os.path.isdir(folder):
            raise ModelError(f"package {name!r}", f"{folder} is no folder", "give that of the package")
    where = os.path.abspath(file)
    given = [f"{name}:={value}" for name, value in arguments.items()]
    try:
        with tempfile.TemporaryDirectory() as folder:
            index = Path(folder) / "ament_index_python"
            index.mkdir()
            known = {name: os.path.abspath(path) for name, path in packages.items()}
            found = f"GIVEN = {known!r}\nFILE = {where!r}\n{FIND}"
            write_together({index / "__init__.py": "", index / "packages.py": found})
            path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
            done = subprocess.run(
                [tool, where, *given],
                capture_output=True,
                timeout=SECONDS,
                check=False,
                env=os.environ | {"PYTHONPATH": path},
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"cannot be expanded by {tool} ({error})", remedy="expand it elsewhere") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise ModelError(f"xacro refuses it ({said or 'it says nothing'})")
    return done.stdout


def root_element(
    file: str, packages: Mapping[str, str] = NONE, arguments: Mapping[str, str] = NONE
) -> Element:
    """The element <robot> of a file.  Raises ModelError where the file is no URDF.

    ``packages`` and ``arguments`` are those of xacro (:mod:`kkt.model.urdf`).
    """
    try:
        text = read_bytes(file)
    except UnreadableError as error:
        raise ModelError(error, remedy="give a URDF file") from None
    if file.lower().endswith(".xacro"):
        text = expanded(file, packages, arguments)
    try:
        robot = root_of(text)
    except UnreadableError as error:
        raise ModelError(error) from None
    if robot.tag != "robot":
        raise ModelError(f"root element is <{robot.tag}>", remedy="a URDF file has <robot>")
    for said_by_gazebo in robot.findall("gazebo"):  # what xacro left there is not read
        for element in said_by_gazebo.iter():
            element.tag = "gazebo" if "xacro" in str(element.tag) else element.tag
    if any("xacro" in str(element.tag) for element in robot.iter()):
        raise ModelError(
            "holds xacro macros", remedy="name it .xacro, or expand them first (xacro in.xacro > out.urdf)"
        )
    return robot


ONCE = ("inertial", "parent", "child", "origin", "axis", "axis2", "mimic", "limit", "dynamics")
OF_INERTIA = ("inertial/origin", "inertial/mass", "inertial/inertia")


def name_of(what: str, element: Element, taken: Any) -> str:
    """The name of a link or joint.  Raises ModelError for no name, one taken, and elements given twice."""
    name = element.get("name")
    if not name:
        raise ModelError(f"a <{what}> after {len(taken)} others", "field 'name' is missing", "give one")
    check_names((name,), what)
    if name in taken:
        raise ModelError(f"{what} {name!r}", "name is used twice", f"every {what} needs its own")
    for tag in (*ONCE, *OF_INERTIA):
        if len(element.findall(tag)) > 1:
            raise ModelError(f"{what} {name!r}", f"<{tag}> is given twice", "leave one")
    return name


def attribute(where: str, element: Element | None, tag: str, field: str) -> str:
    """The text of a field.  Raises ModelError where it is missing."""
    value = None if element is None else element.get(field)
    if not value:
        raise ModelError(where, f"field '{tag} {field}' is missing", f"give <{tag} {field}=.../>")
    return value


def numbers(where: str, field: str, text: str, count: int) -> Floats:
    """Numbers (count,) from a text with blanks between them.  Raises ModelError."""
    words = text.split()
    if len(words) != count:
        raise ModelError(where, f"field {field!r} is {text!r}", f"give {count} numbers")
    return np.array([number(where, field, word) for word in words])


def number(where: str, field: str, word: str, least: float = -math.inf) -> float:
    """A finite number from a word, ``least`` or more, which is 0.  Raises ModelError."""
    try:
        value = read_number(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(where, f"field {field!r} is {word!r}", "give a finite number")
    if value < least:
        raise ModelError(where, f"field {field!r} is {value:g}", "give zero or more")
    return value


def origin(where: str, element: Element) -> tuple[Floats, Floats]:
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) and p (3,) [m] of <origin xyz rpy>; ModelError."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    p = numbers(where, "origin xyz", origin.get("xyz", "0 0 0"), 3)
    rpy = numbers(where, "origin rpy", origin.get("rpy", "0 0 0"), 3)
    Rx, Ry, Rz = rotation(np.eye(3), rpy)
    return matmul(Rz, matmul(Ry, Rx)), p


def noted_of(where: str, element: Element, kind: str, dynamics: bool) -> dict[str, Any]:
    """What :func:`read_urdf` notes of a joint: ``limits``, ``effort``, and ``damping`` and ``friction``.

    The effort is left out where it is not known, for which files write zero, infinity or NaN.
    """
    noted: dict[str, Any] = {}
    written = element.find("dynamics")
    for field in ("damping", "friction") if dynamics and kind != "fixed" else ():
        if written is not None and field in written.attrib:
            noted[field] = number(where, f"dynamics {field}", written.attrib[field], least=0.0)
    written = element.find("limit")
    if written is None or TYPES[kind].dof != 1:
        return noted
    found = []
    for field, none in (("lower", -math.inf), ("upper", math.inf), ("velocity", math.inf), ("effort", 0.0)):
        text = written.get(field)
        try:
            value = none if text is None else read_number(text)
        except ValueError:
            raise ModelError(where, f"field 'limit {field}' is {text!r}", "give a number") from None
        endless = math.isnan(value) or (kind == "continuous" and field in ("lower", "upper"))
        found.append(none if endless else value)
    *limits, effort = found
    return noted | {"limits": tuple(limits)} | ({"effort": effort} if 0.0 < effort < math.inf else {})


JOINT_TYPES = (*(kind for kind in TYPES if kind != "cylindrical"), "ball")
CLOSING = re.compile(r"(loop_joint|constraint)$")  # elements of dialects, such as drake:ball_constraint
MIMIC = ("free", "fixed", "coupled")
Mimic = tuple[str, float, float]  # the joint that is followed, ratio, offset [rad or m]


class UrdfWarning(PivotreeWarning):
    """A URDF describes a closed loop, which is left out.

    >>> pt.UrdfWarning.code
    'urdf'
    """

    code = "urdf"


class MimicWarning(PivotreeWarning):
    """A joint that the URDF couples to another is read as free or as fixed.

    >>> pt.MimicWarning.code
    'mimic'
    """

    code = "mimic"


@dataclass(frozen=True)
class Joint:
    """One <joint>, which carries the link ``child``."""

    name: str
    kind: str  # one of JOINT_TYPES
    parent: str
    child: str
    R: Floats  # (3, 3) pose of the child's frame in the parent's at q = 0
    p: Floats  # (3,) [m]
    axis: Floats  # (3,) unit, in the child's frame
    noted: Mapping[str, Any]  # as noted_of gives it


def require_mimic(mimic: str) -> None:
    """Raise ModelError, one sentence, for an unknown value of the option ``mimic``."""
    if mimic not in MIMIC:
        raise ModelError("option mimic", f"is {mimic!r}", f"use one of {', '.join(MIMIC)}")


@of_kind
def read_urdf(
    path: str | os.PathLike[str],
    floating: bool = False,
    merge_fixed: bool = True,
    mimic: str = "free",
    dynamics: bool = False,
    packages: Mapping[str, str] = NONE,
    arguments: Mapping[str, str] = NONE,
) -> nx.DiGraph[Any]:
    """The tree of a URDF file, bodies depth first in the order of the file's joints.

    * ``floating``: the root link is a body on a floating joint; else it is fixed to the world.
    * ``merge_fixed``: links behind fixed joints are joined to the body that they are fixed to (and
      vanish where that is the world), which changes no qdd; else they are bodies on joints of 0 dof.
    * ``mimic``: joints that mimic another are ``"free"``, or ``"fixed"`` at their offset, which is
      their position while the other is at 0, both with a MimicWarning; or they are ``"coupled"``
      by a row (:func:`kkt.coupled_joints`) in ``graph["loops"]``.
    * ``dynamics``: <dynamics damping friction> become terms of joints; else they are ignored.
    * ``packages``, ``arguments``: of a .xacro file, folders by the name in ``$(find NAME)``, and values of
      its arguments (:mod:`kkt.model.urdf`).

    A link without <inertial> has no mass.  A joint of one degree of freedom with a <limit> gives
    its body the attributes ``limits``, least and largest position and largest rate [rad, m; per s],
    infinite where the file gives none, and ``effort``, the largest effort [N m, N]; equation (4)
    uses neither.  The default state of
    :func:`kkt.model.tree.default_state` is put into ``tree.graph``, and the path as
    ``source``; ``tree.graph["merged"]`` has, for a link that is part of another body, that body
    (None, the world) and the link's pose (R, p) in it, so that loops and contacts may name it.
    Raises ModelError, one sentence naming file, link or joint and field, for anything that is not
    one tree of links with finite numbers and masses of zero or more.

    >>> from pathlib import Path
    >>> inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    >>> rod = f'<link name="rod"><inertial><mass value="1"/>{inertia}</inertial></link>'
    >>> ends = '<parent link="base"/><child link="rod"/>'
    >>> hinge = f'<joint name="hinge" type="continuous">{ends}</joint>'
    >>> text = f'<robot name="rod"><link name="base"/>{rod}{hinge}</robot>'
    >>> Path("rod.urdf").write_text(text) == len(text)
    True
    >>> pt.compile_tree(pt.read_urdf("rod.urdf"))
    <BodyTree rod: 1 bodies, 1 freedoms, joints 1 continuous>
    """
    file = os.fspath(path)
    try:
        reader = _Reader(file, mimic, dynamics, root_element(file, packages, arguments))
        return reader.tree(floating, merge_fixed)
    except ModelError as error:
        raise ModelError(file, error) from None


class _Reader:
    """Links and joints of one file by name, checked to make one tree."""

    def __init__(self, file: str, mimic: str, dynamics: bool, robot: Element) -> None:
        require_mimic(mimic)
        self.file, self.mimic, self.dynamics = file, mimic, dynamics
        self.mimics: list[tuple[str, str, str]] = []  # joint, what it mimics, how it is held
        self.coupled: dict[str, Mimic] = {}  # joint -> what it mimics
        self.robot = robot
        self.name = robot.get("name") or os.path.splitext(os.path.basename(file))[0]
        self.links: dict[str, Mass] = {}
        for element in robot.findall("link"):
            name = name_of("link", element, self.links)
            self.links[name] = _mass(f"link {name!r}", element)
        self.joints: dict[str, Joint] = {}
        self.graph: nx.DiGraph[str] = nx.DiGraph()  # of links
        self.graph.add_nodes_from(self.links)
        self.above: dict[str, Joint] = {}
        for element in robot.findall("joint"):
            joint = self._joint(name_of("joint", element, self.joints), element)
            self.joints[joint.name] = joint
            if joint.child in self.above:
                raise ModelError(
                    f"link {joint.child!r}",
                    f"has two parent joints, {self.above[joint.child].name!r} and {joint.name!r}",
                    "a tree allows one: take the second out of the file, and give it with --loops, in a "
                    f"file that holds {_cut(joint)}",
                )
            self.above[joint.child] = joint
            self.graph.add_edge(joint.parent, joint.child)
        self.root = self._single_root()
        self._report_mimics()
        self._report_closures()

    def _report_closures(self) -> None:
        """One warning for the constraints of dialects that close loops, which are left out here."""
        inside = [child for outer in self.robot.findall("gazebo") for child in outer.findall("joint")]
        beside = [child for child in self.robot if CLOSING.search(str(child.tag))]
        if inside or beside:
            names = [f"<{x.tag.split('}')[-1]}> {x.get('name', '')}".strip() for x in beside]
            names += [f"<joint> {x.get('name', '')} in <gazebo>" for x in inside]
            warnings.warn(
                f"{self.file}: left out, so that the loops that they close are open here: "
                f"{', '.join(names)}; give the loops with --loops or loops=, see docs/loops.md",
                UrdfWarning,
                stacklevel=5,
            )

    def _report_mimics(self) -> None:
        """One warning for all of them: a hand has twenty."""
        if not self.mimics:
            return
        where, what, held = self.mimics[0]
        text = f"{where}: {what}; it {held} here"
        if len(self.mimics) > 1:
            each = ", ".join(f"{w.removeprefix('joint ')} {m}" for w, m, _ in self.mimics)
            kept = "are held at their offsets" if self.mimic == "fixed" else "move freely"
            text = f"{len(self.mimics)} joints mimic others and {kept} here: {each}"
        warnings.warn(f"{self.file}: {text}", MimicWarning, stacklevel=5)

    def _single_root(self) -> str:
        if not self.links:
            raise ModelError("robot", "has no <link>", "give at least one")
        roots = [name for name in self.links if name not in self.above]
        if len(roots) > 1:
            told = "a URDF has one root link, so join all others to it"
            raise ModelError(f"links {roots[0]!r} and {roots[1]!r}", "neither has a parent joint", told)
        if not nx.is_directed_acyclic_graph(self.graph):
            links = [parent for parent, _ in nx.find_cycle(self.graph)]
            cycle = " -> ".join([*links, links[0]])
            raise ModelError(f"links {cycle}", "form a cycle", "a tree has none (cut the loop)")
        return roots[0]

    def _joint(self, name: str, element: Element) -> Joint:
        where = f"joint {name!r}"
        kind = element.get("type") or ""
        kind = "spherical" if kind == "ball" else kind
        if kind not in JOINT_TYPES:
            told = nearest(kind, JOINT_TYPES) if kind else f"use one of {', '.join(JOINT_TYPES)}"
            raise ModelError(where, f"field 'type' is {kind!r}", told)
        ends = []
        for end in ("parent", "child"):
            link = attribute(where, element.find(end), end, "link")
            if link not in self.links:
                raise ModelError(where, f"{end} link {link!r} is unknown", nearest(link, self.links))
            ends.append(link)
        R, p = origin(where, element)
        axis = _axis(where, element, "axis", "1 0 0") if TYPES[kind].axes else np.array([1.0, 0.0, 0.0])
        if kind == "universal":
            axis = np.stack([axis, _axis(where, element, "axis2", None)])
        coupling = element.find("mimic")
        if coupling is not None and kind != "fixed":
            kind, R, p = self._mimic(name, coupling, kind, axis, R, p)
        return Joint(name, kind, ends[0], ends[1], R, p, axis, noted_of(where, element, kind, self.dynamics))

    def _mimic(
        self, name: str, coupling: Element, kind: str, axis: Floats, R: Floats, p: Floats
    ) -> tuple[str, Floats, Floats]:
        where = f"joint {name!r}"
        master = attribute(where, coupling, "mimic", "joint")
        offset = number(where, "mimic offset", coupling.get("offset", "0"))
        if self.mimic == "coupled":
            ratio = number(where, "mimic multiplier", coupling.get("multiplier", "1"))
            self.coupled[name] = (master, ratio, offset)
            return kind, R, p
        held = f"is held at its offset {offset:g}" if self.mimic == "fixed" else "moves freely"
        self.mimics.append((where, f"mimics {master!r}", held))
        if self.mimic == "free" or TYPES[kind].dof != 1:
            return kind, R, p
        turn, shift = TYPES[kind].pose(axis[None, None], np.array([[offset]]))
        return "fixed", matmul(R, turn[0]), p + matvec(R, shift[0])

    def tree(self, floating: bool, merge_fixed: bool) -> nx.DiGraph[Any]:
        """The tree; with ``merge_fixed``, links behind fixed joints become part of other bodies."""
        tree = new_tree(self.name)
        tree.graph["source"] = self.file
        eye, zero = np.eye(3), np.zeros(3)
        home: dict[str, tuple[str | None, Floats, Floats]] = {self.root: (None, eye, zero)}
        parts: dict[str, list[tuple[Mass, Floats, Floats]]] = {}
        if floating:
            base = Joint("root_joint", "floating", "", self.root, eye, zero, zero, {})
            home[self.root] = (self.root, eye, zero)
            parts[self.root] = [(self.links[self.root], eye, zero)]
            _add(tree, base, None, eye, zero)
        for link in list(nx.dfs_preorder_nodes(self.graph, self.root))[1:]:  # children in the file's order
            joint = self.above[link]
            body, R0, p0 = home[joint.parent]
            R, p = matmul(R0, joint.R), p0 + matvec(R0, joint.p)
            mass = self.links[joint.child]
            if merge_fixed and joint.kind == "fixed":
                home[joint.child] = (body, R, p)
                tree.graph.setdefault("merged", {})[joint.child] = (body, R, p)
                if body is not None:
                    parts[body].append((mass, R, p))
                continue
            home[joint.child] = (joint.child, eye, zero)
            parts[joint.child] = [(mass, eye, zero)]
            _add(tree, joint, body, R, p)
        if not parts:
            what = "no body is left, all links being fixed to the world"
            instead = "give it a joint that moves, or let its base float (--urdf floating, or floating=True)"
            raise ModelError(f"link {self.root!r}", what, instead)
        for name, pieces in parts.items():
            whole = combine(pieces)
            tree.nodes[name].update(mass=whole.mass, com=whole.com, inertia=whole.inertia)
        couple(default_state(tree, rate=0.5, effort=2.0, most=100.0), self.coupled)
        return tree


def _cut(joint: Joint) -> str:
    """A file of loops (:mod:`kkt.model.modelfile`) in which a joint closes one.

    Nine numbers of a rotation may be longer than a sentence, and then are told in words.
    """
    kind = "revolute" if joint.kind == "continuous" else joint.kind
    loop = {"name": joint.name, "first": joint.parent, "second": joint.child, "joint": kind}
    if TYPES[kind].axes:
        loop["axis"] = joint.axis.tolist()
    if joint.p.any():
        loop["p"] = joint.p.tolist()
    turn = {} if np.array_equal(joint.R, np.eye(3)) else {"R": joint.R.tolist()}
    short, whole = (json.dumps({"schema": "pivotree-loops/1", "loops": [x]}) for x in (loop, loop | turn))
    fits = not turn or len(whole) <= 250
    return whole if fits else f'{short}, with "R" of its <origin rpy> as 3 x 3 numbers'


def _axis(where: str, joint: Element, tag: str, default: str | None) -> Floats:
    """A direction (3,) of length 1.  Raises ModelError."""
    written = joint.find(tag)
    if written is None and default is None:
        raise ModelError(where, f"has no <{tag}>, and a universal joint turns about two", "give it")
    text = (default or "") if written is None else written.get("xyz", default or "")
    axis = numbers(where, tag, text, 3)
    length = math.hypot(*axis)
    if length == 0.0:
        raise ModelError(where, f"field {tag!r} is zero", "give a direction, such as 0 0 1")
    return axis if length == 1.0 else axis / length


def _add(tree: nx.DiGraph[Any], joint: Joint, parent: str | None, R: Floats, p: Floats) -> None:
    add_body(tree, joint.child, parent, mass=0.0, joint=joint.kind, axis=joint.axis, R=R, p=p)
    tree.nodes[joint.child].update({"joint_name": joint.name, **joint.noted})


@dataclass(frozen=True)
class Mass:
    """The mass of one body, in a frame."""

    mass: float  # [kg]
    com: Floats  # (3,) [m]
    inertia: Floats  # (3, 3) about com [kg m^2]


def combine(pieces: list[tuple[Mass, Floats, Floats]]) -> Mass:
    """One mass from several, each with its pose (R, p) in the common frame.

    The parallel-axis theorem takes each part's inertia to the common centre of mass.
    """
    moved = [
        Mass(part.mass, p + matvec(R, part.com), turned_inertia(R, part.inertia))
        for part, R, p in pieces
        if part.mass != 0.0 or part.inertia.any()
    ]
    if len(moved) == 0:
        return pieces[0][0]
    if len(moved) == 1:
        return moved[0]
    total = sum(part.mass for part in moved)
    com = sum((part.mass * part.com for part in moved), np.zeros(3))
    com = com / total if total > 0.0 else moved[0].com
    inertia = np.zeros((3, 3))
    for part in moved:
        d = part.com - com
        inertia = inertia + part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Mass(total, com, inertia)


def turned_inertia(R: Floats, inertia: Floats) -> Floats:
    """R J R^T, symmetric to the last bit; J itself where R is the identity."""
    if (np.eye(3) == R).all():
        return inertia
    J = matmul(matmul(R, inertia), R.T)
    return (J + J.T) / 2


def _mass(where: str, link: Element) -> Mass:
    inertial = link.find("inertial")
    if inertial is None:
        return Mass(0.0, np.zeros(3), np.zeros((3, 3)))
    R, com = origin(f"{where}: inertial", inertial)
    mass = number(where, "mass", attribute(where, inertial.find("mass"), "mass", "value"), 0.0)
    written = inertial.find("inertia")
    J = np.zeros((3, 3))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        field = f"i{'xyz'[i]}{'xyz'[j]}"
        # what an <inertia> leaves out is zero, as simulators have it
        value = attribute(where, None, "inertia", field) if written is None else written.get(field, "0")
        J[i, j] = J[j, i] = number(where, f"inertia {field}", value)
    return Mass(mass, com, turned_inertia(R, J))


# -- joints that mimic others ----------------------------------------------------------------------


def couple(tree: nx.DiGraph[Any], coupled: Mapping[str, Mimic]) -> None:
    """Put a row for each coupling into ``tree.graph["loops"]``, and make the state satisfy them.

    Raises ModelError where the joint to follow is unknown or fixed, where joints follow each other
    in a cycle, and where a joint has not one freedom.
    """
    if not coupled:
        return
    body = {data["joint_name"]: name for name, data in tree.nodes(data=True)}
    for joint, (to, *_) in coupled.items():
        if to not in body:
            what = f"field 'mimic joint' is {to!r}, which does not move"
            raise ModelError(f"joint {joint!r}", what, nearest(to, {*body} - {joint}))
    for joint in coupled:
        followed = [joint]
        while followed[-1] in coupled:
            followed.append(coupled[followed[-1]][0])
            if followed[-1] in followed[:-1]:
                raise ModelError(f"joints {' -> '.join(followed)}", "mimic each other", "leave one out")
    tree.graph["loops"] = tuple(
        coupled_joints(tree, body[joint], body[to], ratio, offset=offset, name=joint)
        for joint, (to, ratio, offset) in coupled.items()
    )
    follow(tree)
    for field in ("q", "qd"):
        tree.graph["state_formulas"][field] += ", and as it follows for joints that mimic"
