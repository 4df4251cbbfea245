"""Equations (3) to (11), sections 2 to 4: each proved from the engine's own elimination."""

from __future__ import annotations

from pivotree.analysis.proofs.prove import Proof, prove_one

from ..paper import Progress
from ..row import Row

# Equation as numbered in the paper -> statements of ``pivotree prove``.
STATEMENTS = {
    "(3)": ("joint-space inertia", "joint-space inertia, every n", "bias of the joints"),
    "footnote 6": ("composite inertias",),
    "(4)": ("equation (4)",),
    "(5)": ("equation (5)",),
    "(6)": ("articulated inertia",),
    "(7)": ("articulated inertia, every n", "a root's bracket, every n"),
    "below (7)": ("bias of the articulated body",),
    "(8)": ("equation (8)",),
    "(9)": ("equation (9)",),
    "sec. 3, the same pivots": ("the same pivots", "the same pivots, every n"),
    "above (10)": ("what the joint leaves",),
    "(10)": ("equation (10)",),
    "(11)": ("equation (11)", "equation (11), stretched"),
    "sec. 2, O(N)": ("fill of ABM", "fill of CRBM"),
}


def measure(progress: Progress) -> list[tuple[str, Proof]]:
    """The proofs, equation by equation."""
    found = []
    for equation, names in STATEMENTS.items():
        for name in names:
            progress(name)
            found.append((equation, prove_one(name)))
    return found


def rows(found: list[tuple[str, Proof]]) -> list[Row]:
    return [
        Row(f"eq {equation}" if equation.startswith("(") else equation, proof.says, proof.status,
            "proved; wrong ones refused", proof.holds, proof.why)
        for equation, proof in found
    ]  # fmt: skip
