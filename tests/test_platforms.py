"""What other systems lack, taken away here: POSIX modules and calls, UTF-8 by default, fonts."""

import json
import os
import subprocess
import sys

import pytest
from helpers import ROOT

from pivotree.analysis.cli.progress import SIGN

# joblib and matplotlib ask for their own system when they are imported; the project's code must not
WITHOUT_POSIX = """
import os, signal, sys
import joblib.externals.loky, matplotlib.figure, numba, sympy
import asyncio, subprocess
for module in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[module] = None
for call in ("fork", "forkpty", "getuid", "geteuid", "getloadavg", "killpg", "setsid",
             "sched_getaffinity", "process_cpu_count"):
    if hasattr(os, call):
        delattr(os, call)
del signal.SIGKILL
"""
IN_ANOTHER_ENCODING = """
import warnings
warnings.filterwarnings("ignore", category=EncodingWarning)  # what others' code leaves open
warnings.filterwarnings("error", category=EncodingWarning, module=r"pivotree\\b")
"""
WITHOUT_FONTS = """
import logging
import matplotlib.font_manager as fonts
folder = fonts.__file__.removesuffix("font_manager.py")
own = [entry for entry in fonts.fontManager.ttflist if entry.fname.startswith(folder)]
assert len(own) > 10
fonts.fontManager.ttflist[:] = own
logging.getLogger("matplotlib.font_manager").addHandler(logging.StreamHandler())
"""
MODEL = """
<robot name="größe"><link name="βase"/><link name="l"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="βase"/><child link="l"/><axis xyz="0 0 1"/></joint>
</robot>"""
SWEEP = """
output = "rows.csv"
models = ["chain:2", "chain:3"]
orders = ["abm", "crbm"]
formats = ["float32"]
[states]
number = 2
"""
COMMANDS = """
compare robot.urdf -o compared --json
explore robot.urdf -o page.html
export robot.urdf -o arm.c
figure spy robot.urdf -o spy.svg
list robot.urdf --order abm --style python
report robot.urdf -o report --states 20 --orders abm,crbm
simulate robot.urdf --seconds 0.1 --json
sweep sweep.toml
"""


def _run(first, command, folder):
    (folder / "robot.urdf").write_text(MODEL, "utf-8")
    (folder / "sweep.toml").write_text(SWEEP, "utf-8")
    main = f"{first}\nfrom pivotree.analysis import cli\nsys.exit(cli.main({command.split()!r}))"
    return subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", f"import sys\n{main}"],
        cwd=folder,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)},
        encoding="utf-8",
        timeout=300,
    )


@pytest.mark.soak
@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_commands_need_no_posix_no_encoding_and_no_font_of_the_system(tmp_path, command):
    """Windows has neither fork nor users nor locks by fcntl, other fonts, and files in cp1252."""
    first = IN_ANOTHER_ENCODING + WITHOUT_POSIX + WITHOUT_FONTS
    done = _run(first, command, tmp_path)
    told = [line for line in done.stderr.splitlines() if not line.startswith(SIGN)]
    assert (done.returncode, told) == (0, [])
    if "--json" in command:
        json.loads(done.stdout)


def test_a_file_that_leaves_its_encoding_to_the_system_is_noticed(tmp_path):
    (tmp_path / "pivotree_of_mine.py").write_text("def f(path):\n    return open(path).read()\n")
    (tmp_path / "robot.urdf").touch()
    first = f"sys.path.insert(0, {str(tmp_path)!r}){IN_ANOTHER_ENCODING}"
    first = first.replace(r"\b", "") + "import pivotree_of_mine as m; m.f('robot.urdf')"
    done = _run(first, "orders", tmp_path)
    assert done.returncode == 1 and "EncodingWarning" in done.stderr
