"""Equation (20): M and f of the RR arm in closed form, proved from equation (4) and measured.

The proofs are those of ``pivotree prove`` (:mod:`analysis.proofs.pasic1999`), in letters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..paper import Progress
from ..row import Row, claim
from .arm import PAPER, Arm, Pair

ORDERS = ("abm", "crbm", "virtual_work", "square_root_abm")


@dataclass(frozen=True)
class Found:
    proofs: list[tuple[str, str, str, int, int]]  # name, what it says, status, mutants, rejected
    states: int
    apart: dict[str, float]  # order -> largest difference of qdd from (20), relative


def measure(
    progress: Progress, *, states: int = 1000, seed: int = 1999,
    length: Pair = PAPER.length, centre: Pair = PAPER.centre, moment: Pair = PAPER.moment,
    mass: Pair = PAPER.mass, orders: tuple[str, ...] = ORDERS,
) -> Found:  # fmt: skip
    """Proofs of the closed form, and random states by several orders of elimination."""
    from pivotree.analysis.proofs import statements
    from pivotree.analysis.proofs.prove import prove_one

    proofs = []
    for name in (name for name in statements() if name.startswith("RR arm")):
        progress(name)
        proof = prove_one(name)
        proofs.append((name, proof.says, proof.status, proof.mutants, proof.killed))
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
    return Found(proofs, states, apart)


def rows(found: Found) -> list[Row]:
    result = []
    for name, says, status, mutants, killed in found.proofs:
        shown, proved = f"{status}, {killed} of {mutants} mutants refused", status == "proved"
        if "misprint" in name and proved and killed == mutants:
            result.append(
                claim(name, "the formula", shown, "the printed one is right", False, says)
            )
        else:
            result.append(Row(name, says, shown, "proved", proved and killed == mutants))
    for order, apart in found.apart.items():
        result.append(
            Row(f"Theta'' by {order}, {found.states} states", "M^-1 f of (20)",
                f"{apart:.1e} apart", "within 1e-12, relative", apart <= 1e-12)
        )  # fmt: skip
    return result
