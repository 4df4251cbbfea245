"""Section 6: virtual work, ABA and the constraint force algorithm as pivot sequences.

The paper compares in words and leaves operations to later work.  All of them are orders on one
matrix: ABA takes body by body; the others first set every body free, and then eliminate the
constraint forces, leaf to root (virtual work), every other one first (CFA), or halving the chain.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..item import Progress
from ..row import Value, value
from ..settings import between
from .proofs import mobility

ORDERS = ("abm", "virtual_work", "constraint_force", "divide_and_conquer", "lagrange")
MOBILITY = "M_k^-1 = K_k ((I^A_k)^-1 + Phi* (I^A_p)^-1 Phi) K_k*"
SHAPES = ((2, 3, 4, 0), (3, 3, 5, 5, 0), (4, 4, 4, 0))  # parents, tip to base, 0 a root


@dataclass(frozen=True)
class Comparison:
    sizes: tuple[int, ...]  # chains of 2^h - 1 links
    heights: Mapping[str, tuple[int, ...]]  # order -> for each size
    flops: Mapping[str, tuple[int, ...]]
    forces: Mapping[str, tuple[int, int]]  # order -> operations of qdd, of qdd and all forces
    pivots: Mapping[str, bool]  # tree -> M_k^-1 is both sides' articulated mobility


def measure(progress: Progress, *, largest: int = 6, joint: str = "spherical") -> Comparison:
    """Chains of 2^h - 1 links, h = 2 to ``largest``; fractions for M_k."""
    between("largest", largest, 3)
    sizes = tuple(2**h - 1 for h in range(2, largest + 1))
    heights: dict[str, list[int]] = {name: [] for name in ORDERS}
    flops: dict[str, list[int]] = {name: [] for name in ORDERS}
    for n in sizes:
        progress(f"chain of {n}")
        system = kkt.build(kkt.chain(n, joint=joint))
        for name in ORDERS:
            tape = kkt.trace(system, orderings.get(name))
            assert tape.program.symbolic is not None
            heights[name].append(tape.program.symbolic.height)
            flops[name].append(tape.flops)
    forces = {name: with_forces(system, name) for name in ("virtual_work", "abm")}
    progress("pivots in exact fractions")
    pivots = {str(s): all(c.numbers_agree() for c in mobility.on(s)) for s in SHAPES}
    return Comparison(
        sizes,
        {k: tuple(v) for k, v in heights.items()},
        {k: tuple(v) for k, v in flops.items()},
        forces,
        pivots,
    )


def with_forces(system: kkt.System, order: str) -> tuple[int, int]:
    """Operations that qdd needs, and those that qdd and every joint's whole force need."""
    tape = kkt.trace(system, orderings.get(order))
    each = np.diff(tape.first)
    return tuple(int(each[tape.program.live(kinds)].sum()) for kinds in (("qdd",), ("qdd", "f")))  # type: ignore[return-value]


def values(found: Comparison) -> Iterator[Value]:
    yield value("mobility", MOBILITY, all(found.pivots.values()), trees=len(found.pivots))
    base = {name: before for name, (before, _) in found.forces.items()}
    extra = {name: after - before for name, (before, after) in found.forces.items()}
    told = f"virtual work +{extra['virtual_work']:,}, ABM +{extra['abm']:,}"
    words = {"links": found.sizes[-1], "virtual": f"{base['virtual_work']:,}", "abm": f"{base['abm']:,}"}
    yield value("forces", told, extra["virtual_work"] < extra["abm"], **words)
    each, logs = (
        [b - a for a, b in itertools.pairwise(found.heights[name])]
        for name in ("virtual_work", "constraint_force")
    )
    yield value("height", logs, len(set(logs)) == 1, virtual=", ".join(map(str, each)))


def figures(found: Comparison, style: str) -> dict[str, Any]:
    from .pictures import depths

    panels = {
        "operations a link": {
            name: [flops / n for flops, n in zip(each, found.sizes, strict=True)]
            for name, each in found.flops.items()
        },
        "height: steps that must wait for each other": found.heights,
    }
    return {"section6": depths(found.sizes, panels, style)}
