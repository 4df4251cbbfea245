"""Section 3.2: conjugate gradients take n iterations in exact arithmetic; in floats, kappa decides.

Equal unit links in random states; products from inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.gradients import descend, equation

from ..paper import Progress
from ..row import Value, value
from ..settings import each
from .robot import planar_robot

UNTIL = {"float64": 1e-14, "float32": 1e-6}  # of the first residual
MOST = 40  # iterations over n


@dataclass(frozen=True)
class Iterations:
    """Iterations of conjugate gradients over numbers of links."""

    exact_links: tuple[int, ...]
    exact: tuple[int, ...]  # iterations in fractions until the residual is 0
    zero: bool  # whether it was
    links: tuple[int, ...]
    kappa: tuple[float, ...]
    floats: dict[str, tuple[int, ...]]  # format -> iterations until UNTIL, MOST n where never
    errors: dict[str, tuple[float | None, ...]]  # of qdd, then
    products: tuple[int, ...]  # operations of M v


def measure(
    progress: Progress,
    *,
    exact: tuple[int, ...] = (1, 2, 3, 4, 5),
    links: tuple[int, ...] = (2, 4, 8, 16, 32, 64),
    seed: int = 1995,
) -> Iterations:
    """Fractions on ``exact`` links, floats on ``links``."""
    each("exact", exact, 1)
    each("links", links, 1)
    generator = np.random.default_rng(seed)
    taken, zero = [], True
    for n in exact:
        progress(f"{n} links, fractions")
        times, efforts, _ = equation(_system(n, generator), "exact")
        found = descend(times, efforts, most=n + 2)
        taken.append(found.iterations)
        zero &= bool(found.residuals[-1] == 0.0)
    kappa, products = [], []
    floats: dict[str, list[int]] = {format: [] for format in UNTIL}
    errors: dict[str, list[float | None]] = {format: [] for format in UNTIL}
    for n in links:
        progress(f"{n} links")
        system = _system(n, generator)
        kappa.append(float(np.linalg.cond(kkt.joint_space_inertia(system, orderings.get("crbm")))))
        for format, until in UNTIL.items():
            times, efforts, cost = equation(system, format)
            found = descend(times, efforts, most=MOST * n, until=until)
            floats[format].append(found.iterations)
            errors[format].append(kkt.certify(system, 16, rounded_to=format).error(found.x))
        products.append(cost)
    return Iterations(
        exact,
        tuple(taken),
        zero,
        links,
        tuple(kappa),
        {format: tuple(values) for format, values in floats.items()},
        {format: tuple(values) for format, values in errors.items()},
        tuple(products),
    )


def _system(n: int, generator: np.random.Generator) -> kkt.System:
    state = generator.uniform(-1, 1, n), generator.normal(size=n), generator.normal(size=n)
    return kkt.build(planar_robot([1.0] * n, [1.0] * n, 0.1), *state)


def values(found: Iterations) -> Iterator[Value]:
    exact, links = (", ".join(map(str, several)) for several in (found.exact_links, found.links))
    most = all(k <= n for k, n in zip(found.exact, found.exact_links, strict=True))
    yield value("fractions", list(found.exact), most and found.zero, links=exact)
    kappa = ", ".join(f"{k:.1e}" for k in found.kappa)
    for format, taken in found.floats.items():
        until, unit = UNTIL[format], 2.0**-53 if format == "float64" else 2.0**-24
        words = {"format": format, "until": f"{until:g}", "links": links, "kappa": kappa}
        yield value("floats", list(taken), **words)
        errors = found.errors[format]
        below = all(
            e is not None and e <= 10.0 * (k * unit + k**0.5 * until)
            for e, k in zip(errors, found.kappa, strict=True)
        )
        yield value("error", list(errors), below, format=format)
    per_link = [cost / n for cost, n in zip(found.products, found.links, strict=True)]
    late = [x for x, n in zip(per_link, found.links, strict=True) if n >= 8]
    few = "" if len(late) > 1 else "fewer than two sizes from n = 8 on"
    yield value("product", per_link, not few and max(late) <= 1.25 * min(late), none=few)


def figures(found: Iterations, style: str) -> dict[str, Any]:
    from .pictures import iterations

    return {"gradients": iterations(found, style)}
