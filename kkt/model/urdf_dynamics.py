"""The terms of joints that a URDF gives: <dynamics damping friction>, and rotors of transmissions.

A <transmission> names its joint and its actuators.  The standard's ``mechanicalReduction`` says how
fast the rotor turns and not what its inertia is; with Drake's ``rotor_inertia`` [kg m^2] the
armature is ratio^2 times the rotor's inertia, the ratio being Drake's ``gear_ratio`` or else the
reduction.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from xml.etree.ElementTree import Element

import networkx as nx

from ..base.errors import ModelError

Number = Callable[[str, str], float]  # of what, and its text; raises ModelError


class UrdfWarning(UserWarning):
    """A URDF describes what is left out: a transmission without an armature, or a closed loop.

    >>> issubclass(pt.UrdfWarning, UserWarning)
    True
    """


def joint_dynamics(robot: Element, number: Number) -> dict[str, dict[str, float]]:
    """Joint -> ``damping``, ``friction`` and ``armature``, those that are not zero.

    Raises ModelError for a value that is not finite or is below zero; warns (UrdfWarning) of gears
    without a rotor's inertia.
    """
    found: dict[str, dict[str, float]] = {}
    for joint in robot.findall("joint"):
        written = joint.find("dynamics")
        for field in ("damping", "friction"):
            text = None if written is None else written.get(field)
            if text is not None:
                what = f"joint {joint.get('name')!r}: field 'dynamics {field}'"
                _put(found, joint.get("name"), field, _positive(what, text, number))
    bare = []
    for transmission in robot.iter("transmission"):
        where = f"transmission {transmission.get('name')!r}"
        joints = [j.get("name") for j in transmission if _tag(j) == "joint"]
        actuators = [part for part in transmission if _tag(part) == "actuator"]
        armature = sum(_armature(where, part, transmission, number) for part in actuators)
        if len(joints) == 1 and armature:
            _put(found, joints[0], "armature", armature)
        elif any(_tag(x) in ("mechanicalReduction", "rotor_inertia") for x in transmission.iter()):
            bare.append(str(transmission.get("name")))
    if bare:
        warnings.warn(
            f"transmissions {', '.join(bare)}: have gears without a rotor's inertia, or several "
            "joints; they add no armature",
            UrdfWarning,
            stacklevel=6,
        )
    return found


def put_into(tree: nx.DiGraph, found: dict[str, dict[str, float]]) -> None:
    """Give these terms to the bodies whose joints move, the same for all freedoms of a joint."""
    for _, data in tree.nodes(data=True):
        if data["joint"] != "fixed":
            data.update(found.get(data.get("joint_name"), {}))


def _armature(where: str, actuator: Element, transmission: Element, number: Number) -> float:
    """ratio^2 times the rotor's inertia of one actuator; 0 where it has none."""
    said: dict[str, float] = {}
    for field in ("rotor_inertia", "gear_ratio", "mechanicalReduction"):
        for element in (*actuator, *transmission):
            if _tag(element) == field and field not in said:
                text = element.get("value") or (element.text or "").strip()
                said[field] = number(f"{where}: field '{field}'", text)
    inertia = said.get("rotor_inertia", 0.0)
    if inertia < 0.0:
        raise ModelError(f"{where}: field 'rotor_inertia' is {inertia:g}; give zero or more, kg m^2")
    ratio = said.get("gear_ratio", said.get("mechanicalReduction", 1.0))
    return inertia * ratio * ratio


def _positive(what: str, text: str, number: Number) -> float:
    value = number(what, text)
    if not (math.isfinite(value) and value >= 0.0):
        raise ModelError(f"{what} is {value:g}; give zero or more")
    return value


def _put(found: dict[str, dict[str, float]], joint: str | None, field: str, value: float) -> None:
    if value:
        of_joint = found.setdefault(str(joint), {})
        of_joint[field] = of_joint.get(field, 0.0) + value


def _tag(element: Element) -> str:
    """The tag without its namespace."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]
