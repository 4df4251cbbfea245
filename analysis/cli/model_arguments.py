"""Options that most commands share: the model, what stands beside it, and its state."""

from __future__ import annotations

import argparse

from .examples import MODEL_HELP


def add_refinement(command: argparse.ArgumentParser) -> None:
    """Options of corrections."""
    command.add_argument(
        "--refine", type=int, default=0, metavar="K", help="this many corrections in the same format (0)"
    )
    command.add_argument(
        "--residual",
        default="dynamics",
        metavar="OF",
        help="of a correction (dynamics): dynamics, by RNEA, or equations, those of (4)",
    )


def add_model(
    command: argparse.ArgumentParser,
    state: bool = True,
    needed: bool = True,
    frames: bool = True,
    loops: bool = True,
) -> None:
    """The model, how it is read, loops and contacts beside it, frames, and one state of it."""
    command.add_argument("model", metavar="MODEL", nargs=None if needed else "?", help=MODEL_HELP)
    model = command.add_argument_group("the model")
    _add_urdf(model)
    if loops:
        for name, metavar, what in (
            (
                "contact",
                "BODY,BODY",
                "bodies whose origins (BODY@x:y:z: another point of theirs) "
                "stick to the ground: three rows each",
            ),
            ("compliance", "C", "of these contacts, instead of 0 [1/kg]"),
            ("loops", "FILE", "closed loops and contacts: docs/loops.md"),
        ):
            model.add_argument(f"--{name}", metavar=metavar, help=what)
    if state and frames:
        model.add_argument(
            "--frames",
            default="given",
            metavar="HOW",
            help="of the joints (given): given, aligned with their axes, or factored: placements "
            "as frames of their own",
        )
    if not state:
        return
    about = "one state is computed; without these options it is the model's own"
    if not frames:
        about = "where the motion starts; without these options the model's own positions,\n"
        about += "  at rest and without efforts, or with those that a .json model holds"
    group = command.add_argument_group("the state", about)
    for name, what in (("q", "positions"), ("qd", "rates"), ("tau", "efforts")):
        group.add_argument(
            f"--{name}",
            metavar="X,X",
            help=f"joint {what}: of all joints, or by name, as in elbow=0.3,wrist=-1",
        )
    if frames:
        group.add_argument(
            "--state",
            dest="state_file",
            metavar="FILE",
            help="a JSON file with q, qd, tau: lists, or objects of joints and numbers",
        )
        group.add_argument(
            "--random", type=int, metavar="SEED", help="a random state within the joints' limits"
        )


def _add_urdf(model: argparse._ArgumentGroup) -> None:
    """How a URDF file is read, and what a .xacro file may need beside it."""
    model.add_argument("--floating", action="store_true", help="URDF: give the base 6 freedoms")
    model.add_argument("--dynamics", action="store_true", help="URDF: joints' damping, friction, rotors, too")
    model.add_argument(
        "--keep-fixed",
        action="store_true",
        help="URDF: links on fixed joints stay bodies of their own (else they are merged into the "
        "body that carries them; without mass, some orders cannot eliminate them)",
    )
    model.add_argument(
        "--mimic",
        default="free",
        metavar="HOW",
        help="URDF: joints that mimic others (free): free, fixed, or coupled, by a row each",
    )
    model.add_argument(
        "--package",
        action="append",
        metavar="NAME=FOLDER",
        help=".xacro: where $(find NAME) is, if not in ROS and no folder above the file, or beside one, is "
        "called NAME; may be repeated",
    )
    model.add_argument(
        "--arg", action="append", metavar="NAME:=VALUE", help=".xacro: an argument; may be repeated"
    )
