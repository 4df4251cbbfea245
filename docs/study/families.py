"""The hard family: instances whose masses, axes and shapes make some order lose its digits.

Every instance is a :class:`kkt.System`.  ``ratio`` is the heaviest mass over the lightest.  All
draws come from seeded generators, so that the study can be repeated to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np

from pivotree import kkt
from pivotree.kkt.model import GENERAL, IN_PLANE, box, rotation

RATIOS = tuple(10.0**k for k in range(10))
TILTS = tuple(np.radians((0, 15, 30, 45, 60, 75, 90)))
TIP_MASS = 10.0  # [kg] of the paper's Example 1
MODELS = Path(__file__).resolve().parents[2] / "tests" / "models"


@dataclass(frozen=True)
class Instance:
    """One system of the study."""

    family: str
    name: str
    ratio: float
    system: kkt.System


def everything(quick: bool = False) -> Iterator[Instance]:
    """All instances; ``quick`` keeps a few of each family."""
    for family in FAMILIES:
        for k, instance in enumerate(family()):
            if not quick or k % 23 == 0:
                yield instance


def direction(draw: np.random.Generator) -> np.ndarray:
    """A random unit vector (3,)."""
    x = draw.normal(size=3)
    return x / np.linalg.norm(x)


def turned(draw: np.random.Generator) -> np.ndarray:
    """A random rotation (3, 3)."""
    return rotation(direction(draw), np.array(draw.uniform(0.0, np.pi)))


# -- the paper's examples -------------------------------------------------------------------------


def two_links(ratio: float, turn: np.ndarray, q1: float) -> nx.DiGraph:
    """Example 1 of Ascher 1996 with a base link ``ratio`` times lighter, in turned frames."""
    tree = kkt.new_tree("two links", tuple(turn @ IN_PLANE))
    for body, parent, mass, length, p in (
        ("base", None, TIP_MASS / ratio, 0.02, 0.0),
        ("tip", "base", TIP_MASS, 2.0, 0.02),
    ):
        inertia = turn @ box(mass, (length, 0.02, 0.02)) @ turn.T
        kkt.add_body(
            tree,
            body,
            parent,
            mass=mass,
            com=turn @ (length / 2, 0.0, 0.0),
            inertia=(inertia + inertia.T) / 2,
            axis=turn @ (0.0, 0.0, 1.0),
            p=turn @ (p, 0.0, 0.0),
        )
    tree.graph.update(q=np.array([0.0, q1]), qd=np.zeros(2), tau=np.zeros(2))
    return tree


def example1() -> Iterator[Instance]:
    """Mass ratios 1 to 1e9, tilts 0 to 90 degrees, and random frames."""
    draw = np.random.default_rng(1)
    turns = [(f"tilt {np.degrees(t):.0f}", rotation(np.array([1.0, 0, 0]), t)) for t in TILTS]
    turns += [(f"random frame {k}", turned(draw)) for k in range(6)]
    for name, turn in turns:
        for ratio in RATIOS:
            for q1 in (0.3, 2.0):
                system = kkt.build(two_links(ratio, turn, q1))
                yield Instance("example 1", f"{name}, q1 {q1}", ratio, system)


def example3() -> Iterator[Instance]:
    """M_k = m_k times the identity, m_2 = 1, along a direction in the y-z plane or any."""
    draw = np.random.default_rng(3)
    lines = [(f"tilt {np.degrees(t):.0f}", np.array([0, np.sin(t), np.cos(t)])) for t in TILTS]
    lines += [(f"random direction {k}", direction(draw)) for k in range(20)]
    for name, line in lines:
        S = np.concatenate([np.zeros(3), line])[:, None]
        for ratio in RATIOS:
            tree = kkt.new_tree("example 3", (0.0, 0.0, 0.0))
            for body, parent, mass in ((2, None, 1.0), (1, 2, ratio)):
                kkt.add_body(tree, body, parent, mass=mass, inertia=mass * np.eye(3), joint=GENERAL, S=S)
            tree.graph.update(q=np.zeros(2), qd=np.zeros(2), tau=np.array([9.81, 981.0]))
            yield Instance("example 3", name, ratio, kkt.build(tree))


# -- arms -----------------------------------------------------------------------------------------


def arm(
    masses: list[float], axes: list[np.ndarray], reach: list[float], draw: np.random.Generator, frames: bool
) -> nx.DiGraph:
    """Rods of 0.1 m along x; ``reach`` is the distance to the next joint.

    ``frames`` turns every body's frame at random, so that no axis is a coordinate axis.
    """
    tree = kkt.new_tree("arm")
    above: str | None = None
    turn = np.eye(3)
    for k, (mass, axis) in enumerate(zip(masses, axes, strict=True)):
        before, turn = turn, turned(draw) if frames else np.eye(3)
        inertia = turn.T @ box(mass, (0.1, 0.03, 0.04)) @ turn
        kkt.add_body(
            tree,
            f"j{k + 1}",
            above,
            mass=mass,
            com=turn.T @ (0.05, 0.004, -0.003),
            inertia=(inertia + inertia.T) / 2,
            axis=turn.T @ axis,
            R=before.T @ turn,
            p=before.T @ (0.0 if k == 0 else reach[k - 1], 0.0, 0.0),
        )
        above = f"j{k + 1}"
    n = len(masses)
    k = np.arange(1.0, n + 1.0)
    tree.graph.update(q=0.4 * np.sin(1.7 * k), qd=0.2 * np.cos(2.3 * k), tau=0.1 * np.sin(k))
    return tree


X, Y, Z = np.eye(3)


def wrists() -> Iterator[Instance]:
    """Light links under a heavy payload: planar, concentric, perpendicular and random axes."""
    for links in (2, 3, 4, 6, 8):
        for kind in ("planar", "concentric", "crossed", "random"):
            for ratio in RATIOS[1::2]:
                draw = np.random.default_rng([links, len(kind)])
                axes = {
                    "planar": [Z] * (links + 1),
                    "concentric": [(Z, Y, X)[k % 3] for k in range(links + 1)],
                    "crossed": [(Z, Y)[k % 2] for k in range(links + 1)],
                    "random": [direction(draw) for _ in range(links + 1)],
                }[kind]
                reach = [0.0 if kind == "concentric" else 0.1] * links
                tree = arm([1.0] * links + [ratio], axes, reach, draw, frames=True)
                name = f"{links} light links, {kind} axes"
                yield Instance("light wrists", name, ratio, kkt.build(tree))


def near_wrists() -> Iterator[Instance]:
    """Axes that miss their common centre by a little."""
    for links in (4, 6):
        for apart in (1e-8, 1e-6, 1e-4, 1e-3):
            for ratio in (1e2, 1e4, 1e6, 1e9):
                draw = np.random.default_rng([links, 5])
                axes = [direction(draw) for _ in range(links + 1)]
                tree = arm([1.0] * links + [ratio], axes, [apart] * links, draw, frames=True)
                name = f"{links} light links, centres {apart:g} m apart"
                yield Instance("near wrists", name, ratio, kkt.build(tree))


def stretched() -> Iterator[Instance]:
    """Planar arms, stretched out or folded, with links along each axis of their frames."""
    for along in range(3):
        place = np.roll(np.eye(3), along, axis=0)  # along the links, in the plane, across it
        for turns in ((0, 1, 0, 0), (1, 0, 1, 1)):
            for ratio in RATIOS[::2]:
                tree = kkt.new_tree("stretched", tuple(place @ IN_PLANE))
                for k, mass in enumerate((1.0, 1.0, 1.0, ratio)):
                    kkt.add_body(
                        tree,
                        k,
                        k - 1 if k else None,
                        mass=mass,
                        com=place @ (0.05, 0.001, 0.0),
                        inertia=place @ box(mass, (0.1, 0.03, 0.04)) @ place.T,
                        axis=place @ Z,
                        p=place @ (0.1 if k else 0.0, 0.0, 0.0),
                    )
                k = np.arange(1.0, 5.0)
                tree.graph.update(q=np.pi * np.array(turns), qd=np.cos(k), tau=0.1 * k)
                name = f"links along {'xyz'[along]}, turns {turns}"
                yield Instance("stretched arms", name, ratio, kkt.build(tree))


def point_masses() -> Iterator[Instance]:
    """Spheres so small beside their distance from the joint that float32 hardly sees them turn."""
    for radius in (0.1, 1e-2, 1e-3, 3e-4, 1e-4):
        for seed in range(4):
            draw = np.random.default_rng([8, seed])
            tree = kkt.new_tree("points")
            for k in range(4):
                kkt.add_body(
                    tree,
                    k,
                    k - 1 if k else None,
                    mass=1.0,
                    com=0.1 * direction(draw),
                    axis=direction(draw),
                    R=turned(draw),
                    inertia=0.4 * (0.1 * radius) ** 2 * np.eye(3),
                    p=(0.1 if k else 0.0, 0.0, 0.0),
                )
            k = np.arange(1.0, 5.0)
            tree.graph.update(q=0.4 * np.sin(k), qd=np.cos(k), tau=0.1 * k)
            name = f"radius {radius:g} of the distance, seed {seed}"
            yield Instance("point masses", name, 1.0, kkt.build(tree))


def heavy_ends() -> Iterator[Instance]:
    """One heavy body at the tip, at the base, in the middle, or every second one."""
    for n in (3, 5, 8, 12):
        for where in ("tip", "base", "middle", "every second"):
            for ratio in RATIOS[1:]:
                heavy = {"tip": [n - 1], "base": [0], "middle": [n // 2], "every second": range(1, n, 2)}[
                    where
                ]
                masses = [ratio if k in heavy else 1.0 for k in range(n)]
                draw = np.random.default_rng([n, len(where)])
                axes = [direction(draw) for _ in range(n)]
                tree = arm(masses, axes, [0.1] * n, draw, frames=False)
                yield Instance(f"heavy {where}", f"{n} bodies", ratio, kkt.build(tree))


def shoulders() -> Iterator[Instance]:
    """Three axes through one point, the first and third nearly collinear; a heavy arm on them."""
    for angle in (1.0, 0.1, 1e-2, 1e-3, 1e-4):
        for ratio in RATIOS[::2]:
            for frames in (False, True):
                draw = np.random.default_rng(7)
                axes = [Z, Y, Z, Y]
                tree = arm([1.0, 1.0, ratio, ratio], axes, [0.0, 0.0, 0.3], draw, frames)
                tree.graph["q"] = np.array([0.3, angle, -0.2, 0.5])
                name = f"axes {angle:g} rad apart{', turned frames' if frames else ''}"
                yield Instance("shoulders", name, ratio, kkt.build(tree))


def chains() -> Iterator[Instance]:
    """Equal rods, 10 to 400 of them."""
    for n in (10, 20, 50, 100, 200, 400):
        yield Instance("chains", f"chain:{n}", 1.0, kkt.build(kkt.chain(n)))


def random_trees() -> Iterator[Instance]:
    """Everything drawn: 4 to 24 bodies, joints of 1 to 6 degrees of freedom, any frames."""
    for spread in (1e2, 1e4, 1e6, 1e8):
        for seed in range(30):
            n = 4 + seed % 3 * 10
            tree = kkt.random_tree(n, seed=seed, mass_ratio=spread)
            masses = [mass for _, mass in tree.nodes(data="mass")]
            name = f"random_tree:n={n},seed={seed},mass_ratio={spread:g}"
            yield Instance(f"random, spread {spread:.0e}", name, max(masses) / min(masses), kkt.build(tree))


def robots() -> Iterator[Instance]:
    """Robots in one state each."""
    for path in sorted(MODELS.glob("*.json")):
        if path.stem.startswith(("chain", "random")):
            continue
        tree = kkt.load(str(path))
        masses = [mass for _, mass in tree.nodes(data="mass") if mass > 0.0]
        yield Instance("robots", path.stem, max(masses) / min(masses), kkt.build(tree))
    for name in ("humanoid", "quadruped"):
        system = kkt.build(kkt.from_spec(name))
        mass = system.tree.mass[system.tree.mass > 0.0]
        yield Instance("robots", name, float(mass.max() / mass.min()), system)


FAMILIES = (
    example1,
    example3,
    wrists,
    near_wrists,
    heavy_ends,
    shoulders,
    stretched,
    chains,
    random_trees,
    robots,
    point_masses,
)
