"""Block programs of iterative refinement: the residual of an answer, and the answer corrected.

The residual is either that of all three block rows of equation (4), or tau - ID(qdd), the joint
efforts less those of inverse dynamics (Luh, Walker & Paul 1980).  Closed loops and contacts add
their own rows to either.  Lowered to a tape, it is rounded like everything else in its number
format.

Solving without elimination: a block triangular order of (4), as in inverse dynamics.

With qdd known and tau unknown, the rows f_k, pdd_k, qdd_k of (4) give pdd_k, f_k, tau_k one after
another; nothing is filled in.  A sequence is a list of (row, unknown) blocks, each unknown found
from a row in which all others are known (Luh, Walker & Paul 1980).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ..base.errors import OrderError
from ..matrix.blocks import Block, Structure
from .program import Program, Ref, Writer

Substitution = Sequence[tuple[tuple[str, Hashable], tuple[str, Hashable]]]


def trace_substitution(sequence: Substitution, structure: Structure, name: str) -> Program:
    """The block program of a substitution; the slot of tau holds qdd.

    Raises OrderError where a row holds another unknown that is not known yet.
    """
    structure.require_tree(f"order {name!r}: substitution, which finds no force of a loop,")
    w = Writer()
    known: dict[tuple[str, Hashable], Ref | None] = {}

    def need(kind: str, body: Hashable, row: tuple[str, Hashable]) -> Ref | None:
        if (kind, body) not in known:
            raise OrderError(
                f"order {name!r}: row {Block(*row)} needs {Block(kind, body)}, which is not known "
                "yet; put it first"
            )
        return known[kind, body]

    for step, (row, unknown) in enumerate(sequence):
        kind, body = row
        k = structure.index[body]
        dof = int(structure.dof[k])
        w.step = w.pivot = step
        w.at(unknown[0], structure.index[unknown[1]])
        H = w.input("H", k, (dof, 6)) if dof else None
        Phi = w.input("Phi", k, (6, 6)) if structure.parent[k] >= 0 else None
        if (kind, unknown) == ("f", ("pdd", body)):
            value = w.neg(w.input("a", k, (6, 1)))
            if Phi is not None:
                value = w.add(value, w.mul(Phi.T, need("pdd", structure.parent_of(body), row)))
            if H is not None:
                value = w.sub(value, w.mul(H.T, w.input("tau", k, (dof, 1))))
        elif (kind, unknown) == ("pdd", ("f", body)):
            M = w.input("M", k, (6, 6))
            value = w.sub(w.input("b", k, (6, 1)), w.mul(M, need("pdd", body, row)))
            for child in structure.children(body):
                Phi = w.input("Phi", structure.index[child], (6, 6))
                value = w.add(value, w.mul(Phi, need("f", child, row)))
        elif (kind, unknown) == ("qdd", ("tau", body)):
            value = w.mul(H, need("f", body, row))
            if structure.armature[k]:
                own = w.input("A", k, (dof, dof))
                value = w.add(value, w.mul(own, w.input("tau", k, (dof, 1))))
        else:
            raise OrderError(
                f"order {name!r}: row {Block(*row)} has no invertible block for {Block(*unknown)}"
            )
        known[unknown] = value
    solution = {Block(*key): ref for key, ref in known.items() if ref is not None}
    # tau takes the place of qdd in the solution
    solution = {
        Block("qdd", block.body) if block.kind == "tau" else block: ref for block, ref in solution.items()
    }
    return Program(
        name,
        False,
        len(sequence),
        None,
        tuple(w.instructions),
        tuple(w.shapes),
        (),
        solution,
        None,
        (),
        tuple(w.places),
    )


def residual_program(structure: Structure, residual: str) -> Program:
    """The residual as a program whose inputs are (4) and the unknowns qdd and lam, and pdd and f.

    "equations": right-hand side minus left-hand side of every block row of (4), named by the
    block on its diagonal.  "dynamics": ``qdd`` of the result is tau - ID(qdd, lam), ``pdd`` and
    ``f`` are those of inverse dynamics for this qdd, and ``lam`` is the residual of loops' rows.
    """
    w = _Rows(structure)
    rows = w.dynamics() if residual == "dynamics" else w.equations()
    return w.program(f"residual of {residual}", rows)


def update_program(structure: Structure) -> Program:
    """pdd + dpdd, qdd + dqdd, f + df, lam + dlam: one addition for each unknown."""
    w = _Rows(structure)
    rows = {}
    for name, k in structure.index.items():
        for kind, size in (("pdd", 6), ("qdd", int(structure.dof[k])), ("f", 6)):
            if size:
                shape = (size, 1)
                rows[Block(kind, name)] = w.add(w.input(kind, k, shape), w.input("d" + kind, k, shape))
    for c, tie in enumerate(structure.ties):
        shape = (tie.rows, 1)
        rows[Block("lam", tie.name)] = w.add(w.input("lam", c, shape), w.input("dlam", c, shape))
    return w.program("update", rows)


class _Rows(Writer):
    """Writes block rows of (4) on one tree."""

    def __init__(self, structure: Structure) -> None:
        super().__init__()
        self.structure = structure

    def program(self, name: str, rows: dict[Block, Ref | None]) -> Program:
        return Program(
            name,
            False,
            1,
            None,
            tuple(self.instructions),
            tuple(self.shapes),
            (),
            {block: ref for block, ref in rows.items() if ref is not None},
            None,
            (),
        )

    def motion(self, k: int, pdd_up: Ref | None) -> Ref | None:
        """Phi* pdd_parent - a - H* qdd, which row f_k sets equal to pdd_k."""
        value: Ref | None = -self.input("a", k, (6, 1))
        if pdd_up is not None:
            value = self.add(value, self.mul(self.Phi(k).T, pdd_up))
        dof = int(self.structure.dof[k])
        if dof:
            H = self.input("H", k, (dof, 6))
            value = self.sub(value, self.mul(H.T, self.input("qdd", k, (dof, 1))))
        return value

    def force(self, k: int, pdd: Ref | None, carried: list[Ref | None]) -> Ref | None:
        """b - M pdd_k + sum over children Phi f - G* lam, which row pdd_k sets equal to f_k."""
        value = self.sub(self.input("b", k, (6, 1)), self.mul(self.input("M", k, (6, 6)), pdd))
        for moved in carried:
            value = self.add(value, moved)
        for c, side, sign in self.structure.sides_on.get(k, []):
            G, lam = self.G(c, side, sign), self.input("lam", c, (self.structure.ties[c].rows, 1))
            value = self.sub(value, self.mul(G.T, lam))
        return value

    def G(self, c: int, side: int, sign: int) -> Ref:
        G = self.input("G", side, (self.structure.ties[c].rows, 6))
        return G if sign > 0 else -G

    def constraints(self, pdd: Mapping[int, Ref | None]) -> dict[Block, Ref | None]:
        """-gamma - G pdd + compliance lam of every loop."""
        rows: dict[Block, Ref | None] = {}
        value: dict[int, Ref | None] = {}
        for c, tie in enumerate(self.structure.ties):
            value[c] = -self.input("gamma", c, (tie.rows, 1))
            if tie.compliant:
                own = self.input("compliance", c, (tie.rows, tie.rows))
                value[c] = self.add(value[c], self.mul(own, self.input("lam", c, (tie.rows, 1))))
        for k, ends in self.structure.sides_on.items():
            for c, side, sign in ends:
                value[c] = self.sub(value[c], self.mul(self.G(c, side, sign), pdd[k]))
        for c, tie in enumerate(self.structure.ties):
            rows[Block("lam", tie.name)] = value[c]
        return rows

    def effort(self, k: int, f: Ref | None) -> Ref | None:
        """tau_k - H f_k - A qdd_k."""
        dof = int(self.structure.dof[k])
        if not dof:
            return None
        H = self.input("H", k, (dof, 6))
        value = self.sub(self.input("tau", k, (dof, 1)), self.mul(H, f))
        if not self.structure.armature[k]:
            return value
        own = self.mul(self.input("A", k, (dof, dof)), self.input("qdd", k, (dof, 1)))
        return self.sub(value, own)

    def Phi(self, k: int) -> Ref:
        return self.input("Phi", k, (6, 6))

    def dynamics(self) -> dict[Block, Ref | None]:
        structure = self.structure
        pdd: dict[int, Ref | None] = {}
        f: dict[int, Ref | None] = {}
        carried: dict[int, list[Ref | None]] = {k: [] for k in range(structure.n)}
        for k in structure.order[::-1].tolist():
            pdd[k] = self.motion(k, pdd.get(int(structure.parent[k])))
        for k in structure.order.tolist():
            f[k] = self.force(k, pdd[k], carried[k])
            up = int(structure.parent[k])
            if up >= 0:
                carried[up].append(self.mul(self.Phi(k), f[k]))
        rows: dict[Block, Ref | None] = {}
        for name, k in structure.index.items():
            rows[Block("pdd", name)] = pdd[k]
            rows[Block("qdd", name)] = self.effort(k, f[k])
            rows[Block("f", name)] = f[k]
        return rows | self.constraints(pdd)

    def equations(self) -> dict[Block, Ref | None]:
        structure = self.structure
        rows: dict[Block, Ref | None] = {}
        pdd = [self.input("pdd", k, (6, 1)) for k in range(structure.n)]
        f = [self.input("f", k, (6, 1)) for k in range(structure.n)]
        for name, k in structure.index.items():
            up = int(structure.parent[k])
            carried: list[Ref | None] = [
                self.mul(self.Phi(c), f[c])
                for c in (structure.index[child] for child in structure.children(name))
            ]
            rows[Block("pdd", name)] = self.sub(self.force(k, pdd[k], carried), f[k])
            rows[Block("qdd", name)] = self.effort(k, f[k])
            rows[Block("f", name)] = self.sub(self.motion(k, pdd[up] if up >= 0 else None), pdd[k])
        return rows | self.constraints(dict(enumerate(pdd)))
