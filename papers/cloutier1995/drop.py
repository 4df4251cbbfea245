"""Sections 6.4 and 6.5: a chain falls on a floor and comes to rest; rigid contact against springs.

A free planar chain is dropped from rest, in a random shape.  Rigid contact: Newton's law without
friction at all touching points, and (6.10)-(6.12) between blows.  Springs: the two of section
6.4.1, relaxing with the share r = e^2, which gives Newton's e at one point (energy is k d^2 / 2, so
that e itself as the share would give e^(1/2)).  To come to rest, springs need dampers: the force of
the switching ones jumps where they rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree.analysis.contact import Fall, Floor, Springs, fall
from pivotree.analysis.simulation import Record

from ..paper import Progress
from ..row import Value, value
from ..settings import between, each
from .falling import Floats, falling

TOUCHES = 1  # blows that the compared motions go through


@dataclass(frozen=True)
class Drop:
    """A chain's fall, by rigid contact and by springs."""

    chain: Floor
    e: float
    rigid: Fall
    stiffness: tuple[float, ...]  # [N/m]
    springs: tuple[Record, ...]  # one for each, two-phase springs
    apart: Floats  # (m,) largest difference of q from rigid contact's after TOUCHES blows [m, rad]
    depth: Floats  # (m,) deepest point [m]
    returned: Floats  # (m,) -v_N+ / v_N- of a single rod that falls level on its springs
    as_printed: float  # the same, the share of the stiffest spring being e and not its square
    accuracies: tuple[float, ...]  # of springs that give everything back, the softest ones
    grown: Floats  # (a,) largest energy of theirs, springs' included, over the start's, less 1
    damped: Record  # springs with dampers, softest, for the whole time
    damped_energy: Floats  # (k,) [J]


def measure(
    progress: Progress,
    *,
    links: int = 4,
    restitution: float = 0.5,
    seconds: float = 2.5,
    height: float = 0.3,
    step: float = 1e-3,
    seed: int = 2,
    stiffness: tuple[float, ...] = (1e5, 1e6, 1e7, 1e8),
    accuracies: tuple[float, ...] = (1e-3, 1e-5, 1e-8),
    order: str = "abm",
) -> Drop:
    """``height`` [m] of the lowest point, ``step`` [s] of rigid contact, ``order`` of pivots."""
    between("restitution", restitution, 0.01, 1.0)
    between("step", step, 1e-6, 0.01)
    between("seconds", seconds, 10.0 * step)
    between("height", height, 1e-3)
    each("stiffness", stiffness, 1.0, 2)
    each("accuracies", accuracies, 1e-12)
    chain = falling(links, order=order)
    q = np.concatenate([[0.0, 0.0], np.random.default_rng(seed).uniform(-1.0, 1.0, links)])
    N = len(q)
    q[1] += height - float(chain.heights(chain.start(q)).min())
    y = chain.start(q)
    progress(f"{links} links fall, rigid contact")
    rigid = fall(chain, y, seconds=seconds, restitution=restitution, step=step)
    times = [blow.t for blow in rigid.blows]
    after = times[TOUCHES - 1 : TOUCHES + 1]
    until = float(np.mean(after)) if len(after) == 2 else seconds
    short = fall(chain, y, seconds=until, restitution=restitution, step=step)
    springs = Springs(chain, relax=restitution**2)
    records, apart, depth, returned = [], [], [], []
    for k in stiffness:
        progress(f"springs of {k:g} N/m to {until:.3f} s")
        record = springs.run(springs.start(q, np.zeros(N), (k,)), until)[0]
        records.append(record)
        apart.append(np.abs(record.y[-1, :N] - short.y[-1, :N]).max())
        depth.append(-chain.heights(record.y[:, :-1]).min())
        returned.append(level(k, restitution**2, height))
    progress("springs with dampers, to rest")
    soft = Springs(chain, damping=0.5)
    damped = soft.run(soft.start(q, np.zeros(N), (min(stiffness),)), seconds, eps=1e-6)[0]
    return Drop(
        chain,
        restitution,
        rigid,
        stiffness,
        tuple(records),
        np.array(apart),
        np.array(depth),
        np.array(returned),
        level(max(stiffness), restitution, height),
        accuracies,
        grown(chain, q, min(stiffness), min(seconds, 1.0), accuracies),
        damped,
        soft.energy(damped.y),
    )


def grown(chain: Floor, q: Floats, k: float, seconds: float, accuracies: tuple[float, ...]) -> Floats:
    """(a,) the largest gain of energy over the start's: from rest, on springs without any loss."""
    springs, rest = Springs(chain), np.zeros(chain.motion.kernel.N)
    energies = [
        springs.energy(springs.run(springs.start(q, rest, (k,)), seconds, eps)[0].y) for eps in accuracies
    ]
    return np.array([(energy.max() - energy[0]) / energy[0] for energy in energies])


def level(k: float, relax: float, height: float) -> float:
    """-v_N+ / v_N- of one level rod on two springs: nothing but its weight besides."""
    rod = falling(1)
    springs = Springs(rod, relax=relax)
    down = float(np.sqrt(2.0 * np.linalg.norm(rod.tree.gravity) * height))
    y = springs.start(np.zeros(3), np.array([0.0, -down, 0.0]), (k,))
    lasting = 2.0 * np.pi * np.sqrt(rod.tree.mass.sum() / (2.0 * k)) / min(np.sqrt(relax) or 1.0, 1.0)
    record = springs.run(y, lasting)[0]
    rising = record.y[:, 1] >= 0.0
    rising[0] = False
    first = int(np.argmax(rising)) if rising.any() else -1
    return float(record.y[first, 4] / down)


def values(found: Drop) -> Iterator[Value]:
    rigid, chain = found.rigid, found.chain
    energy, scale = rigid.energy, float(rigid.energy[0])
    N = chain.motion.kernel.N
    yield value("energy", [scale, energy[-1]], abs(float(energy[-1])) <= 1e-6 * scale, links=N - 2)
    yield value("rates", np.abs(rigid.y[-1, N:]).max())
    blow = max((blow.gain for blow in rigid.blows), default=0.0)
    yield value("blows", blow / scale, blow <= 1e-14 * scale, blows=len(rigid.blows))
    yield value("smooth", rigid.smooth_gain / scale, steps=len(rigid.t) - 1)
    yield value("deepest", rigid.depth)
    apart, work = found.apart, [under(chain, record) for record in found.springs]
    for name, values, near in (("springs", apart, 0.1), ("steps", work, 0.15)):
        power = slope(found.stiffness[-2:], values[-2:])
        yield value(name, values, abs(power + 0.5) <= near, power=f"{power:.3f}")
        if name == "springs":
            yield value("springs_deepest", found.depth, bool((np.diff(found.depth) < 0).all()))
    near = abs(found.as_printed - found.e) <= 1e-2
    yield value("share_e", found.as_printed, near, printed=found.e)
    yield value("share_e2", found.returned, bool(abs(found.returned[-1] - found.e) <= 1e-2))
    asked = ", ".join(f"{eps:g}" for eps in found.accuracies)
    beyond = bool((found.grown > np.asarray(found.accuracies)).any())
    # that some runs conserve it would not contradict the thesis
    none = "" if beyond else "in no run more than the accuracy that was asked for"
    yield value("conserved", found.grown, beyond, none=none, asked=asked)
    slow, failed = float(np.abs(found.damped.y[-1, N:-1]).max()), found.damped.failed
    yield value("damped", slow, slow <= 1e-3 and failed is None, why=failed or "")


def under(chain: Floor, record: Record) -> float:
    """Median length of the steps that start with a point below the floor [s]."""
    below = chain.heights(record.y[:-1, :-1]).min(1) < 0.0
    return float(np.median(record.step[below]))


def slope(x: Any, y: Any) -> float:
    """Exponent of a power law through points."""
    return float(np.polyfit(np.log(np.asarray(x)), np.log(np.asarray(y)), 1)[0])


def figures(found: Drop, style: str) -> dict[str, Any]:
    from .pictures import energies

    return {"drop_energy": energies(found, style)}
