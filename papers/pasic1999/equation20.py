"""Equation (20): M and f of the RR arm in closed form, beside several orders; proofs: equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..item import Progress
from ..row import Value, value
from .arm import PAPER, Arm, Pair

ORDERS = ("abm", "crbm", "virtual_work", "square_root_abm")


@dataclass(frozen=True)
class Found:
    states: int
    apart: dict[str, float]  # order -> largest difference of qdd from (20), relative


def measure(
    progress: Progress,
    *,
    states: int = 1000,
    seed: int = 1999,
    length: Pair = PAPER.length,
    centre: Pair = PAPER.centre,
    moment: Pair = PAPER.moment,
    mass: Pair = PAPER.mass,
    orders: tuple[str, ...] = ORDERS,
) -> Found:
    """Random states by several orders of elimination."""
    draw = np.random.default_rng(seed)
    q, qd = draw.uniform(-np.pi, np.pi, (states, 2)), draw.uniform(-10.0, 10.0, (states, 2))
    t = draw.uniform(0.0, 4.0, states)
    arm = Arm(length, centre, moment, mass)
    exact = arm.closed_form(t, q, qd)
    size = np.max(np.abs(exact), axis=1)
    apart = {}
    for order in orders:
        progress(f"{states} states by {order}")
        ours = arm.accelerations(order)(t, q, qd)
        apart[order] = float(np.max(np.max(np.abs(ours - exact), axis=1) / size))
    return Found(states, apart)


def values(found: Found) -> Iterator[Value]:
    for order, apart in found.apart.items():
        yield value("accelerations", apart, order=order, states=found.states)
