"""A bracket of several pivots, in three steps whose order decides the roundoff.

1. The bracket's own block B is inverted by itself, pivot by pivot (bordering); couplings to the
   outside are not touched.  For (pdd qdd f) this forms D = H M^ H* and Mbar = M^ - M^H* D^-1 HM^.
2. The inverse meets the couplings, X = B^-1 C: Mbar Phi*.
3. The update C* X, Phi Mbar Phi*, is formed whole; the parent's entry is added last.

What remains during elimination is kept in fronts (Duff & Reid 1983): updates of a group wait apart from
the matrix's own entries, in the group's update matrix, until a group that they touch is opened;
children's updates are summed first, and the matrix's own entry is added last.  With ``right_looking``
every update goes to the matrix at once.

A base pivot is a pair with an exact inverse, or a dense block factored L D L^T.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..order.sequence import Plan, Rules
from .program import Ref, Writer


class Passed(NamedTuple):
    """An update -c^T N c of a diagonal block, passed on by one force f whose joint is gone."""

    c: Ref  # coupling of f with the block: -Phi^T
    N: Ref  # block (f, f) of the bracket's inverse: -Mbar
    joint: Ref  # H^T of the joint, which N maps to zero
    force: int  # block of f


Key = tuple[int, int]
Updates = dict[int, dict[Key, Ref]]  # an update matrix, by the block that is eliminated first
RHS = -1  # the right-hand side, as one more column


class Fronts:
    def __init__(self, write: Writer, plan: Plan, right_looking: bool) -> None:
        self.write = write
        self.right_looking = right_looking
        self.position: dict[int, int] = {int(b): t for t, b in enumerate(plan.blocks)}
        self.group: NDArray[np.int64] = plan.group
        self.matrix: dict[Key, Ref] = {}
        self.near: dict[int, set[int]] = defaultdict(set)  # coupled blocks not yet eliminated
        self.waiting: dict[int, list[Updates]] = defaultdict(list)  # by opening group
        self.here: Updates = {}  # update matrix of the open group
        self.rows: list[int] = []
        self.inside: set[int] = set()
        self.outside: list[int] = []
        self.passed: dict[int, Passed] = {}  # where an update comes from, by its value
        self._parts: dict[int, list[Ref]] = {}  # children's updates of diagonal blocks, apart
        self._terms: dict[int, list[Ref]] = {}

    # -- entries ------------------------------------------------------------------------------

    def set(self, i: int, j: int, ref: Ref | None) -> None:
        """Enter block (i, j) of the matrix, i and j in any order."""
        if ref is None:
            return
        key = (min(i, j), max(i, j))
        self.matrix[key] = ref if i <= j else ref.T
        if i != j:
            self.near[i].add(j)
            self.near[j].add(i)

    def set_rhs(self, i: int, ref: Ref | None) -> None:
        if ref is not None:
            self.matrix[i, RHS] = ref

    def get(self, i: int, j: int) -> Ref | None:
        """Block (i, j) as it stands, children's updates included; i or j in the open group."""
        return self.matrix.get((i, j)) if i <= j else self.write.t(self.matrix.get((j, i)))

    def rhs(self, i: int) -> Ref | None:
        return self.matrix.get((i, RHS))

    def left(self, i: int, j: int) -> Ref | None:
        """Block (i, j), i <= j or j = RHS, of the remaining matrix: its own entry, updates last."""
        key = (i, j)
        total = self.matrix.get(key)
        for updates in (u for waiting in self.waiting.values() for u in waiting):
            total = self.write.add(total, updates.get(self._earlier(key), {}).get(key))
        return total

    def terms(self, i: int, apart: bool = False) -> list[Ref]:
        """Diagonal block i as the terms of its sum: the matrix's own, the children's.

        ``apart`` keeps the children's updates from each other as well.
        """
        terms = self._terms.get(i) or [ref for ref in [self.get(i, i)] if ref]
        return [*terms[:-1], *self._parts[i]] if apart and self._parts.get(i) else terms

    def _earlier(self, key: Key) -> int:
        i, j = key
        return i if j == RHS or self.position[i] < self.position[j] else j

    def _assemble(self, key: Key) -> None:
        """Add what waits for an entry of the open group to it."""
        update = self.here.get(self._earlier(key), {}).pop(key, None)
        if update is None:
            return
        own = self.matrix.get(key)
        self.write.at("entry", *key)
        if own is not None and key[0] == key[1]:
            update = self.write.named(update, "children", *key) or update
            self._terms[key[0]] = [own, update]
        total = self.write.add(own, update)
        if total is not None:
            self.matrix[key] = total

    # -- groups -------------------------------------------------------------------------------

    def open(self, rows: list[int]) -> None:
        self.rows, self.inside = rows, set(rows)
        outside = {o for b in rows for o in self.near[b]} - self.inside
        self.outside = sorted(outside, key=self.position.__getitem__)
        steps = {int(self.group[self.position[b]]) for b in rows}
        updates = [u for s in sorted(steps) for u in self.waiting.pop(s, [])]
        self._parts = {b: [u[b][b, b] for u in updates if u.get(b, {}).get((b, b))] for b in rows}
        self.here = self._sum(updates)
        for b in rows:
            for c in self.near[b]:
                self._assemble((b, c) if b < c else (c, b))
            self._assemble((b, b))
            self._assemble((b, RHS))
        if self.write.apart:
            self._name_entries(rows)

    def _name_entries(self, rows: list[int]) -> None:
        """Every entry that a group reads becomes a value of its own, updated or not."""
        keys = {(min(b, c), max(b, c)): None for b in rows for c in [*self.near[b], b]}
        for key in [*keys, *((b, RHS) for b in rows)]:
            named = self.write.named(self.matrix.get(key), "entry", *key)
            if named is not None:
                self.matrix[key] = named

    def _sum(self, updates: list[Updates]) -> Updates:
        """Children's update matrices, summed in the children's order into the largest of them."""
        if not updates:
            return {}
        largest = max(range(len(updates)), key=lambda i: sum(map(len, updates[i].values())))
        total = updates[largest]
        others = [u for i, u in enumerate(updates) if i != largest]
        for key in dict.fromkeys(key for u in others for row in u.values() for key in row):
            first = self._earlier(key)
            self.write.at("entry", *key)
            ref: Ref | None = None
            for u in updates:
                ref = self.write.add(ref, u.get(first, {}).get(key))
            total.setdefault(first, {})[key] = ref  # type: ignore[assignment]
        return total

    def update(self, i: int, j: int, ref: Ref | None) -> None:
        """Add to block (i, j) of the remaining matrix."""
        if ref is None:
            return
        self._add((i, j) if i <= j else (j, i), ref if i <= j else self.write.t_of(ref))
        if i != j:
            self.near[i].add(j)
            self.near[j].add(i)

    def update_rhs(self, i: int, ref: Ref | None) -> None:
        if ref is not None:
            self._add((i, RHS), ref)

    def _add(self, key: Key, ref: Ref | None) -> None:
        inside = key[0] in self.inside or key[1] in self.inside
        if self.right_looking or inside:
            place = self.matrix
        else:
            place = self.here.setdefault(self._earlier(key), {})
        place[key] = self.write.add(place.get(key), ref)  # type: ignore[assignment]

    def close(self) -> None:
        for b in self.rows:
            for c in self.near.pop(b, ()):
                self.near[c].discard(b)
        first = min((self.position[o] for o in self.outside), default=-1)
        passed: Updates = {}
        for block, row in self.here.items():
            if not row:
                continue
            group = int(self.group[self.position[block]])
            # the neighbours of a pair are no clique, and a block may come before the first of them
            if first < 0 or self.position[block] < first:
                self.waiting[group].append({block: row})
            else:
                passed[block] = row
        if passed:
            self.waiting[int(self.group[first])].append(passed)
        self.here, self.rows, self.inside = {}, [], set()


SomeBlocks = dict[int, dict[int, Ref | None]]
Column = dict[int, Ref] | dict[int, Ref | None]


def present(refs: dict[int, Ref | None]) -> dict[int, Ref]:
    """Without the blocks that are zero."""
    return {b: ref for b, ref in refs.items() if ref is not None}


def width(write: Writer, column: Column) -> int:
    """Columns of a coupled block, the same in all rows; 0 where it is zero."""
    return next((write.shape(ref)[1] for ref in column.values() if ref is not None), 0)


class _Pivot:
    """A base pivot: it has the uses that elimination makes of the inverse of its square block A."""

    def __init__(self, write: Writer, blocks: tuple[int, ...]) -> None:
        self.write = write
        self.blocks = blocks
        self._formed: dict[tuple[str, int], Ref | None] = {}

    def once(self, label: str, o: int, form: Callable[[], Ref | None]) -> Ref | None:
        """A part that is formed once for every coupled block, under this label."""
        if (label, o) not in self._formed:
            with self.write.within(label, self.blocks[0], o):
                self._formed[label, o] = form()
        return self._formed[label, o]


class PairPivot(_Pivot):
    """[[X, 1], [1, 0]] with the inverse [[0, 1], [1, -X]]: no arithmetic happens on the 1."""

    def __init__(
        self, write: Writer, blocks: tuple[int, ...], X: Ref | None, unit: Ref | None = None
    ) -> None:
        super().__init__(write, blocks)
        self.X = X
        self.unit = unit  # by which columns are divided in z, where the coupling is another number than 1

    def apply(self, c: Column) -> dict[int, Ref | None]:
        """A^-1 c, block by block."""
        x, z = self.blocks
        w = self.write
        return {x: c.get(z), z: w.sub(c.get(x), w.mul(self.X, c.get(z)))}

    def quadratic(self, c1: Column, c2: Column, o1: int, o2: int) -> Ref | None:
        """c1^T A^-1 c2; o1 == o2 says that the columns are the same, so the result symmetric."""
        x, z = self.blocks
        w = self.write
        if o1 == o2:
            square = w.mul(w.t(c1.get(z)), w.mul(self.X, c1.get(z)), symmetric=True)
            if x not in c1 or z not in c1:
                return w.neg(square)
            once = w.mul(w.t(c1.get(x)), c1.get(z))
            return w.mirror(w.sub(w.add(once, w.t(once)), square))
        # X meets the narrower of the two columns
        if o2 != RHS and width(w, c2) > width(w, c1):
            return w.t(self.quadratic(c2, c1, o2, o1))
        upper = w.mul(w.t(c1.get(x)), c2.get(z))
        if c1.get(z) is None:
            return upper
        second = self.once("second", o2, lambda: self.apply(c2)[z])  # c_x - X c_z
        return w.add(upper, w.mul(w.t(c1.get(z)), second))

    def coupled(self, C: dict[int, dict[int, Ref]]) -> Iterator[tuple[int, int]]:
        """Pairs of coupled blocks, each once, between which the pivot makes an update.

        They are coupled through z with each other and with those through x; never x with x.
        """
        through = [o for o, c in C.items() if self.blocks[1] in c]
        beside = [o for o, c in C.items() if self.blocks[1] not in c]
        yield from itertools.combinations_with_replacement(through, 2)
        yield from itertools.product(through, beside)

    def inverse(self) -> dict[tuple[int, int], Ref | None]:
        """A^-1 itself, block by block."""
        x, z = self.blocks
        size = self.write.shapes[self.X.value][0] if self.X else 6
        return {(x, z): self.write.eye(size), (z, z): self.write.neg(self.X)}


class DensePivot(_Pivot):
    """A block, or several, factored L D L^T; updates (c c^T)/d or (c/d) c^T.  Uses are a pair's."""

    def __init__(
        self, write: Writer, blocks: tuple[int, ...], sizes: list[int], factor: Ref, gain: bool
    ) -> None:
        super().__init__(write, blocks)
        self.sizes = sizes
        self.factor = factor
        self.gain = gain

    def _stack(self, c: Column) -> Ref | None:
        return self.write.stack([c.get(b) for b in self.blocks], self.sizes, width(self.write, c))

    def _split(self, ref: Ref | None) -> dict[int, Ref | None]:
        result, start = {}, 0
        for b, size in zip(self.blocks, self.sizes, strict=True):
            result[b] = self.write.rows(ref, start, start + size)
            start += size
        return result

    def apply(self, c: Column) -> dict[int, Ref | None]:
        return self._split(self.write.solve(self.factor, self._stack(c)))

    def quadratic(self, c1: Column, c2: Column, o1: int, o2: int) -> Ref | None:
        w = self.write
        if self.gain:
            solved = self.once("gain", o1, lambda: w.solve(self.factor, self._stack(c1)))
            return w.mul(w.t(solved), self._stack(c2), symmetric=o1 == o2)
        return w.inner(self.factor, self._half(o1, c1), self._half(o2, c2), symmetric=o1 == o2)

    def _half(self, o: int, c: Column) -> Ref | None:
        """L^-1 c."""
        return self.once("half", o, lambda: self.write.forward(self.factor, self._stack(c)))

    def coupled(self, C: dict[int, dict[int, Ref]]) -> Iterator[tuple[int, int]]:
        return itertools.combinations_with_replacement(C, 2)

    def inverse(self) -> dict[tuple[int, int], Ref | None]:
        eye = self.write.eye(sum(self.sizes))
        columns = self.write.solve(self.factor, eye)
        rows = self._split(columns)
        result: dict[tuple[int, int], Ref | None] = {}
        for b in self.blocks:
            across = self._split(self.write.t(rows[b]))
            result.update({(b, c): self.write.t(across[c]) for c in self.blocks if c >= b})
        return result


BasePivot = PairPivot | DensePivot
Blocks = dict[int, dict[int, Ref]]


class Stage(NamedTuple):
    """One pivot inside a bracket."""

    pivot: BasePivot
    E: Blocks  # E[b][i]: coupling of its block b with block i of earlier stages
    W: Blocks  # W[b][i]: block i of (inverse of the earlier stages) E[b]^T
    number: int  # of the pivot among the program's


class Bracket:
    """Elimination of one group; :meth:`border` and :meth:`update_outside` forward, :meth:`solve` backward."""

    def __init__(self, write: Writer, fronts: Fronts, rows: list[int], rules: Rules) -> None:
        self.write = write
        self.fronts = fronts
        self.rows = rows
        self.unassembled: bool = rules.accumulate != "assembled"
        self.projected: bool = rules.accumulate == "projected"
        self.in_child: bool = rules.accumulate in ("projected", "child_frame")
        self.joseph: bool = rules.rank_update == "joseph"
        self.step: int = write.step
        self.inverse: dict[tuple[int, int], Ref] = {}
        self.terms: dict[int, list[Ref]] = {}  # -X of a pair, summands kept apart
        self.stages: list[Stage] = []
        self.seen: list[int] = []
        self.z: dict[int, Ref | None] = {}  # B^-1 y so far
        self.couples: Blocks = defaultdict(dict)
        for i, b in enumerate(rows):
            for c in rows[i + 1 :]:
                ref = fronts.get(b, c) if c in fronts.near[b] else None
                if ref is not None:
                    self.couples[b][c] = ref
                    self.couples[c][b] = write.t_of(ref)
        self.y: dict[int, Ref | None] = {b: fronts.rhs(b) for b in rows}
        self.C: Blocks = {
            o: present({b: fronts.get(b, o) for b in rows if b in fronts.near[o]}) for o in fronts.outside
        }

    # -- step 1 -------------------------------------------------------------------------------

    def block(self, blocks: tuple[int, ...]) -> tuple[SomeBlocks, Blocks, Blocks]:
        """The pivot's own block with the earlier stages eliminated, and its couplings E, W."""
        w = self.write
        E = {b: {i: e for i, e in self.couples[b].items() if i in self.z} for b in blocks}
        # W = (inverse so far) E^T
        W: Blocks = {b: {} for b in blocks}
        for b in blocks:
            sums: dict[int, Ref | None] = {}
            for j, e in E[b].items():
                for i in self.seen:
                    product = w.at("W", b, i).mul(self.inv(i, j), w.t(e))
                    if product is not None:
                        sums[i] = w.add(sums.get(i), product)
            W[b] = present(sums)
        # A - E W: for a joint of ABM this is D = H M^ H*
        A: SomeBlocks = {b: {c: self.fronts.get(b, c) for c in blocks} for b in blocks}
        for b in blocks:
            for c in blocks:
                if c > b:
                    w.at("A", b, c)
                    for i, e in E[b].items():
                        A[b][c] = w.sub(A[b][c], w.mul(e, W[c].get(i)))
                    A[c][b] = w.t(A[b][c])
            w.at("A", b, b)
            A[b][b] = self.diagonal(A[b][b], E[b], W[b])
        return A, E, W

    def diagonal(self, A: Ref | None, E: dict[int, Ref], W: dict[int, Ref]) -> Ref | None:
        """A - E (inverse so far) E^T for one block."""
        w = self.write
        for i, e in E.items():
            apart = self.terms.get(i, []) if len(E) == 1 else []
            if len(apart) > 1:
                # D_k = H M H* + H M~ H*, projected one by one and then summed: eq (11)
                for t in apart:
                    A = w.sub(A, self.quadratic(e, t))
            else:
                A = w.sub(A, w.mul(e, W.get(i), symmetric=True))
        return w.mirror(A)

    def quadratic(self, H: Ref, term: Ref) -> Ref | None:
        """H (term) H*; for the term -M~ of a child, -w* Mbar w with w = Phi* H* in its frame.

        Projected, it is -E M~ E* of eq (10), H = E + F with F in the null space of
        M~ = Phi Mbar Phi*.  In the child's own frame, where Mbar H_c* = 0, E becomes e, which is w
        minus its orthogonal projection onto H_c*: E M~ E* = e* Mbar e holds for a rounded Phi too.
        """
        w = self.write
        child = self.fronts.passed.get(term.value) if self.in_child else None
        if child is None:
            return w.mul(w.mul(H, term), w.t(H), symmetric=True)
        if not self.projected:
            seen = w.mul(child.c, w.t(H))
            return w.mul(w.t(w.mul(child.N, seen)), seen, symmetric=True)
        joint = child.joint
        rows, columns = w.shape(joint)
        with w.within("projected", child.force):
            gram = w.mul(joint.T, joint, symmetric=True)
            if rows == columns or gram is None:
                return None  # a free joint passes nothing on: Mbar is zero
            seen = w.mul(child.c, w.t(H))
            along = w.solve(w.factor(gram, ()), w.mul(joint.T, seen))
            e = w.sub(seen, w.mul(joint, along))
        return w.mul(w.t(w.mul(child.N, e)), e, symmetric=True)

    def passed(self, o: int) -> Passed | None:
        """The factors of the update of (o, o), where one joint of the bracket is behind it.

        A joint that is coupled with one force f alone, its own block being zero, gives
        B^-1 (H* in row f) = 1 in its own row and 0 elsewhere: N H* = 0.
        """
        if len(self.C[o]) != 1:
            return None
        ((f, c),) = self.C[o].items()
        N = self.inv(f, f)
        for b in self.rows:
            alone = list(self.couples[b]) == [f] and not any(b in x for x in self.C.values())
            if alone and N is not None and self.fronts.get(b, b) is None:
                return Passed(c, N, self.couples[f][b], f)
        return None

    def border(self, pivot: BasePivot, E: Blocks, W: Blocks) -> None:
        """Add a pivot to the inverse, and to the solution for the right-hand side."""
        w, blocks = self.write, pivot.blocks
        # s = A^-1 (y - E z): the pivot's own unknowns
        right: dict[int, Ref | None] = {}
        for b in blocks:
            right[b] = self.y[b]
            w.at("residual", b)
            for i, e in E[b].items():
                right[b] = w.sub(right[b], w.mul(e, self.z[i]))
        w.at("s", *blocks)
        s = pivot.apply(right)
        # A^-1 W^T, one column for each earlier block that is coupled
        coupled = [i for i in self.seen if any(i in W[b] for b in blocks)]
        left = {i: {b: w.t_of(W[b][i]) for b in blocks if i in W[b]} for i in coupled}
        solved: SomeBlocks = {}
        for i in coupled:
            w.at("solved", blocks[0], i)
            solved[i] = pivot.apply(left[i])
        # the inverse so far grows by W A^-1 W^T: Mbar = M^ - M^ H* D^-1 H M^
        T = self.projector(pivot, E, solved) if self.joseph else {}
        grown: list[tuple[int, int, Ref | None]] = []
        for i, j in pivot.coupled(left):
            w.at("inverse", blocks[0], i, j)
            if i in T and j in T:
                grown.append((i, j, self.congruent(T[i], T[j], i == j)))
            else:
                more = pivot.quadratic(left[i], left[j], i, j)
                grown.append((i, j, w.add(self.inv(i, j), more)))
        for i, j, ref in grown:
            self.set_inv(i, j, ref)
        # earlier unknowns: z - W s, and -W A^-1 beside the pivot's own inverse
        for i in coupled:
            self.terms.pop(i, None)
            w.at("z", blocks[0], i)
            for b in blocks:
                self.z[i] = w.sub(self.z[i], w.mul(W[b].get(i), s[b]))
            for b, ref in solved[i].items():
                self.set_inv(i, b, w.neg(w.t(ref)))
        w.at("inverse", blocks[0], blocks[0], blocks[0])
        for (b, c), ref in pivot.inverse().items():
            self.set_inv(b, c, ref)
        if self.unassembled and isinstance(pivot, PairPivot) and not E[blocks[0]]:
            terms = self.fronts.terms(blocks[0], apart=self.in_child)
            self.terms[blocks[1]] = [-t for t in terms]
        self.z.update(s)
        self.seen += blocks
        self.stages.append(Stage(pivot, E, W, w.pivot))

    def projector(self, pivot: BasePivot, E: Blocks, solved: SomeBlocks) -> Blocks:
        """1 + N E* D^-1 E, block by block: 1 - K H for a joint; empty for a pivot that is no joint.

        N is the inverse so far and D = -E N E*, the pivot's own entry of (4) being zero; then
        N + N E* D^-1 E N is the congruence of N with this matrix, which is Joseph's form.
        """
        w, fronts = self.write, self.fronts
        own = any(fronts.get(b, c) for b in pivot.blocks for c in pivot.blocks)
        if own or isinstance(pivot, PairPivot):
            return {}
        met = list(dict.fromkeys(i for b in pivot.blocks for i in E[b]))
        T: dict[int, dict[int, Ref | None]] = {
            i: {k: w.eye(w.shape(E[b][k])[1]) if i == k else None for b in pivot.blocks for k in E[b]}
            for i in met
        }
        for i in met:
            for b in pivot.blocks:
                for k, e in E[b].items():
                    T[i][k] = w.at("T", pivot.blocks[0], i, k).add(T[i][k], w.mul(w.t(solved[i].get(b)), e))
        return {i: present(row) for i, row in T.items()}

    def congruent(self, Ti: dict[int, Ref], Tj: dict[int, Ref], same: bool) -> Ref | None:
        """Block (i, j) of T N T*, N the inverse so far."""
        w = self.write
        total: Ref | None = None
        for k, left in Ti.items():
            for m, right in Tj.items():
                product = w.mul(left, w.mul(self.inv(k, m), w.t(right)), symmetric=same)
                total = w.add(total, product)
        return w.mirror(total) if same else total

    def inv(self, i: int, j: int) -> Ref | None:
        return self.inverse.get((i, j)) if i <= j else self.write.t(self.inverse.get((j, i)))

    def set_inv(self, i: int, j: int, ref: Ref | None) -> None:
        if ref is not None:
            self.inverse[(i, j) if i <= j else (j, i)] = ref if i <= j else self.write.t_of(ref)

    # -- steps 2 and 3 ------------------------------------------------------------------------

    def update_outside(self) -> None:
        """C* X is formed whole and handed to the fronts, which add the parent's entry last."""
        w, fronts = self.write, self.fronts
        needed = {b for column in self.C.values() for b in column}
        X: Blocks = {}
        outside = list(self.C)
        for place, o1 in enumerate(outside):
            for o2 in outside[place:]:
                # the inverse meets the narrower of the two couplings
                a, b = (o1, o2) if width(w, self.C[o2]) <= width(w, self.C[o1]) else (o2, o1)
                if b not in X:
                    w.at("X", b)
                    X[b] = self.solved(self.C[b], needed)
                w.at("update", self.rows[0], a, b)
                total: Ref | None = None
                for i, c in self.C[a].items():
                    # of terms that add up to a symmetric block the upper triangles suffice
                    product = w.mul(w.t(c), X[b].get(i), symmetric=a == b)
                    total = w.add(total, product)
                if a == b:
                    total = w.mirror(total)
                    child = self.passed(a) if self.in_child else None
                    if total is not None and child is not None:
                        fronts.passed[total.value] = child
                fronts.update(a, b, w.neg(total))
            w.at("update", self.rows[0], o1, -1)
            for i, c in self.C[o1].items():
                fronts.update_rhs(o1, w.neg(w.mul(w.t(c), self.z[i])))

    def solved(self, column: dict[int, Ref], needed: set[int]) -> dict[int, Ref]:
        """X = B^-1 C for one coupled block, in the rows that meet a coupling again."""
        w = self.write
        result: dict[int, Ref | None] = {}
        for i in self.rows:
            if i in needed:
                for j, ref in column.items():
                    result[i] = w.add(result.get(i), w.mul(self.inv(i, j), ref))
        return present(result)

    # -- backward -----------------------------------------------------------------------------

    def solve(self, x: dict[int, Ref]) -> None:
        """x = B^-1 (y - C x_outside), stage by stage."""
        w = self.write
        w.step, w.back = self.step, True
        owner = {b: stage.number for stage in self.stages for b in stage.pivot.blocks}
        found = self.solved_again(x, owner) if any(self.C.values()) else self.z
        for b, ref in present(found).items():
            w.pivot = owner[b]
            x[b] = w.named(ref, "x", b) or ref

    def solved_again(self, x: dict[int, Ref], owner: dict[int, int]) -> dict[int, Ref | None]:
        """The same where blocks outside are coupled: their unknowns are known by now, and go to the right."""
        w = self.write
        right = dict(self.y)
        for o, column in self.C.items():
            for b, ref in column.items():
                w.pivot = owner[b]
                right[b] = w.at("right", b).sub(right[b], w.mul(ref, x.get(o)))
        # the stages again: each pivot's unknowns, which then correct those of earlier stages
        now: dict[int, Ref | None] = {}
        for pivot, E, W, w.pivot in self.stages:
            u: dict[int, Ref | None] = {b: right[b] for b in pivot.blocks}
            for b in pivot.blocks:
                w.at("u", b)
                if len(W[b]) <= len(E[b]) + 1:  # tau - H b - (H M^) a': M^ is not met again
                    for i, ref in W[b].items():
                        u[b] = w.sub(u[b], w.mul(w.t(ref), right[i]))
                else:
                    for i, ref in E[b].items():
                        u[b] = w.sub(u[b], w.mul(ref, now[i]))
            w.at("x", *pivot.blocks)
            s = pivot.apply(u)
            for b in pivot.blocks:
                for i, ref in W[b].items():
                    now[i] = w.at("now", b, i).sub(now[i], w.mul(ref, s[b]))
            now.update(s)
        return now
