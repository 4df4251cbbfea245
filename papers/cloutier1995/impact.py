"""Section 6.4.2: blows with friction, by Newton's law of restitution and by Poisson's hypothesis.

A hanging chain's tip hits the floor, in random states.  The thesis, after Wang & Mason: Newton's
law with friction does not always conserve energy; without friction both laws are the same.
"""

from __future__ import annotations

import numpy as np

from pivotree.analysis.contact import gain, newton, poisson

from ..item import Progress, Results, between, picture, value
from ..measures import Floats
from .falling import falling
from .floor import Floor

LAWS = {"Newton": newton, "Poisson": poisson}


def measure(
    progress: Progress,
    *,
    links: int = 2,
    samples: int = 4000,
    restitution: float = 0.7,
    most_friction: float = 1.0,
    seed: int = 1995,
) -> Results:
    """Random states of the chain in which its tip comes down, friction up to ``most_friction``."""
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
