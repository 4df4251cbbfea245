"""Robots of the packages example-robot-data and robot_descriptions, by the usual short names.

The first holds data only (since 4.4), so the names, and which robots stand on a floating
base, are written down here; a robot's own file name, without ``.urdf``, works as well.

The package robot_descriptions clones each robot when it is first asked for.  Its modules hold the
path of a URDF or an MJCF file (Caron 2022-, Apache 2.0).  A robot's name is that of its module, such as
``cassie_mj_description``, with or without ``_description``.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
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

# robots whose base floats: folder, and short names with their files in it
FLOATING: dict[str, dict[str, str]] = {
    "a1_description": {"a1": "a1"},
    "alex_description": {},
    "alexander_description": {},
    "anymal_b_simple_description": {"anymal": "anymal", "anymal_kinova": "anymal-kinova"},
    "anymal_c_simple_description": {"anymal_c": "anymal"},
    "b1_description": {"b1": "b1", "b1_z1": "b1-z1"},
    "bolt_description": {"bolt": "bolt"},
    "borinot_description": {"borinot": "borinot_flying_arm_2"},
    "centauro_description": {"centauro": "centauro"},
    "g1_description": {"g1": "g1_29dof_rev_1_0", "g1_hands": "g1_29dof_with_hand_rev_1_0"},
    "go1_description": {"go1": "go1"},
    "go2_description": {"go2": "go2"},
    "hector_description": {"hector": "quadrotor_base"},
    "hextilt_description": {"hextilt": "hextilt_flying_arm_5"},
    "human_description": {"human": "human"},
    "hyq_description": {"hyq": "hyq_no_sensors"},
    "icub_description": {"icub": "icub", "icub_reduced": "icub_reduced"},
    "iris_description": {"iris": "iris_simple"},
    "laikago_description": {"laikago": "laikago"},
    "quadruped_description": {"quadruped": "quadruped"},
    "romeo_description": {"romeo": "romeo"},
    "simple_humanoid_description": {
        "simple_humanoid": "simple_humanoid",
        "simple_humanoid_classical": "simple_humanoid_classical",
    },
    "solo_description": {"solo8": "solo", "solo12": "solo12"},
    "talos_data": {
        "talos": "talos_reduced",
        "talos_box": "talos_reduced_box",
        "talos_full": "talos_full_v2",
        "talos_full_box": "talos_full_v2_box",
    },
}
FIXED: dict[str, dict[str, str]] = {
    "allegro_hand_description": {
        "allegro_left_hand": "allegro_left_hand",
        "allegro_right_hand": "allegro_right_hand",
    },
    "asr_twodof_description": {"asr_twodof": "TwoDofs"},
    "baxter_description": {"baxter": "baxter"},
    "double_pendulum_description": {"double_pendulum": "double_pendulum"},
    "finger_edu_description": {"finger_edu": "finger_edu"},
    "kinova_description": {"kinova": "kinova"},
    "panda_description": {"panda": "panda"},
    "pr2_description": {"pr2": "pr2"},
    "so_arm_description": {"so100": "so100", "so101": "so101"},
    "talos_data": {"talos_arm": "talos_left_arm"},
    "tiago_description": {"tiago": "tiago", "tiago_dual": "tiago_dual", "tiago_no_hand": "tiago_no_hand"},
    "tiago_pro_description": {"tiago_pro": "tiago_pro"},
    "ur_description": {
        "ur3": "ur3_robot",
        "ur3_gripper": "ur3_gripper",
        "ur3_limited": "ur3_joint_limited_robot",
        "ur5": "ur5_robot",
        "ur5_gripper": "ur5_gripper",
        "ur5_limited": "ur5_joint_limited_robot",
        "ur10": "ur10_robot",
        "ur10_limited": "ur10_joint_limited_robot",
    },
    "xarm_description": {"xarm7": "xarm7"},
    "z1_description": {"z1": "z1"},
}


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
    for table, floating in ((FLOATING, True), (FIXED, False)):
        for home, names in table.items():
            for name, stem in names.items():
                if (home, stem) in where:
                    result[name] = (where[home, stem], floating)
    fixed = {(home, stem) for home, names in FIXED.items() for stem in names.values()}
    for (home, stem), path in where.items():
        result.setdefault(stem, (path, home in FLOATING and (home, stem) not in fixed))
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
