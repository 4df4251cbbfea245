"""Robots of the package robot_descriptions, which clones each when it is first asked for.

Its modules hold the path of a URDF or an MJCF file (Caron 2022-, Apache 2.0).  A robot's name is
that of its module, such as ``cassie_mj_description``, with or without ``_description``.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..base.errors import ModelError

PACKAGE = "robot_descriptions"
FLOATING = {"humanoid", "quadruped", "biped", "drone"}  # tags of robots whose base floats


def descriptions() -> dict[str, tuple[str, bool]]:
    """Every robot of the installed package: name -> (format, whether its base floats); {} without.

    The format is ``urdf`` or ``mjcf``; with ``mjcf`` the joints of the file decide, and the flag is
    False.  Raises nothing.
    """
    if find_spec(PACKAGE) is None:
        return {}
    known: dict[str, Any] = getattr(import_module(PACKAGE), "DESCRIPTIONS", {})
    return {
        name: ("urdf" if x.has_urdf else "mjcf", x.has_urdf and bool(FLOATING & set(x.tags)))
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
            robot = import_module(f"{PACKAGE}.{module}")
    except Exception as error:  # git, the network, the disk: whatever the package meets
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"robot: {name!r} is cloned by {PACKAGE} when it is first asked for, and that failed "
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
