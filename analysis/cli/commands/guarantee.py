"""``pivotree guarantee``: digits that orders keep in every state, proved, beside those seen."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Hashable
from typing import Any

import networkx as nx

from pivotree import kkt, orderings
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.base.reading import read_number
from pivotree.kkt.theorem.ranges import ranges_of

from ..arguments import Parser, add_format, add_json, add_model, add_order
from ..limits import admit
from ..loops import size_of
from .shared import formats_of, orders_of, print_json, system_of_any, tree_of

# times that an operation takes in one of many states, and where a bound of a format is evaluated
STATE, LOOK = 0.1, 25.0

EXAMPLES = ("guarantee robot:ur5", "guarantee robot.urdf --order abm --limits elbow_joint=-2:2")


def declare(command: Parser) -> None:
    add_model(command, state=False, loops=False)
    add_order(command, "abm,gain_abm", several=True)
    add_format(command, "float64,float32", True, "floats of at most 64 bits: float64, float32, bfloat16, p11")
    command.add_argument(
        "--states", type=int, default=100, metavar="N", help="sampled beside the proof (100)"
    )
    command.add_argument(
        "--limits", metavar="JOINT=LOW:HIGH", help="of joints, instead of the model's own [rad, m]"
    )
    command.add_argument(
        "--qd", metavar="RATE", help="largest |qd| of every joint [rad/s, m/s], or JOINT=RATE,..."
    )
    command.add_argument(
        "--tau", metavar="EFFORT", help="largest |tau| of every joint [N m, N], or JOINT=EFFORT,..."
    )
    add_json(command)


def run(options: argparse.Namespace) -> int:
    from ...guarantee import guarantee

    orders, formats = orders_of(options) or [], list[Any](formats_of(options))
    model = tree_of(options)
    limits = _limits(model, options.limits)
    rates, efforts = (_most(model, x, getattr(options, x[2:])) for x in ("--qd", "--tau"))
    given = options.states, 0, limits, rates, efforts
    _admit(options, system_of_any(model), orders, len(formats))
    rows = guarantee(model, orders, formats, *given)
    if options.json:
        print_json({"model": options.model, "rows": [row.as_dict() for row in rows]})
    else:
        ranges = ranges_of(system_of_any(model), limits)
        _print(options.model, rows, ranges.positions_in_words())
    return 0


def _admit(options: argparse.Namespace, system: kkt.System, orders: list[str], formats: int) -> None:
    """Refuse what is plainly too long: states that are sampled, and the bounds of formats."""
    seen = STATE * options.states * formats
    looked = LOOK * 3.0 * formats
    wanted = {name: orderings.get(name) for name in orders}
    smaller = "give fewer --states" if seen > looked else "use a smaller model"
    admit(options, system, wanted, seen + looked, smaller)


def _limits(model: nx.DiGraph[Any], text: str | None) -> dict[Hashable, tuple[float, float]]:
    """Limits of the joints, or bodies, that the option names."""
    found: dict[Hashable, tuple[float, float]] = {}
    for item in () if text is None else text.split(","):
        joint, _, ends = (part.strip() for part in item.partition("="))
        body, (low, colon, high) = _body(model, "--limits", joint, found), ends.partition(":")
        try:
            found[body] = read_number(low), read_number(high)
        except ValueError:
            told = f"{ends!r} of {item.strip()!r} is no number" if colon else f"{item.strip()!r} is no range"
            raise kkt.ModelError("option --limits", told, f"write {joint}=-1:1 [rad, m]") from None
    return found


def _body(model: nx.DiGraph[Any], option: str, joint: str, found: dict[Hashable, Any]) -> Hashable:
    """The body of a joint, by either's name, that is not ``found`` before."""
    names = {str(body): body for body in model}
    names |= {str(data.get("joint_name", body)): body for body, data in model.nodes(data=True)}
    if joint not in names:
        raise kkt.ModelError(f"option {option}", f"joint {joint!r} is unknown", nearest(joint, names))
    if names[joint] in found:
        raise kkt.ModelError(f"option {option}", f"joint {joint!r} is named twice", "name each once")
    return names[joint]


def _most(model: nx.DiGraph[Any], option: str, text: str | None) -> float | dict[Hashable, float]:
    """One number for all joints, or JOINT=NUMBER,..."""
    found: dict[Hashable, float] = {}
    for item in () if text is None else text.split(","):
        joint, equals, size = (part.strip() for part in item.rpartition("="))
        value = size_of(size, option, "largest size; write 1.5, or JOINT=1.5")
        if not equals and text == item:
            return value
        found[_body(model, option, joint, found)] = value
    return found


def _proved(bound: Any) -> str:
    """The digits that are promised; "none" where nothing is."""
    return "none" if bound.why else _down(bound.digits)


def _print(model: str, rows: list[Any], positions: str) -> None:
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    heads = ("order", "format", "proved, all states", "worst seen", "states", "worst body", "qdd proved")
    shown: list[tuple[str, ...]] = [
        (
            row.order,
            row.format,
            _proved(row.bound),
            f"{row.seen:.1f}" if row.states else "",
            str(row.states),
            "" if row.bound.worst is None else str(row.bound.worst),  # whose own rounding decides the bound
            _proved(row.qdd.bound),
            "" if row.qdd.bound.why else f"{row.qdd.seen:.1f}",
        )
        for row in rows
    ]
    title = f"{model}: decimal digits of every pivot D_k"
    out.print(grid(title, (*heads, "qdd seen"), shown, words=("order", "format", "worst body")))
    lines = [f"All states: positions {positions}."]
    if any(row.qdd.names and not row.qdd.bound.why for row in rows):
        lines.append(
            "Digits of qdd are those of its error beside the largest accelerations that limits, "
            "rates and efforts allow, both as kinetic energies. Few come near these, so that more "
            "digits may be seen than the format has."
        )
    for row in rows:
        where, qdd = f"{row.order}, {row.format}", row.qdd
        if row.bound.why:
            lines.append(f"{where}: nothing is promised: {row.bound.why}.")
        elif qdd.bound.why:
            lines.append(f"{where}: of qdd nothing is promised: {qdd.bound.why}.")
        elif qdd.names:
            most, seen = qdd.bound.joint[qdd.worst], qdd.joint[qdd.worst]
            lines.append(
                f"{where}: qdd of {qdd.names[qdd.worst]} is off by at most {most:.2g} "
                f"(seen: {seen:.2g}), and no joint by more (rad/s², m/s²)."
            )
    out.say(*lines)


def _down(digits: float) -> str:
    """One decimal, never more than was proved."""
    return f"{math.floor(10.0 * digits) / 10.0:.1f}" if math.isfinite(digits) else "all"
