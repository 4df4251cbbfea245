"""The parser of the command line, and nothing heavy."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from .arguments import COMMANDS, Commands
from .examples import EXAMPLES, OWN_ORDER


class _Parser(argparse.ArgumentParser):
    """One line for what is refused; examples below the options, as they are written."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)

    def error(self, message: str) -> NoReturn:
        """One line, like every other refusal."""
        from .running import refused

        raise SystemExit(refused(f"{message}; see {self.prog} --help"))

    def print_help(self, file: Any = None) -> None:
        """A full disk or a closed pipe is told here."""
        try:
            print(self.format_help(), end="", file=file, flush=True)
        except OSError as error:
            from .running import full

            raise SystemExit(full(error)) from None


def joined(texts: Sequence[str]) -> list[str]:
    """A list of numbers that begins with a minus is a value, and no option: ``--q -0.3,1``."""
    result: list[str] = []
    for text in texts:
        number = text[:1] == "-" and (text[1:2].isdigit() or text[1:2] == ".")
        if number and result and result[-1] in ("--q", "--qd", "--tau"):
            result[-1] += f"={text}"
            continue
        result.append(text)
    return result


@cache
def parser() -> argparse.ArgumentParser:
    """The parser of ``pivotree`` and all its commands; read, and never changed."""
    top = _Parser(
        prog="pivotree",
        description="Forward-dynamics algorithms as sequences of pivots on one sparse matrix.",
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for add in COMMANDS:
        add(commands)
    for name, command in commands.choices.items():
        command.description = textwrap.fill(command.description or _first(commands, name), 78)
        command.epilog = "examples:\n" + "\n".join(f"  pivotree {x}" for x in EXAMPLES[name])
        command.epilog += OWN_ORDER if name == "orders" else ""
        for option in ("--order", "--format"):  # one or several: either name is understood
            known = command._option_string_actions
            if option in known:
                known.setdefault(f"{option}s", known[option])
    return top


def _first(commands: Commands, name: str) -> str:
    """What a command's line in the list of commands says, as a sentence."""
    told = next(action.help for action in commands._choices_actions if action.dest == name)
    return f"{told[0].upper()}{told[1:]}."
