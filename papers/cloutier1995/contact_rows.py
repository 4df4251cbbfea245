"""Section 6.5.2: contact points as rows of equation (4): their forces, their fill and their cost.

A point that stays on the floor is a row and a multiplier at the end of (4); eliminated last, its
pivot is the Schur complement -J M^-1 J^T.  The thesis tells of Lilly's and Featherstone's linear
systems for it.  With as many contacts as ever, an order that is linear without them stays linear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings

from ..paper import Progress
from ..row import Value, value
from ..settings import between, each
from .falling import Floats
from .robot import planar_robot

ORDERS = ("abm", "crbm")
HELD_LINKS = 8  # of the robot whose forces are checked


@dataclass(frozen=True)
class Contacts:
    """Counts over numbers of links and of contacts, and the multipliers of one robot."""

    links: tuple[int, ...]
    contacts: tuple[int, ...]
    operations: dict[str, list[list[int]]]  # order -> contacts x links
    fill: dict[str, list[list[int]]]  # blocks
    multipliers: float  # largest difference from the Schur complement by unit forces, over theirs
    accelerations: float  # largest normal acceleration that is left [m/s^2]


def measure(
    progress: Progress,
    *,
    links: tuple[int, ...] = (8, 16, 24, 32, 40),
    contacts: tuple[int, ...] = (0, 1, 2, 4),
    held: int = 4,
    seed: int = 1995,
) -> Contacts:
    """``contacts`` points, tips of the last links; ``held`` of 8 in the check of the forces."""
    each("links", links, 1, 2)
    each("contacts", contacts, 0)
    between("held", held, 1, HELD_LINKS)
    operations: dict[str, list[list[int]]] = {order: [] for order in ORDERS}
    fill: dict[str, list[list[int]]] = {order: [] for order in ORDERS}
    for order in ORDERS:
        for count in contacts:
            progress(f"{order}, {count} contacts")
            tapes = [kkt.trace(system_of(n, count, seed), orderings.get(order)) for n in links]
            operations[order].append([tape.flops for tape in tapes])
            fill[order].append([_fill(tape) for tape in tapes])
    return Contacts(links, contacts, operations, fill, *_forces(held, seed))


def system_of(n: int, contacts: int, seed: int) -> kkt.System:
    """n unit links in a random state, the tips of the last ``contacts`` on the floor."""
    if contacts > n:
        raise kkt.ModelError(f"{contacts} contacts on {n} links: give at most one a link")
    tree = planar_robot([1.0] * n, [1.0] * n, 0.1)
    q, qd = state_of(n, seed)
    loops = [kkt.contact(k, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) for k in range(n, n - contacts, -1)]
    return kkt.build(tree, q=q, qd=qd, loops=loops)


def state_of(n: int, seed: int) -> tuple[Floats, Floats]:
    """Random angles and rates."""
    generator = np.random.default_rng(seed)
    return generator.uniform(-1.0, 1.0, n), generator.normal(size=n)


def _fill(tape: Any) -> int:
    return int(tape.program.symbolic.fill_blocks)


def _forces(held: int, seed: int) -> tuple[float, float]:
    """Multipliers of all orders beside lambda = -(J M^-1 J^T)^-1 (J qdd + drift)."""
    n = HELD_LINKS
    system, (q, qd) = system_of(n, held, seed), state_of(n, seed)
    free = kkt.build(system.graph, q=q, qd=qd)
    base = kkt.eliminate(free, orderings.get("abm"), records=False)
    u = np.stack([np.cos(np.cumsum(q)), np.sin(np.cumsum(q))], -1)
    tips = np.cumsum(u, 0)
    joints = np.concatenate([np.zeros((1, 2)), tips[:-1]])
    points = np.arange(n - 1, n - held - 1, -1)
    J = np.where(np.arange(n) <= points[:, None], tips[points, None, 0] - joints[:, 0], 0.0)
    omega = np.cumsum(qd)
    drift = -np.cumsum(omega**2 * u[:, 1])[points]
    M = kkt.joint_space_inertia(free, orderings.get("crbm"))
    A = J @ np.linalg.solve(M, J.T)
    asked = np.linalg.solve(A, -(J @ base.qdd + drift))
    worst, left = 0.0, 0.0
    for order in ORDERS:
        found = kkt.eliminate(system, orderings.get(order), records=False)
        worst = max(worst, float(np.abs(found.lam - asked).max() / np.abs(asked).max()))
        left = max(left, float(np.abs(J @ found.qdd + drift).max()))
    return worst, left


def values(found: Contacts) -> Iterator[Value]:
    yield value("multipliers", found.multipliers)
    yield value("accelerations", found.accelerations)
    even = len(set(np.diff(found.links).tolist())) == 1 and len(found.links) > 2
    none = "" if even else "numbers of links that are not evenly spaced"
    words = {"first": found.links[0], "second": found.links[1], "none": none}
    for i, count in enumerate(found.contacts):
        for what, counts in (("operations", found.operations), ("blocks filled in", found.fill)):
            ours = counts["abm"][i]
            yield value("linear", ours, not np.diff(ours, 2).any(), count=count, what=what, **words)


def figures(found: Contacts, style: str) -> dict[str, Any]:
    from .pictures import growth

    return {"contact_rows": growth(found, style)}
