"""What many answers leave of equation (4): the normwise backward error, states side by side.

The same as :func:`kkt.proof.residual.backward_error` gives for one answer, by the same rows of (4):
in numpy's longest float where the answers have the digits of float64, and in float64 where they are
shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import System
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.matrix.entries import LETTERS, RIGHT_HAND_SIDE, Entries
from pivotree.kkt.proof.longer import longer_name
from pivotree.kkt.proof.residual import rows_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Equations:
    """(4) of m states of one system's tree with its entries rounded to a format, m in front of each."""

    system: System
    entries: Entries
    norms: NDArray[Any]  # (m,) largest row sum of |A|
    rights: NDArray[Any]  # (m,) largest entry of |b|

    @classmethod
    def of(cls, system: System, entries: Entries, chosen: Format) -> Equations:
        """``entries`` (m, ...) in float64; what overflows the format leaves states without norm."""
        wide: Any = float if longer_name(chosen) == "float64" else np.longdouble
        rounded = {x: np.asarray(chosen.cast(getattr(entries, x)), dtype=float) for x in LETTERS}
        given = Entries(**{x: value.astype(wide) for x, value in rounded.items()})
        m, n, loops = len(given.tau), system.tree.n, given.gamma.shape[1]
        sizes = {x: np.abs(getattr(given, x)) for x in LETTERS}
        alone = Entries(
            **{x: np.zeros_like(size) if x in RIGHT_HAND_SIDE else size for x, size in sizes.items()}
        )
        shapes = ((m, n, 6), given.tau.shape, (m, n, 6), (m, loops))
        pdd, qdd, f, lam = (np.ones(shape, dtype=wide) for shape in shapes)
        with np.errstate(all="ignore"):
            norms = _largest(rows_of(system, alone, (pdd, qdd, f, lam), 1))
        return cls(system, given, norms, _largest([sizes[x] for x in RIGHT_HAND_SIDE]))

    def backward_errors(
        self,
        here: NDArray[np.int64],
        pdd: NDArray[Any],
        qdd: NDArray[Any],
        f: NDArray[Any],
        lam: NDArray[Any],
    ) -> Floats:
        """(k,) max |A x - b| / (max row sum of |A| times max |x| + max |b|) of k answers.

        ``here`` (k,) are their states, ``pdd`` (k, 6 n), ``qdd`` (k, N), ``f`` (k, 6 n) and ``lam``
        (k, multipliers) the unknowns.  Rigal & Gaches 1967; not a number where an unknown is none.
        """
        k, n = len(here), self.system.tree.n
        at = Entries(**{x: getattr(self.entries, x)[here] for x in LETTERS})
        wide = at.tau.dtype
        given = (pdd.reshape(k, n, 6), qdd, f.reshape(k, n, 6), lam)
        p, q, forces, held = (np.asarray(x, dtype=float).astype(wide) for x in given)
        x = (p, q, forces, held)
        left = _largest(rows_of(self.system, at, x, -1))
        size = self.norms[here] * _largest(x) + self.rights[here]
        return np.asarray(np.divide(left, size, out=np.zeros_like(left), where=size != 0), dtype=float)


def _largest(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """(m,) the largest magnitude in each state; not a number where one is none."""
    each = [np.abs(part).reshape(len(part), -1) for part in parts]
    return np.asarray(np.concatenate(each, axis=1).max(axis=1, initial=0))
