"""What comes before the solve, for docs/counts.md: poses, Phi, a and b, counted by their own formulas.

The functions of :mod:`kkt.model.spatial` and :mod:`kkt.matrix.entries` run on numbers that know only
whether they are zero, one, a constant of the model, or anything.  Sines and cosines are not counted,
nor are what zeros and ones leave undone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq_poly
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.counts import KINDS, Family, count_robot, fit
from pivotree.kkt.matrix.entries import bias, joint_rates
from pivotree.kkt.model.spatial import force_transform, matmul, spatial_inertia

PARTS = ("poses", "Phi", "bias")

# Kinds of numbers.  What constants of the model alone give is found once, and not counted.
ZERO, ONE, CONSTANT, ANY = range(4)


class Ledger:
    """Multiplications and additions so far."""

    def __init__(self) -> None:
        self.mul = self.add = 0


class Known:
    """A number of which no more than its kind is known; an operation counts where no constant results."""

    __slots__ = ("kind", "ledger")

    def __init__(self, kind: int, ledger: Ledger) -> None:
        self.kind: int = kind
        self.ledger: Ledger = ledger

    def _of(self, other: Any) -> Known:
        if isinstance(other, Known):
            return other
        kind = ZERO if other == 0 else ONE if abs(other) == 1 else CONSTANT
        return Known(kind, self.ledger)

    def __neg__(self) -> Known:
        return self

    def __add__(self, other: Any) -> Known:
        other = self._of(other)
        if ZERO in (self.kind, other.kind):
            return self if other.kind == ZERO else other
        if ANY not in (self.kind, other.kind):
            return Known(CONSTANT, self.ledger)
        self.ledger.add += 1
        return Known(ANY, self.ledger)

    def __mul__(self, other: Any) -> Known:
        other = self._of(other)
        if ZERO in (self.kind, other.kind):
            return Known(ZERO, self.ledger)
        if ONE in (self.kind, other.kind):
            return self if other.kind == ONE else other
        if ANY not in (self.kind, other.kind):
            return Known(CONSTANT, self.ledger)
        self.ledger.mul += 1
        return Known(ANY, self.ledger)

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__


@dataclass(frozen=True)
class Assembly:
    """Multiplications and additions of n links, by part."""

    mul: dict[str, fmpq_poly]
    add: dict[str, fmpq_poly]
    holds_from: int

    def total(self, kind: str) -> fmpq_poly:
        return sum(getattr(self, kind).values(), fmpq_poly())


def assembly(family: Family) -> Assembly | None:
    """Of chains whose joints turn about z, so that a pose needs no more than sine and cosine.

    None for other families.  Fitted on n to 7, of which three take no part.
    """
    counts: dict[int, dict[str, tuple[int, int]]] = {}
    for n in range(1, 8):
        system = family.system(n)
        if not _turns_about_z(system):
            return None
        counts[n] = _count(system)
    fitted: list[dict[str, fmpq_poly]] = [{}, {}]
    starts = []
    for j, polynomials in enumerate(fitted):
        for part in PARTS:
            found = fit({n: c[part][j] for n, c in counts.items()})
            if found is None:
                return None
            polynomials[part], start = found
            starts.append(start)
    return Assembly(fitted[0], fitted[1], max(starts))


def _turns_about_z(system: kkt.System) -> bool:
    tree = system.tree
    about_z = [
        kind == "fixed" or (kind == "revolute" and (axis[0] == (0.0, 0.0, 1.0)).all())
        for kind, axis in zip(tree.joint, tree.axis, strict=True)
    ]
    return all(about_z)


def _count(system: kkt.System) -> dict[str, tuple[int, int]]:
    """Multiplications and additions of every part, for one robot."""
    tree, state, ledger = system.tree, system.state, Ledger()

    def known(x: NDArray, kind: int = CONSTANT) -> NDArray:
        kinds = [
            ZERO if v == 0 else ONE if abs(v) == 1 and kind == CONSTANT else kind
            for v in np.asarray(x, dtype=float).ravel()
        ]
        return np.array([*(Known(k, ledger) for k in kinds), None])[:-1].reshape(np.shape(x))

    spent: dict[str, tuple[int, int]] = {}

    def close(part: str) -> None:
        before = [sum(s[j] for s in spent.values()) for j in range(2)]
        spent[part] = (ledger.mul - before[0], ledger.add - before[1])

    turn = np.broadcast_to(np.eye(3), (tree.n, 3, 3)).copy()
    moving = tree.dof > 0
    turn[moving, :2, :2] = 2.0  # cosines and sines: neither zero nor one
    turns = known(turn)
    for k in np.flatnonzero(moving):
        turns[k][:2, :2] = known(turn[k][:2, :2], ANY)
    R, p = matmul(known(tree.R), turns), known(tree.p)
    close("poses")
    Phi = force_transform(R, p)
    close("Phi")
    M = spatial_inertia(known(tree.mass), known(tree.com), known(tree.inertia))
    owner = np.flatnonzero(moving)
    S = known(np.concatenate([state.S[k].T for k in owner]))
    qd = known(np.ones(len(owner)), ANY)
    rates = joint_rates(S, owner, np.zeros(len(owner), dtype=np.int64), qd, tree.n)
    # np.zeros of objects are plain zeros
    rates = np.vectorize(lambda x: x if isinstance(x, Known) else Known(ZERO, ledger))(rates)
    nothing = known(np.zeros((tree.n, 6)))
    bias(tree.parent, M, Phi, rates, nothing, nothing, known(tree.gravity))
    close("bias")
    return spent


def without_bias(order: str, family: Family) -> dict[str, fmpq_poly]:
    """Counts where every bias acceleration a_k is zero (b_k is not); fitted only."""
    counted: dict[int, tuple[int, ...]] = {}
    for n in range(1, 10):
        system = family.system(n)
        pattern = replace(system.pattern, a=np.zeros_like(system.pattern.a))
        counted[n] = count_robot(orderings.get(order), replace(system, pattern=pattern)).total
    fits = (fit({n: c[j] for n, c in counted.items()}) for j in range(len(KINDS)))
    return {kind: found[0] for kind, found in zip(KINDS, fits, strict=True) if found}
