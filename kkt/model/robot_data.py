"""Robots of the packages example-robot-data and robot_descriptions, by the usual short names.

The first holds data only (since 4.4), so the names, and which robots stand on a floating
base, are written down in ``robots/example_robot_data.json``; a robot's own file name, without
``.urdf``, works as well.

The package robot_descriptions clones each robot when it is first asked for.  Its modules hold the
path of a URDF or an MJCF file (Caron 2022-, Apache 2.0).  A robot's name is that of its module, such as
``cassie_mj_description``, with or without ``_description``.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..base.errors import ModelError, nearest
from ..base.foreign import of_kind

DESCRIPTIONS = "robot_descriptions"
FLOATING_TAGS = {"humanoid", "quadruped", "biped", "drone"}  # tags of robots whose base floats


def descriptions() -> dict[str, tuple[str, bool]]:
    """Every robot of the installed package: name -> (format, whether its base floats); {} without.

    The format is ``urdf`` or ``mjcf``; with ``mjcf`` the joints of the file decide, and the flag is
    False.  Raises nothing.
    """
    if find_spec(DESCRIPTIONS) is None:
        return {}
    known: dict[str, Any] = getattr(import_module(DESCRIPTIONS), "DESCRIPTIONS", {})
    return {
        name: ("urdf" if x.has_urdf else "mjcf", x.has_urdf and bool(FLOATING_TAGS & set(x.tags)))
        for name, x in known.items()
        if x.has_urdf or x.has_mjcf
    }


def find_description(name: str) -> tuple[Path, bool] | None:
    """Path of a robot, cloned if need be, and whether its base floats; None for an unknown name.

    Raises ModelError, one sentence, where it cannot be cloned or has neither URDF nor MJCF file.
    """
    known = descriptions()
    module = name if name in known else f"{name}_description"
    if module not in known:
        return None
    try:
        with redirect_stdout(sys.stderr):  # the package prints what it clones
            robot = import_module(f"{DESCRIPTIONS}.{module}")
    except Exception as error:  # git, the network, the disk: whatever the package meets
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"robot: {name!r} is cloned by {DESCRIPTIONS} when it is first asked for, and that failed "
            f"({why[-1].strip().removeprefix('stderr: ')}); connect to the network, or give a path"
        ) from None
    for field in ("URDF_PATH", "MJCF_PATH"):
        path = getattr(robot, field, None)
        if path is not None:
            return Path(path), known[module][1]
    raise ModelError(
        f"robot: {name!r} has no URDF or MJCF file, but a template with arguments "
        f"({getattr(robot, 'XACRO_PATH', module)}); expand it and give its path"
    )


PACKAGE = "example-robot-data"
MISSING = f"{PACKAGE} is not installed; python -m pip install {PACKAGE} (131 MB)"
SHARE = "share/example-robot-data/robots"


@cache
def _named() -> dict[str, dict[str, dict[str, str]]]:
    """Robots whose base is "floating" and "fixed": folder, and short names with their files in it."""
    file = Path(__file__).with_name("robots") / "example_robot_data.json"
    tables: dict[str, dict[str, dict[str, str]]] = json.loads(file.read_text("utf-8"))
    return tables


def robots_folder() -> Path | None:
    """The folder of example-robot-data's robots on this machine, or None."""
    places = []
    try:
        found = distribution(PACKAGE)
        places += [Path(str(found.locate_file(f"cmeel.prefix/{SHARE}")))]
    except PackageNotFoundError:
        pass
    places += [Path(entry) / "cmeel.prefix" / SHARE for entry in sys.path if entry]
    places += [Path(sys.prefix) / SHARE]
    return next((place for place in places if place.is_dir()), None)


def robot_files() -> dict[str, tuple[Path, bool]]:
    """Every robot of the installed package: name -> (URDF path, whether its base floats).

    Short names come first; a file whose name is not yet taken also goes by that name.  Raises
    ModelError where the package is missing.
    """
    folder = robots_folder()
    if folder is None:
        raise ModelError(f"robot: {MISSING}")
    files = sorted(folder.glob("*/**/*.urdf"))
    where = {(path.relative_to(folder).parts[0], path.stem): path for path in files}
    result: dict[str, tuple[Path, bool]] = {}
    tables = _named()
    for base in ("floating", "fixed"):
        for home, names in tables[base].items():
            for name, stem in names.items():
                if (home, stem) in where:
                    result[name] = (where[home, stem], base == "floating")
    fixed = {(home, stem) for home, names in tables["fixed"].items() for stem in names.values()}
    for (home, stem), path in where.items():
        result.setdefault(stem, (path, home in tables["floating"] and (home, stem) not in fixed))
    return result


@of_kind
def find_robot(name: str) -> tuple[Path, bool]:
    """Path of a robot's file, and whether its base floats by default.

    The name is sought in example-robot-data, then in robot_descriptions, where these are installed.
    Raises ModelError, with the nearest names, for a name that neither has.

    >>> pt.find_robot("ur6")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ModelError: robot: 'ur6' is unknown; did you mean ur5 or ur3 or ur10?
    """
    files = robot_files() if robots_folder() is not None else {}
    if name in files:
        return files[name]
    found = find_description(name)
    if found is not None:
        return found
    known = [*files, *(x.removesuffix("_description") for x in descriptions())]
    if not known:
        raise ModelError(f"robot: {name!r} needs its description: {MISSING}")
    raise ModelError(f"robot: {name!r} is unknown; {nearest(name, known)}")
