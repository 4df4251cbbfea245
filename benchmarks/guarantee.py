"""Attack what docs/theory/guarantee.md proves: random trees and hill climbing, seen / proved at most.

    python benchmarks/guarantee.py --models 2000 --climbs 20 --steps 100
    python benchmarks/guarantee.py --robots --states 100      # those of example-robot-data
    python benchmarks/guarantee.py --qdd --models 600 --states 9    # qdd: docs/theory/guarantee_qdd.md
    python benchmarks/guarantee.py --boxes --states 20        # what boxes of angles would need

Every pivot of every state is held against double-double; a ratio above 1 refutes the theorem.
Trees are those of tests/hostile_trees.py, with every joint, some with armature; the climb changes
masses, inertias, geometry and joints of the trees with the largest ratios.  Prints one JSON line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
import warnings
from pathlib import Path

import flint
import networkx as nx
import numpy as np
from exact import Exact, balls
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis.guarantee import guarantee
from pivotree.kkt.model import robot_files

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from hostile_trees import hostile_tree
from qdd_cases import Case

KINDS = ("revolute", "continuous", "prismatic", "cylindrical", "planar", "spherical", "floating")


def ratio(tree: nx.DiGraph, order: str, name: str, states: int, seed: int) -> float | None:
    """Largest error of a pivot over the proved bound; None where nothing is promised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (row,) = guarantee(tree, [order], [name], states, seed)
    bound = row.bound
    return None if bound.why or not bound.pivot.any() else row.error / float(bound.pivot.max())


def of_pivots(tree: nx.DiGraph, order: str, name: str, states: int, seed: int) -> list[float]:
    """The largest ratio of all states, once for each; none where nothing is promised."""
    found = ratio(tree, order, name, states, seed)
    return [] if found is None else [found] * states


def accelerations(tree: nx.DiGraph, order: str, name: str, states: int, seed: int) -> list[float]:
    """Errors of qdd over the proved bound, in its energy or of a joint, of states with a promise"""
    return Case(tree, name, order).ratios(states, seed)


def drawn(seed: int, most: int) -> nx.DiGraph:
    """A hostile tree; every third has rotors."""
    tree = hostile_tree(seed, most)
    draw = np.random.default_rng([2, seed])
    for _, data in tree.nodes(data=True):
        if seed % 3 == 0 and data["joint"] in ("revolute", "continuous", "prismatic"):
            data["armature"] = float(10.0 ** draw.uniform(-6, 1))
    return tree


def mild(seed: int, most: int) -> nx.DiGraph:
    """The same tree with masses within a decade, and inertia in every direction."""
    tree, draw = drawn(seed, most), np.random.default_rng([3, seed])
    for _, data in tree.nodes(data=True):
        mass, J = float(data["mass"]), np.asarray(data["inertia"], dtype=float)
        new = float(10.0 ** draw.uniform(-0.5, 0.5))
        data["inertia"] = (J * (new / mass) if mass else 0.0) + 0.02 * new * np.eye(3)
        data["mass"] = new
    return tree


def moved(tree: nx.DiGraph, draw: np.random.Generator) -> nx.DiGraph:
    """The tree with one body changed: mass, shape, centre, place, frame, joint or rotor."""
    new = tree.copy()
    data = new.nodes[list(new)[int(draw.integers(len(new)))]]
    J = np.asarray(data["inertia"], dtype=float)
    choice = int(draw.integers(8))
    if choice == 0:
        scale = 10.0 ** draw.normal(scale=0.5)
        data["mass"], data["inertia"] = data["mass"] * scale, J * scale
    elif choice == 1:
        data["com"] = np.asarray(data["com"]) * 10.0 ** draw.normal(scale=0.3)
    elif choice == 2:
        data["p"] = np.asarray(data["p"]) * 10.0 ** draw.normal(scale=0.3)
    elif choice == 3:
        data["R"] = np.asarray(data["R"]) @ turned(draw)
    elif choice == 4:  # trace/2 - J is positive where the triangle inequality holds
        half = 0.5 * np.trace(J) * np.eye(3) - J
        stretch = turned(draw, 2.0) @ np.diag(10.0 ** draw.normal(scale=0.2, size=3))
        half = stretch @ half @ stretch.T
        data["inertia"] = np.trace(half) * np.eye(3) - 0.5 * (half + half.T)
    elif choice == 5 and data["joint"] in KINDS:
        data["joint"] = str(draw.choice(KINDS))
    elif choice == 6 and "axis" in data and data["joint"] != "universal":
        data["axis"] = np.asarray(data["axis"]) @ turned(draw).T
    elif choice == 7 and data.get("armature") is not None:
        data["armature"] = data["armature"] * 10.0 ** draw.normal(scale=0.5)
    if choice == 5:
        for key in ("q", "qd", "tau"):
            new.graph.pop(key, None)
    return new


def turned(draw: np.random.Generator, most: float = 0.2) -> np.ndarray:
    return Rotation.from_rotvec(most * draw.normal(size=3)).as_matrix()


def ratios(options: argparse.Namespace, tree: nx.DiGraph, seed: int) -> list[float]:
    """Of the states that are promised something; none where the tree is refused by name."""
    try:
        return options.what(tree, options.order, options.format, options.states, seed)
    except kkt.PivotreeError:  # as a massless link on a joint is
        return []


def attack(options: argparse.Namespace) -> dict:
    drawn_trees = range(options.first, options.first + options.models)
    draw_tree = mild if options.mild else drawn
    found = {k: ratios(options, draw_tree(k, options.bodies), k) for k in drawn_trees}
    worst = {k: max(values) for k, values in found.items() if values}
    states = sum(map(len, found.values()))
    draw, climbed = np.random.default_rng(options.first), dict(worst)
    top: list[str] = []
    for seed in sorted(worst, key=worst.__getitem__, reverse=True)[: options.climbs]:
        tree = draw_tree(seed, options.bodies)
        for _ in range(options.steps):
            new = moved(tree, draw)
            values = ratios(options, new, seed)
            states += len(values)
            if values and max(values) > climbed[seed]:
                tree, climbed[seed] = new, max(values)
        if climbed[seed] == max(climbed.values()):
            top = [data["joint"] for _, data in tree.nodes(data=True)]
    return {
        "order": options.order,
        "format": options.format,
        "models": len(worst),
        "states": states,
        "random_ratio": max(worst.values(), default=0.0),
        "climbed_ratio": max(climbed.values(), default=0.0),
        "violations": int(sum(value > 1.0 for value in climbed.values())),
        "joints": top,
    }


def robots(options: argparse.Namespace) -> dict:
    """The same ratio over random states of every robot that is installed."""
    names = {path: name for name, (path, _) in sorted(robot_files().items(), reverse=True)}
    found: dict[str, list[float]] = {}
    for name in names.values():  # every file once
        with contextlib.suppress(kkt.PivotreeError):
            tree = kkt.load(f"robot:{name}")
            found[name] = ratios(options, tree, options.first)
    worst = {name: max(values) for name, values in found.items() if values}
    most = max(worst, key=worst.__getitem__, default="")
    return {
        "order": options.order,
        "format": options.format,
        "robots": len(names),
        "promised": len(worst),
        "states": sum(map(len, found.values())),
        "worst": most,
        "ratio": worst.get(most, 0.0),
        "violations": sum(v > 1.0 for v in worst.values()),
    }


def boxes(options: argparse.Namespace) -> dict:
    """Boxes of joint angles that interval arithmetic needs to say that ur5's pivots are positive.

    A box is a ball for each angle; it is made narrower by fifths until no pivot, in 192 bits, holds
    zero, and the median of many centres counts. The first angle turns the whole arm.
    """
    tree = kkt.load("robot:ur5")
    arm = Exact(kkt.build(tree))
    draw = np.random.default_rng(options.first)
    widths = []
    for _ in range(options.states):
        q, width = draw.uniform(-np.pi, np.pi, 6), 0.5
        while not survives(arm, q, width):
            width *= 0.8
        widths.append(width)
    width = float(np.median(widths))
    start = time.perf_counter()
    survives(arm, q, width)
    one = time.perf_counter() - start
    start = time.perf_counter()
    kkt.guarantee(tree, orderings.get(options.order), options.format)
    return {
        "half_width": width,
        "widest": max(widths),
        "boxes": (np.pi / width) ** 5,
        "seconds_a_box": one,
        "seconds_of_the_proof": time.perf_counter() - start,
    }


def survives(arm: Exact, q: np.ndarray, width: float) -> bool:
    """Whether no pivot of abm holds zero while each angle is any within ``width`` of q."""
    angles = np.array([flint.arb(float(x), width) for x in q])
    still = balls(np.zeros(len(q)))
    try:
        pivots = arm.run(angles, still, still)[1]
    except kkt.SingularError:
        return False
    return all(float(d.lower()) > 0.0 for d in np.concatenate([*pivots.values()]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--order", default="abm")
    parser.add_argument("--format", default="float64")
    for name, default in (
        ("models", 200),
        ("states", 2),
        ("bodies", 6),
        ("climbs", 3),
        ("steps", 20),
        ("first", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--mild", action="store_true", help="trees of masses within a decade")
    parser.add_argument("--robots", action="store_true", help="robots in the place of trees")
    parser.add_argument(
        "--qdd",
        dest="what",
        action="store_const",
        const=accelerations,
        default=of_pivots,
        help="accelerations, with hostile right-hand sides, in the place of pivots",
    )
    parser.add_argument("--boxes", action="store_true", help="what interval boxes would need, ur5")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # massless links; joints that mimic others move freely here
    run = boxes if given.boxes else robots if given.robots else attack
    print(json.dumps(run(given)))
