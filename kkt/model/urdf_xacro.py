"""URDF files written as xacro, expanded by an installed xacro (ROS's, or ``pip install xacro``).

xacro asks ROS 2's package index, ``ament_index_python``, for the folder of ``$(find NAME)``.  A module
of that name stands in for it, so that it works without ROS: it knows the packages that are given, the
folders ``share/NAME`` of AMENT_PREFIX_PATH, where ROS's are, and folders called NAME above the file
or beside one that is above it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..base.errors import ModelError
from ..base.files import write_together

SECONDS = 60  # that an expansion may take
NONE: Mapping[str, str] = MappingProxyType({})
FIND = """
import os

def get_package_share_directory(name):
    if name in GIVEN:
        return GIVEN[name]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    places = [os.path.join(prefix, "share") for prefix in prefixes if prefix]
    above = os.path.dirname(FILE)
    while True:
        if os.path.basename(above) == name:
            return above
        places.append(above)
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    for place in places:
        if os.path.isdir(os.path.join(place, name)):
            return os.path.join(place, name)
    raise LookupError(f"package {name!r} is not found; give its folder: --package {name}=FOLDER")
"""


def expanded(file: str, packages: Mapping[str, str] = NONE, arguments: Mapping[str, str] = NONE) -> bytes:
    """The URDF that xacro makes of a file.  Raises ModelError, one sentence.

    ``packages`` are folders by the name in ``$(find NAME)``, ``arguments`` the values of <xacro:arg>
    by name, at their defaults where they are not given.
    """
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    tool = shutil.which("xacro", path=places)
    if tool is None:
        raise ModelError(
            "is a xacro file, and no xacro is installed; pip install xacro, or expand it elsewhere "
            "(xacro in.xacro > out.urdf)"
        )
    for name, folder in packages.items():
        if not os.path.isdir(folder):
            raise ModelError(f"package {name!r}: {folder} is no folder; give that of the package")
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
        raise ModelError(f"cannot be expanded by {tool}: {error}; expand it elsewhere") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise ModelError(f"xacro refuses it: {said or 'it says nothing'}")
    return done.stdout
