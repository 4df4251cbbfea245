"""Figures 4 and 5: a serial and a branched chain of 30 degrees of freedom swing under gravity.

Links, masses and starts are not printed; here ten rods on ball joints, in a row, or one that
carries three rows of three, fall from rest.  No torque acts, so that energy must stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Motion

from ..item import Progress, Results, above, picture, value
from ..measures import Floats
from ..world import Links

MOST = 1e-6
PICTURES = 6  # of a chain
REACH = 1.2  # [rad] off the vertical at the start
BRANCHED = (-1, 0, 1, 2, 0, 4, 5, 0, 7, 8)  # parents


@dataclass(frozen=True)
class Swing:
    """One robot's motion."""

    dof: int
    evaluations: int
    drift: float  # greatest change of energy, of the greatest kinetic energy
    times: tuple[float, ...]
    lines: tuple[tuple[Floats, ...], ...]  # at each time, of each link: its ends (2, 3) [m]


def measure(progress: Progress, *, seconds: float = 0.6, order: str = "virtual_work") -> Results:
    """Both chains, by an order in double precision."""
    above("s", seconds=seconds)
    robots = {"serial": list(range(-1, 9)), "branched": list(BRANCHED)}
    found = {}
    for name, parents in robots.items():
        progress(f"{name}: {order}")
        one = found[name] = swing(rods(parents), seconds, order)
        words = {"name": name, "dof": one.dof, "evaluations": one.evaluations}
        yield value("energy", one.drift, one.drift <= MOST, **words)
    yield picture("fig4_5", "snapshots", found)


def rods(parents: list[int]) -> Any:
    """Rods of 0.1 m hanging down; the first rod of every further row starts 40 degrees aside."""
    tree = kkt.new_tree("rods")
    inertia = np.diag([1.0, 1.0, 0.04]) * 0.1**2 / 12
    asides = {k: i for i, k in enumerate(k for k, up in enumerate(parents) if up == 0)}
    for k, up in enumerate(parents):
        angle = np.radians(40.0) * (asides.get(k, 0) - (len(asides) - 1) / 2) * (up == 0)
        R = np.array(
            [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
        )
        kkt.add_body(
            tree,
            k,
            None if up < 0 else up,
            mass=1.0,
            com=(0.0, 0.0, -0.05),
            inertia=inertia,
            joint="spherical",
            R=R if up >= 0 else np.eye(3),
            p=(0.0, 0.0, 0.0 if up < 0 else -0.1),
        )
    return tree


def swing(tree: Any, seconds: float, order: str) -> Swing:
    N = 3 * len(tree)
    motion = Motion.of(tree, orderings.get(order))
    start = motion.start(np.r_[0.3, -REACH, np.zeros(N - 2)], np.zeros(N))
    times = np.linspace(0.0, seconds, PICTURES)
    found = solve_ivp(
        lambda t, y: motion.rates(y[None])[0],
        (0.0, seconds),
        start,
        method="DOP853",
        t_eval=times,
        rtol=1e-9,
        atol=1e-10,
    )
    energies = motion.energies(found.y.T)  # kinetic, potential
    total = energies.sum(1)
    drift = float(np.abs(total - total[0]).max() / energies[:, 0].max())
    lines = tuple(ends(kkt.build(tree, q=motion.kernel.coordinates(y[: motion.nx]))) for y in found.y.T)
    return Swing(N, int(found.nfev), drift, tuple(times), lines)


def ends(system: kkt.System) -> tuple[Floats, ...]:
    """The ends (2, 3) of every rod in the world's frame [m]."""
    links, com = Links.of(system), system.state.com
    return tuple(np.array([p, p + 2 * R @ com[k]]) for k, (R, p) in zip(links.body, links.pose, strict=True))
