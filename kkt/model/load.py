"""One text for any model: a URDF or model file, a robot by its name, or a gallery spec."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import ModelError
from ..base.kinds import of_kind
from .specs import from_spec
from .urdf_xacro import NONE

if TYPE_CHECKING:
    import networkx as nx

SUFFIXES = (".urdf", ".xacro", ".json", ".xml")  # of files that hold a model


@of_kind
def load(
    spec: str | os.PathLike[str],
    floating: bool | None = None,
    merge_fixed: bool = False,
    mimic: str = "free",
    dynamics: bool = False,
    packages: Mapping[str, str] = NONE,
    arguments: Mapping[str, str] = NONE,
) -> nx.DiGraph:
    """The tree that a text names, with its state in ``tree.graph``.

    * a path that ends in ``.urdf``, ``.xacro`` (:mod:`kkt.model.urdf_xacro`), ``.json``, or, in
      MuJoCo's format, ``.xml``;
    * ``robot:NAME``, from the package example-robot-data, or else from robot_descriptions;
    * a gallery spec such as ``chain:100`` or ``example3:m1=1e8,case=2``.

    The options are those of :func:`kkt.read_urdf` and matter to URDF files only; ``floating``
    None is the robot's own default for ``robot:NAME``, and False for a path.  Raises ModelError
    for a path that does not exist, an unknown name, and a file that is wrong.

    >>> pt.compile_tree(pt.load("chain:100"))
    <BodyTree chain_100: 100 bodies, 100 freedoms, joints 100 revolute>
    >>> pt.load("robot.urdf")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ModelError: robot.urdf: does not exist; give a path, robot:NAME ...
    """
    if mimic != "free":
        from .urdf import require_mimic

        require_mimic(mimic)
    text = os.fspath(spec).strip()
    if not text:
        raise ModelError("model: no name is given; give a path, robot:NAME or a gallery spec")
    if text.startswith("robot:"):
        from .robot_data import find_robot

        path, floats = find_robot(text.removeprefix("robot:").strip())
        floating = floats if floating is None else floating
        options = bool(floating), merge_fixed, mimic, dynamics, packages, arguments
        return _from_file(os.fspath(path), path.suffix.lower(), *options)
    suffix = Path(text).suffix.lower()
    separated = os.sep in text or (os.altsep is not None and os.altsep in text)
    if suffix != ".xacro" and (packages or arguments):
        raise ModelError(
            f"{text}: is no .xacro file, which alone takes packages and arguments; leave them out"
        )
    if suffix in SUFFIXES or separated or os.path.lexists(text):
        return _from_file(text, suffix, bool(floating), merge_fixed, mimic, dynamics, packages, arguments)
    return from_spec(text)


def _from_file(text: str, suffix: str, *options: Any) -> nx.DiGraph:
    if not os.path.lexists(text):
        raise ModelError(f"{text}: does not exist; give a path, robot:NAME or a gallery spec")
    if suffix == ".json":
        from .modelfile import read_model

        return read_model(text)
    if suffix in (".urdf", ".xacro"):
        from .urdf import read_urdf

        return read_urdf(text, *options)
    if suffix == ".xml":
        from .mjcf import read_mjcf

        return read_mjcf(text)
    raise ModelError(
        f"{text}: is no .urdf or .xacro, no .json model file, nor MuJoCo's .xml; give one of these"
    )
