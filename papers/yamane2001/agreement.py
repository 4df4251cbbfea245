"""Joint accelerations by virtual work, by section 3 as typed and by ABM, on chains and stars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis import inertia

from ..item import Progress
from ..measures import error
from ..row import Value, value
from .recursion import joint_accelerations

MOST = 1e-10  # of max |qdd|
ORDERS = ("virtual_work", "virtual_work_split")


@dataclass(frozen=True)
class Agreement:
    """One robot; differences from ABM and errors against the certified answer, of max |qdd|."""

    robot: str
    dof: int
    off: Mapping[str, float]  # order or method -> difference from abm
    error: Mapping[str, float]
    typed: tuple[float, float] | None  # section 3, errors with M_k mirrored and not; chains only


def measure(
    progress: Progress,
    *,
    chains: tuple[int, ...] = (16, 64, 128),
    stars: tuple[int, ...] = (2, 12, 24),
    trees: int = 3,
    bodies: int = 24,
    seed: int = 0,
    joint: str = "spherical",
) -> list[Agreement]:
    """Chains and stars of a joint, then ``trees`` random branched trees of all kinds of joints."""
    robots = [kkt.chain(n, joint=joint) for n in chains]
    robots += [kkt.star(n, joint=joint) for n in stars]
    robots += [kkt.random_tree(bodies, seed + i) for i in range(trees)]
    found = []
    for graph in robots:
        system = kkt.build(graph)
        progress(system.name)
        found.append(compare(system))
    return found


def compare(system: kkt.System) -> Agreement:
    """By every order that suits the robot: split links only where a body has three children."""
    exact = kkt.certify(system, 20)
    serial = bool(np.bincount(system.tree.parent + 1, minlength=1).max() <= 1)
    qdd = {name: kkt.eliminate(system, orderings.get(name), records=False).qdd for name in ("abm", *ORDERS)}
    if len(system.entries.tau) <= 100:  # n columns of n links each
        qdd["unit vectors"] = inertia.solve(system, method=1)
    typed = None
    if serial:
        pair = (joint_accelerations(system, symmetric=s) for s in (True, False))
        mirrored, plain = (error(exact, x) for x in pair)
        typed = (mirrored, plain)
    scale = float(np.abs(qdd["abm"]).max())
    off = {m: float(np.abs(x - qdd["abm"]).max()) / scale for m, x in qdd.items() if m != "abm"}
    errors = {m: error(exact, x) for m, x in qdd.items()}
    return Agreement(system.name, len(system.entries.tau), off, errors, typed)


def values(found: list[Agreement]) -> Iterator[Value]:
    for one in found:
        worst = max(one.off.values())
        yield value("same", worst, worst <= MOST, robot=one.robot, dof=one.dof, methods=", ".join(one.off))
    typed = [one for one in found if one.typed is not None]
    if typed:
        mirrored, plain = (max(one.typed[i] for one in typed if one.typed) for i in (0, 1))
        robot = max(typed, key=lambda one: one.dof).robot
        yield value("typed", mirrored, mirrored <= MOST, robot=robot)
        yield value("plain", plain)
