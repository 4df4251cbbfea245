"""Multipliers after elimination by rotations: loops and contacts as least squares of motions.

The multiplier lambda of a row of a loop or contact pushes bodies: a force P_k lambda on the
acceleration of body k, which goes to the base as every force does.  At a joint with pivot rows of
weights D_k it leaves ``Y_k = L^-1 (-H P_k)``, and the joints' motions cost

    sum_k 1/2 r_k^T D_k r_k,    r_k = D_k^-1 Y_k lambda + z_k,    z_k = D_k^-1 y_k - shift_k.

These are weighted rows again, those of a compliance c among them: rotations without square roots
merge them to L D L^T of the Delassus matrix ``sum_k Y_k^T D_k^-1 Y_k + c`` (Delassus 1917), which
is never formed, so that its condition is not that of a square.  The right-hand side is the bias of
the rows, gamma + sum_k P_k^T a_k.  Once lambda is known, y_k and p_k get its forces, and the
backward pass is that of a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ..matrix.blocks import LAM, Block, Structure
from .program import PivotRecord, Ref, Writer

Key = tuple[int, int]  # a body, and the number of a loop or contact
# from effort and force on the acceleration of a body behind a joint to y, and the force on beta
Through = Callable[[Ref | None, Ref | None, tuple[int, ...]], tuple[Ref | None, Ref | None]]


class Multipliers:
    """The rows of loops and contacts on their way to the base, and back."""

    def __init__(self, structure: Structure, write: Writer, steps: dict[int, int]) -> None:
        """``steps``: the group of each loop or contact, in the order of elimination."""
        self.structure, self.write, self.steps = structure, write, steps
        self.forces: dict[Key, Ref] = {}  # P (6, m), on alpha and then on beta
        self.y: dict[Key, Ref] = {}  # Y (N, m)
        self.pulls: dict[int, Ref] = {c: self._gamma(c) for c in steps}  # (m, 1)
        self.rows: list[Ref | None] = []  # weighted rows of one joint after another
        self.found: dict[int, Ref] = {}  # lambda (m, 1)

    @cached_property
    def sides(self) -> dict[int, list[tuple[int, int, int]]]:
        """Loops and contacts with rows on a body, the number of its block G, and its sign."""
        result: dict[int, list[tuple[int, int, int]]] = {}
        side = 0
        for c, tie in enumerate(self.structure.ties):
            for k, sign in zip(tie.bodies, tie.signs, strict=True):
                result.setdefault(k, []).append((c, side, sign))
                side += 1
        return result

    def at(self, label: str, *where: int) -> None:
        """Set the place of later instructions: a body if given, and a loop or contact, the last."""
        *bodies, c = where
        self.write.at(label, *bodies, LAM * self.structure.n + c)

    def meet(self, k: int) -> None:
        """Add up forces on a body's acceleration: its own rows', and those behind its children."""
        w, structure = self.write, self.structure
        for c, side, sign in self.sides.get(k, ()):
            G = w.input("G", side, (structure.ties[c].rows, 6))
            self.at("held", k, c)
            self._add(k, c, -G.T if sign > 0 else G.T)
        for name in structure.children(structure.names[k]):
            child = structure.index[name]
            for c in self.steps:
                if (child, c) in self.forces:
                    self.at("held", k, c)
                    Phi = w.input("Phi", child, (6, 6))
                    self._add(k, c, w.mul(Phi, self.forces[child, c]))

    def leave(self, k: int, through: Through | None, free: bool = False) -> None:
        """Split each force into the joint's share y and one on beta, none for a ``free`` joint."""
        w = self.write
        for c in self.steps:
            force = self.forces.get((k, c))
            if force is None:
                continue
            if through is not None:
                y, force = through(None, force, (LAM * self.structure.n + c,))
                if y is not None:
                    self.y[k, c] = y
            if free or force is None:
                del self.forces[k, c]
                continue
            self.forces[k, c] = force
            self.at("pull", c)
            pull = w.mul(force.T, w.input("a", k, (6, 1)))
            total = w.add(self.pulls[c], pull)
            assert total is not None
            self.pulls[c] = total

    def weigh(self, k: int, y: Ref | None, shift: Ref | None, weight: Ref | None) -> None:
        """Add a joint's rows, D^-1 Y lambda + D^-1 y - shift, with the weights D of its pivots."""
        w = self.write
        shares = [w.t(self.y.get((k, c))) for c in self.steps]
        if all(x is None for x in shares):
            return
        N = int(self.structure.dof[k])
        w.at("share", k)
        rows = w.t(w.stack(shares, self.sizes, N))
        assert rows is not None and y is not None and weight is not None
        moved = w.emit("quotient", (rows, weight), (N, self.count))
        free = w.sub(w.emit("quotient", (y, weight), (N, 1)), shift)
        self.rows += [moved, free, weight]

    def solve(self) -> list[PivotRecord]:
        """Rotate all rows into one triangle, and find lambda."""
        if not self.steps:
            return []
        w, sizes = self.write, self.sizes
        ties = [self.structure.ties[c] for c in self.steps]
        w.step = w.pivot = next(iter(self.steps.values()))
        args = list(self.rows)
        if any(tie.compliant for tie in ties):
            self.at("merged", next(iter(self.steps)))
            args.append(w.square(self._compliance(), sizes))
        self.at("merged", next(iter(self.steps)))
        merged = w.emit("merge", tuple(args), (self.count + 1, self.count), info=(self.count,))
        self.at("triangle", next(iter(self.steps)))
        factor = w.rows(merged, 0, self.count)
        assert factor is not None
        rest = w.t(w.rows(merged, self.count, self.count + 1))
        pulls = w.stack([self.pulls[c] for c in self.steps], sizes, 1)
        w.back = True
        self.at("solved" if len(self.steps) > 1 else "lam", next(iter(self.steps)))
        y = w.forward(factor, pulls)
        found = w.emit("back", (factor, y, rest), (self.count, 1))
        records, first = [], 0
        for c, size in zip(self.steps, sizes, strict=True):
            self.at("lam", c)
            part = w.rows(found, first, first + size)
            assert part is not None
            self.found[c], name = part, self.structure.ties[c].name
            rows = (first, first + size)
            records.append(PivotRecord((Block("lam", name),), self.steps[c], False, factor.value, rows))
            first += size
        return records

    def with_all(self, k: int, ref: Ref | None, of: dict[Key, Ref]) -> Ref | None:
        """y of a joint, or the force p on its body, with lambda's share: ``of`` is Y, or P."""
        w = self.write
        for c in self.steps:
            if (k, c) in of:
                ref = w.add(ref, w.mul(of[k, c], self.found[c]))
        return ref

    @property
    def sizes(self) -> list[int]:
        return [self.structure.ties[c].rows for c in self.steps]

    @property
    def count(self) -> int:
        return sum(self.sizes)

    def _gamma(self, c: int) -> Ref:
        return self.write.input("gamma", c, (self.structure.ties[c].rows, 1))

    def _compliance(self) -> list[list[Ref | None]]:
        w, ties = self.write, self.structure.ties
        blocks: list[list[Ref | None]] = [[None] * len(self.steps) for _ in self.steps]
        for i, c in enumerate(self.steps):
            if ties[c].compliant:
                blocks[i][i] = w.input("compliance", c, (ties[c].rows,) * 2)
        return blocks

    def _add(self, k: int, c: int, force: Ref | None) -> None:
        total = self.write.add(self.forces.get((k, c)), force)
        if total is not None:
            self.forces[k, c] = total
