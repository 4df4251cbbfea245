"""Sections 6.4 and 6.5: a chain falls on springs, ever stiffer, and comes to rest on damped ones.

A free planar chain is dropped from rest, in a random shape.  Springs are the two of section 6.4.1,
relaxing with the share r = e^2, which gives Newton's e at one point (energy is k d^2 / 2, so that e
itself as the share would give e^(1/2)).  To come to rest, springs need dampers: the force of the
switching ones jumps where they rest.  Rigid contact, (6.6)-(6.12), is :mod:`analysis.contact`.
"""

from __future__ import annotations

import numpy as np

from pivotree.analysis.simulation import Record

from ..item import Progress, Results, between, each, picture, value
from ..measures import Floats
from .falling import falling
from .floor import Floor
from .springs import Springs

LONGER = 1.1  # times the fall's time, up to which springs are compared


def measure(
    progress: Progress,
    *,
    links: int = 4,
    restitution: float = 0.5,
    seconds: float = 2.5,
    height: float = 0.3,
    seed: int = 2,
    stiffness: tuple[float, ...] = (1e5, 1e6, 1e7, 1e8),
    accuracies: tuple[float, ...] = (1e-3, 1e-5, 1e-8),
    order: str = "abm",
) -> Results:
    """``height`` [m] of the lowest point, ``order`` of pivots.

    Springs of each ``stiffness`` [N/m]; the softest, without loss, to these ``accuracies``.
    """
    between("restitution", restitution, 0.01, 1.0)
    between("seconds", seconds, 1e-3)
    between("height", height, 1e-3)
    each("stiffness", stiffness, 1.0, 2)
    each("accuracies", accuracies, 1e-12)
    chain = falling(links, order=order)
    q = np.concatenate([[0.0, 0.0], np.random.default_rng(seed).uniform(-1.0, 1.0, links)])
    q[1] += height - float(chain.heights(chain.start(q)).min())
    until = LONGER * float(np.sqrt(2.0 * height / np.linalg.norm(chain.tree.gravity)))
    depth, work = np.empty(len(stiffness)), []  # deepest points [m], median steps below the floor [s]
    for i, k in enumerate(stiffness):
        progress(f"springs of {k:g} N/m to {until:.3f} s")
        springs = Springs(chain, relax=restitution**2)
        record = springs.run(springs.start(q, np.zeros(len(q)), (k,)), until)[0]
        depth[i] = -chain.heights(record.y[:, :-1]).min()
        work.append(under(chain, record))
    yield from _springs(stiffness, depth, work)
    yield from _shares(stiffness, restitution, height)
    gains = grown(chain, q, min(stiffness), min(seconds, 1.0), accuracies)
    beyond = bool((gains > np.asarray(accuracies)).any())
    # that some runs conserve it would not contradict the thesis
    none = "" if beyond else "in no run more than the accuracy that was asked for"
    yield value("conserved", gains, beyond, none=none, asked=", ".join(f"{eps:g}" for eps in accuracies))
    progress("springs with dampers, to rest")
    soft = Springs(chain, damping=0.5)
    damped = soft.run(soft.start(q, np.zeros(len(q)), (min(stiffness),)), seconds, eps=1e-6)[0]
    slow = float(np.abs(damped.y[-1, len(q) : -1]).max())
    yield value("damped", slow, slow <= 1e-3 and damped.failed is None, why=damped.failed or "")
    swept = np.array([stiffness, depth])
    yield picture("drop_energy", "energies", swept, (damped.t, soft.energy(damped.y)))


def _springs(stiffness: tuple[float, ...], depth: Floats, work: list[float]) -> Results:
    """Rows of springs on their way to rigid contact: the power of k in the last step."""
    steps = float(np.polyfit(np.log(stiffness[-2:]), np.log(work[-2:]), 1)[0])
    yield value("springs_deepest", depth, bool((np.diff(depth) < 0).all()))
    yield value("steps", work, abs(steps + 0.5) <= 0.15, power=f"{steps:.3f}")


def _shares(stiffness: tuple[float, ...], e: float, height: float) -> Results:
    """Rows of a level rod's restitution, the share of the springs being e, and its square."""
    literal = level(max(stiffness), e, height)
    yield value("share_e", literal, abs(literal - e) <= 1e-2, printed=e)
    returned = [level(k, e**2, height) for k in stiffness]
    yield value("share_e2", returned, bool(abs(returned[-1] - e) <= 1e-2))


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


def under(chain: Floor, record: Record) -> float:
    """Median length of the steps that start with a point below the floor [s]."""
    below = chain.heights(record.y[:-1, :-1]).min(1) < 0.0
    return float(np.median(record.step[below]))
