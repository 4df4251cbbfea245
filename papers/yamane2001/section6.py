"""Section 6: virtual work, ABA and the constraint force algorithm as pivot sequences.

The paper compares in words and leaves operations to later work.  All of them are orders on one
matrix: ABA takes body by body; the others first set every body free, and then eliminate the
constraint forces, leaf to root (virtual work), every other one first (CFA), or halving the chain.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress, Results, between, picture, value
from .proofs import mobilities

ORDERS = ("abm", "virtual_work", "constraint_force", "divide_and_conquer", "lagrange")
MOBILITY = "M_k^-1 = K_k ((I^A_k)^-1 + Phi* (I^A_p)^-1 Phi) K_k*"
SHAPES = ((2, 3, 4, 0), (3, 3, 5, 5, 0), (4, 4, 4, 0))  # parents, tip to base, 0 a root


def measure(progress: Progress, *, largest: int = 6, joint: str = "spherical") -> Results:
    """Chains of 2^h - 1 links, h = 2 to ``largest``; fractions for M_k."""
    between("largest", largest, 3)
    sizes = tuple(2**h - 1 for h in range(2, largest + 1))
    heights: dict[str, list[int]] = {name: [] for name in ORDERS}
    flops: dict[str, list[float]] = {name: [] for name in ORDERS}
    for n in sizes:
        progress(f"chain of {n}")
        system = kkt.build(kkt.chain(n, joint=joint))
        for name in ORDERS:
            tape = kkt.trace(system, orderings.get(name))
            heights[name].append(tape.program.factor.height)
            flops[name].append(tape.flops / n)
    progress("pivots in exact fractions")
    mobile = all(claim.numbers_agree() for shape in SHAPES for claim in mobilities(shape))
    yield value("mobility", MOBILITY, mobile, trees=len(SHAPES))
    virtual, abm = (with_forces(system, name) for name in ("virtual_work", "abm"))
    extra = [after - before for before, after in (virtual, abm)]
    told = f"virtual work +{extra[0]:,}, ABM +{extra[1]:,}"
    words = {"links": sizes[-1], "virtual": f"{virtual[0]:,}", "abm": f"{abm[0]:,}"}
    yield value("forces", told, extra[0] < extra[1], **words)
    each, logs = (np.diff(heights[name]).tolist() for name in ("virtual_work", "constraint_force"))
    yield value("height", logs, len(set(logs)) == 1, virtual=", ".join(map(str, each)))
    panels = {"operations a link": flops, "height: steps that must wait for each other": heights}
    yield picture("section6", "depths", sizes, panels)


def with_forces(system: kkt.System, order: str) -> tuple[int, int]:
    """Operations that qdd needs, and those that qdd and every joint's whole force need."""
    tape = kkt.trace(system, orderings.get(order))
    each = np.diff(tape.first)
    return tuple(int(each[tape.program.live(kinds)].sum()) for kinds in (("qdd",), ("qdd", "f")))  # type: ignore[return-value]
