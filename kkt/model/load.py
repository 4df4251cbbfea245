"""One text for any model: a URDF or model file, a robot by its name, or a gallery spec.

Gallery specs: a builder's name and its arguments as one text, such as ``chain:100``.
"""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import ModelError, nearest
from ..base.foreign import of_kind
from ..base.reading import read_number
from .fields import NONE

if TYPE_CHECKING:
    import networkx as nx

    Builder = Callable[..., nx.DiGraph[Any]]

_EXAMPLES = """
chain:100 star:20 binary:6 comb:10 random_tree:n=50,seed=1 two_link:r=0.002
example1:q1=0.5 example2:m1=1e6 example3:m1=1e8,case=2 rr_arm quadruped:feet=4 humanoid
four_bar stewart delta gripper
"""
EXAMPLES = {text.partition(":")[0]: text for text in _EXAMPLES.split()}
FAMILIES = ("chain", "star", "binary", "comb")


@cache
def builder(name: str) -> Builder:
    """The function behind a name of the gallery; numpy and networkx are loaded here."""
    module = "gallery" if name in FAMILIES else "examples"
    build: Builder = getattr(import_module(f".{module}", __package__), name)
    return build


def arguments_of(build: Builder) -> dict[str, str]:
    """The arguments that a spec may give, with their defaults as texts; "" where there is none."""
    told = {str(inspect.Parameter.empty): "", "nan": "as it follows from the others"}
    return {key: told.get(text, text) for key, (_, text) in _parameters(build).items()}


def _parameters(build: Builder) -> dict[str, tuple[str, str]]:
    """The kind and default, as texts, of each argument that a spec may give."""
    given = inspect.signature(build).parameters.items()
    return {key: (str(x.annotation), str(x.default)) for key, x in given if x.annotation in _READERS}


def _number(text: str) -> float:
    """A float, or a power of ten with a fractional exponent: 1e7.5, 10**7.5, 10^7.5."""
    power = re.fullmatch(r"(?:([-+]?[0-9.]+)e|10(?:\*\*|\^))([-+]?[0-9]+\.[0-9]+)", text.strip())
    if power is None:
        return read_number(text)
    return float(power[1] or 1.0) * 10.0 ** float(power[2])


_WHOLE = partial(read_number, kind=int)
_READERS: dict[str, Callable[[str], object]] = {"int": _WHOLE, "float": _number, "str": str}


@of_kind
def from_spec(text: str) -> nx.DiGraph[Any]:
    """Build from ``name`` or ``name:value,...,argument=value,...``, as in ``example3:m1=1e8``.

    Raises ModelError for an unknown name or argument and for a value that is not of its kind.

    >>> pt.compile_tree(pt.from_spec("random_tree:n=5,seed=1"))
    <BodyTree random_5_seed_1: 5 bodies, 14 freedoms, joints 1 cylindrical, 1 floating, 1 ...
    """
    name, _, rest = text.strip().partition(":")
    name = name.strip()
    if name not in EXAMPLES:
        told = nearest(name, EXAMPLES)
        if not told.startswith("did you mean"):
            told += f"; an installed robot is written robot:{name}, a file with its suffix"
        raise ModelError("gallery", f"{name!r} is unknown", told)
    build = builder(name)
    known = {key: kind for key, (kind, _) in _parameters(build).items()}
    given: dict[str, object] = {}
    for place, item in enumerate(rest.split(",") if rest.strip() else []):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            if place >= len(known):
                takes = f"at most {len(known)} values: {', '.join(known)}" if known else "none"
                raise ModelError("gallery", f"{name} takes {takes}", f"remove {item.strip()!r}")
            key, value = list(known)[place], key
        if key not in known:
            told = nearest(key, known) if known else "it takes none"
            raise ModelError("gallery", f"{name} has no argument {key!r}", told)
        if key in given:
            raise ModelError("gallery", f"{name} is given {key!r} twice", "give it once")
        try:
            read = given[key] = _READERS[known[key]](value)
        except (ValueError, OverflowError):
            kind = {"int": "a whole number", "float": "a number"}[known[key]]
            raise ModelError("gallery", f"{name} argument {key!r} is {value!r}", f"give {kind}") from None
        if isinstance(read, float) and not math.isfinite(read):
            raise ModelError("gallery", f"{name} argument {key!r} is {value}", "give a finite number")
    missing = [key for key, x in arguments_of(build).items() if not x and key not in given]
    if missing:
        told = f"write {name}:{missing[0]}=... or {name}:VALUE"
        raise ModelError("gallery", f"{name} needs {missing[0]!r}", told)
    return build(**given)


SUFFIXES = (".urdf", ".xacro", ".json", ".xml")  # of files that hold a model


@of_kind
def load(
    spec: str | os.PathLike[str],
    floating: bool | None = None,
    merge_fixed: bool = True,
    mimic: str = "free",
    dynamics: bool = False,
    packages: Mapping[str, str] = NONE,
    arguments: Mapping[str, str] = NONE,
) -> nx.DiGraph[Any]:
    """The tree that a text names, with its state in ``tree.graph``.

    * a path that ends in ``.urdf``, ``.xacro`` (:mod:`kkt.model.urdf`), ``.json``, or, in
      MuJoCo's format, ``.xml``;
    * ``robot:NAME``, from the package example-robot-data;
    * a gallery spec such as ``chain:100`` or ``example3:m1=1e8,case=2``.

    The options, those of :func:`kkt.read_urdf`, are of URDF files alone: links behind fixed joints are
    merged unless ``merge_fixed`` is False; ``floating`` None is the robot's own default for ``robot:NAME``.
    Raises ModelError for a missing path, an unknown name, and a file or an option that is wrong.

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
        raise ModelError("model", "no name is given", "give a path, robot:NAME or a gallery spec")
    if text.startswith("robot:"):
        from .robots import find_robot

        path, floats = find_robot(text.removeprefix("robot:").strip())
        floating = floats if floating is None else floating
        options = bool(floating), merge_fixed, mimic, dynamics, packages, arguments
        return _from_file(os.fspath(path), path.suffix.lower(), *options)
    suffix = Path(text).suffix.lower()
    separated = os.sep in text or (os.altsep is not None and os.altsep in text)
    tree = None if suffix in SUFFIXES or separated or os.path.lexists(text) else from_spec(text)
    if suffix not in (".urdf", ".xacro") and (floating or dynamics or mimic != "free"):
        what = "is no .urdf or .xacro file, which alone takes floating, dynamics and mimic"
        raise ModelError(text, what, "leave them out")
    if suffix != ".xacro" and (packages or arguments):
        what = "is no .xacro file, which alone takes packages and arguments"
        raise ModelError(text, what, "leave them out")
    if tree is None:
        return _from_file(text, suffix, bool(floating), merge_fixed, mimic, dynamics, packages, arguments)
    return tree


def _from_file(text: str, suffix: str, *options: Any) -> nx.DiGraph[Any]:
    if not os.path.lexists(text):
        raise ModelError(text, "does not exist", "give a path, robot:NAME or a gallery spec")
    if suffix == ".json":
        from .modelfile import read_model

        return read_model(text)
    if suffix in (".urdf", ".xacro"):
        from .urdf import read_urdf

        return read_urdf(text, *options)
    if suffix == ".xml":
        from .mjcf import read_mjcf

        return read_mjcf(text)
    if suffix == ".mtx":
        instead = "compare, solve, figure, blame, list, explore and tune take a matrix"
        raise ModelError(text, "is a matrix, and this asks for a robot", instead)
    what = "is no .urdf or .xacro, no .json model file, nor MuJoCo's .xml"
    raise ModelError(text, what, "give one of these")
