"""Section 3.2: conjugate gradients take n iterations in exact arithmetic; in floats, kappa decides.

Equal unit links in random states; products from inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.gradients import descend, equation

from ..paper import Progress
from ..row import Row
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


def rows(found: Iterations) -> list[Row]:
    most = all(k <= n for k, n in zip(found.exact, found.exact_links, strict=True))
    result = [
        Row(
            f"iterations in fractions, n = {_list(found.exact_links)}",
            "at most n",
            list(found.exact),
            "at most n, and the residual exactly 0",
            most and found.zero,
        )
    ]
    for format, values in found.floats.items():
        result.append(
            Row(
                f"iterations in {format} to {UNTIL[format]:g} of the residual, n = {_list(found.links)}",
                None,
                list(values),
                "none: the guarantee is one of exact arithmetic",
                None,
                f"at most n in fractions, as guaranteed; kappa {', '.join(f'{k:.1e}' for k in found.kappa)}",
            )
        )
        shown = [None if e is None else float(f"{e:.2g}") for e in found.errors[format]]
        unit = 2.0**-53 if format == "float64" else 2.0**-24
        below = all(
            e is not None and e <= 10.0 * (k * unit + k**0.5 * UNTIL[format])
            for e, k in zip(found.errors[format], found.kappa, strict=True)
        )
        result.append(
            Row(
                f"error of qdd then, {format}",
                None,
                shown,
                "at most 10 (kappa u + kappa^(1/2) of the residual asked for)",
                below,
            )
        )
    per_link = [cost / n for cost, n in zip(found.products, found.links, strict=True)]
    result.append(
        Row(
            "operations of a product M v over n",
            "O(n)",
            [round(x, 1) for x in per_link],
            "no two differ by more than 25 % from n = 8 on",
            _even([x for x, n in zip(per_link, found.links, strict=True) if n >= 8]),
        )
    )
    return result


def _even(values: list[float]) -> bool | None:
    return max(values) <= 1.25 * min(values) if len(values) > 1 else None


def _list(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def figures(found: Iterations, style: str) -> dict[str, Any]:
    from .methods_pictures import iterations

    return {"gradients": iterations(found, style)}
