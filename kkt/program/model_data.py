"""The change dr - dK x of equation (4) by a model's own numbers: inertias, gravity and wrenches.

A body's ten inertial parameters theta = (m, m c, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), I about the
origin of its joint frame, enter (4) linearly, by M_k alone.  With A = -pdd the acceleration of the
body against free fall, the row pdd_k says that A and v need the force

    M_k A + v x* M_k v = Y_k theta,      Y_k = E(A) + v x* E(v),      E(u) theta = M u

(Atkeson, An & Hollerbach 1986), so that its column is Y_k.  Gravity g stands in the row f of every
root as Phi_k* (0, g), and in the rows of loops that end at the world; a wrench on body k in row
pdd_k, with minus.
"""

from __future__ import annotations

from ..matrix.blocks import Block
from .derivatives import Moved, Rows, cross
from .program import Ref

WIDTHS = {"parameters": 10, "gravity": 3, "wrench": 6}  # columns of a body; of gravity once


def column_shapes(N: int, n: int) -> dict[str, tuple[int, ...]]:
    """Shapes of all variables of differentiation, for N freedoms and n bodies."""
    own: dict[str, tuple[int, ...]] = dict.fromkeys(("q", "qd", "tau"), (N,))
    return own | {name: (width,) if name == "gravity" else (n, width) for name, width in WIDTHS.items()}


def holders(moved: Moved, name: str) -> range:
    """The bodies that have numbers of this name; gravity counts as a number of body 0."""
    return range(1 if name == "gravity" else moved.structure.n)


def rows_of(moved: Moved, name: str, k: int) -> Rows:
    """The columns of body k's parameters or wrench, or of gravity, as blocks of rows of (4)."""
    rows, body = Rows(), moved.structure.names[k]
    if name == "wrench":
        rows[Block("pdd", body)] = -moved.write.eye(6)
    elif name == "parameters":
        moved.more(rows, Block("pdd", body), _regressor(moved, k))
    else:
        lifted = moved.write.stack([None, moved.write.eye(3)], [3, 3], 3)
        for root in (i for i, up in enumerate(moved.structure.parent) if up < 0):
            at = Block("f", moved.structure.names[root])
            moved.more(rows, at, moved.write.mul(moved.Phi(root).T, lifted))
        for closing in moved.closings:
            closing.lifted(rows, lifted)
    return rows


def _regressor(moved: Moved, k: int) -> Ref | None:
    """Y_k (6, 10); pdd is -A, and v x* is -(v x)*."""
    w, v = moved.write, moved.v[k]
    own, moving = (
        None if u is None else w.emit("inertial", (u,), (6, 10))
        for u in (moved.x.get(Block("pdd", moved.structure.names[k])), v)
    )
    return w.neg(w.add(own, w.mul(w.t(cross(w, v)), moving)))
