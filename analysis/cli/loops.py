"""Closed loops and contacts that the options ask for, beside the model's own."""

from __future__ import annotations

import argparse
import math

import networkx as nx

from pivotree import kkt
from pivotree.kkt.model.contact_names import contacts_of


def loops_of(options: argparse.Namespace, tree: nx.DiGraph) -> tuple[kkt.Loop, ...]:
    """What ``--contact``, ``--compliance`` and ``--loops`` say; none where a command has none."""
    told, file = getattr(options, "contact", None), getattr(options, "loops", None)
    soft = getattr(options, "compliance", None)
    if soft is not None and told is None:
        raise kkt.PivotreeError("option --compliance: softens contacts; name some with --contact")
    read = () if file is None else kkt.read_loops(file, tree)
    return (
        *read,
        *(() if told is None else contacts_of(tree, told, _compliance(soft), "option --contact")),
    )


def proximal_rows(text: str, loops: list[kkt.Loop]) -> list[kkt.Loop]:
    """The loops and contacts with what ``--proximal`` gives as compliance, or one sentence."""
    try:
        mu = float(text)
    except ValueError:
        mu = math.nan
    if not 0.0 < mu < math.inf:
        raise kkt.PivotreeError(
            f"option --proximal: {text!r} is no compliance; give more than zero, such as 1e-4"
        )
    if not loops:
        raise kkt.PivotreeError(
            "option --proximal: is about closed loops and contacts, and the model has none; hold a "
            "body with --contact, or leave it out"
        )
    if any(loop.compliance.any() for loop in loops):
        raise kkt.PivotreeError(
            "option --proximal: makes all rows rigid, and some have a compliance of their own; "
            "leave one of the two out"
        )
    return kkt.softened(loops, mu)


def _compliance(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise kkt.PivotreeError(
            f"option --compliance: {text!r} is no compliance; give zero or more [1/kg]"
        )
    return value
