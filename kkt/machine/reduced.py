"""dr - dK x with pdd and f eliminated: columns of tau - ID(qdd) for orders that leave qdd last.

Where all pdd and f are eliminated before the first qdd, a column of dr - dK x reaches the rows qdd
as inverse dynamics transforms it, whatever the pivots.  The descendants of a joint then need not be
visited for every column: with w and u the angular and linear parts of dv_k = (w, u), and with

    pdd_k = alpha_k + v_k x dv_k,       alpha_c = Phi_c* alpha_k,

the force that body k and its descendants require is linear in w and alpha_k, u having no effect:

    f_k = B_k w - M^_k alpha_k,         B_k = [v_k x* M_k + (M_k v_k) x* - M_k v_k x]_w + sum
                                              over children of Phi_c B_c E_c,
    M^_k = M_k + sum of Phi_c M^_c Phi_c*,

where [ ]_w takes the first three columns, and E_c is the upper left block of Phi_c*, a rotation
(Featherstone 2008, section 2.9; composites: Singh, Russell & Wensing 2022).  Row c of the
column of joint j is S_c* f_c, so that S_c* B_c and S_c* M^_c are carried from c towards the base,
once for all.
"""

from __future__ import annotations

from collections.abc import Collection

from ..matrix.blocks import Block
from ..matrix.system import System
from ..program.columns import MotionColumns, Rows, cross
from ..program.program import Program, Ref, Writer


def reduced(system: System, moved: MotionColumns, program: Program) -> Reduced | None:
    """The columns of a program that leaves the joint-space inertia, in the rows qdd; None for another."""
    if not leaves_inertia(program):
        return None
    plain = [k for k in range(system.tree.n) if system.tree.dof[k] and _plain(system, k)]
    return Reduced(moved, program.composites == "rigid", plain)


def _plain(system: System, k: int) -> bool:
    """Whether the columns of S_k are unit vectors, and the joint has no armature."""
    own = slice(system.tree.offset[k], system.tree.offset[k + 1])
    S, one = system.pattern.S[own], system.pattern.S_one[own]
    units = bool((one == S).all() and (S.sum(axis=1) == 1).all())
    return units and not system.structure.armature[k]


def leaves_inertia(program: Program) -> bool:
    """Whether the order of a tree eliminates all pdd and f before the first qdd."""
    symbolic = program.symbolic
    if symbolic is None or symbolic.plan.graph.structure.ties:
        return False
    graph, blocks = symbolic.plan.graph, symbolic.plan.blocks.tolist()
    kinds = ["qdd" if graph.block(b).kind == "qdd" else "" for b in blocks]
    return "" not in kinds[kinds.index("qdd") :] if "qdd" in kinds else False


class Reduced:
    """Columns of dr - dK x, reduced to the rows qdd."""

    def __init__(self, moved: MotionColumns, rigid: bool, plain: Collection[int]) -> None:
        self.moved: MotionColumns = moved
        self.write: Writer = moved.write
        self.plain: Collection[int] = plain
        w, s = moved.write, moved.structure
        self.rigid = rigid
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
            behind: Ref | None = None  # summed first, as the order's own composites are
            for child in s.children(s.names[k]):
                c = s.index[child]
                Phi, E = moved.Phi(c), self.turn(c)
                behind = self.joined(behind, self.shifted(Phi, self.M[c]))
                B = w.add(B, w.mul(w.mul(Phi, self.B[c]), E))
                rows += [(i, w.mul(b, E), w.mul(m, Phi.T)) for i, b, m in self.own(c)]
                rows += [(i, w.mul(b, E), w.mul(m, Phi.T)) for i, b, m in self.behind[c]]
            self.M[k], self.B[k], self.behind[k] = self.joined(M, behind), B, rows

    def shifted(self, Phi: Ref, M: Ref | None) -> Ref | None:
        """Phi M Phi*, by ten numbers where the program forms its composites so."""
        w = self.write
        if self.rigid:
            return w.emit("shift", (Phi, M), (6, 6), True)
        return w.mul(Phi, w.mul(M, Phi.T), symmetric=True)

    def joined(self, M: Ref | None, N: Ref | None) -> Ref | None:
        w = self.write
        if M is None or N is None or not self.rigid:
            return w.add(M, N)
        return w.emit("join", (M, N), (6, 6), True)

    def own(self, k: int) -> list[tuple[int, Ref | None, Ref | None]]:
        w, S = self.write, self.moved.S(k)
        if S is None:
            return []
        return [(k, w.mul(w.t(S), self.B[k]), w.mul(w.t(S), self.M[k]))]

    def turn(self, k: int) -> Ref | None:
        """The rotation that takes an angular velocity from the parent's frame to that of k."""
        w = self.write
        return w.t(w.rows(w.t(w.rows(self.moved.Phi(k).T, 0, 3)), 0, 3))

    def by_q(self, k: int) -> tuple[Rows, Rows]:
        """The columns of a joint's coordinates, in the rows qdd alone, and a term of qdd_k."""
        return self._column(k, *self.moved.own_q(k))

    def by_qd(self, k: int) -> tuple[Rows, Rows]:
        """The columns of a joint's rates."""
        return self._column(k, *self.moved.own_qd(k))

    def _column(self, k: int, moved: Ref | None, direct: Rows) -> tuple[Rows, Rows]:
        w, m, names = self.write, self.moved, self.moved.names
        found: Rows = {}
        beside: Rows = {}
        # rate x dv - v x dv: what is left of row f_k moves with the parent alone
        alpha = w.sub(direct.get(Block("f", names[k])), w.mul(cross(w, m.up[k]), moved))
        if k in self.plain and alpha is not None:
            S, own = self.moved.S(k), Block("qdd", names[k])
            assert S is not None
            beside[own] = w.mul(w.t(S), alpha)  # M times it is what alpha along S gives
            alpha = w.sub(alpha, w.mul(S, beside[own]))
        turned = w.rows(moved, 0, 3)
        for c, by_w, by_alpha in self.behind[k]:
            effort = w.sub(w.mul(by_alpha, alpha), w.mul(by_w, turned))
            m.more(found, Block("qdd", names[c]), effort)
        asked = w.sub(w.mul(self.M[k], alpha), w.mul(self.B[k], turned))  # -f_k
        m.more(found, Block("qdd", names[k]), direct.get(Block("qdd", names[k])))
        while k >= 0:
            if (S := m.S(k)) is not None:
                m.more(found, Block("qdd", names[k]), w.mul(w.t(S), asked))
            p = int(m.structure.parent[k])
            asked = w.mul(m.Phi(k), asked)
            if p >= 0:
                asked = w.sub(asked, direct.get(Block("pdd", names[p])))
            direct, k = {}, p
        return found, beside
