"""Equation (20): M and f of the RR arm in closed form, beside several orders; proofs: equations."""

from __future__ import annotations

import numpy as np

from ..item import Progress, Results, value
from .arm import PAPER

ORDERS = ("abm", "crbm", "virtual_work", "square_root_abm")


def measure(
    progress: Progress, *, states: int = 1000, seed: int = 1999, orders: tuple[str, ...] = ORDERS
) -> Results:
    """Random states by several orders of elimination: largest difference of qdd from (20), relative."""
    draw = np.random.default_rng(seed)
    q, qd = draw.uniform(-np.pi, np.pi, (states, 2)), draw.uniform(-10.0, 10.0, (states, 2))
    t = draw.uniform(0.0, 4.0, states)
    exact = PAPER.closed_form(t, q, qd)
    size = np.max(np.abs(exact), axis=1)
    for order in orders:
        progress(f"{states} states by {order}")
        ours = PAPER.accelerations(order)(t, q, qd)
        off = float(np.max(np.max(np.abs(ours - exact), axis=1) / size))
        yield value("accelerations", off, order=order, states=states)
