"""Command lines for every command, read off the parser; words that went wrong somewhere."""

import argparse
import json
import re
from pathlib import Path

from pivotree.analysis.cli.parser import parser

LIMIT = 300  # [s] for one call: more is a hang, also on a busy machine
SIGN = "pwned"  # of a name that got out of where names stand
HOSTILE = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="utf-8"))
COMMANDS = next(
    action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
).choices
GIVEN = {"MODEL": "chain:1", "KIND": "spy", "PAPER": "ascher1996", "CONFIG": "sweep.toml"}
CHEAP = {  # options that keep a command short where nothing is wrong
    "compare": {"--order": "abm", "--format": "float32"},
    "check": {"--states": "1"},
    "report": {"--states": "1", "--order": "abm", "--format": "float32"},
    "explore": {"--order": "abm", "--format": "float32"},
    "guarantee": {"--states": "1", "--order": "abm", "--format": "float32"},
    "simulate": {"--seconds": "0.01", "--order": "abm"},
    "tune": {"--most": "1"},
    "prove": {"--order": "abm,crbm"},
    "counts": {"--order": "none"},
    "reproduce": {"--item": "equations"},
}


def output_of(command):
    """The option that names what is written; None where a command writes nothing."""
    found = (a for a in COMMANDS[command]._actions if "-o" in a.option_strings)
    return next(found, None)


def place(action, stem="out"):
    """A name that an output can have, by its metavar and help."""
    if action.metavar == "DIR":
        return stem
    suffix = re.search(r"\.[a-z]+", f"{action.metavar} {action.help}")
    return stem + (suffix[0] if suffix else ".txt")


def words(command, **given):
    """What a command needs, with ``given`` arguments by metavar, or options by their name."""
    result = [command]
    values = GIVEN | given
    for action in COMMANDS[command]._actions:
        if not action.option_strings:
            assert action.metavar in values, f"teach GIVEN the argument {action.metavar}"
            result.append(values[action.metavar])
    for group in COMMANDS[command]._mutually_exclusive_groups:
        if group.required:
            result.append(group._group_actions[0].option_strings[0])
    out, options = output_of(command), dict(CHEAP.get(command, {}))
    if out is not None and (out.required or command in ("figure", "report", "explore")):
        options["--output"] = place(out)
    if "--output" in given and command == "counts":
        options = {}  # the page is of all orders
    options |= {name: value for name, value in given.items() if name.startswith("-")}
    return result + [f"{name}={value}" for name, value in options.items()]


def positional(metavar):
    return [c for c in COMMANDS if metavar in [a.metavar for a in COMMANDS[c]._actions]]


BODY = {
    "name": "a",
    "parent": None,
    "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "p": [0, 0, 0],
    "S": [[0], [0], [1], [0], [0], [0]],
    "mass": 1.0,
    "com": [0.1, 0, 0],
    "inertia_com": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
}
MODEL = {
    "schema": "pivotree-model/1",
    "name": "m",
    "gravity": [0, 0, -9.81],
    "bodies": [BODY, BODY | {"name": "b", "parent": "a", "p": [1, 0, 0]}],
    "velocity": [0.1, 0.2],
    "effort": [1, 2],
}
GOOD = json.dumps(MODEL)


def refusals(err: str) -> list[str]:
    """The lines of standard error but for warnings, and what slow work says of itself."""
    usual = ("pivotree: warning: ", "pivotree: ... ")
    return [line for line in err.splitlines() if not line.startswith(usual)]
