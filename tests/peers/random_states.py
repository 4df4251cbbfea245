"""Robots and random states that every peer is compared at, in this project's conventions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt
from pivotree.kkt.model.robots import robot_files, robots_folder

Floats = NDArray[np.float64]
QUATERNION = {"spherical": slice(0, 4), "floating": slice(3, 7)}  # where it stands in q


def robots() -> dict[str, Path]:
    """Every URDF file of example-robot-data once, by its first short name; {} without it."""
    files = robot_files() if robots_folder() else {}
    first = {path: name for name, (path, _) in reversed(files.items())}
    return {name: path for path, name in sorted(first.items())}


def read_quietly(path: Path, floating: bool, merge_fixed: bool, mimic: str = "free") -> kkt.System:
    """A file as a system, its warnings left to the tests that are about them.

    The peers leave mimic joints free, too, and take inertias as they are written.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kkt.MimicWarning)
        warnings.simplefilter("ignore", kkt.InertiaWarning)
        return kkt.build(kkt.read_urdf(path, floating, merge_fixed, mimic))


@dataclass(frozen=True)
class RandomState:
    """A state of a tree; quaternions, because the peers have them."""

    q: dict[Hashable, Floats]  # by body; position then quaternion xyzw for a floating joint
    qd: Floats  # (N,)
    tau: Floats  # (N,)
    f_ext: dict[Hashable, Floats]  # by body, moment first


def random_state(system: kkt.System, seed: int, forces: bool = True) -> RandomState:
    """Angles in +-pi, rates and efforts of order 1 and 10, wrenches on a third of the bodies."""
    tree, draw = system.tree, np.random.default_rng(seed)
    N = tree.N
    q: dict[Hashable, Floats] = {}
    for name, kind, dof in zip(tree.names, tree.joint, tree.dof, strict=True):
        q[name] = draw.uniform(-1.0, 1.0, dof) * (1.0 if kind == "prismatic" else np.pi)
        if kind in QUATERNION:
            q[name] = draw.normal(size=dof + 1)
            q[name][QUATERNION[kind]] /= np.linalg.norm(q[name][QUATERNION[kind]])
    qd, tau = draw.uniform(-1.0, 1.0, N), draw.uniform(-10.0, 10.0, N)
    pushed = [name for name in tree.names if draw.random() < 0.35] if forces else []
    return RandomState(q, qd, tau, {name: draw.uniform(-5.0, 5.0, 6) for name in pushed})


def stored_state(system: kkt.System) -> RandomState:
    """The state that the system was built at, for trees of joints of one degree of freedom."""
    tree, q = system.tree, np.asarray(system.graph.graph["q"], dtype=float)
    parts = dict(zip(tree.names, np.split(q, tree.offset[1:-1]), strict=True))
    return RandomState(parts, system.state.qd, system.state.tau, {})


def tolerance(M: Floats) -> float:
    """What two right answers in double precision may differ by, M the joint-space inertia."""
    return max(1e-10, 100 * 2.2e-16 * np.linalg.cond(M)) if M.size else 1e-10


def difference(ours: Floats, theirs: Floats) -> float:
    """Largest difference relative to the largest number; 0 where there is nothing to compare."""
    if not theirs.size:
        return 0.0
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
