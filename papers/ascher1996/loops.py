"""Section 2, closed loops: rows for cut joints added to (4), linear in n for a fixed number.

A chain of n links whose tip carries fingers that end in ball joints in the world, cut there:
three rows and three multipliers each (Lubich, Nowak, Pohle & Engstler 1992; docs/loops.md).
The multipliers come last; what the elimination fills in and costs is counted exactly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse.linalg as spla

from pivotree import kkt, orderings

from ..item import Progress, Results, value
from ..measures import apart
from ..world import Links

CENTRE = (0.2, 0.05, 0.1)  # of a finger's mass
AXES = ((1.0, 2.0, 3.0), (3.0, -1.0, 2.0), (-2.0, 3.0, 1.0))  # no two joints in one plane


def closed_chain(links: int, loops: int) -> kkt.System:
    """A chain whose tip carries fingers, each on a ball joint, their ends held by ball joints."""
    tree, tip = kkt.new_tree(f"{loops} loops"), None
    for j in range(links):
        kkt.add_body(
            tree,
            j,
            tip,
            mass=1.0,
            com=(0.3, 0.1, 0.2),
            inertia=np.diag([0.1, 0.2, 0.25]),
            axis=AXES[j % 3],
            p=(0.6, 0.2, 0.1) if j else (0.0, 0.0, 0.0),
        )
        tip = j
    for i in range(loops):
        kkt.add_body(
            tree,
            ("finger", i),
            tip,
            mass=0.3,
            com=CENTRE,
            inertia=np.diag([0.01, 0.02, 0.025]),
            joint="spherical",
            p=(0.6, 0.1 * i, 0.2),
        )
    tree.graph["q"] = 0.2 + 0.1 * np.arange(links + 3 * loops)
    at_rest = kkt.build(tree)
    held, point = Links.of(at_rest), 2.0 * np.array(CENTRE)
    where = dict(zip(held.body, held.pose, strict=True))
    cuts = []
    for k in range(links, links + loops):
        turn, origin = where[k]
        held_at: dict[str, Any] = {"p": origin + turn @ point, "R": turn, "p_second": point}
        cuts.append(kkt.cut_joint(None, at_rest.tree.names[k], "spherical", **held_at))
    return kkt.build(tree, loops=cuts)


def measure(
    progress: Progress, *, order: str = "abm", most: int = 12, loops: int = 5, links: int = 7
) -> Results:
    """Chains of up to ``most`` links with 0 to 3 loops, and of ``links`` with up to ``loops``."""

    def counted(n: int, count: int) -> dict[str, int]:
        progress(f"{n} links, {count} loops")
        tape = kkt.trace(closed_chain(n, count), orderings.get(order))
        factor = tape.program.symbolic
        assert factor is not None
        return {"fill": factor.fill_blocks, "flops": tape.flops}  # blocks, operations

    for count in range(4):
        counts = [counted(n, count) for n in range(3, most + 1)]
        for what in ("fill", "flops"):
            each = list(dict.fromkeys(b[what] - a[what] for a, b in pairwise(counts)))
            said = "O(N)" if count else None
            yield value("links", each, len(each) == 1, count=count, what=what, printed=said)
    flops = [counted(links, count)["flops"] for count in range(loops + 1)]
    yield value("loops", flops, len(set(np.diff(flops[1:], n=3))) == 1, most=loops)
    system = closed_chain(9, 2)
    result = kkt.eliminate(system, orderings.get(order))
    x = spla.spsolve(system.matrix, system.rhs)
    dense = np.concatenate([x[system.blocks[kkt.Block("qdd", name)]] for name in system.tree.names])
    yield value("scipy", apart(result.qdd, dense))
    yield value("residual", _held(system, result))


def _held(system: kkt.System, result: Any) -> float:
    """Largest residual of the loops' own rows, over the largest acceleration."""
    x = np.zeros(system.size)
    for i, name in enumerate(system.tree.names):
        for kind in ("pdd", "qdd", "f"):
            values = {"pdd": result.pdd, "f": result.f}.get(kind)
            own = slice(system.tree.offset[i], system.tree.offset[i + 1])
            x[system.blocks[kkt.Block(kind, name)]] = result.qdd[own] if values is None else values[i]
    rows = [system.blocks[block] for block in system.blocks if block.kind == "lam"]
    left = system.matrix @ x - system.rhs
    return float(max(np.abs(left[r]).max() for r in rows) / np.abs(result.pdd).max())
