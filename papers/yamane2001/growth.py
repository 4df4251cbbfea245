"""Operations of methods on a growing family of robots, counted one robot at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pivotree import orderings
from pivotree.analysis.counts import FAMILIES, count_robot
from pivotree.kkt import ModelError

from ..item import Progress
from ..unit_vectors import operations

WHOLE, FOLDED = "unit vectors", "unit vectors, zeros folded"
Three = tuple[int, ...]  # multiplications, additions, divisions


@dataclass(frozen=True)
class Growth:
    """Scalar operations that qdd needs from the entries of (4), zeros and ones folded away."""

    family: str
    variable: str  # what n counts: links or leaves
    n: tuple[int, ...]
    dof: tuple[int, ...]
    counts: Mapping[str, tuple[Three, ...]]  # method -> for each n

    def total(self, method: str) -> list[int]:
        return [sum(three) for three in self.counts[method]]

    def differences(self, method: str, start: int = 1) -> set[Three]:
        """First differences per unit of n from ``start`` on; one element where all are linear."""
        kept = [i for i, n in enumerate(self.n) if n >= start]
        found = set()
        for i, j in itertools.pairwise(kept):
            step = self.n[j] - self.n[i]
            pairs = zip(self.counts[method][i], self.counts[method][j], strict=True)
            found.add(tuple(int((b - a) // step) if (b - a) % step == 0 else -1 for a, b in pairs))
        return found

    def exponent(self, method: str) -> float:
        """Slope of log multiplications against log n, least squares."""
        return exponent(self.n, [three[0] for three in self.counts[method]])

    def cheaper_from(self, method: str, than: str) -> int | None:
        """Degrees of freedom from which ``method`` costs less, to the largest robot; else None."""
        first = None
        for dof, a, b in zip(self.dof, self.total(method), self.total(than), strict=True):
            first = (dof if first is None else first) if a < b else None
        return first


def exponent(n: Iterable[int], counts: Iterable[int]) -> float:
    x, y = np.log(list(n)), np.log([float(c) for c in counts])
    return float(np.polyfit(x, y, 1)[0])


def growth(progress: Progress, family: str, sizes: Iterable[int], orders: tuple[str, ...]) -> Growth:
    """Orders and the unit vector method, both readings, on members of a family."""
    if family not in FAMILIES:
        raise ModelError(f"family {family!r} is unknown; use {', '.join(FAMILIES)}")
    chosen = FAMILIES[family]
    counts: dict[str, list[Three]] = {name: [] for name in (*orders, WHOLE, FOLDED)}
    dof = []
    sizes = tuple(sizes)
    if len(sizes) < 3 or sizes[0] < 1:
        raise ModelError(
            f"{family}: {len(sizes)} sizes show no growth; let least be 1 or more, most least + 2"
        )
    for n in sizes:
        progress(f"{family}, {n} {chosen.variable}")
        system = chosen.system(n)
        dof.append(len(system.entries.tau))
        for name in orders:
            counts[name].append(count_robot(orderings.get(name), system).total[:3])
        for name, units in zip((WHOLE, FOLDED), operations(system), strict=True):
            counts[name].append(units)
    return Growth(family, chosen.variable, sizes, tuple(dof), {name: tuple(c) for name, c in counts.items()})
