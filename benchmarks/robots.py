"""Robots beside Pinocchio and MuJoCo: the rows of peers.py, and what compiling them takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import multipliers
import peers
from rows import Row, alone

from pivotree import kkt, orderings

CALLS = {
    ("Pinocchio", False): "pin.aba(model, data, q, v, tau)",
    ("Pinocchio", True): "pin.abaInParallel, one thread",
    ("MuJoCo", False): "arrays in, mj_forward, qacc out; no constraints",
    ("Pinocchio, constraintDynamics", False): "rows in the feet's frames, no proximal step",
    ("Pinocchio, constraintDynamics", True): "one call a state",
    ("Pinocchio, lcaba", False): "mu 1e-6, accuracy 1e-14, at most 10 steps",
    ("Pinocchio, lcaba", True): "one call a state",
}
LIMITS = {True: (8.0, 0.05), False: (1.0, 0.05)}  # [s] anew, kept; of the humanoid, of an arm
ARMS = ("ur5", "panda", "chain:7"), 0.08
WHOLE = ("humanoid",), 0.2
STANDING, CONTACTS = "anymal", (0.5, 0.15)  # targets of one state, and of many


def rows(kind: tuple[tuple[str, ...], float], count: int, rounds: int) -> Iterator[Row]:
    """qdd of one state and of many, by machine code of the articulated body method."""
    names, target = kind
    if not peers._version("pin"):
        for name in names:
            yield Row(f"{name}: qdd", peer="Pinocchio", note="not installed")
        return
    for name in names:
        robot = peers.robot_of(name, peers.CHECKED)
        yield from (_row(r) for r in peers.one_state(robot, rounds))
        yield from (_row(r) for r in peers.batch(robot, count, target, rounds))


def standing(count: int, rounds: int) -> Iterator[Row]:
    """qdd and the forces at four feet that stick to the ground, multipliers last in ABM."""
    if not peers._version("pin"):
        yield Row(f"{STANDING} on four feet", peer="Pinocchio", note="not installed")
        return
    robot = peers.on_feet(STANDING, multipliers.FEET[STANDING], peers.CHECKED)
    yield from (_row(found) for found in peers.contacts(robot, count, CONTACTS, rounds))


def _row(found: Any) -> Row:
    note = CALLS.get((found.peer, "states" in found.work), "")
    return Row(
        f"{found.robot}, {found.dof} dof: {found.work}",
        found.ours,
        found.median_error,
        found.peer,
        found.theirs,
        found.their_median_error,
        found.ratio,
        tuple(found.spread),
        found.target,
        note=note,
        worst=(found.error, found.their_error),
    )


def compiling(names: tuple[str, ...], rounds: int) -> Iterator[Row]:
    """Seconds on the clock to a kernel for one state and for vectors of states."""
    kkt.compile(kkt.chain(2), orderings.get("abm")).native(1)  # imports are no part of it
    for name in names:
        system = _system(name)
        if system is None:
            yield Row(f"compile, {name}", note="example-robot-data is not installed")
            continue
        found = [peers.compiling(peers.Robot(name, system, None, None, [], {})) for _ in range(rounds)]
        for what, limit in zip(("anew", "kept"), LIMITS[name in WHOLE[0]], strict=True):
            word = "compile" if what == "anew" else "compile, kept on disk"
            times = [f[what]["vectors too"] for f in found]
            yield alone(f"{word}, {name}", times, target=limit, note="one state and vectors")


def _system(name: str) -> kkt.System | None:
    from random_states import read_quietly, robots

    if ":" in name or name in WHOLE[0]:
        return kkt.build(kkt.load(name, merge_fixed=False))
    files = robots()
    return read_quietly(files[name], False, True) if name in files else None
