"""Options that commands share, and the words of their help; nothing heavy.

A command declares its own options in its module; here is what several of them take alike.
"""

from __future__ import annotations

import argparse

Parser = argparse.ArgumentParser

MODEL_HELP = (
    "a .urdf, .xacro or MuJoCo .xml file, a pivotree-model .json file, robot:NAME, or a gallery "
    "name: chain:100, example3:m1=1e8,case=2, random_tree:n=50,seed=1, humanoid, four_bar "
    "(pivotree models: all of them); a .xacro file is a program, which xacro runs"
)
OR_MATRIX = "; or a symmetric matrix of your own, in a Matrix Market file FILE.mtx"
ORDER_HELP = "a name (pivotree orders), FILE.json, or FILE.py:FUNCTION, a program of yours, which is run"
FORMATS_HELP = (
    "float64, float32, tf32, bfloat16, float16, e5m2, e4m3, pBITS or pBITSeEXPONENT (to 25 bits), "
    "these but float64 also with :zero, :up, :down or :stochastic:SEED; mixed by role, as in "
    "float32+mul=bfloat16 (add, mul, div, sqrt, D, operands), or by body, as in "
    "float32@torso=float64; q16.16 (fixed point), dd, exact, sympy, mp:DIGITS, ball:DIGITS"
)


def add_model(
    command: Parser, state: bool = True, needed: bool = True, loops: bool = True, matrix: bool = False
) -> None:
    """The model, how it is read, loops and contacts beside it, and one state of it."""
    command.add_argument(
        "model", metavar="MODEL", nargs=None if needed else "?", help=MODEL_HELP + OR_MATRIX * matrix
    )
    model = command.add_argument_group("the model")
    model.add_argument(
        "--urdf",
        action="append",
        metavar="HOW",
        help="how a .urdf or .xacro file is read; comma-separated, or repeated: floating (the base has 6 "
        "freedoms), dynamics (joints' damping, friction, rotors, too), keep-fixed (links on fixed joints "
        "stay bodies of their own; without mass, some orders cannot eliminate them), mimic=HOW (joints "
        "that mimic others: free, fixed, or coupled, by a row each); .xacro: NAME:=VALUE (an argument), "
        "package:NAME=FOLDER (where $(find NAME) is, if not in ROS and no folder above the file, or "
        "beside one, is called NAME)",
    )
    if loops:
        model.add_argument(
            "--contact",
            metavar="BODY,BODY",
            help="bodies whose origins (BODY@x:y:z: another point of theirs) stick to the ground: three "
            "rows each; ,compliance=C instead of 0 [1/kg]",
        )
        model.add_argument("--loops", metavar="FILE", help="closed loops and contacts: docs/loops.md")
    if state:
        add_state(command, "one state is computed; without these options it is the model's own")


def add_state(command: Parser, about: str) -> None:
    """One state of the model."""
    group = command.add_argument_group("the state", about)
    group.add_argument(
        "--q", metavar="X,X", help="joint positions: of all joints, or by name, as in elbow=0.3,wrist=-1"
    )
    group.add_argument(
        "--state",
        action="append",
        metavar="WHAT",
        help="FILE, JSON with q, qd, tau: lists, or objects of joints and numbers; random:SEED, a random "
        "state within the joints' limits; qd:X,X and tau:X,X, rates and efforts as --q; may be repeated",
    )


def add_order(command: Parser, usual: str | None, several: bool = False) -> None:
    """One order, or ``several``."""
    told = f"comma-separated: {ORDER_HELP}" if several else ORDER_HELP
    command.add_argument("--order", default=usual, metavar="A", help=f"{told} ({usual or 'the usual ones'})")


def add_format(command: Parser, usual: str, several: bool = False, known: str = FORMATS_HELP) -> None:
    """One number format, or ``several``."""
    told = f"{'comma-separated' if several else 'one format'} ({usual}): {known}"
    command.add_argument("--format", default=usual, metavar="F", help=told)


def add_refinement(command: Parser) -> None:
    """Corrections."""
    command.add_argument(
        "--refine",
        default="0",
        metavar="K",
        help="this many corrections in the same format (0), by the residual of RNEA; K:equations, by that "
        "of (4)",
    )


def add_derivatives(command: Parser) -> None:
    command.add_argument("--derivatives", action="store_true", help="of qdd's derivatives by q, qd and tau")


def add_json(command: Parser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON document")
