"""The terms that closed loops and contacts add to dr - dK x when joints move.

A pair of bodies 1 and 2 has, in the frame c of its constraint, the rows of
:mod:`kkt.matrix.closures`.  A joint on the way from where the two meet to body k moves that body by
xi_k = Phi_k* xi_p + S_k dq, so that in c body 2 moves beside body 1 by

    eta = X_2 xi_2 - X_1 xi_1,      dX_2 = (eta - sigma) x X_2,      dX_1 = -sigma x X_1,

sigma the motion of c on body 1: zero, or eta's linear part where c travels with a point of body 2.
With L = C lambda, P_k = X_k pdd_k, w = X_2 v_2 and u = X_1 v_1 this adds

    row lam    -dgamma + C* (P_2 x (eta - sigma) + P_1 x sigma)
    row pdd_2  X_2* ((eta - sigma) x* L),          row pdd_1  X_1* (sigma x* L)

and gamma = C* (u x w) - a C* (w - u) - b gap moves with eta and with the velocities of both bodies.
The world has pdd = (0, g), and does not move.  Loops need not be closed in the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..matrix.blocks import Block
from ..model.parents import meeting
from .columns import Columns
from .derivatives import Moved, Rows, cross
from .program import Ref, Writer


class Pair(NamedTuple):
    """Two bodies that rows of a loop tie, -1 for the world, with data that (4) does not hold.

    R and p are the poses of c in the bodies, for 1 and 2.
    """

    loop: int
    bodies: tuple[int, int]
    R: tuple[Ref | None, ...]  # (3, 3) each
    p: tuple[Ref | None, ...]  # (3, 1) each
    C: Ref  # (6, m)
    point: bool  # c travels with a point of body 2
    damping: Ref | None  # (m, m) a on the diagonal
    gap: Ref | None  # (m, 6) b times the gap's derivative by eta


class Closing:
    """The maps of one pair to rows of (4), from eta and from the velocities of its bodies."""

    def __init__(self, moved: Moved, pair: Pair) -> None:
        self.moved, self.pair, w = moved, pair, moved.write
        structure = moved.structure
        self.lam = Block("lam", structure.ties[pair.loop].name)
        up = meeting(pair.bodies, structure.parent)
        self.ways: tuple[list[int], ...] = ([], [])  # from where the bodies meet to each of them
        for k, way in zip(pair.bodies, self.ways, strict=True):
            while k != up:
                way.insert(0, k)
                k = int(structure.parent[k])
        self.X = X = [motions(w, R, p) for R, p in zip(pair.R, pair.p, strict=True)]
        self.C = C = pair.C.T
        rates = [w.mul(Xi, moved.v.get(k)) for Xi, k in zip(X, pair.bodies, strict=True)]
        u, v = (cross(w, rate) for rate in rates)
        slip = _slipping(w, w.sub(rates[1], rates[0])) if pair.point else None
        a = w.mul(pair.damping, C)
        first = w.add(w.mul(C, w.sub(slip, v)), a)  # d gamma / du
        second = w.sub(w.mul(C, w.sub(u, slip)), a)  # d gamma / dw
        self.by_v = tuple(w.neg(w.mul(Q, Xi)) for Q, Xi in zip((first, second), X, strict=True))
        P = [w.mul(Xi, self._pdd(k)) for Xi, k in zip(X, pair.bodies, strict=True)]
        L = cross(w, w.mul(pair.C, moved.x.get(self.lam)), "force")
        self.by_eta = Rows()
        rest = w.add(w.mul(C, cross(w, P[1])), w.mul(second, v))
        slid = w.sub(w.mul(C, cross(w, P[0])), w.mul(first, u)) if pair.point else None
        self._part(self.lam, rest, slid)
        moved.more(self.by_eta, self.lam, pair.gap)
        for i, k in enumerate(pair.bodies):
            if k >= 0 and (i or pair.point):
                turned = w.mul(w.t(X[i]), L)
                row = Block("pdd", structure.names[k])
                self._part(row, turned if i else None, None if i else turned)

    def _part(self, row: Block, rest: Ref | None, slid: Ref | None) -> None:
        """Add to a row its maps from eta - sigma and from sigma, as one map from eta."""
        w = self.moved.write
        if self.pair.point:
            halves = [w.rows(w.t(rest), 0, 3), w.rows(w.t(slid), 3, 6)]
            known = rest if slid is None else slid
            rest = None if known is None else w.t(w.stack(halves, [3, 3], w.shape(known)[0]))
        self.moved.more(self.by_eta, row, rest)

    def _pdd(self, k: int) -> Ref | None:
        moved = self.moved
        return moved.motion.gravity if k < 0 else moved.x.get(Block("pdd", moved.names[k]))

    def turned(self, rows: Rows, steps: Mapping[int, Ref | None]) -> None:
        """Add the change of rows where joints move by ``steps`` (6, m), velocities apart."""
        w, xi = self.moved.write, list[Ref | None]()
        for way, X in zip(self.ways, self.X, strict=True):
            at: Ref | None = None
            for k in way:
                at = w.add(w.mul(w.t(self.moved.Phi(k)), at), steps.get(k))
            xi.append(w.mul(X, at))
        eta = w.sub(xi[1], xi[0])
        for row, ref in self.by_eta.items() if eta is not None else ():
            self.moved.more(rows, row, w.mul(ref, eta))

    def against(self, y: Mapping[Block, Ref], by: dict[int, Ref | None]) -> None:
        """Add y* times this change to ``by``, (N_k, m) for every joint."""
        w, e = self.moved.write, self.moved.met(self.by_eta, y)
        for way, X, sign in zip(self.ways, self.X, (-1, 1), strict=True):
            at = w.mul(w.t(X), e) if sign > 0 else w.neg(w.mul(w.t(X), e))
            for k in reversed(way):
                if self.moved.structure.dof[k]:
                    by[k] = w.add(by.get(k), w.mul(w.t(self.moved.S(k)), at))
                at = w.mul(self.moved.Phi(k), at)

    def lifted(self, rows: Rows, up: Ref | None) -> None:
        """Add the change of rows where the world moves up by columns of ``up`` (6, 3)."""
        w = self.moved.write
        for X, k, sign in zip(self.X, self.pair.bodies, (1, -1), strict=True):
            if k < 0:
                change = w.mul(self.C, w.mul(X, up))
                self.moved.more(rows, self.lam, change if sign > 0 else w.neg(change))


def motions(w: Writer, R: Ref | None, p: Ref | None) -> Ref | None:
    """X (6, 6) of a pose: [[R*, 0], [-R* p~, R*]]."""
    arm = cross(w, w.stack([None, p], [3, 3], 1)) if p is not None else None
    moved = w.mul(w.rows(arm, 3, 6), w.stack([R, None], [3, 3], 3))
    upper = w.t(w.stack([w.t(R), w.t(moved)], [3, 3], 3))
    lower = w.t(w.stack([None, w.t(R)], [3, 3], 3))
    return w.t(w.stack([upper, lower], [3, 3], 6))


def _slipping(w: Writer, apart: Ref | None) -> Ref | None:
    """The derivative (6, 6) of omega x v, in the linear rows, by the motion (omega, v)."""
    if apart is None:
        return None
    back = w.stack([w.rows(apart, 0, 3), w.neg(w.rows(apart, 3, 6))], [3, 3], 1)
    return w.stack([None, w.rows(cross(w, back), 3, 6)], [3, 3], 6)


def delassus(columns: Columns, pairs: Sequence[Pair], loops: int) -> None:
    """J M^-1 J* as further columns: block row i under the keys ("lam", j), j = 0 to i.

    J are the rows of ``pairs``, whose ``loop`` is a number below ``loops`` and need not be in (4):
    J* is a set of forces on bodies, in the rows pdd, and J takes the pdd of K^-1 J*.
    """
    w, names = columns.write, columns.structure.names
    rows: list[Rows] = [{} for _ in range(loops)]
    for pair in pairs:
        for R, p, k, sign in zip(pair.R, pair.p, pair.bodies, (-1, 1), strict=True):
            if k >= 0:
                G, body = w.mul(pair.C.T, motions(w, R, p)), Block("pdd", names[k])
                own = rows[pair.loop]
                own[body] = w.add(own.get(body), G if sign > 0 else w.neg(G))
    found = []
    for i, own in enumerate(rows):
        met = {body for other in rows[: i + 1] for body in other}
        x = columns.solve({body: w.t(G) for body, G in own.items()}, met)
        line: dict[Block, Ref] = {}
        for j, other in enumerate(rows[: i + 1]):
            total: Ref | None = None
            for body, G in other.items():
                total = w.add(total, w.mul(G, x.get(body)))
            if total is not None:
                line[Block("lam", j)] = total
        found.append(line)
    columns.found[:] = found
