"""Chapter 6: a planar chain over a floor, its blows with friction, and its fall on springs.

Links are rods with the inertia of rectangles, in the x-y plane; gravity is along -y, the floor y = 0.
What may touch it are the free ends and the joints.  Rigid contact, (6.6)-(6.12), is
:mod:`analysis.contact`.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt
from pivotree.analysis.contact import gain, newton, poisson
from pivotree.analysis.simulation import Record

from ..item import Progress, Results, between, each, picture, value
from ..measures import Floats
from .floor import Floor, Springs

LENGTH, WIDTH, MASS, GRAVITY = 0.25, 0.02, 0.5, 9.8  # [m], [m], [kg], [m/s^2]
LAWS = {"Newton": newton, "Poisson": poisson}
HEIGHT = 0.3  # [m] of the lowest point
ACCURACIES = (1e-3, 1e-5, 1e-8)  # of springs without loss
LONGER = 1.1  # times the fall's time, up to which springs are compared


def falling(n: int, *, free: bool = True, order: str = "abm") -> Floor:
    """n equal links, hanging on a fixed joint in the origin, or free: on two massless slides.

    Points are from base to tip.
    """
    if n < 1:
        raise kkt.ModelError("falling chain", f"has {n} links", "ask for at least one")
    tree = kkt.new_tree(f"falling_{n}", (0.0, -GRAVITY, 0.0))
    parent = None
    if free:
        for name, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0))):
            kkt.add_body(tree, name, parent, mass=0.0, joint="prismatic", axis=axis)
            parent = name
    about = MASS * (LENGTH**2 + WIDTH**2) / 12
    inertia = np.diag([MASS * WIDTH**2 / 6, about, about])
    for k in range(n):
        place = (LENGTH if k else 0.0, 0.0, 0.0)
        kkt.add_body(
            tree, f"link{k + 1}", parent, mass=MASS, com=(LENGTH / 2, 0.0, 0.0), inertia=inertia, p=place
        )
        parent = f"link{k + 1}"
    first = [("link1", (0.0, 0.0, 0.0))] if free else []
    ends = [(f"link{k + 1}", (LENGTH, 0.0, 0.0)) for k in range(n)]
    return Floor.of(tree, [*first, *ends], normal=(0.0, 1.0, 0.0), order=order)


def impact(
    progress: Progress,
    *,
    links: int = 2,
    samples: int = 4000,
    restitution: float = 0.7,
    most_friction: float = 1.0,
    seed: int = 1995,
) -> Results:
    """Section 6.4.2: blows with friction, by Newton's law of restitution and by Poisson's hypothesis.

    A hanging chain's tip hits the floor, in random states, friction up to ``most_friction``.  The thesis,
    after Wang & Mason: Newton's law with friction does not always conserve energy; without friction both
    laws are the same.
    """
    between("restitution", restitution, 0.0, 1.0)
    between("most_friction", most_friction, 0.0)
    between("samples", samples, 1)
    progress(f"{samples} blows of the tip of {links} links")
    chain = falling(links, free=False)
    generator = np.random.default_rng(seed)
    mu = generator.uniform(0.0, most_friction, samples)
    gains = {law: np.empty(samples) for law in LAWS}
    apart = 0.0
    for i in range(samples):
        A, v, kinetic = blow_of(chain, generator)
        p = newton(A, v, restitution, 0.0), poisson(A, v, restitution, 0.0)
        apart = max(apart, float(np.abs(p[0] - p[1]).max() / np.abs(p[0]).max()))
        for law, solve in LAWS.items():
            blow = solve(A, v, restitution, float(mu[i]))
            gains[law][i] = gain(A, v, blow) / kinetic if blow[0] >= 0.0 else np.nan
    most, least = (float(np.nanmax(gains[law])) for law in LAWS)
    yield value("frictionless", apart, apart <= 1e-9)
    pulls = {law: np.isnan(gains[law]).sum() for law in LAWS}  # blows in which a law asks the floor to
    words = {"share": f"{(gains['Newton'] > 1e-12).mean():.1%}", "blows": samples}
    words |= {"pulls": int(pulls["Newton"]), "none": "" if restitution else "without restitution"}
    yield value("newton", most, most > 1e-6, **words)
    yield value("poisson", least, least <= 1e-12 and not pulls["Poisson"])
    yield picture("impact", "blows", mu, gains)


def blow_of(chain: Floor, generator: np.random.Generator) -> tuple[Floats, Floats, float]:
    """A = J M^-1 J^T of the tip, normal first, its velocity down, and the kinetic energy."""
    N = chain.motion.kernel.N
    y = np.concatenate([generator.uniform(-np.pi, np.pi, N), generator.normal(size=N)])[None]
    directions = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    v = directions @ chain.pose(y).speed[0, -1]
    A = chain.responses(y, len(chain.bodies) - 1, directions)
    kinetic = float(chain.motion.energies(y)[0, 0])
    return (A + A.T) / 2, v if v[0] < 0.0 else -v, kinetic


def drop(
    progress: Progress,
    *,
    links: int = 4,
    restitution: float = 0.5,
    seed: int = 2,
    stiffness: tuple[float, ...] = (1e5, 1e6, 1e7, 1e8),
    order: str = "abm",
) -> Results:
    """Sections 6.4 and 6.5: a chain falls on springs, ever stiffer, and on springs without loss.

    A free chain is dropped from rest, its lowest point from 0.3 m, in a random shape.  Springs are the two
    of section 6.4.1 of each ``stiffness`` [N/m], relaxing with the share r = e^2, which gives Newton's e at
    one point (energy is k d^2 / 2, so that e itself as the share would give e^(1/2)).
    """
    between("restitution", restitution, 0.01, 1.0)
    each("stiffness", stiffness, 1.0, 2)
    chain = falling(links, order=order)
    q = np.concatenate([[0.0, 0.0], np.random.default_rng(seed).uniform(-1.0, 1.0, links)])
    q[1] += HEIGHT - float(chain.heights(chain.start(q)).min())
    until = LONGER * float(np.sqrt(2.0 * HEIGHT / np.linalg.norm(chain.tree.gravity)))
    depth, work = np.empty(len(stiffness)), []  # deepest points [m], median steps below the floor [s]
    for i, k in enumerate(stiffness):
        progress(f"springs of {k:g} N/m to {until:.3f} s")
        springs = Springs(chain, relax=restitution**2)
        record = springs.run(springs.start(q, np.zeros(len(q)), (k,)), until)[0]
        depth[i] = -chain.heights(record.y[:, :-1]).min()
        work.append(under(chain, record))
    yield from _springs(stiffness, depth, work)
    yield from _shares(stiffness, restitution)
    gains = grown(chain, q, min(stiffness), 1.0, ACCURACIES)
    beyond = bool((gains > np.asarray(ACCURACIES)).any())
    # that some runs conserve it would not contradict the thesis
    none = "" if beyond else "in no run more than the accuracy that was asked for"
    yield value("conserved", gains, beyond, none=none, asked=", ".join(f"{eps:g}" for eps in ACCURACIES))


def _springs(stiffness: tuple[float, ...], depth: Floats, work: list[float]) -> Results:
    """Rows of springs on their way to rigid contact: the power of k in the last step."""
    steps = float(np.polyfit(np.log(stiffness[-2:]), np.log(work[-2:]), 1)[0])
    yield value("springs_deepest", depth, bool((np.diff(depth) < 0).all()))
    yield value("steps", work, abs(steps + 0.5) <= 0.15, power=f"{steps:.3f}")


def _shares(stiffness: tuple[float, ...], e: float) -> Results:
    """Rows of a level rod's restitution, the share of the springs being e, and its square."""
    yield value("share_e", level(max(stiffness), e), e=e)
    returned = [level(k, e**2) for k in stiffness]
    yield value("share_e2", returned, bool(abs(returned[-1] - e) <= 1e-2))


def grown(chain: Floor, q: Floats, k: float, seconds: float, accuracies: tuple[float, ...]) -> Floats:
    """(a,) the largest gain of energy over the start's: from rest, on springs without any loss."""
    springs, rest = Springs(chain), np.zeros(chain.motion.kernel.N)
    energies = [
        springs.energy(springs.run(springs.start(q, rest, (k,)), seconds, eps)[0].y) for eps in accuracies
    ]
    return np.array([(energy.max() - energy[0]) / energy[0] for energy in energies])


def level(k: float, relax: float) -> float:
    """-v_N+ / v_N- of one level rod on two springs: nothing but its weight besides."""
    rod = falling(1)
    springs = Springs(rod, relax=relax)
    down = float(np.sqrt(2.0 * np.linalg.norm(rod.tree.gravity) * HEIGHT))
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
