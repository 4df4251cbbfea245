"""Elimination by rotations: forward dynamics as weighted least squares, body after body.

Gauss's principle (1829): of all accelerations that the joints allow, the true ones minimise
``sum_k 1/2 alpha_k^T M_k alpha_k + b_k^T alpha_k - tau^T qdd``, with alpha = -pdd,
``alpha_k = beta_k + S_k qdd_k`` and ``beta_k = Phi_k^T alpha_parent + a_k``.  The joint-space
inertia is the matrix of the normal equations.  Here M_k = R^T D R is kept as weighted rows, and so
is the cost of a subtree, by the acceleration beta_k that its parent gives it,

    sum_i 1/2 w_i (g_i beta_k + z_i)^2 + p^T beta_k,     6 - N_k rows and a force.

Tip to base, children's rows come into the body's frame and into the basis [S E] of accelerations
along and beside the joint, and rotations merge them with its own rows (Gentleman 1973; see
:mod:`kkt.tape.rotations`).  Rows that hold the joint's unknown leave: they are D_k
and its couplings.  No inertia is ever subtracted from another, so that none is swallowed.  Weights
are kept apart from rows, so that no square root is taken: rows R with weights D are D^(1/2) R.

The bias stays in the residuals z, where it is an acceleration.  Carried as a force beside the
rows (p, as in ABM), the weight of a heavy body would come to a light one as a difference of large
forces: in single precision that alone costs 2 digits at a mass ratio of 1e4 and 6 at 1e9 (nine
links on skew axes, heavy tip), where residuals lose none.  Only efforts, and forces on what has
no mass, travel as p.

Armature A adds A_i qdd_i^2 / 2, one weighted row a freedom, and qdd is alpha's coordinate along
the joint less beta's.  Rotations with the joint's pivot leave a row on beta along the joint, of
weight A d / (A + d); a joint without armature hands on no inertia in this direction.

Multipliers of closed loops and contacts have no place among these rows: such robots are refused.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from ..base.errors import OrderError
from ..matrix.blocks import PDD, QDD, Block, F
from ..structure.symbolic import SymbolicFactor
from .program import PivotRecord, Program, Ref, Writer

# Columns of a block of weighted rows.
RESIDUAL, WEIGHT = (6, 7), (7, 8)


@dataclass
class _Body:
    """The results of one body for the backward pass, and for its parent; None for what it has not."""

    step: int
    basis: Ref  # [S E] (6, 6)
    along: Ref | None  # B (6, N), H B = 1
    across: Ref | None  # C (6, 6 - N), H C = 0
    force: Ref | None = None  # p (6, 1)
    factor: Ref | None = None  # L D L^T of D_k
    y: Ref | None = None  # L^-1 (tau - H p)
    coupling: Ref | None = None  # (N, 6 - N) pivot rows in the columns of E
    shift: Ref | None = None  # (N, 1) residuals of the pivot rows
    turned: Ref | None = None  # (N, N) pivot rows on B^T beta, the identity (None) without armature
    rows: Ref | None = None  # G (6 - N, 6), on beta; with armature one row more for each that has it
    residual: Ref | None = None  # (6 - N, 1)
    weight: Ref | None = None  # (6 - N, 1)


def orthogonal_program(symbolic: SymbolicFactor, apart: bool = False) -> Program:
    """The block program of a sequence of ABM's brackets, by rotations.

    Raises OrderError for other brackets and bodies before their children, LoopError for robots with
    closed loops or contacts.
    """
    bodies = _bodies(symbolic)
    write = Writer(apart)
    trace = _Rotations(symbolic, write)
    for step, k in enumerate(bodies):
        trace.eliminate(step, k)
    for k in reversed(bodies):
        trace.solve(k)
    made = write.program(symbolic.plan.sequence.name, trace.solution, symbolic.plan.groups)
    return replace(made, gain=True, symbolic=symbolic, pivots=tuple(trace.records))


def _bodies(symbolic: SymbolicFactor) -> list[int]:
    """Bodies in the order of elimination, each one bracket (pdd qdd f)."""
    plan = symbolic.plan
    graph, structure, name = plan.graph, plan.graph.structure, plan.sequence.name
    where, by = f"order {name!r}", "elimination by rotations"
    structure.require_tree(where, "use an order of pivots, such as abm", f"{by} ")
    groups: list[list[tuple[int, int]]] = [[] for _ in range(plan.groups)]
    for block, group in zip(plan.blocks.tolist(), plan.group.tolist(), strict=True):
        groups[group].append((int(graph.kind[block]), int(graph.member[block])))
    bodies: list[int] = []
    seen: set[Hashable] = set()
    for step, members in enumerate(groups, start=1):
        k = members[0][1]
        wanted = {PDD, F, QDD} if structure.dof[k] else {PDD, F}
        own = sorted(members) == sorted((kind, k) for kind in wanted)
        if not own or structure.divided:
            told = f"step {step} is another, so use elimination 'gauss'"
            raise OrderError(where, f"{by} takes one bracket (pdd qdd f) a body", told)
        late = next((c for c in structure.children(structure.names[k]) if c not in seen), None)
        if late is not None:
            told = f"put {late!r} before step {step}, or use elimination 'gauss'"
            raise OrderError(where, f"{by} takes children before parents", told)
        seen.add(structure.names[k])
        bodies.append(k)
    return bodies


class _Rotations:
    def __init__(self, symbolic: SymbolicFactor, write: Writer) -> None:
        self.structure = symbolic.plan.graph.structure
        self.write = write
        self.records: list[PivotRecord] = []
        self.bodies: dict[int, _Body] = {}
        self.alpha: dict[int, Ref] = {}
        self.solution: dict[Block, Ref] = {}

    def part(self, rows: Ref | None, columns: tuple[int, int]) -> Ref | None:
        """Columns of a block of weighted rows."""
        return self.write.t(self.write.rows(self.write.t(rows), *columns))

    def eliminate(self, step: int, k: int) -> None:
        """Merge the children's rows with the body's own; its joint leaves."""
        w, N = self.write, int(self.structure.dof[k])
        w.step = w.pivot = step
        w.at("weighed", k)
        H = w.input("H", k, (N, 6)) if N else None
        basis = w.eye(6)
        along: Ref | None = None
        across: Ref | None = basis
        if H is not None:
            basis, along = w.emit("basis", (H,), (6, 6)), w.emit("along", (H,), (6, N))
            across = w.emit("across", (H,), (6, 6 - N)) if N < 6 else None
        M, b = w.input("M", k, (6, 6)), w.input("b", k, (6, 1))
        K = w.mul(w.mul(basis.T, M), basis, symmetric=True)
        own = w.emit("weigh", (K, w.mul(basis.T, b)), (6, 8), info=(N, k))
        merged: list[Ref | None] = [own]
        left = w.at("unweighed", k).emit("unweighed", (own,), (6, 1))
        force = w.at("force", k).mul(across, w.rows(left, N, 6))
        force = w.add(w.mul(along, w.rows(left, 0, N)) if N else None, force)
        for name in self.structure.children(self.structure.names[k]):
            c = self.structure.index[name]
            child, Phi, a = self.bodies[c], w.input("Phi", c, (6, 6)), w.input("a", c, (6, 1))
            force = w.at("force", k).add(force, w.mul(Phi, child.force))
            w.at("carried", k, c)
            if child.rows is not None:
                rows = w.mul(w.mul(child.rows, Phi.T), basis)
                merged += [rows, w.add(child.residual, w.mul(child.rows, a)), child.weight]
        w.at("rotated", k)
        geared = N if self.structure.armature[k] else 0
        if geared:
            merged.append(w.input("A", k, (N, N)))
        rows = w.emit("rotate", tuple(merged), (6 + geared, 8 + geared), info=(N, k))
        self.bodies[k] = _Body(step, basis, along, across, force)
        self.leave(k, self.bodies[k], rows)

    def leave(self, k: int, body: _Body, rows: Ref) -> None:
        """Take the joint's pivot rows out; the other rows are the cost of beta."""
        w, N = self.write, int(self.structure.dof[k])
        name = self.structure.names[k]
        self.records.append(PivotRecord((Block("pdd", name), Block("f", name)), body.step, True, -1))
        if N:
            pivots = w.at("pivots", k).rows(rows, 0, N)
            assert pivots is not None and body.along is not None
            body.factor = factor = w.emit("pivot", (pivots,), (N, N))
            self.records.append(PivotRecord((Block("qdd", name),), body.step, False, factor.value, (0, N)))
            w.at("shift", k)
            body.shift = self.part(pivots, RESIDUAL)
            if self.structure.armature[k]:
                w.at("turned", k)
                body.turned = self.part(pivots, (8, 8 + N))
            if N < 6:
                w.at("coupling", k)
                body.coupling = self.part(pivots, (N, 6))
            tau = w.input("tau", k, (N, 1))
            effort = w.at("effort", k).sub(tau, w.mul(w.input("H", k, (N, 6)), body.force))
            body.y = w.at("y", k).forward(factor, effort)
            w.at("passed", k)
            held = w.mul(w.t(body.turned), body.y) if body.turned is not None else effort
            force = w.add(body.force, w.mul(body.along, held))
            body.force = w.add(force, w.mul(body.across, w.mul(w.t(body.coupling), body.y)))
        if N < 6 or body.turned is not None:
            rest = w.at("left", k).rows(rows, N, None)
            w.at("G", k)
            body.rows = w.mul(self.part(rest, (N, 6)), w.t(body.across)) if N < 6 else None
            if body.turned is not None:
                body.rows = w.add(body.rows, w.mul(self.part(rest, (8, 8 + N)), w.t(body.along)))
            w.at("z", k)
            body.residual, body.weight = self.part(rest, RESIDUAL), self.part(rest, WEIGHT)

    def solve(self, k: int) -> None:
        """A body's accelerations from its parent's, and the force that they require."""
        w, N = self.write, int(self.structure.dof[k])
        name, up, body = self.structure.names[k], int(self.structure.parent[k]), self.bodies[k]
        w.step = w.pivot = body.step
        w.back = True
        w.at("beta", k)
        beta: Ref | None = w.input("a", k, (6, 1))
        if up >= 0:
            beta = w.add(w.mul(w.input("Phi", k, (6, 6)).T, self.alpha[up]), beta)
        beside = w.at("beside", k).mul(w.t(body.across), beta)
        parts = [beside]
        if N:
            pull = w.add(body.shift, w.mul(body.coupling, beside))
            assert body.factor is not None and body.along is not None
            if body.turned is None:
                w.at("moved", k)
                moved: Ref | None = w.emit("back", (body.factor, body.y, pull), (N, 1))
                w.at("qdd", k)
                qdd: Ref | None = w.sub(moved, w.mul(body.along.T, beta))
            else:
                given = w.at("given", k).mul(body.along.T, beta)
                pull = w.add(pull, w.mul(body.turned, given))
                qdd = w.at("qdd", k).emit("back", (body.factor, body.y, pull), (N, 1))
                moved = w.at("moved", k).add(qdd, given)
            parts = [moved, beside] if N < 6 else [moved]
            assert qdd is not None
            self.solution[Block("qdd", name)] = qdd
        alpha = w.at("alpha", k).mul(body.basis, w.stack(parts, [N, 6 - N] if N else [6], 1))
        assert alpha is not None
        self.alpha[k] = alpha
        self.solution[Block("pdd", name)] = -alpha
        f = body.force
        if body.rows is not None:
            pressed = w.add(w.mul(body.rows, beta), body.residual)
            pressed = w.emit("weight", (body.weight, pressed), (6 - N, 1))
            f = w.add(f, w.mul(w.t(body.rows), pressed))
        assert f is not None
        self.solution[Block("f", name)] = f
