"""Eliminate once on structure: a plan becomes a block program.

The forward pass eliminates group after group; the backward pass solves for their unknowns in the
reverse order.  Reading order: :func:`trace`, then ``_Tracer.group`` (which of the two ways), then
``_Tracer.sequential`` (one pivot after another) and ``_Tracer.bracket`` (the three steps of a
bracket: inverse by itself, couplings, update added last).
"""

from __future__ import annotations

from collections import defaultdict

from ..blocks import FC, FJ, PDD, QDD, Block, F
from .fronts import Fronts
from .pivot import BasePivot, DensePivot, PairPivot, Rows
from .program import PivotRecord, Program, Ref
from .symbolic import PAIR_FIRST, SINGLE, SymbolicFactor
from .writer import Writer


def trace(symbolic: SymbolicFactor) -> Program:
    """The block program of a sequence; raises OrderError for a pivot that cannot be used."""
    return _Tracer(symbolic).program()


class _Tracer:
    def __init__(self, symbolic: SymbolicFactor) -> None:
        self.symbolic = symbolic
        self.plan = symbolic.plan
        self.graph = self.plan.graph
        self.rules = self.plan.sequence.rules
        self.n = self.graph.structure.n
        self.write = Writer()
        self.fronts = Fronts(self.write, self.plan, self.rules.assembly == "right_looking")
        self.records: list[PivotRecord] = []
        self.backward: list = []  # one function a pivot or bracket, run in reverse
        self.x: dict[int, Ref] = {}  # the solution, by block
        self.inertia: Ref | None = None
        self.inertia_blocks: tuple[int, ...] = ()
        self.basis: dict[int, tuple[Ref | None, Ref | None]] = {}

    def program(self) -> Program:
        self.enter_matrix()
        groups = self.base_groups()
        for members in groups:
            self.group(members)
        for finish in reversed(self.backward):
            finish()
        solution = self.solution()
        return Program(
            name=self.plan.sequence.name,
            gain=self.rules.rank_update == "gain",
            groups=self.plan.groups,
            bodies=sum(1 for block in solution if block.kind == "pdd"),
            symbolic=self.symbolic,
            instructions=tuple(self.write.instructions),
            shapes=tuple(self.write.shapes),
            pivots=tuple(self.records),
            solution=solution,
            inertia=self.inertia,
            inertia_bodies=tuple(self.graph.block(b).body for b in self.inertia_blocks),
        )

    # -- the matrix ---------------------------------------------------------------------------

    def enter_matrix(self) -> None:
        """Equation (4), with forces split along the joint axes where the plan asks for it."""
        n, w, fronts = self.n, self.write, self.fronts
        structure = self.graph.structure
        origin = structure.copy_of if structure.copy_of is not None else range(n)
        for k in range(n):
            body = int(origin[k])
            first = body == k  # the piece of a split link that carries the joint
            M = w.input("M", body, (6, 6))
            b = w.input("b", body, (6, 1))
            if structure.pieces is not None and structure.pieces[k] > 1:
                M, b = (w.divide(x, int(structure.pieces[k])) for x in (M, b))
            fronts.set(PDD * n + k, PDD * n + k, M)
            fronts.set_rhs(PDD * n + k, b)
            dof = int(structure.dof[k])
            H = w.input("H", body, (dof, 6)) if dof else None
            if dof:
                fronts.set_rhs(QDD * n + k, w.input("tau", body, (dof, 1)))
            a = -w.input("a", body, (6, 1)) if first else None
            up = int(structure.parent[k])
            Phi: Ref | None = None
            if up >= 0:
                Phi = w.input("Phi", body, (6, 6)) if first else w.eye(6)
            if self.graph.split:
                self.enter_split_force(k, up, H, Phi, a)
            else:
                fronts.set(PDD * n + k, F * n + k, w.eye(6))
                fronts.set(QDD * n + k, F * n + k, H)
                fronts.set_rhs(F * n + k, a)
                if Phi is not None:
                    fronts.set(PDD * n + up, F * n + k, -Phi)

    def enter_split_force(
        self, k: int, up: int, H: Ref | None, Phi: Ref | None, a: Ref | None
    ) -> None:
        """f = B fJ + C fC with H B = 1 and H C = 0, so that fJ = tau (Yamane & Nakamura, (11))."""
        n, w, fronts = self.n, self.write, self.fronts
        dof = int(self.graph.structure.dof[k])
        if H is None:
            self.basis[k] = (None, w.eye(6))
        else:
            self.basis[k] = (
                w.unary("along", H, (6, dof)),
                w.unary("across", H, (6, 6 - dof)) if dof < 6 else None,
            )
            fronts.set(QDD * n + k, FJ * n + k, w.eye(dof))
        for kind, basis in zip((FJ, FC), self.basis[k], strict=True):
            if basis is None:
                continue
            fronts.set(PDD * n + k, kind * n + k, basis)
            fronts.set_rhs(kind * n + k, w.mul(basis.T, a))
            if Phi is not None:
                fronts.set(PDD * n + up, kind * n + k, w.neg(w.mul(Phi, basis)))

    def solution(self) -> dict[Block, Ref]:
        """pdd, qdd, f of the tree's own bodies; split forces are put together again."""
        n, w, structure = self.n, self.write, self.graph.structure
        result: dict[Block, Ref] = {}
        for k in range(n):
            if structure.copy_of is not None and structure.copy_of[k] != k:
                continue
            name = structure.names[k]
            result[Block("pdd", name)] = self.x[PDD * n + k]
            if structure.dof[k]:
                result[Block("qdd", name)] = self.x[QDD * n + k]
            if self.graph.split:
                parts = [
                    w.mul(basis, self.x.get(kind * n + k))
                    for kind, basis in zip((FJ, FC), self.basis[k], strict=True)
                ]
                force = w.add(*parts)
            else:
                force = self.x[F * n + k]
            assert force is not None
            result[Block("f", name)] = force
        return result

    # -- groups -------------------------------------------------------------------------------

    def base_groups(self) -> list[list[tuple[int, ...]]]:
        """Groups of base pivots: (x, z) for a pair, else one dense pivot of one or more blocks.

        Single groups of qdd blocks that end a sequence become one dense pivot: the same scalar
        operations in the same order, without a block for every pair of joints.
        """
        blocks, pivot, group = self.plan.blocks, self.symbolic.pivot, self.plan.group
        groups: list[list[tuple[int, ...]]] = []
        last = -1
        for t in range(len(blocks)):
            if group[t] != last:
                groups.append([])
                last = int(group[t])
            if pivot[t] == PAIR_FIRST:
                groups[-1].append((int(blocks[t]), int(blocks[t + 1])))
            elif pivot[t] == SINGLE:
                before = groups[-1][-1] if groups[-1] else None
                if before is not None and not self.is_pair(before):
                    groups[-1][-1] = (*before, int(blocks[t]))
                else:
                    groups[-1].append((int(blocks[t]),))
        tail: list[int] = []
        while len(groups) > 1 and len(groups[-1]) == 1 and self.is_joint(groups[-1][0]):
            tail = [*groups.pop()[0], *tail]
        return [*groups, [tuple(tail)]] if tail else groups

    def is_pair(self, pivot: tuple[int, ...]) -> bool:
        return len(pivot) == 2 and bool(
            self.symbolic.pivot[self.fronts.position[pivot[0]]] == PAIR_FIRST
        )

    def is_joint(self, pivot: tuple[int, ...]) -> bool:
        return all(b // self.n == QDD for b in pivot)

    def group(self, members: list[tuple[int, ...]]) -> None:
        rows = [b for pivot in members for b in pivot]
        step = int(self.plan.group[self.fronts.position[rows[0]]])
        self.write.step = step
        self.fronts.open(rows, step)
        carried = self.rules.couple == "carried" or self.rules.assembly == "right_looking"
        if len(members) == 1 or carried:
            self.sequential(members, rows)
        else:
            self.bracket(members, rows)
        self.fronts.close()

    def make(self, blocks: tuple[int, ...], A: Rows) -> BasePivot:
        """The base pivot on blocks whose own square block is A[b][c]; recorded."""
        w = self.write
        step = w.step
        names = tuple(self.graph.block(b) for b in blocks)
        if self.is_pair(blocks):
            self.records.append(PivotRecord(names, step, True, -1))
            return PairPivot(w, blocks, A[blocks[0]][blocks[0]])
        sizes = [int(self.graph.size[b]) for b in blocks]
        whole = w.square([[A[b][c] for c in blocks] for b in blocks], sizes)
        if len(blocks) == self.joints and self.is_joint(blocks):
            self.inertia, self.inertia_blocks = whole, blocks
        steps = [int(self.plan.group[self.fronts.position[b]]) for b in blocks]
        factor = w.factor(
            whole, tuple(s for s, m in zip(steps, sizes, strict=True) for _ in range(m))
        )
        first = 0
        for name, s, size in zip(names, steps, sizes, strict=True):
            self.records.append(PivotRecord((name,), s, False, factor.value, (first, first + size)))
            first += size
        return DensePivot(w, blocks, sizes, factor, self.rules.rank_update == "gain")

    @property
    def joints(self) -> int:
        return int((self.graph.structure.dof > 0).sum())

    # -- one pivot after another --------------------------------------------------------------

    def sequential(self, members: list[tuple[int, ...]], rows: list[int]) -> None:
        """Every pivot meets all that is coupled to it, inside the group and out, at once."""
        w, fronts = self.write, self.fronts
        for i, blocks in enumerate(members):
            rest = [b for pivot in members[i + 1 :] for b in pivot]
            own: Rows = {b: {c: fronts.get(b, c) for c in blocks} for b in blocks}
            pivot = self.make(blocks, own)
            columns = [*rest, *fronts.outside]
            C = {o: {b: ref for b in blocks if (ref := fronts.get(b, o))} for o in columns}
            C = {o: rows_ for o, rows_ in C.items() if rows_}
            y = {b: fronts.rhs(b) for b in blocks}
            for o1, o2 in pivot.coupled(C):
                fronts.update(o1, o2, w.neg(pivot.quadratic(C[o1], C[o2], o1, o2)))
            for o1 in C:
                fronts.update_rhs(o1, w.neg(pivot.quadratic(C[o1], y, o1, None)))
            self.backward.append(lambda p=pivot, C=C, y=y, s=w.step: self.back(p, C, y, s))

    def back(
        self,
        pivot: BasePivot,
        C: dict[int, dict[int, Ref]],
        y: dict[int, Ref | None],
        step: int,
    ) -> None:
        """x = A^-1 (y - C x_outside) for one pivot."""
        self.write.step = step
        right = dict(y)
        for o, rows in C.items():
            for b, ref in rows.items():
                right[b] = self.write.sub(right[b], self.write.mul(ref, self.x.get(o)))
        self.x.update(pivot.apply(right))

    # -- a bracket in three steps -------------------------------------------------------------

    def bracket(self, members: list[tuple[int, ...]], rows: list[int]) -> None:
        w, fronts = self.write, self.fronts
        unassembled = self.rules.accumulate == "unassembled"
        inverse: dict[tuple[int, int], Ref] = {}
        terms: dict[int, list[Ref]] = {}  # -X of a pair, kept apart where asked for
        stages: list[tuple[BasePivot, dict[int, dict[int, Ref]], dict[int, dict[int, Ref]]]] = []
        z: dict[int, Ref | None] = {}
        seen: list[int] = []

        def inv(i: int, j: int) -> Ref | None:
            ref = inverse.get((min(i, j), max(i, j)))
            return ref if ref is None or i <= j else w.t(ref)

        def set_inv(i: int, j: int, ref: Ref | None) -> None:
            if ref is not None:
                inverse[min(i, j), max(i, j)] = ref if i <= j else w.t(ref)

        couples: dict[int, dict[int, Ref]] = defaultdict(dict)
        for i, b in enumerate(rows):
            for c in rows[i + 1 :] if len(rows) < 64 else fronts.neighbours(b, rows):
                ref = fronts.get(b, c)
                if ref is not None:
                    couples[b][c] = ref
                    couples[c][b] = w.t(ref)

        # step 1: the bracket's own inverse, pivot by pivot, nothing outside touched
        for blocks in members:
            E = {b: {i: couples[b][i] for i in couples[b] if i in z} for b in blocks}
            # W[b][i]: block i of (inverse so far) times the coupling with b
            W: dict[int, dict[int, Ref]] = {b: {} for b in blocks}
            for b in blocks:
                for j, e in E[b].items():
                    for i in seen:
                        product = w.mul(inv(i, j), w.t(e))
                        if product is not None:
                            W[b][i] = w.add(W[b].get(i), product)  # type: ignore[assignment]
            A: Rows = {b: {c: fronts.get(b, c) for c in blocks} for b in blocks}
            for b in blocks:
                for c in blocks:
                    if c < b:
                        continue
                    for i, e in E[b].items():
                        if (
                            unassembled
                            and b == c
                            and set(E[b]) == {i}
                            and len(terms.get(i, ())) > 1
                        ):
                            # D_k = H M H* + H M~ H*, projected one by one and then summed
                            parts = [w.mul(w.mul(e, t), w.t(e), symmetric=True) for t in terms[i]]
                            for part in parts:
                                A[b][c] = w.sub(A[b][c], part)
                        else:
                            product = w.mul(e, W[c].get(i), symmetric=b == c and len(E[b]) == 1)
                            A[b][c] = w.sub(A[b][c], product)
                    if b == c and len(E[b]) > 1:
                        A[b][c] = w.mirror(A[b][c])
                    else:
                        A[c][b] = w.t(A[b][c])
            pivot = self.make(blocks, A)
            u = {b: fronts.rhs(b) for b in blocks}
            for b in blocks:
                for i, e in E[b].items():
                    u[b] = w.sub(u[b], w.mul(e, z[i]))
            s = pivot.apply(u)
            coupled = [i for i in seen if any(i in W[b] for b in blocks)]
            left = {i: {b: w.t(W[b][i]) for b in blocks if i in W[b]} for i in coupled}
            for i, j in pivot.coupled(left):
                set_inv(i, j, w.add(inv(i, j), pivot.quadratic(left[i], left[j], i, j)))
            for i in coupled:
                terms.pop(i, None)
                for b in blocks:
                    z[i] = w.sub(z[i], w.mul(W[b].get(i), s[b]))
                for b, ref in pivot.apply(left[i]).items():
                    set_inv(i, b, w.neg(w.t(ref)))
            for (b, c), ref in pivot.inverse().items():
                set_inv(b, c, ref)
            if isinstance(pivot, PairPivot) and not E[blocks[0]]:
                terms[blocks[1]] = [w.neg(t) for t in fronts.terms(blocks[0])]  # type: ignore[misc]
            z.update(s)
            seen += blocks
            stages.append((pivot, E, W))

        # step 2: the inverse meets the couplings; step 3: the update is formed whole, added last
        C = {o: {b: ref for b in rows if (ref := fronts.get(b, o))} for o in fronts.outside}
        needed = {b for column in C.values() for b in column}
        X: dict[int, dict[int, Ref]] = {}

        def solved(o: int) -> dict[int, Ref]:
            if o not in X:
                X[o] = {}
                for i in rows:
                    if i in needed:
                        total = None
                        for j, ref in C[o].items():
                            total = w.add(total, w.mul(inv(i, j), ref))
                        if total is not None:
                            X[o][i] = total
            return X[o]

        keys = list(C)
        for i1, o1 in enumerate(keys):
            for o2 in keys[i1:]:
                a, b = (o1, o2) if self.graph.size[o2] <= self.graph.size[o1] else (o2, o1)
                single = len(C[a]) == 1
                total = None
                for i, c in C[a].items():
                    product = w.mul(w.t(c), solved(b).get(i), symmetric=a == b and single)
                    total = w.add(total, product)
                if a == b and not single:
                    total = w.mirror(total)
                fronts.update(a, b, w.neg(total))
            for i, c in C[o1].items():
                fronts.update_rhs(o1, w.neg(w.mul(w.t(c), z[i])))
        y = {b: fronts.rhs(b) for b in rows}
        step = w.step

        def finish() -> None:
            w.step = step
            if not C:
                self.x.update({b: ref for b, ref in z.items() if ref is not None})
                return
            right = dict(y)
            for o, column in C.items():
                for b, ref in column.items():
                    right[b] = w.sub(right[b], w.mul(ref, self.x.get(o)))
            now: dict[int, Ref | None] = {}
            for pivot, E, W in stages:
                u = {b: right[b] for b in pivot.blocks}
                for b in pivot.blocks:
                    if len(W[b]) <= len(E[b]) + 1:
                        for i, ref in W[b].items():
                            u[b] = w.sub(u[b], w.mul(w.t(ref), right[i]))
                    else:
                        for i, ref in E[b].items():
                            u[b] = w.sub(u[b], w.mul(ref, now[i]))
                s = pivot.apply(u)
                for b in pivot.blocks:
                    for i, ref in W[b].items():
                        now[i] = w.sub(now[i], w.mul(ref, s[b]))
                now.update(s)
            self.x.update({b: ref for b, ref in now.items() if ref is not None})

        self.backward.append(finish)
