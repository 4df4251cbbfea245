"""Whether a format has the exponents for a robot: underflow and overflow, excluded in every state.

A product or quotient below the normal numbers is off by less than the least positive number, eta,
and not by a relative u.  Products c c are divided by D_k, and what is off in Mbar_k is met by Phi
twice: with low below every pivot and every inertia's least eigenvalue, and high above every entry,
that is less than 200 eta (high / low)^2 in an entry of M^.  Where this is at most 1e-4 u low it is
a ten-thousandth of what is counted for the sum that adds M_k, which the factor 1.25 covers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed
from ..matrix.system import System
from .reach import Reach, axes_turn
from .recursion import pivot_and_size

Floats = NDArray[np.float64]


def span(chosen: Format) -> tuple[float, float]:
    """The least positive power of two of a format, and the largest: of all parts, by role."""
    if isinstance(chosen, Mixed):
        least, largest = zip(*(span(part) for part in chosen.parts), strict=True)
        return max(least), min(largest)
    powers = 2.0 ** np.arange(-1074, 1024)
    with np.errstate(all="ignore"):
        kept = np.asarray(chosen.cast(powers).real, dtype=float)
    inside = powers[(kept > 0.0) & np.isfinite(kept)]
    return float(inside.min()), float(inside.max())


def too_narrow(
    system: System, held: Floats, sizes: Reach, moving: NDArray[np.int64], chosen: Format,
    rows: bool = False,
) -> str:  # fmt: skip
    """Why the format's exponents may not do for this robot, or an empty sentence.

    ``rows``: inertias are factored into weighted rows, those of bodies without children too.
    """
    tree = system.tree
    least, largest = span(chosen)
    unit = min(part.unit for part in (chosen.parts if isinstance(chosen, Mixed) else (chosen,)))
    # products of Python's floats become infinite where their powers would raise OverflowError
    high = max(1.0, *(float(np.max(x) * np.max(x)) for x in (sizes.size, sizes.carried)))
    low = 1.0
    for k in moving:
        S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
        own = S @ held[k] @ S.T
        if axes_turn(system, k):
            own, _ = pivot_and_size(system, held[k], sizes.size[k], k)
        # of a body without children the pivot alone is asked: nothing is rounded into its inertia
        matrices = [0.5 * (own + own.T), held[k]][: 1 + int(rows or (tree.parent == k).any())]
        if not all(np.isfinite(X).all() for X in matrices):  # beyond float64 itself
            low, high = 0.0, np.inf
            break
        low = min([low, *(float(np.linalg.eigvalsh(X)[0]) for X in matrices if X.size)])
    fits = high * high * 64.0 <= largest
    if low > 0.0 and fits and 200.0 * least * (high / low) * (high / low) <= 1e-4 * unit * low:
        return ""
    return (
        f"format {chosen.name}: with inertias of {low:.0e} to {high:.0e} a product may leave its "
        "range; use a format with more exponent bits, or other units"
    )
