"""The change dr - dK x of equation (4) by q and qd, as columns for the same pivots.

K x = r gives dx = K^-1 (dr - dK x), x fixed in dK x.  A joint that moves by s = S_k dq carries its
body's frame along: dPhi_k = Phi_k (s x*).  The whole subtree then moves at other velocities,

    dv_k = (Phi_k* v_p) x S_k dq + dS_k qd_k    or S_k dqd,        dv_c = Phi_c* dv_k,

and dr - dK x is not zero in the rows of k, of its parent p and of the descendants c of k:

    row f_c    dv_c's part of -da_c = (S_c qd_c) x dv_c
    row pdd_c  db_c = dv_c x* M_c v_c + v_c x* M_c dv_c
    row f_k    (Phi_k* pdd_p) x S_k dq - dS_k qdd_k - v_k x dS_k qd_k - d(S° qd)    of q alone
    row f_k    -v_k x S_k dqd - d(S° qd)                                            of qd alone
    row pdd_p  Phi_k (S_k dq x* f_k),          row qdd_k  -dS_k* f_k                of q alone

and in row qdd_k the terms of springs and dampers (Carpentier & Mansard 2018; Singh, Russell &
Wensing 2022).  A world that moves up by g stands for gravity, as in (4).  External wrenches are
constant in the frames of their bodies.  :mod:`.closed` adds the terms of loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..matrix.blocks import KINDS, Block, Structure
from .columns import Columns
from .program import Ref, Writer

Rows = dict[Block, Ref | None]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Motion:
    """Data of a state that (4) does not hold; by body, in the tree's order."""

    qd: Mapping[int, Ref]  # (N_k, 1)
    gravity: Ref | None  # (6, 1) pdd of the world, (0, g)
    by_q: Mapping[int, Ref | None] = field(default_factory=dict)  # (N_k, N_k) d effort / dq
    by_qd: Mapping[int, Ref | None] = field(default_factory=dict)  # likewise / dqd
    velocity: Ref | None = None  # (6, 1) of the world; None where it rests
    carried: Mapping[int, Pairs] = field(default_factory=dict)  # (i, j): dS_i / dq_j = S_i x S_j


class Moved:
    """dr - dK x for every joint of a robot, written behind an order's own program."""

    def __init__(self, columns: Columns, structure: Structure, motion: Motion) -> None:
        self.write, self.structure, self.motion = columns.write, structure, motion
        self.names = structure.names
        self.x = columns.base.solution
        self.n = columns.structure.n  # of the order's own bodies, pieces among them
        self.v: dict[int, Ref | None] = {}  # velocities
        self.up: dict[int, Ref | None] = {}  # Phi* v of the parent
        self.rate: dict[int, Ref | None] = {}  # S qd
        self.force: dict[int, Ref | None] = {}  # the map from dv to row pdd
        for k in structure.order[::-1].tolist():
            self._velocity(k)
        self.closings: list[Any] = []  # of loops and contacts: see :mod:`.closed`

    def _velocity(self, k: int) -> None:
        w, p = self.write, int(self.structure.parent[k])
        w.at("brought", k)
        self.up[k] = w.mul(self.Phi(k).T, self.v[p] if p >= 0 else self.motion.velocity)
        w.at("rate", k)
        self.rate[k] = w.mul(self.S(k), self.motion.qd.get(k))
        w.at("velocity", k)
        self.v[k] = v = w.named(w.add(self.up[k], self.rate[k]), "velocity", k)
        if v is not None:
            w.at("moves", k)
            M = w.input("M", k, (6, 6))
            own = cross(w, w.mul(M, v), "force")
            self.force[k] = w.sub(own, w.mul(w.t(cross(w, v)), M))  # v x* is -(v x)*

    def Phi(self, k: int) -> Ref:
        return self.write.input("Phi", k, (6, 6))

    def S(self, k: int) -> Ref | None:
        dof = int(self.structure.dof[k])
        return self.write.input("H", k, (dof, 6)).T if dof else None

    def by_q(self, k: int) -> Rows:
        """The columns of a joint's coordinates, as blocks (rows, N_k); zero blocks are left out."""
        rows = self._column(k, *self.own_q(k))
        for closing in self.closings:
            closing.turned(rows, {k: self.S(k)})
        return rows

    def by_qd(self, k: int) -> Rows:
        """The columns of a joint's rates."""
        return self._column(k, *self.own_qd(k))

    def along(self, dq: Mapping[int, Ref | None], dqd: Mapping[int, Ref | None]) -> Rows:
        """One column for all joints at once, which move by dq and dqd (N_k, m): base to tips."""
        w, rows, d = self.write, Rows(), dict[int, Ref | None]()
        for k in self.structure.order[::-1].tolist():
            p = int(self.structure.parent[k])
            d[k] = w.mul(self.Phi(k).T, d[p]) if p >= 0 else None
            for own, steps in ((self.own_q, dq), (self.own_qd, dqd)):
                if (step := steps.get(k)) is not None:
                    moved, direct = own(k)
                    d[k] = w.add(d[k], w.mul(moved, step))
                    for block, ref in direct.items():
                        self.more(rows, block, w.mul(ref, step))
            self._moved(rows, k, d[k])
        steps = {k: self.write.mul(self.S(k), step) for k, step in dq.items()}
        for closing in self.closings:
            closing.turned(rows, steps)
        return rows

    def against(self, y: Mapping[Block, Ref]) -> tuple[dict[int, Ref | None], ...]:
        """y* (dr - dK x) by q and by qd, (N_k, m) for every joint, of y (rows, m): tips to base."""
        w, behind = self.write, dict[int, Ref | None]()
        found = dict[int, Ref | None](), dict[int, Ref | None]()
        for k in self.structure.order.tolist():
            name, rows = self.names[k], Rows()
            self._moved(rows, k, w.eye(6))
            e = self.met(rows, y)
            for child in self.structure.children(name):
                i = self.structure.index[child]
                e = w.add(e, w.mul(self.Phi(i), behind[i]))
            behind[k] = e
            if self.structure.dof[k]:
                for own, by in zip((self.own_q, self.own_qd), found, strict=True):
                    moved, direct = own(k)
                    by[k] = w.add(w.mul(w.t(moved), e), self.met(direct, y))
        for closing in self.closings:
            closing.against(y, found[0])
        return found

    def own_q(self, k: int) -> tuple[Ref | None, Rows]:
        """dv_k by the joint's q, (6, N_k), and the entries in rows of (4) not caused by dv."""
        w, S, p = self.write, self.S(k), int(self.structure.parent[k])
        name, rows = self.names[k], Rows()
        w.at("own", k)
        turn = self.turned(k, self.motion.qd.get(k))
        pdd = self.motion.gravity if p < 0 else self.x.get(Block("pdd", self.names[p]))
        own = w.mul(cross(w, w.mul(self.Phi(k).T, pdd)), S)
        own = w.sub(own, self.turned(k, self.x.get(Block("qdd", name))))
        own = w.sub(own, w.mul(cross(w, self.v[k]), turn))
        self.more(rows, Block("f", name), w.sub(own, self.bias(k)[0]))
        moved = w.mul(cross(w, self.x.get(Block("f", name)), "force"), S)
        if p >= 0:
            self.more(rows, Block("pdd", self.names[p]), w.mul(self.Phi(k), moved))
        self.more(rows, Block("qdd", name), w.sub(self.motion.by_q.get(k), self.effort(k)))
        return w.add(w.mul(cross(w, self.up[k]), S), turn), rows

    def own_qd(self, k: int) -> tuple[Ref | None, Rows]:
        """The same by the joint's rates."""
        w, S, name, rows = self.write, self.S(k), self.names[k], Rows()
        w.at("own", k)
        own = w.neg(w.mul(cross(w, self.v[k]), S))
        self.more(rows, Block("f", name), w.sub(own, self.bias(k)[1]))
        self.more(rows, Block("qdd", name), self.motion.by_qd.get(k))
        return S, rows

    def _column(self, k: int, moved: Ref | None, direct: Rows) -> Rows:
        """The change that dv_k = ``moved`` makes behind and in body k, with ``direct`` added."""
        w, rows = self.write, Rows()
        waiting = [(k, moved)]
        while waiting:
            c, d = waiting.pop()
            d = w.named(d, "shifted", c)
            w.at("change", c)
            self._moved(rows, c, d)
            for child in self.structure.children(self.names[c]):
                i = self.structure.index[child]
                w.at("shifted", i)
                waiting.append((i, w.mul(self.Phi(i).T, d)))
        for block, ref in direct.items():
            w.at("change", self.number(block))
            self.more(rows, block, ref)
        return {block: w.named(ref, "change", self.number(block)) for block, ref in rows.items()}

    def _moved(self, rows: Rows, k: int, d: Ref | None) -> None:
        """Add the change that dv_k = d makes in the rows of body k."""
        w, name = self.write, self.names[k]
        self.more(rows, Block("f", name), w.mul(cross(w, self.rate[k]), d))
        self.more(rows, Block("pdd", name), w.mul(self.force.get(k), d))
        for closing in self.closings:
            for end, by_v in zip(closing.pair.bodies, closing.by_v, strict=True):
                if end == k:
                    self.more(rows, closing.lam, w.mul(by_v, d))

    def met(self, rows: Rows, y: Mapping[Block, Ref]) -> Ref | None:
        """rows* y, summed over the blocks."""
        total: Ref | None = None
        for block, ref in rows.items():
            total = self.write.add(total, self.write.mul(self.write.t(ref), y.get(block)))
        return total

    def number(self, block: Block) -> int:
        places = self.structure.tie_index if block.kind == "lam" else self.structure.index
        return KINDS.index(block.kind) * self.n + places[block.body]

    def more(self, rows: Rows, block: Block, ref: Ref | None) -> None:
        rows[block] = self.write.add(rows.get(block), ref)

    # -- joints whose columns of S move with q ------------------------------------------------

    def column(self, k: int, i: int) -> Ref | None:
        S = self.S(k)
        return None if S is None else self.write.t(self.write.rows(S.T, i, i + 1))

    def crossed(self, k: int, i: int, j: int) -> Ref | None:
        """S_i x S_j, which is dS_i / dq_j where column i is carried by column j."""
        return self.write.mul(cross(self.write, self.column(k, i)), self.column(k, j))

    def turned(self, k: int, y: Ref | None) -> Ref | None:
        """The matrix (6, N_k) whose column j is dS / dq_j y."""
        w, found = self.write, dict[int, Ref | None]()
        for i, j in self.motion.carried.get(k, ()):
            term = w.mul(self.crossed(k, i, j), w.rows(y, i, i + 1))
            found[j] = w.add(found.get(j), term)
        return self.beside(found, int(self.structure.dof[k]))

    def effort(self, k: int) -> Ref | None:
        """The matrix (N_k, N_k) whose column j is dS* / dq_j f."""
        w, N, f = self.write, int(self.structure.dof[k]), self.x.get(Block("f", self.names[k]))
        found: dict[int, dict[int, Ref | None]] = {}
        for i, j in self.motion.carried.get(k, ()):
            found.setdefault(i, {})[j] = w.mul(w.t(self.crossed(k, i, j)), f)
        rows = [self.beside(found.get(i, {}), N) for i in range(N)]
        return w.stack(rows, [1] * N, N) if found else None

    def bias(self, k: int) -> tuple[Ref | None, Ref | None]:
        """d(S° qd) / dq and / dqd, (6, N_k) each; S° qd sums S_i x S_j qd_i qd_j over the pairs."""
        w, pairs = self.write, self.motion.carried.get(k, ())
        qd, N = self.motion.qd.get(k), int(self.structure.dof[k])
        by_q, by_qd = dict[int, Ref | None](), dict[int, Ref | None]()
        for i, j in pairs:
            first, second = (w.rows(qd, m, m + 1) for m in (i, j))
            both = w.mul(first, second)
            for turned, m in pairs:
                twice = None
                if turned == i:
                    twice = w.mul(cross(w, self.crossed(k, i, m)), self.column(k, j))
                if turned == j:
                    more = w.mul(cross(w, self.column(k, i)), self.crossed(k, j, m))
                    twice = w.add(twice, more)
                by_q[m] = w.add(by_q.get(m), w.mul(twice, both))
            for m, rate in ((i, second), (j, first)):
                by_qd[m] = w.add(by_qd.get(m), w.mul(self.crossed(k, i, j), rate))
        return self.beside(by_q, N), self.beside(by_qd, N)

    def beside(self, columns: dict[int, Ref | None], N: int) -> Ref | None:
        """One matrix from N columns, of which missing ones are zero."""
        known = [ref for ref in columns.values() if ref is not None]
        if not known:
            return None
        w = self.write
        rows = [w.t(columns.get(j)) for j in range(N)]
        return w.t(w.stack(rows, [1] * N, w.shape(known[0])[0]))


def cross(w: Writer, u: Ref | None, kind: str = "motion") -> Ref | None:
    """u x as a matrix, which takes no arithmetic; of a force u, the matrix from v to v x* u."""
    return None if u is None else w.emit("cross", (u,), (6, 6), info=(kind,))
