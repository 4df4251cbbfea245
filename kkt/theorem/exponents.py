"""Whether a format has the exponents for a robot: underflow and overflow, excluded in every state.

Below the normal numbers an operation is off by less than the least positive number, tiny, and not
by a relative u.  With low below every pivot and every inertia's least eigenvalue, and high above
every entry, that is at most PRODUCTS tiny high^2 / low in an entry of M^ for each child
(docs/guarantee.md, *Limits*).  Where PRODUCTS tiny (high / low)^2 for all children is at most
1e-4 u low it is a ten-thousandth of what is counted for the sum that adds M_k, which the factor
1.25 covers.  Rows that are rotated have ROTATED high of it: their weights fall.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed
from ..matrix.ranges import Ranges
from ..matrix.system import System
from ..proof.span import span
from .reach import Reach, Turn, axes_turn
from .recursion import pivot_and_size

Floats = NDArray[np.float64]
PRODUCTS = 500.0  # tiny high^2 / low, of an entry: what all operations of one child lose at most
ROTATED = 8.0  # PRODUCTS high of it, where rows are rotated
SINGULAR = 1e-14  # of an inertia's largest eigenvalue: what rounding leaves of one that is zero
FITS = 64.0  # times high^2 or high / low: more than any number that occurs


def singular(system: System, held: Floats, k: int) -> str:
    """Why the inertia of a body, or ``held`` (6, 6) of it in every state, bounds nothing, or ""."""
    tree = system.tree
    own = np.linalg.eigvalsh(tree.inertia[k])
    if not np.isfinite(held).all() or (tree.mass[k] > 0.0 and own[0] > SINGULAR * own[-1]):
        return ""
    eigen = np.linalg.eigvalsh(held)
    if eigen[0] > SINGULAR * eigen[-1]:
        return ""
    why = "a singular inertia" if own[-1] > 0.0 or tree.mass[k] > 0.0 else "no mass"
    return (
        f"body {tree.names[k]}: has {why}, and what hangs on it is not sure to add one in every direction, "
        "by whose least eigenvalue the bound divides; give it an inertia"
    )


def too_narrow(
    system: System,
    held: Floats,
    sizes: Reach,
    moving: NDArray[np.int64],
    chosen: Format,
    ranges: Ranges,
    bases: Floats | None = None,
) -> str:
    """Why the format's exponents may not do for this robot, or an empty sentence.

    ``bases`` (n, 6, 6): inertias are factored into weighted rows, those of bodies without children
    too, in these bases.
    """
    tree = system.tree
    least, largest = span(chosen)
    unit = min(part.unit for part in (chosen.parts if isinstance(chosen, Mixed) else (chosen,)))
    # products of Python's floats become infinite where their powers would raise OverflowError
    high = max(1.0, *(float(np.max(x) * np.max(x)) for x in (sizes.size, sizes.carried)))
    low = 1.0
    for k in moving.tolist():
        S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
        own, sigma = pivot_and_size(system, held[k], sizes.size[k], k)
        if not axes_turn(system, k):
            own = S @ held[k] @ S.T  # without armature
        lengths = [float(np.max(sigma, initial=0.0)), *np.abs(S).sum(axis=1).tolist()]
        if tree.parent[k] >= 0:
            lengths.append(float(Turn(system, ranges, k, unit).apply(np.ones(6)).max()))
        high = max(high, max(lengths) * max(lengths))
        # of a body without children the pivot alone is asked: nothing is rounded into its inertia
        matrices = [0.5 * (own + own.T), held[k]][: 1 + int((tree.parent == k).any())]
        if bases is not None:
            matrices = [bases[k].T @ held[k] @ bases[k], held[k]]
        if not all(np.isfinite(X).all() for X in matrices):  # beyond float64 itself
            low, high = 0.0, np.inf
            break
        if bases is None and (why := singular(system, held[k], k)):
            return why
        low = min([low, *(float(np.linalg.eigvalsh(X)[0]) for X in matrices if X.size)])
    children = float(max(1, *np.bincount(tree.parent[tree.parent >= 0], minlength=1)))
    lost = PRODUCTS * children * least * (1.0 if bases is None else ROTATED * high)
    fits = low > 0.0 and FITS * max(high * high, high / low) <= largest
    if fits and lost * (high / low) * (high / low) <= 1e-4 * unit * low:
        return ""
    return (
        f"format {chosen.name}: with inertias of {low:.0e} to {high:.0e} a product may leave its "
        "range; use a format with more exponent bits, or other units"
    )
