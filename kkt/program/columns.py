"""More right-hand sides for the same pivots, and the change dr - dK x of equation (4) as such columns.

Equation (4) is K x = r, and a program is linear in r: its factors do not depend on r.  The
instructions that depend on r are written once more for every set of columns, and those that meet a
block of zeros are left out, so that a column's sparsity follows from the tree.  A column that
starts at body k touches the ancestors of k, and in the backward pass their descendants.

The change by q and qd is dx = K^-1 (dr - dK x), x fixed in dK x.  A joint that moves by s = S_k dq
carries its body's frame along: dPhi_k = Phi_k (s x*).  The whole subtree then moves at other velocities,

    dv_k = (Phi_k* v_p) x S_k dq + dS_k qd_k    or S_k dqd,        dv_c = Phi_c* dv_k,

and dr - dK x is not zero in the rows of k, of its parent p and of the descendants c of k:

    row f_c    dv_c's part of -da_c = (S_c qd_c) x dv_c
    row pdd_c  db_c = dv_c x* M_c v_c + v_c x* M_c dv_c
    row f_k    (Phi_k* pdd_p) x S_k dq - dS_k qdd_k - v_k x dS_k qd_k - d(S° qd)    of q alone
    row f_k    -v_k x S_k dqd - d(S° qd)                                            of qd alone
    row pdd_p  Phi_k (S_k dq x* f_k),          row qdd_k  -dS_k* f_k                of q alone

and in row qdd_k the terms of springs and dampers (Carpentier & Mansard 2018; Singh, Russell &
Wensing 2022).  A world that moves up by g stands for gravity, as in (4).  External wrenches are
constant in the frames of their bodies.

Closed loops and contacts add terms when joints move.  A pair of bodies 1 and 2 has, in the frame c of
its constraint, the rows of :mod:`kkt.matrix.closures`.  A joint on the way from where the two meet to
body k moves that body by xi_k = Phi_k* xi_p + S_k dq, so that in c body 2 moves beside body 1 by

    eta = X_2 xi_2 - X_1 xi_1,      dX_2 = (eta - sigma) x X_2,      dX_1 = -sigma x X_1,

sigma the motion of c on body 1: zero, or eta's linear part where c travels with a point of body 2.
With L = C lambda, P_k = X_k pdd_k, w = X_2 v_2 and u = X_1 v_1 this adds

    row lam    -dgamma + C* (P_2 x (eta - sigma) + P_1 x sigma)
    row pdd_2  X_2* ((eta - sigma) x* L),          row pdd_1  X_1* (sigma x* L)

and gamma = C* (u x w) - a C* (w - u) - b gap moves with eta and with the velocities of both bodies.
The world has pdd = (0, g), and does not move.  Loops need not be closed in the state.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..base.errors import OrderError
from ..matrix.blocks import Block, Structure
from ..matrix.entries import RIGHT_HAND_SIDE
from ..model.loops import meeting
from .program import Instruction, Program, Ref, Writer

LETTER = {"pdd": ("b", 1), "qdd": ("tau", 1), "f": ("a", -1), "lam": ("gamma", -1)}  # r, by row


class ContinuedProgram:
    """A program that is continued with more right-hand sides, for which its pivots serve again."""

    def __init__(self, program: Program) -> None:
        """Raises OrderError for an order by rotations, which take the right-hand side along."""
        self.base = program
        self.write: Writer = Writer.after(program)
        self.found: list[dict[Block, Ref]] = []
        self._linear: list[Instruction] = []
        self._depends: set[int] = set()  # values that depend on r
        for i in program.instructions:
            own = [ref.value in self._depends for ref in i.present]
            if i.op == "input" and i.info[0] in RIGHT_HAND_SIDE:
                self._depends.add(i.out)
            elif any(own):
                if i.op not in _WRITTEN or not (all(own) or own.index(True) == len(own) - 1):
                    what = "its rotations take the right-hand side along, and no others can follow"
                    raise OrderError(f"order {program.name!r}", what, "use an order of pivots, such as abm")
                self._depends.add(i.out)
                self._linear.append(i)

    def solve(
        self, right: Mapping[Block, Ref | None], wanted: Collection[Block] | None = None
    ) -> dict[Block, Ref]:
        """K^-1 times columns, given by rows of (4), each named by the block on its diagonal.

        Blocks of unknowns that are zero, or not ``wanted``, are left out.
        """
        w, structure = self.write, self.structure
        values: dict[int, Ref] = {}
        for i in self.base.instructions:
            if i.op == "input" and i.info[0] in RIGHT_HAND_SIDE:
                letter, k = i.info
                kind, sign = next((x, s) for x, (y, s) in LETTER.items() if y == letter)
                name = structure.ties[k].name if kind == "lam" else structure.names[k]
                ref = right.get(Block(kind, name))
                if ref is not None:
                    values[i.out] = ref if sign > 0 else -ref
        before = w.step
        for i in self._linear:
            args = [self._as_used(ref, values) for ref in i.args]
            if any(ref is not None and ref.value in values for ref in i.args):
                w.step = i.step
                out = _written(w, i, args)
                if out is not None:
                    values[i.out] = out
        w.step = before
        solution = {
            block: self._as_used(ref, values)
            for block, ref in self.base.solution.items()
            if wanted is None or block in wanted
        }
        self.found.append({block: ref for block, ref in solution.items() if ref is not None})
        return self.found[-1]

    @property
    def structure(self) -> Any:
        """The order's structure; bodies of the tree come first, then pieces and carriers."""
        return self.base.factor.plan.graph.structure

    def program(self) -> Program:
        """The program with all columns that were solved for."""
        w = self.write
        return replace(
            self.base,
            instructions=tuple(w.instructions),
            shapes=tuple(w.shapes),
            places=tuple(w.places),
            columns=tuple(self.found),
        )

    def _as_used(self, ref: Ref | None, values: Mapping[int, Ref]) -> Ref | None:
        """A value as the columns use it: None where it is zero, itself where r is not in it."""
        if ref is None or ref.value not in self._depends:
            return ref
        new = values.get(ref.value)
        return None if new is None else new.used_as(ref)


_WRITTEN = ("mul", "add", "forward", "solve", "inner", "stack", "rows", "divide", "same")


def _written(w: Writer, i: Instruction, args: list[Any]) -> Ref | None:
    """An instruction once more, on columns."""
    if i.op == "same":
        return args[0]
    if i.op == "stack":
        columns = next((w.shape(ref)[1] for ref in args if ref is not None), 0)
        return w.stack(args, list(i.info[0]), columns)
    found: Ref | None = getattr(w, i.op)(*args, *i.info)
    return found


Rows = dict[Block, Ref | None]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Motion:
    """Data of a state that (4) does not hold; by body, in the tree's order."""

    qd: Mapping[int, Ref]  # (N_k, 1)
    gravity: Ref | None  # (6, 1) pdd of the world, (0, g)
    by_q: Mapping[int, Ref | None] = field(default_factory=dict)  # (N_k, N_k) d effort / dq
    by_qd: Mapping[int, Ref | None] = field(default_factory=dict)  # likewise / dqd
    carried: Mapping[int, Pairs] = field(default_factory=dict)  # (i, j): dS_i / dq_j = S_i x S_j


class MotionColumns:
    """dr - dK x for every joint of a robot, written behind an order's own program."""

    def __init__(self, columns: ContinuedProgram, structure: Structure, motion: Motion) -> None:
        self.write: Writer = columns.write
        self.structure: Structure = structure
        self.motion: Motion = motion
        self.names: Sequence[Hashable] = structure.names
        self.x: dict[Block, Ref] = columns.base.solution
        self.v: dict[int, Ref | None] = {}  # velocities
        self.up: dict[int, Ref | None] = {}  # Phi* v of the parent
        self.rate: dict[int, Ref | None] = {}  # S qd
        self.force: dict[int, Ref | None] = {}  # the map from dv to row pdd
        for k in structure.order[::-1].tolist():
            self._velocity(k)
        self.closings: list[Any] = []  # of loops and contacts: see :class:`Closing`

    def _velocity(self, k: int) -> None:
        w, p = self.write, int(self.structure.parent[k])
        self.up[k] = w.mul(self.Phi(k).T, self.v[p] if p >= 0 else None)
        self.rate[k] = w.mul(self.S(k), self.motion.qd.get(k))
        self.v[k] = v = w.add(self.up[k], self.rate[k])
        if v is not None:
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

    def own_q(self, k: int) -> tuple[Ref | None, Rows]:
        """dv_k by the joint's q, (6, N_k), and the entries in rows of (4) not caused by dv."""
        w, S, p = self.write, self.S(k), int(self.structure.parent[k])
        name, rows = self.names[k], Rows()
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
            self._add_change(rows, c, d)
            for child in self.structure.children(self.names[c]):
                i = self.structure.index[child]
                waiting.append((i, w.mul(self.Phi(i).T, d)))
        for block, ref in direct.items():
            self.more(rows, block, ref)
        return rows

    def _add_change(self, rows: Rows, k: int, d: Ref | None) -> None:
        """Add the change that dv_k = d makes in the rows of body k."""
        w, name = self.write, self.names[k]
        self.more(rows, Block("f", name), w.mul(cross(w, self.rate[k]), d))
        self.more(rows, Block("pdd", name), w.mul(self.force.get(k), d))
        for closing in self.closings:
            for end, by_v in zip(closing.pair.bodies, closing.by_v, strict=True):
                if end == k:
                    self.more(rows, closing.lam, w.mul(by_v, d))

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
        return self.side_by_side(found, int(self.structure.dof[k]))

    def effort(self, k: int) -> Ref | None:
        """The matrix (N_k, N_k) whose column j is dS* / dq_j f."""
        w, N, f = self.write, int(self.structure.dof[k]), self.x.get(Block("f", self.names[k]))
        found: dict[int, dict[int, Ref | None]] = {}
        for i, j in self.motion.carried.get(k, ()):
            found.setdefault(i, {})[j] = w.mul(w.t(self.crossed(k, i, j)), f)
        rows = [self.side_by_side(found.get(i, {}), N) for i in range(N)]
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
        return self.side_by_side(by_q, N), self.side_by_side(by_qd, N)

    def side_by_side(self, columns: dict[int, Ref | None], N: int) -> Ref | None:
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

    def __init__(self, moved: MotionColumns, pair: Pair) -> None:
        self.moved: MotionColumns = moved
        self.pair: Pair = pair
        w = moved.write
        structure = moved.structure
        self.lam: Block = Block("lam", structure.ties[pair.loop].name)
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
        self.by_v: tuple[Ref | None, ...] = tuple(
            w.neg(w.mul(Q, Xi)) for Q, Xi in zip((first, second), X, strict=True)
        )
        ends = (
            moved.x.get(Block("pdd", moved.names[k])) if k >= 0 else moved.motion.gravity for k in pair.bodies
        )
        P = [w.mul(Xi, pdd) for Xi, pdd in zip(X, ends, strict=True)]
        L = cross(w, w.mul(pair.C, moved.x.get(self.lam)), "force")
        self.by_eta: Rows = Rows()
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


class Right(NamedTuple):
    """A right-hand side, the blocks of its solution that are wanted, and terms to add to them."""

    rows: Rows
    wanted: Collection[Block]
    more: Mapping[Block, Ref | None] = {}


def solve(columns: ContinuedProgram, rights: Sequence[Right]) -> None:
    """K^-1 times columns."""
    for right in rights:
        found: Rows = {**columns.solve(right.rows, right.wanted)}
        for block in right.more.keys() & right.wanted:
            found[block] = columns.write.add(found.get(block), right.more[block])
        columns.found[-1] = {b: x for b, x in found.items() if x is not None}
