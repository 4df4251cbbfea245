"""Closed loops and contacts that the options ask for, beside the model's own."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from pivotree import kkt

if TYPE_CHECKING:
    import networkx as nx


def loops_of(options: argparse.Namespace, tree: nx.DiGraph[Any]) -> tuple[kkt.Loop, ...]:
    """What ``--contact`` and ``--loops`` say; none where a command has none."""
    told, file = getattr(options, "contact", None), getattr(options, "loops", None)
    if file is not None and not file.strip():
        raise kkt.PivotreeError("option --loops: is empty; give a file of loops")
    read = () if file is None else kkt.read_loops(file, tree)
    if told is None:
        return tuple(read)
    from ..points import contacts_of

    bodies, soft, compliance = told.partition(",compliance=")
    mu = size_of(compliance, "--contact", "compliance; give zero or more [1/kg]") if soft else 0.0
    return (*read, *contacts_of(tree, bodies, mu, "option --contact"))


def size_of(text: str, option: str, wanted: str) -> float:
    """A finite number of zero or more that an option gives as ``text``.

    Else PivotreeError says that it is no ``wanted``.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise kkt.PivotreeError(f"option {option}: {text!r} is no {wanted}")
    return value
