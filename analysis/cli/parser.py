"""The parser of the command line, and nothing heavy."""

from __future__ import annotations

import argparse
import re
import textwrap
from functools import cache, partial
from importlib import import_module
from typing import Any, NoReturn

COMMANDS = {
    "check": "will a robot keep its digits in float32: one page, with what would mend it",
    "compare": "the main job: what each order fills in, costs and loses, with a verdict",
    "solve": "joint accelerations, with their certified error",
    "figure": "draw a figure for a paper, of one of many kinds",
    "report": "digits kept over many random states: one HTML page to hand on",
    "guarantee": "digits that an order's pivots keep in every state, proved",
    "blame": "which operations, pivots and bodies lost the digits",
    "prove": "the closed forms of the papers, proved",
    "list": "the algorithm that an order is, as formulas",
    "counts": "what orders cost, as polynomials in n, and where CRBM and ABM cross",
    "explore": "eliminate the matrix by hand, in the browser; -o: one HTML page",
    "simulate": "what an order's rounding costs an adaptive integrator",
    "sweep": "trees x orders x formats x states into one table; resumes where it ended",
    "export": "forward dynamics by an order, as portable C or CUDA",
    "tune": "the cheapest order for a robot or a matrix, beside others",
    "reproduce": "what the papers print, beside ours",
    "orders": "what orders there are, with their sources",
    "models": "what can be named as MODEL, beside files",
    "readings": "programs whose own order and frames compare --as measures",
}
"""What each command does, in a line; its module in ``commands`` declares its options."""


NUMBERS = re.compile(r"-[.\d]")
"""How a value begins that is no option though it has a minus: ``--q -0.3,1``."""


class _Once(argparse.Action):
    """The value of an option that is given once: of two, none is taken in silence.

    Without ``nargs`` it stands for its ``const``, as --float32 does for --format float32.
    """

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        given = vars(namespace).setdefault("given", {})
        if self.dest in given:
            again = self.nargs != 0 or given[self.dest] == option_string
            told = "" if self.nargs == 0 else ", with commas where it takes several"
            name = self.option_strings[0] if again else f"--{self.dest}"
            parser.error(f"option {name} is given twice; give it once{told}")
        if option_string is not None:
            given[self.dest] = option_string
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


def _number(kind: type, text: str) -> Any:
    from pivotree.kkt.base.reading import read_number

    return read_number(text, kind)


class _Parser(argparse.ArgumentParser):
    """One line for what is refused; examples below the options, as they are written."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        self.register("action", None, _Once)
        for kind in (int, float):
            self.register("type", kind, partial(_number, kind))
        self._negative_number_matcher = NUMBERS

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


@cache
def parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of ``pivotree`` and all its commands; read, and never changed.

    Where one command is ``wanted`` the others are known by their names alone.
    """
    top = _Parser(
        prog="pivotree",
        description="Forward-dynamics algorithms as sequences of pivots on one sparse matrix.",
        epilog="compare, solve, figure, blame, list, explore and tune take a symmetric FILE.mtx, too",
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    top.add_argument(
        "--yes", action="store_true", help="go on where a command's work would take minutes or more"
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what)
        if wanted in (None, name):
            _declared(name, what, command)
    return top


def _declared(name: str, what: str, command: argparse.ArgumentParser) -> None:
    """A command with its options, as its module declares them."""
    module = import_module(f".commands.{name}", __package__)
    module.declare(command)
    words = command.description or f"{what[0].upper()}{what[1:]}."
    command.description = textwrap.fill(words, 78)
    command.epilog = "examples:\n" + "\n".join(f"  pivotree {x}" for x in module.EXAMPLES)
    command.epilog += getattr(module, "EPILOG", "")
    known = command._option_string_actions
    for option in {"--order", "--format"} & {*known}:  # one or several: either name is understood
        known.setdefault(f"{option}s", known[option])
