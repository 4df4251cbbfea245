"""The models that have a name on this machine: the gallery, and robots of installed packages."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from .load import EXAMPLES, arguments_of, builders
from .robot_data import DESCRIPTIONS, descriptions, robot_files, robots_folder
from .robot_data import PACKAGE as ROBOTS

SOURCES = {"gallery": None, ROBOTS: ROBOTS, DESCRIPTIONS: DESCRIPTIONS}  # names for pip


@dataclass(frozen=True)
class Named:
    """One name that :func:`kkt.load` knows.

    >>> pt.named_models()[0]
    Named(source='gallery', name='chain', example='chain:100', what='n rods, one after another, ...
    """

    source: str  # gallery, or the package that it is from
    name: str
    example: str  # as load() takes it
    what: str  # of a gallery's builder, its first line; else the format of the robot's file
    arguments: dict[str, str]  # of a gallery's builder: name -> default, "" where it has none
    floating: bool | None  # of a robot's URDF: whether its base floats by default


def named_models() -> list[Named]:
    """The gallery, and the robots of example-robot-data and robot_descriptions if installed.

    Reads no robot; raises nothing.

    >>> [model.example for model in pt.named_models() if model.name == "four_bar"]
    ['four_bar:angle=0.5']
    """
    found = []
    for name, build in builders().items():
        what = (inspect.getdoc(build) or "").partition("\n")[0].replace("``", "")
        found.append(Named("gallery", name, EXAMPLES[name], what, arguments_of(build), None))
    files = robot_files() if robots_folder() is not None else {}
    for name, (_, floats) in sorted(files.items()):
        found.append(Named(ROBOTS, name, f"robot:{name}", "urdf", {}, floats))
    for name, (kind, floats) in sorted(descriptions().items()):
        floating = floats if kind == "urdf" else None
        found.append(Named(DESCRIPTIONS, name, f"robot:{name}", kind, {}, floating))
    return found
