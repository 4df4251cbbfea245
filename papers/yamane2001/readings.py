"""Lines that cannot be meant as printed: a_i+1 below (32), t_i+1 (28), S_J* in (53).

Each is run as printed in :mod:`.recursion`, all else as meant, and held against a certified answer.
A line is a misprint where qdd is right to rounding with what is meant, and wrong with what is
printed.
"""

from __future__ import annotations

from pivotree import kkt
from pivotree.analysis.counts import family_of

from ..item import Progress, Results, between, value
from ..measures import error
from .recursion import PRINTED, joint_accelerations

SAYS = {
    "a": "a_i+1 = h_i+1 - H A_i+1^-1 t_i+1",
    "t": "t_i+1 = f_i+1 + H_J* n_Ji+1 - b_i+1",
    "S_J": "q''_i = ... + S_Ji+1,i* n_i+1 - a_Ji",
}
MEANT = {
    "a": "below (32): (23) and (24) give - Gamma_i+1,i A_i^-1 T_i besides, the link i that joint i+1 meets",
    "t": "(28): joint i+1 pushes link i too; (23) leaves - H_Ji+1,i* n_Ji+1 of (15) out",
    "S_J": "(52), (53): Gamma_J A^-1 Gamma* is not symmetric; its block (i, i+1) is - H_Ji,i "
    "A_i^-1 H_i+1,i*, which S_Ji+1,i* is not, and which it has the shape of for ball joints only",
}


def measure(
    progress: Progress, *, n: int = 8, family: str = "spherical", lines: tuple[str, ...] = PRINTED
) -> Results:
    """Errors relative to max |qdd| on a chain of n links of a family of analysis.counts."""
    for line in lines:
        if line not in PRINTED:
            raise kkt.PivotreeError(f"setting lines: {line!r} is unknown; use {', '.join(PRINTED)}")
    between("n", n, 3)
    system = family_of(family).system(n)
    exact = kkt.certify(system, 20)
    for line in lines:
        progress(SAYS[line])
        off = error(exact, joint_accelerations(system, printed=(line,)))
        yield value("printed", off, off <= 1e-12, says=SAYS[line], why=MEANT[line])
    meant = error(exact, joint_accelerations(system))
    for line in lines:
        yield value("meant", meant, meant <= 1e-12, says=SAYS[line])
