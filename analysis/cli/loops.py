"""Closed loops and contacts that the options ask for, beside the model's own."""

from __future__ import annotations

import argparse
import math
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt
from pivotree.kkt.base.errors import nearest
from pivotree.kkt.model.joints import in_plane


def loops_of(options: argparse.Namespace, tree: nx.DiGraph) -> tuple[kkt.Loop, ...]:
    """What ``--contact``, ``--compliance`` and ``--loops`` say; none where a command has none."""
    told, file = getattr(options, "contact", None), getattr(options, "loops", None)
    soft = getattr(options, "compliance", None)
    if soft is not None and told is None:
        raise kkt.PivotreeError("option --compliance: softens contacts; name some with --contact")
    read = () if file is None else kkt.read_loops(file, tree)
    return (*read, *(() if told is None else _contacts(tree, told, _compliance(soft))))


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


def _contacts(tree: nx.DiGraph, text: str, compliance: float) -> list[kkt.Loop]:
    """Points that stick to the ground: along the vertical first, then across it."""
    up = -np.array(tree.graph["gravity"], dtype=float)
    up = up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
    across = np.concatenate(in_plane(up[None]))
    found = []
    for item in (part.strip() for part in text.split(",")):
        body, point = point_of(tree, item, "--contact")
        found.append(kkt.contact(body, point, up, across, compliance=compliance, name=item))
    return found


def point_of(tree: nx.DiGraph, item: str, option: str) -> tuple[Any, list[float]]:
    """A body or merged link, and the point of it [m] that BODY@x:y:z names; else its origin."""
    names = {str(name): name for name in (*tree.graph.get("merged", {}), *tree)}
    if item in names:
        return names[item], [0.0, 0.0, 0.0]
    body, _, numbers = item.rpartition("@")
    if body not in names:
        raise kkt.ModelError(
            f"option {option}: body {body or item!r} is unknown; {nearest(body or item, names)}"
        )
    try:
        point = [float(x) for x in numbers.split(":")]
    except ValueError:
        point = []
    if len(point) != 3 or not all(map(math.isfinite, point)):
        raise kkt.ModelError(
            f"option {option}: {item!r} names no point; write {body}@0:0:-0.1, in m and in the "
            "body's frame"
        )
    return names[body], point


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
