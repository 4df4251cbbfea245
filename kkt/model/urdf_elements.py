"""Elements and attributes of a URDF file, checked one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ..base.errors import ModelError, UnreadableError
from ..base.markup import root_of
from ..base.reading import read_bytes
from .fields import Floats, check_names
from .joints import TYPES
from .spatial import matmul, rotation
from .urdf_xacro import NONE, expanded


def root_element(
    file: str, packages: Mapping[str, str] = NONE, arguments: Mapping[str, str] = NONE
) -> Element:
    """The element <robot> of a file.  Raises ModelError where the file is no URDF.

    ``packages`` and ``arguments`` are those of xacro (:mod:`kkt.model.urdf_xacro`).
    """
    try:
        text = read_bytes(file)
    except UnreadableError as error:
        raise ModelError(f"{error}; give a URDF file") from None
    if file.lower().endswith(".xacro"):
        text = expanded(file, packages, arguments)
    try:
        robot = root_of(text)
    except UnreadableError as error:
        raise ModelError(str(error)) from None
    if robot.tag != "robot":
        raise ModelError(f"root element is <{robot.tag}>; a URDF file has <robot>")
    for said_by_gazebo in robot.findall("gazebo"):  # what xacro left there is not read
        for element in said_by_gazebo.iter():
            element.tag = "gazebo" if "xacro" in str(element.tag) else element.tag
    if any("xacro" in str(element.tag) for element in robot.iter()):
        raise ModelError(
            "holds xacro macros; name it .xacro, or expand them first (xacro in.xacro > out.urdf)"
        )
    return robot


def name_of(what: str, element: Element, taken: Any) -> str:
    """The name of a link or joint.  Raises ModelError for no name, or one that is taken."""
    name = element.get("name")
    if not name:
        raise ModelError(f"a <{what}> after {len(taken)} others: field 'name' is missing; give one")
    check_names((name,), what)
    if name in taken:
        raise ModelError(f"{what} {name!r}: name is used twice; every {what} needs its own")
    return name


def known_links(names: Any) -> str:
    """The links that exist, in words for a refusal.  Raises nothing."""
    return f"links are {', '.join(names)}" if len(names) <= 8 else f"give one of {len(names)} links"


def attribute(where: str, element: Element | None, tag: str, field: str) -> str:
    """The text of a field.  Raises ModelError where it is missing."""
    value = None if element is None else element.get(field)
    if not value:
        raise ModelError(f"{where}: field '{tag} {field}' is missing; give <{tag} {field}=.../>")
    return value


def numbers(what: str, text: str, count: int) -> Floats:
    """Numbers (count,) from a text with blanks between them.  Raises ModelError."""
    words = text.split()
    if len(words) != count:
        raise ModelError(f"{what} is {text!r}; give {count} numbers")
    return np.array([number(what, word) for word in words])


def number(what: str, word: str) -> float:
    """A finite number from a word.  Raises ModelError."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in word:
        raise ModelError(f"{what} is {word!r}; give a finite number")
    return value


def origin(where: str, element: Element) -> tuple[Floats, Floats]:
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) and p (3,) [m] of <origin xyz rpy>; ModelError."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    p = numbers(f"{where}: field 'origin xyz'", origin.get("xyz", "0 0 0"), 3)
    rpy = numbers(f"{where}: field 'origin rpy'", origin.get("rpy", "0 0 0"), 3)
    Rx, Ry, Rz = rotation(np.eye(3), rpy)
    return matmul(Rz, matmul(Ry, Rx)), p


def limits_of(where: str, element: Element, kind: str) -> tuple[float, float, float] | None:
    """Least and largest position, largest rate; infinite where the file gives none."""
    written = element.find("limit")
    if written is None or TYPES[kind].dof != 1:
        return None
    found = []
    for field, none in (("lower", -math.inf), ("upper", math.inf), ("velocity", math.inf)):
        value = _limit(where, written, field, none)
        endless = math.isnan(value) or (kind == "continuous" and field != "velocity")
        found.append(none if endless else value)
    return found[0], found[1], found[2]


def effort_of(where: str, element: Element, kind: str) -> float | None:
    """Largest effort [N m, N] of a joint of one freedom; None where the file gives none.

    Files write zero, infinity or NaN for an effort that is not known: None for these as well.
    """
    written = element.find("limit")
    if written is None or TYPES[kind].dof != 1:
        return None
    value = _limit(where, written, "effort", 0.0)
    return value if 0.0 < value < math.inf else None


def _limit(where: str, written: Element, field: str, none: float) -> float:
    text = written.get(field)
    try:
        return none if text is None else float(text)
    except ValueError:
        what = f"{where}: field 'limit {field}'"
        raise ModelError(f"{what} is {text!r}; give a number") from None
