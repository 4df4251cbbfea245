"""A statement about roundoff, and the errors that most of them are about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pivotree import kkt

FORMAT = "float32"
UNIT = 2.0**-24


class Fact(NamedTuple):
    """A claim and what is measured."""

    claim: str
    measured: str
    holds: str  # "yes", "no", "partly"
    data: dict[str, Any]


def error(system: kkt.System, order: Any, format: str = FORMAT, **options: Any) -> float:
    """max |qdd - exact| / max |exact|; infinite where the elimination failed."""
    result = kkt.eliminate(system, order, format, records=False, **options)
    if result.failed_at:
        return float("inf")
    off = kkt.certify(system, 25, rounded_to=format).error(result.qdd)
    return float("inf") if off is None else off


def backward(system: kkt.System, result: kkt.Elimination) -> float:
    """Normwise backward error of the computed solution of (4): |r| / (|A| |x| + |b|)."""
    A = system.matrix
    x = np.zeros(system.size)
    row = 0
    for k, name in enumerate(system.tree.names):
        x[system.blocks["pdd", name]] = result.pdd[k]
        x[system.blocks["f", name]] = result.f[k]
        dof = int(system.tree.dof[k])
        if dof:
            x[system.blocks["qdd", name]] = result.qdd[row : row + dof]
        row += dof
    size = float(np.sqrt((A.data**2).sum())) * np.linalg.norm(x) + np.linalg.norm(system.rhs)
    return float(np.linalg.norm(A @ x - system.rhs) / size)
