"""URDF files written as xacro, expanded by an installed xacro (ROS's, or ``pip install xacro``)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..base.errors import ModelError

SECONDS = 60  # that an expansion may take


def expanded(file: str) -> bytes:
    """The URDF that xacro makes of a file, with default arguments.  Raises ModelError."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    tool = shutil.which("xacro", path=places)
    if tool is None:
        raise ModelError(
            "is a xacro file, and no xacro is installed; pip install xacro, or expand it elsewhere "
            "(xacro in.xacro > out.urdf)"
        )
    try:
        done = subprocess.run(
            [tool, os.path.abspath(file)], capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"cannot be expanded by {tool}: {error}; expand it elsewhere") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise ModelError(f"xacro refuses it: {said or 'it says nothing'}")
    return done.stdout
