"""What slides and the exam say in numbers, asked of the engine."""

from __future__ import annotations

from functools import cache

import numpy as np

from pivotree import analysis, kkt, orderings
from pivotree.analysis.symbols import ASCHER


@cache
def system(model: str) -> kkt.System:
    """Equation (4) of a model in its own state."""
    return kkt.build(kkt.load(model))


@cache
def eliminated(order: str, model: str) -> kkt.Elimination:
    """An order on a model in float64."""
    return kkt.eliminate(system(model), orderings.get(order))


@cache
def compared(model: str, orders: tuple[str, ...], form: str) -> analysis.Comparison:
    """Orders in one format against the certified answer."""
    return analysis.compare(system(model), list(orders), [form])


def row(order: str, model: str, form: str = "float32") -> analysis.Row:
    """One order of a comparison."""
    return compared(model, (order,), form).rows[0]


def what(role: str) -> str:
    """What a letter is physically, by the one table of symbols."""
    return ASCHER[role].what


def unknowns(model: str) -> int:
    return int(system(model).matrix.shape[0])


def fill(order: str, model: str) -> int:
    return int(eliminated(order, model).fill)


def flops(order: str, model: str) -> str:
    """Operations, with a comma at thousands."""
    return f"{eliminated(order, model).flops:,}"


def error(order: str, model: str, form: str = "float32") -> str:
    """Relative error of qdd, to one digit."""
    return f"{float(row(order, model, form).error):.0e}".replace("e-0", "e-")


def digits(order: str, model: str, form: str = "float32") -> str:
    found = row(order, model, form)
    return "0" if found.digits is None else f"{max(float(found.digits), 0.0):.1f}"


def kappa(model: str) -> str:
    """The condition number of qdd."""
    condition = compared(model, ("abm",), "float64").conditioning
    return f"{float(condition.kappa):.2g}" if condition else "none"


def crossing(composites: str | None = None, most: int = 40) -> int:
    """The shortest chain on which ABM takes fewer operations than CRBM.

    Composite inertias are ten numbers, or with "general" whole 6 x 6 matrices.
    """
    for n in range(1, most):
        abm = kkt.trace(system(f"chain:{n}"), orderings.get("abm")).flops
        if abm < kkt.trace(system(f"chain:{n}"), orderings.get("crbm"), composites=composites).flops:
            return n
    raise ValueError(f"no chain of fewer than {most} links")


def height(order: str, model: str) -> int:
    """Brackets that wait for one another: the height of the elimination tree."""
    return int(kkt.symbolic(kkt.plan(orderings.get(order), system(model).structure)).height)


def pivots(order: str, model: str) -> np.ndarray:
    """The pivots of the joints, D_k of joints with one freedom."""
    found = [
        float(step.pivots[-1])
        for step in eliminated(order, model).steps
        if any(block.kind == "qdd" for block in step.blocks)
    ]
    return np.array(found)


def inertia(model: str) -> np.ndarray:
    """The joint-space inertia (N, N)."""
    return np.asarray(kkt.joint_space_inertia(system(model), orderings.get("crbm")), dtype=float)


def soft_digits(order: str, compliance: float = 1e-6) -> str:
    """Digits of qdd in float32 of the quadruped on soft feet [1/kg]."""
    return digits(order, f"quadruped:feet=4,compliance={compliance}")
