"""Cloutier 1995, section 6.4.2: two bodies that collide at a point, (6.3) to (6.5) and (6.9).

An impact is an elimination too.  The velocities jump by dv_1 and dv_2, and p is the impulse along
the normal n by which the bodies push each other:

    M_1 dv_1 + n p = 0,   M_2 dv_2 - n p = 0,   n* dv_1 - n* dv_2 = (1 + e) n* v-,   v = v_2 - v_1

The scan of (6.3) and (6.4) is broken; read here as dv_1N = - p n* M_1^-1 n and
dv_2N = p n* M_2^-1 n, with the normal from body 1 to body 2.  Section 6.1 has it from 2 to 1; then
the bodies approach where v_N > 0, and (6.6) would not let them part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sympy import Identity, MatrixExpr

from pivotree.analysis.proofs import Bench, Blocks, Equal, statement
from pivotree.kkt import Structure

from .equations import PAPER


def bodies_first(structure: Structure) -> list[Any]:
    """Both bodies, then what holds them; here it is the row of the normal."""
    return [[(kind, body)] for kind in ("pdd", "f", "qdd") for body in structure.names]


class Collision:
    """Both bodies, any inertias, and the row of the contact normal, which is entered as qdd_1."""

    def __init__(self) -> None:
        t = Bench((0, 0), dof=(1, 1))
        self.t: Bench = t
        self.n: Any = t.symbol("n", 6, 1)
        self.before: Any = t.symbol("v_2", 6, 1) - t.symbol("v_1", 6, 1)
        self.e: Any = t.symbol("e", 1, 1)

    def impulse(self, closing: MatrixExpr) -> MatrixExpr:
        """p, for a speed along the normal that is to be made up for."""
        e = self.left(closing)
        return e.entry(("qdd", 1), ("qdd", 1)).I * e.rhs(("qdd", 1))

    def left(self, closing: MatrixExpr) -> Any:
        normal = ("qdd", 1)
        start: Blocks = {
            (("pdd", 1), ("pdd", 1)): self.t.M(1),
            (("pdd", 2), ("pdd", 2)): self.t.M(2),
            (normal, ("pdd", 1)): self.n.T,
            (normal, ("pdd", 2)): -self.n.T,
            (normal, None): closing,
        }
        return self.t.after(bodies_first, 2, start)


@statement(
    "impacts",
    f"{PAPER}, eqs (6.3) to (6.5), (6.9)",
    "v_N+ = - e v_N- with dv_iN = -+ p n* M_i^-1 n, and Poisson's p = (1 + e) p_c is Newton's",
)
def impacts() -> Iterable[Equal]:
    two = Collision()
    t, n = two.t, two.n
    v_N, restored = n.T * two.before, Identity(1) + two.e
    newton = two.left(v_N * restored)
    normal = ("qdd", 1)
    along = n.T * t.M(1).I * n + n.T * t.M(2).I * n
    yield Equal("mobility along n", t, newton.entry(normal, normal), -along)
    yield Equal("what p makes up for", t, newton.rhs(normal), v_N * restored)
    p = two.impulse(v_N * restored)
    dv_1, dv_2 = -t.M(1).I * n * p, t.M(2).I * n * p
    yield Equal("(6.5) by (6.3), (6.4)", t, v_N + n.T * (dv_2 - dv_1), -v_N * two.e)
    yield Equal("p of both", t, p, -along.I * v_N * restored)
    yield Equal("(6.9): Poisson's hypothesis", t, p, two.impulse(v_N) * restored)
    stopped = two.impulse(v_N)
    yield Equal("compression ends at rest", t, -along * stopped, v_N)
