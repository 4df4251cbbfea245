"""dr - dK x with pdd and f eliminated: columns of tau - ID(qdd) for orders that leave M.

Where all pdd and f are eliminated before the first qdd, a column of dr - dK x reaches the rows qdd
as what inverse dynamics makes of it, whatever the pivots.  What hangs on a joint then need not be
walked for every column: with w and u angular and linear parts of dv_k = (w, u) and

    pdd_k = alpha_k + v_k x dv_k,       alpha_c = Phi_c* alpha_k,

the force that body k and all behind it ask for is linear in the two, and does not see u at all:

    f_k = B_k w - M^_k alpha_k,         B_k = [v_k x* M_k + (M_k v_k) x* - M_k v_k x]_w + sum
                                              over children of Phi_c B_c E_c,
    M^_k = M_k + sum of Phi_c M^_c Phi_c*,

[ ]_w the first three columns, E_c those rows and columns of Phi_c*, a rotation (Featherstone 2008,
section 2.9, on v x dv; composites of derivatives: Singh, Russell & Wensing 2022).  Row c of the
column of joint j is S_c* f_c, so that S_c* B_c and S_c* M^_c are carried from c towards the base,
once for all.
"""

from __future__ import annotations

from ..matrix.blocks import Block
from .columns import Columns
from .derivatives import Moved, Rows, cross
from .program import Ref


def leaves_inertia(columns: Columns) -> bool:
    """Whether the order of a tree eliminates all pdd and f before the first qdd."""
    symbolic = columns.base.symbolic
    if symbolic is None or columns.structure.ties:
        return False
    graph, blocks = symbolic.plan.graph, symbolic.plan.blocks.tolist()
    kinds = ["qdd" if graph.block(b).kind == "qdd" else "" for b in blocks]
    return "" not in kinds[kinds.index("qdd") :] if "qdd" in kinds else False


class Reduced:
    """Columns of dr - dK x of which the rows qdd are left."""

    def __init__(self, moved: Moved) -> None:
        self.moved, self.write = moved, moved.write
        w, s = moved.write, moved.structure
        self.M: dict[int, Ref | None] = {}
        self.B: dict[int, Ref | None] = {}
        # (c, j): S_c* B_c and S_c* M^_c, carried from c to j
        self.behind: dict[int, list[tuple[int, Ref | None, Ref | None]]] = {}
        for k in s.order.tolist():
            M, v = w.input("M", k, (6, 6)), moved.v[k]
            B = None
            if v is not None:
                B = w.sub(moved.force.get(k), w.mul(M, cross(w, v)))
                B = w.t(w.rows(w.t(B), 0, 3))
            rows = []
            composite: Ref | None = M
            for child in s.children(s.names[k]):
                c = s.index[child]
                Phi, E = moved.Phi(c), self.turn(c)
                inner = w.mul(w.mul(Phi, self.M[c]), Phi.T, symmetric=True)
                composite = w.add(composite, inner)
                B = w.add(B, w.mul(w.mul(Phi, self.B[c]), E))
                rows += [(i, w.mul(b, E), w.mul(m, Phi.T)) for i, b, m in self.own(c)]
                rows += [(i, w.mul(b, E), w.mul(m, Phi.T)) for i, b, m in self.behind[c]]
            self.M[k], self.B[k], self.behind[k] = composite, B, rows

    def own(self, k: int) -> list[tuple[int, Ref | None, Ref | None]]:
        w, S = self.write, self.moved.S(k)
        if S is None:
            return []
        return [(k, w.mul(w.t(S), self.B[k]), w.mul(w.t(S), self.M[k]))]

    def turn(self, k: int) -> Ref | None:
        """What takes an angular velocity from the parent's frame to that of k."""
        w = self.write
        return w.t(w.rows(w.t(w.rows(self.moved.Phi(k).T, 0, 3)), 0, 3))

    def by_q(self, k: int) -> Rows:
        """The columns of a joint's coordinates, in the rows qdd alone."""
        return self._column(k, *self.moved.own_q(k))

    def by_qd(self, k: int) -> Rows:
        """The columns of a joint's rates."""
        return self._column(k, *self.moved.own_qd(k))

    def _column(self, k: int, moved: Ref | None, direct: Rows) -> Rows:
        w, m, names = self.write, self.moved, self.moved.names
        found: Rows = {}
        # rate x dv - v x dv: what is left of row f_k moves with the parent alone
        alpha = w.sub(direct.get(Block("f", names[k])), w.mul(cross(w, m.up[k]), moved))
        turned = w.rows(moved, 0, 3)
        for c, by_w, by_alpha in self.behind[k]:
            effort = w.sub(w.mul(by_alpha, alpha), w.mul(by_w, turned))
            m.more(found, Block("qdd", names[c]), effort)
        force = w.sub(w.mul(self.B[k], turned), w.mul(self.M[k], alpha))
        m.more(found, Block("qdd", names[k]), direct.get(Block("qdd", names[k])))
        while k >= 0:
            if (S := m.S(k)) is not None:
                m.more(found, Block("qdd", names[k]), w.neg(w.mul(w.t(S), force)))
            p = int(m.structure.parent[k])
            force = w.mul(m.Phi(k), force)
            if p >= 0:
                force = w.add(force, direct.get(Block("pdd", names[p])))
            direct, k = {}, p
        return found
