"""Section 3.2: conjugate gradients take n iterations in exact arithmetic; in floats, kappa decides.

Equal unit links in random states; products from inverse dynamics.
"""

from __future__ import annotations

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.gradients import descend, equation

from ..item import Progress, Results, each, picture, value
from .robot import planar_robot

UNTIL = {"float64": 1e-14, "float32": 1e-6}  # of the first residual
MOST = 40  # iterations over n


def measure(
    progress: Progress,
    *,
    exact: tuple[int, ...] = (1, 2, 3, 4, 5),
    links: tuple[int, ...] = (2, 4, 8, 16, 32, 64),
    seed: int = 1995,
) -> Results:
    """Fractions on ``exact`` links, floats on ``links``."""
    each("exact", exact, 1)
    each("links", links, 1)
    generator = np.random.default_rng(seed)
    taken, most = [], True
    for n in exact:
        progress(f"{n} links, fractions")
        times, efforts, _ = equation(_system(n, generator), "exact")
        found = descend(times, efforts, most=n + 2)
        taken.append(found.iterations)
        most &= bool(found.iterations <= n and found.residuals[-1] == 0.0)
    yield value("fractions", taken, most, links=", ".join(map(str, exact)))
    kappa, products = [], []
    floats: dict[str, list[int]] = {format: [] for format in UNTIL}  # iterations, MOST n where never
    errors: dict[str, list[float | None]] = {format: [] for format in UNTIL}  # of qdd, then
    for n in links:
        progress(f"{n} links")
        system = _system(n, generator)
        kappa.append(float(np.linalg.cond(kkt.joint_space_inertia(system, orderings.get("crbm")))))
        for format, until in UNTIL.items():
            times, efforts, cost = equation(system, format)
            found = descend(times, efforts, most=MOST * n, until=until)
            floats[format].append(found.iterations)
            errors[format].append(kkt.certify(system, 16, rounded_to=format).error(found.x))
        products.append(cost / n)
    words = {"links": ", ".join(map(str, links)), "kappa": ", ".join(f"{k:.1e}" for k in kappa)}
    for format, until in UNTIL.items():
        unit = 2.0**-53 if format == "float64" else 2.0**-24
        bounds = [10.0 * (k * unit + k**0.5 * until) for k in kappa]
        yield value("floats", floats[format], format=format, until=f"{until:g}", **words)
        below = all(e is not None and e <= b for e, b in zip(errors[format], bounds, strict=True))
        yield value("error", errors[format], below, format=format)
    late = [product for product, n in zip(products, links, strict=True) if n >= 8]
    few = "" if len(late) > 1 else "fewer than two sizes from n = 8 on"
    yield value("product", products, not few and max(late) <= 1.25 * min(late), none=few)
    yield picture("gradients", "iterations", exact, taken, links, floats)


def _system(n: int, generator: np.random.Generator) -> kkt.System:
    state = generator.uniform(-1, 1, n), generator.normal(size=n), generator.normal(size=n)
    return kkt.build(planar_robot([1.0] * n, [1.0] * n, 0.1), *state)
