"""How far qdd is off on words: the second theorem, docs/guarantee_qdd.md, with absolute errors.

What words round into forces, accelerations and quotients is known entry by entry
(:mod:`.points`), so that nothing is counted.  The three parts of the sum are the same: what changed
inertias do, what is rounded into bias forces on their way to the base, and what the sweep back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .accelerations import Accelerations, inertias, summed
from .joint_inertia import LARGEST, SECOND
from .motion import Sizes
from .points import Walked
from .rightsides import weight

Floats = NDArray[np.float64]


def accelerations(sizes: Sizes, walked: Walked, most: Floats) -> Accelerations:
    """The bound over all states; ``sizes.found`` is what the pivots' bound left behind.

    ``most`` (n,) are upper bounds of D_k.
    """
    rounding = Rounding(sizes, walked, most)
    with np.errstate(all="ignore"):
        return summed(sizes, inertias(sizes), rounding.forces(), rounding.back())


@dataclass
class Rounding:
    """What words round into right-hand sides."""

    sizes: Sizes
    walked: Walked
    most: Floats

    def off(self, k: int, what: str, rows: int = 6) -> Floats:
        """(rows,) what is rounded into a column."""
        found = self.walked.off.get((k, what))
        return np.zeros(rows) if found is None else found[:, 0]

    def joint(self, k: int) -> tuple[float, float, float, Floats]:
        """Of D_k the root of its least, of its largest, what is rounded into it, and into U."""
        least = math.sqrt(float(self.sizes.pivot[k][0, 0]))
        rounded = float(self.off(k, "D", 1)[0])
        return least, math.sqrt(float(self.most[k])), rounded, self.off(k, "U")

    def handed(self, k: int) -> Floats:
        """(6,) what is rounded into h_k = b' + U alpha."""
        sizes, off = self.sizes, self.off(k, "b'")
        if not sizes.tree.dof[k]:
            return off
        least, most, rounded, beside = self.joint(k)
        size, total = sizes.found.sizes.size[k], self.total(k)
        right = float(self.off(k, "tau - H b'", 1)[0]) / least
        quotient = float(self.off(k, "alpha", 1)[0]) * most
        scaled = right + quotient + total * rounded / least**2
        return np.asarray(off + size * scaled + beside * total / least + self.off(k, "h"))

    def total(self, k: int) -> float:
        """|b'| and |tau|, as energies' roots."""
        return float(self.sizes.bias[k] + self.sizes.lifted[k] + self.sizes.effort[k])

    def innovation(self, k: int) -> float:
        """What is rounded into qdd_k, as an energy's root."""
        sizes, root = self.sizes, self.sizes.grounded(k)
        least, most, rounded, beside = self.joint(k)
        numerator = "tau - H b'" if root else "tau - H b^ - U* a'"
        right = float(self.off(k, numerator, 1)[0])
        total = self.total(k)
        if not root:
            right += float(beside @ np.repeat(sizes.before[k], 3))
            total = float(sizes.bias[k] + sizes.effort[k] + sizes.seen[k])
        quotient = float(self.off(k, "qdd", 1)[0]) * most
        return right / least + quotient + total * rounded / least**2

    def forces(self) -> tuple[float, bool]:
        """What is rounded into bias forces on their way to the base, and whether it is small."""
        sizes, tree = self.sizes, self.sizes.tree
        found = sizes.found
        force = np.array([self.off(k, "b^") for k in range(tree.n)])
        behind, added, squares, small = np.zeros(tree.n), 0.0, 0.0, True
        for level in reversed(tree.levels):
            for k in level[~sizes.still[level]].tolist():
                if sizes.grounded(k):
                    added += weight(sizes.pivot[k], np.abs(sizes.rows(k)) @ force[k])
                    continue
                held, own = weight(found.least[k], force[k]), weight(found.M[k], force[k])
                behind[k] += held
                if own <= 2.0 * held:
                    squares += own * own
                else:
                    added += held
                small &= behind[k] <= LARGEST * sizes.bias[k] or behind[k] == 0.0
                up = int(tree.parent[k])
                if not sizes.still[up]:
                    behind[up] += behind[k]
                    force[up] += self.off(k, "Phi h") + sizes.turns[k].apply(self.handed(k))
        return math.sqrt(squares) + added, bool(small)

    def back(self) -> tuple[float, bool]:
        """What the sweep from base to tip rounds, and whether accelerations stay what they are."""
        sizes, tree = self.sizes, self.sizes.tree
        drift, squares, small = np.zeros((tree.n, 2)), 0.0, True
        for level in tree.levels:
            for k in level.tolist():
                up, turned = int(tree.parent[k]), _lengths(self.off(k, "a'"))
                if up >= 0:
                    turned = turned + sizes.step(k, drift[up])
                drift[k] = turned + _lengths(self.off(k, "w"))
                if sizes.still[k] or not tree.dof[k]:
                    continue
                lost = self.innovation(k) + float(sizes.size[k] @ turned)
                squares += lost * lost
                small &= bool((SECOND * drift[k] <= LARGEST * sizes.reached[k]).all())
        return math.sqrt(squares), small


def _lengths(x: Floats) -> Floats:
    return np.array([np.linalg.norm(x[:3]), np.linalg.norm(x[3:])])
