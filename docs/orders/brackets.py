"""The brackets of an order, as it makes them on a chain of four bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pivotree.kkt import Structure

CHAIN = Structure(tuple(range(4)), np.arange(-1, 3), np.ones(4, dtype=np.int64))


def groups(order: Callable[..., Any]) -> list[list[str]]:
    """Blocks by group, such as ``pdd_1``; bodies are numbered tip to base.

    Carriers of stretched links are their body's, with a prime; a pivot off the diagonal is
    ``row|unknown``.
    """
    linked = CHAIN.with_links(order.links)
    number = {int(k): i for i, k in enumerate(CHAIN.order, start=1)}
    if order.problem == "tau":
        return [[f"{row}|{unknown}_{number[linked.index[k]]}"] for (row, k), (unknown, _) in order(CHAIN)]

    def entry(kind: str, body: Any) -> str:
        k = linked.index[body]
        if linked.carrier[k]:
            return f"{kind}'_{number[int(linked.copy_of[k])]}"
        return f"{kind}_{number.get(k, k + 1)}"

    return [[entry(kind, body) for kind, body in group] for group in order(CHAIN)]


def text(order: Callable[..., Any]) -> str:
    """``(pdd_1 f_1) (pdd_2 f_2)`` and so on."""
    return " ".join(f"({' '.join(group)})" for group in groups(order))
