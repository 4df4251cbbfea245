"""Operations of methods on a growing family of robots, counted one robot at a time: Figures 6 and 7.

The paper plots computation time, on a machine of its day; here it is operations, which do not depend on
a machine.  The unit vector method (Walker & Orin 1982, 1) is that which analysis.inertia runs: inverse
dynamics at q'' = 0 gives the bias; with the j-th unit vector for q'', everything at rest and without
gravity, it gives column j of the joint-space inertia.  A dense L D L* solves.  Both come from the
project's program of recursive Newton-Euler.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.counts import FAMILIES, KINDS, count, count_robot, polynomial, text_of
from pivotree.kkt import ModelError
from pivotree.kkt.program import trace_substitution
from pivotree.kkt.tape import InputSlots

from ..item import Progress, Results, between, picture, printed, value, within

RNEA = "inverse_dynamics"
WHOLE, FOLDED = "unit vectors", "unit vectors, zeros folded"
NEAR = 0.25  # of a crossing, where operations stand for the paper's seconds
FAR = (16, 24, 32, 48, 64), (256, 384, 512, 768, 1024)  # leaves
STARS = ("virtual_work", "virtual_work_split", "abm")
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
        raise ModelError(f"family {family!r}", "is unknown", f"use {', '.join(FAMILIES)}")
    chosen = FAMILIES[family]
    counts: dict[str, list[Three]] = {name: [] for name in (*orders, WHOLE, FOLDED)}
    dof = []
    sizes = tuple(sizes)
    if len(sizes) < 3 or sizes[0] < 1:
        raise ModelError(
            family, f"{len(sizes)} sizes show no growth", "let least be 1 or more, most least + 2"
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


# -- the unit vector method -------------------------------------------------------------------------


@dataclass(frozen=True)
class Run(InputSlots):
    """Inputs of one run: which of a, b and q'' are zero, or one."""

    still: bool = False  # a = b = 0: at rest, without gravity
    qdd: int | None = None  # q'' = e_j; -1 for 0, None for any

    def slots(self, letter: str) -> NDArray[np.int64]:
        """As of any robot, with what is zero or one in this run."""
        found = super().slots(letter)
        if self.still and letter in ("a", "b"):
            return np.zeros_like(found)
        if letter == "tau" and self.qdd is not None:
            found = np.zeros_like(found)
            found[max(self.qdd, 0)] = self.qdd >= 0
        return found


def operations(system: kkt.System) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Multiplications, additions and divisions of the method on one robot, in two readings.

    Every column by a whole run, q'' being any numbers; and what meets the zeros and the one of a unit
    vector left out.  Counted on the robot's pattern of zeros and ones, as all counts of the project.
    """
    N = len(system.entries.tau)
    dense = dense_solution(N)
    bias = _count(system, still=False, qdd=-1)
    any_column = _count(system, still=True, qdd=None)
    whole = _total([bias, *[any_column] * N, dense])
    folded = _total([bias, *(_count(system, still=True, qdd=j) for j in range(N)), dense])
    return whole, folded


def dense_solution(N: int) -> tuple[int, ...]:
    """tau - bias, then L D L* of an N x N matrix and the two triangles: mul, add, div."""
    update, half = (N**3 - N) // 6, N * (N - 1) // 2
    return update + 2 * half, N + update + 2 * half, half + N


def _count(system: kkt.System, still: bool, qdd: int | None) -> tuple[int, ...]:
    structure, tree = system.structure, system.tree
    program = trace_substitution(orderings.get(RNEA)(structure), structure, RNEA)
    inputs = Run(system.pattern, tree.names, tree.parent, tree.dof, system.state.S, still=still, qdd=qdd)
    return count(program, inputs).total[: KINDS.index("sqrt")]


def _total(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*parts, strict=True)))


# -- figures 6 and 7 ----------------------------------------------------------------------------------


def fig6(progress: Progress, *, least: int = 2, most: int = 16, family: str = "spherical") -> Results:
    """Figure 6: serial chains of 2 to 16 spherical joints, virtual work beside the unit vector method.

    Chains of ``least`` to ``most`` links of a family of analysis.counts.
    """
    found = growth(progress, family, range(least, most + 1), ("virtual_work", "abm"))
    same, beyond = found.differences("virtual_work"), printed("yamane2001")["fig6"]["faster_beyond_dof"]
    (step,) = same if len(same) == 1 else [()]
    told = f"{', '.join(map(str, step))} a link (mul, add, div)"
    yield value("linear", told if step else "not linear", bool(step))
    for name, what in ((WHOLE, "every column a whole run"), (FOLDED, "zeros of e_j folded")):
        first = found.cheaper_from("virtual_work", name)
        near = first is not None and within(beyond, first, NEAR)
        yield value("crossing", first, near, what=what, printed=beyond)
    yield picture("fig6", "curves", found, ("virtual_work", WHOLE, FOLDED, "abm"))


def fig7(progress: Progress, *, least: int = 2, most: int = 12, family: str = "star_spherical") -> Results:
    """Figure 7: 2 to 12 end links on a link that a spherical joint connects to the ground.

    Without splitting the constraint forces of all end links are coupled through their common link, and
    S is a full matrix of 3 n rows; its factor takes (3 n)^3 / 6 multiplications.  Split links keep at
    most three joints on a piece.  Stars of ``least`` to ``most`` leaves of a family of analysis.counts.
    """
    between("most", most, 5)  # links are split from three leaves on
    found = growth(progress, family, range(least, most + 1), STARS)
    beyond = printed("yamane2001")["fig7"]["faster_beyond_dof"]
    progress("polynomials")
    counts = [polynomial(name, family) for name in STARS[:2]]
    whole, split = (count.polynomials for count in counts)
    same = found.differences("virtual_work_split", start=3)
    (step,) = same if len(same) == 1 else [()]
    told = f"{', '.join(map(str, step))} a leaf (mul, add, div)"
    yield value("split", told if step else "not linear", bool(step), law=text_of(split["mul"]))
    yield value("whole", text_of(whole["mul"]), whole["mul"].degree() == 2)
    here = found.exponent("virtual_work")
    yield value("whole_here", here, within(2.0, here, NEAR))
    near, far = (exponent(ns, [int(whole["mul"](n)) for n in ns]) for ns in FAR)
    yield value("whole_beyond", far, within(2.0, far, NEAR), here=f"{near:.2f}")
    ratios = [a / b for a, b in zip(found.total("virtual_work"), found.total(WHOLE), strict=True)]
    words = {"folded": f"{found.total(FOLDED)[-1]:,}", "runs": f"{found.total(WHOLE)[-1]:,}"}
    alike = max(ratios) < 1.5 and min(ratios) > 1 / 1.5
    yield value("units", [min(ratios), max(ratios)], alike, **words)
    first, last = (found.cheaper_from("virtual_work_split", name) for name in (WHOLE, FOLDED))
    against = "not in this range" if last is None else f"from {last} dof"
    close = first is not None and within(beyond, first, NEAR)
    yield value("split_units", first, close, printed=beyond, against=against)

    def fewer(*kinds: str) -> int | None:
        """Leaves from which splitting takes fewer operations of these kinds."""
        sizes = range(max(3, counts[1].holds_from or 3), 200)
        return next((n for n in sizes if sum(split[k](n) - whole[k](n) for k in kinds) < 0), None)

    leaves = fewer("mul", "add", "div")
    per_leaf = (found.dof[-1] - found.dof[0]) // (found.n[-1] - found.n[0])
    dof = None if leaves is None else found.dof[0] + per_leaf * (leaves - found.n[0])
    yield value("split_whole", dof, printed=beyond, all=leaves, mul=fewer("mul"))
    yield picture("fig7", "curves", found, ("virtual_work", WHOLE, FOLDED, "virtual_work_split", "abm"))
