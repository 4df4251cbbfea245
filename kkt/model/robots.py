"""Robots of the package example-robot-data by their usual short names, and where their files lie.

It holds data only (since 4.4), so the names, and which robots stand on a floating base, are written
down in ``robots/example_robot_data.json``; a robot's own file name, without ``.urdf``, works as well.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ..base.errors import ModelError, nearest
from ..base.foreign import of_kind

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
        raise ModelError("robot", MISSING)
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

    Raises ModelError, with the nearest names, for a name that example-robot-data does not have, and
    where that is not installed.

    >>> pt.find_robot("ur6")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ModelError: robot: 'ur6' is unknown; did you mean ur5 or ur3 or ur10?
    """
    files = robot_files()
    if name not in files:
        raise ModelError("robot", f"{name!r} is unknown", nearest(name, files))
    return files[name]
