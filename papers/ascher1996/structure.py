"""Section 2: the 0-structure of equation (6), and what elimination costs on trees and closed loops.

Rows of (6) come in threes, pdd_k, qdd_k, f_k from tip to base.  Row pdd_k is taken as it stands
when its turn comes, row qdd_k once (pdd_k, f_k) is used, row f_k as it is in (6); the engine's
elimination says which blocks are there.  What is left is block upper triangular but for
permutation, with the pivots (3k, 3k-2), an identity, and (3k-1, 3k-1), D_k.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt.program.readers import Remaining, remaining

from ..item import Progress, Results, printed, value
from ..measures import error
from ..world import Links

KINDS = ("pdd", "qdd", "f")
N = 3  # links
LONGEST = 20  # links of a chain
CENTRE = (0.2, 0.05, 0.1)  # of a finger's mass
AXES = ((1.0, 2.0, 3.0), (3.0, -1.0, 2.0), (-2.0, 3.0, 1.0))  # no two joints in one plane


def structure(progress: Progress) -> Results:
    """The 0-structure of (6) after the forward elimination, and the circled pivots, n = 3."""
    said = printed("ascher1996")["structure"]
    system = kkt.build(kkt.chain(N))
    left = remains(progress, system)
    for i, (blocks, ours) in enumerate(zip(said["blocks"], left, strict=True)):
        yield value("row", ours, blocks == ours, i=i + 1, printed=blocks)
    found = backward(left)
    circled = [(3 * k + i, 3 * k + j) for k in range(N, 0, -1) for i, j in said["circled"]]
    yield value("pivots", _text(found), found == circled, printed=_text(circled))
    unknowns = [(kind, k) for k in system.structure.tip_to_base for kind in KINDS]
    # as the elimination meets them: the identity (3k, 3k-2) is the pair of pdd_k and f_k
    given = [[unknowns[i - 1] for i in sorted(set(pivot))] for pivot in reversed(found)]
    result = kkt.eliminate(system, lambda structure: given, "float64")
    yield value("error", error(kkt.certify(system, 30), result.qdd))


def remains(progress: Progress, system: kkt.System) -> list[str]:
    """Rows of what the elimination leaves: "x" where a block may be nonzero, "." where it is zero."""
    bodies = system.structure.tip_to_base
    groups = [group for k in bodies for group in ([("pdd", k), ("f", k)], [("qdd", k)])]
    factor = kkt.symbolic(kkt.plan(kkt.PivotSequence(groups), system.structure))
    columns = [(kind, k) for k in bodies for kind in KINDS]
    left: dict[Any, str] = {}
    for i, k in enumerate(bodies):
        progress(f"body {i + 1} of {len(bodies)}")
        for kind, steps in (("pdd", 2 * i), ("qdd", 2 * i + 1), ("f", 2 * i)):
            left[kind, k] = _row(remaining(factor, steps), (kind, k), columns)
    return [left[column] for column in columns]


def _row(left: Remaining, row: Any, columns: list[Any]) -> str:
    entries = {(tuple(a), tuple(b)) for a, b in left.entries}
    return "".join("x" if (row, column) in entries else "." for column in columns)


def backward(left: list[str]) -> list[tuple[int, int]]:
    """Pivots in the order in which rows of what is left give one new pdd or qdd each.

    The forces are left out, as the paper says: row and column of the joint acceleration of the
    base come first, since its row meets nothing else.  Rows that give nothing new are not taken.
    """
    forces = set(range(3, len(left) + 1, 3))
    known: set[int] = set()
    found: list[tuple[int, int]] = []
    while True:
        for i, row in enumerate(left, start=1):
            new = {j for j, mark in enumerate(row, start=1) if mark == "x"} - known
            if len(new) == 1 and not new & forces:
                (column,) = new
                known.add(column)
                found.append((i, column))
                break
        else:
            return found


def _text(pivots: list[tuple[int, int]]) -> str:
    return " ".join(f"({i},{j})" for i, j in pivots)


# -- trees -------------------------------------------------------------------------------------------


def trees(
    progress: Progress, *, sizes: tuple[int, ...] = (32, 64, 128, 256), seeds: int = 3, seed: int = 0
) -> Results:
    """Section 2, trees: the same elimination from leaves to root, linear in the number of bodies.

    Several random trees of each of these sizes; in less than 32 bodies the root's cheaper one shows.
    """
    links, operations = [], []
    for n, number in ((n, number) for n in sizes for number in range(seed, seed + seeds)):
        progress(f"{n} bodies, seed {number}")
        system = kkt.build(kkt.random_tree(n, seed=number))
        links.append(float(n))
        operations.append(float(kkt.trace(system, orderings.get("abm")).flops))
    exponent = float(np.polyfit(np.log(links), np.log(operations), 1)[0])
    yield value("exponent", exponent, least=min(sizes))
    for composites, what in (("general", "6 x 6 matrices"), ("rigid", "ten numbers")):
        yield value("cheaper", _crossing(progress, composites), what=what)


def _crossing(progress: Progress, composites: str) -> int:
    """The number of links from which on ABM takes fewer operations than CRBM on a chain.

    CRBM's composite inertias are moved as 6 x 6 matrices, or as the ten numbers of a rigid body.
    """

    def crbm(structure: kkt.Structure) -> kkt.PivotSequence:
        groups = orderings.get("crbm")(structure)
        return kkt.PivotSequence(groups, f"crbm, {composites}", composites=composites)

    for n in range(2, LONGEST):
        progress(f"chain of {n}, composites {composites}")
        system = kkt.build(kkt.chain(n))
        if kkt.trace(system, orderings.get("abm")).flops < kkt.trace(system, crbm).flops:
            break
    return n


# -- closed loops --------------------------------------------------------------------------------------


def closed_chain(links: int, loops: int) -> kkt.System:
    """A chain whose tip carries fingers, each on a ball joint, their ends held by ball joints."""
    tree, tip = kkt.new_tree(f"{loops} loops"), None
    for j in range(links):
        solid: dict[str, Any] = {"mass": 1.0, "com": (0.3, 0.1, 0.2), "inertia": np.diag([0.1, 0.2, 0.25])}
        place = (0.6, 0.2, 0.1) if j else (0.0, 0.0, 0.0)
        kkt.add_body(tree, j, tip, axis=AXES[j % 3], p=place, **solid)
        tip = j
    for i in range(loops):
        solid = {"mass": 0.3, "com": CENTRE, "inertia": np.diag([0.01, 0.02, 0.025])}
        kkt.add_body(tree, ("finger", i), tip, joint="spherical", p=(0.6, 0.1 * i, 0.2), **solid)
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


def loops(progress: Progress, *, order: str = "abm", most: int = 12) -> Results:
    """Section 2, closed loops: rows for cut joints added to (4), linear in n for a fixed number.

    Chains of up to ``most`` links with 1 to 3 loops, three rows and three multipliers each (Lubich,
    Nowak, Pohle & Engstler 1992; docs/loops.md).  The multipliers come last; what the elimination
    fills in and costs is counted exactly.
    """
    for count in range(1, 4):
        counts = []
        for n in range(3, most + 1):
            progress(f"{n} links, {count} loops")
            tape = kkt.trace(closed_chain(n, count), orderings.get(order))
            # blocks, and operations
            counts.append({"fill": tape.program.factor.fill_blocks, "flops": tape.flops})
        for what in ("fill", "flops"):
            each = list(dict.fromkeys(b[what] - a[what] for a, b in pairwise(counts)))
            yield value("links", each, len(each) == 1, count=count, what=what)
