"""Block programs of iterative refinement: the residual of an answer, and the answer corrected.

The residual is either that of all three block rows of equation (4), or tau - ID(qdd), the joint
efforts less those of inverse dynamics (Luh, Walker & Paul 1980).  Closed loops and contacts add
their own rows to either.  Lowered to a tape, it is rounded like everything else in its number
format.

Inverse dynamics solves (4) without elimination, in a block triangular order.

With qdd known and tau unknown, the rows f_k, pdd_k, qdd_k of (4) give pdd_k, f_k, tau_k one after
another; nothing is filled in.  A sequence is a list of (row, unknown) blocks, each unknown found
from a row in which all others are known (Luh, Walker & Paul 1980).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from ..base.errors import OrderError
from ..matrix.blocks import Block, Structure
from .program import Program, Ref, Writer

Substitution = Sequence[tuple[tuple[str, Hashable], tuple[str, Hashable]]]


def trace_substitution(sequence: Substitution, structure: Structure, name: str) -> Program:
    """The block program of a substitution; the slot of tau holds qdd.

    Raises OrderError where a row holds another unknown that is not known yet.
    """
    where = f"order {name!r}"
    structure.require_tree(where, by="substitution, which finds no force of a loop, ")
    w = _Equations(structure, rates="tau")
    known: dict[tuple[str, Hashable], Ref | None] = {}

    def need(kind: str, body: Hashable, row: tuple[str, Hashable]) -> Ref | None:
        if (kind, body) not in known:
            what = f"row {Block(*row)} needs {Block(kind, body)}, which is not known yet"
            raise OrderError(where, what, "put it first")
        return known[kind, body]

    for step, (row, unknown) in enumerate(sequence):
        kind, body = row
        k = structure.index[body]
        w.step = w.pivot = step
        w.at(unknown[0], structure.index[unknown[1]])
        if (kind, unknown) == ("f", ("pdd", body)):
            up = structure.parent_of(body)
            value = w.motion(k, None if up is None else need("pdd", up, row))
        elif (kind, unknown) == ("pdd", ("f", body)):
            children = structure.children(body)
            carried = (w.mul(w.Phi(structure.index[c]), need("f", c, row)) for c in children)
            value = w.force(k, need("pdd", body, row), carried)
        elif (kind, unknown) == ("qdd", ("tau", body)):
            value = w.add(w.mul(w.H(k), need("f", body, row)), w.geared(k))
        else:
            raise OrderError(where, f"row {Block(*row)} has no invertible block for {Block(*unknown)}")
        known[unknown] = value
    # tau takes the place of qdd in the solution
    solution = {Block("qdd" if kind == "tau" else kind, body): x for (kind, body), x in known.items()}
    return w.program(name, solution, len(sequence))


def residual_program(structure: Structure, residual: str) -> Program:
    """The residual as a program whose inputs are (4) and the unknowns qdd and lam, and pdd and f.

    "equations": right-hand side minus left-hand side of every block row of (4), named by the
    block on its diagonal.  "dynamics": ``qdd`` of the result is tau - ID(qdd, lam), ``pdd`` and
    ``f`` are those of inverse dynamics for this qdd, and ``lam`` is the residual of loops' rows.
    """
    w = _Equations(structure)
    rows = w.dynamics() if residual == "dynamics" else w.equations()
    return w.program(f"residual of {residual}", rows)


def update_program(structure: Structure) -> Program:
    """pdd + dpdd, qdd + dqdd, f + df, lam + dlam: one addition for each unknown."""
    w = _Equations(structure)
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


class _Equations(Writer):
    """Writes block rows of (4) on one tree."""

    def __init__(self, structure: Structure, rates: str = "qdd") -> None:
        """``rates``: the letter of the inputs that hold qdd."""
        super().__init__()
        self.structure = structure
        self.rates = rates

    def motion(self, k: int, pdd_up: Ref | None) -> Ref | None:
        """Phi* pdd_parent - a - H* qdd, which row f_k sets equal to pdd_k."""
        value: Ref | None = -self.input("a", k, (6, 1))
        if pdd_up is not None:
            value = self.add(value, self.mul(self.Phi(k).T, pdd_up))
        if self.structure.dof[k]:
            value = self.sub(value, self.mul(self.t(self.H(k)), self.qdd(k)))
        return value

    def force(self, k: int, pdd: Ref | None, carried: Iterable[Ref | None]) -> Ref | None:
        """b - M pdd_k + sum over children Phi f - G* lam, which row pdd_k sets equal to f_k."""
        value = self.sub(self.input("b", k, (6, 1)), self.mul(self.input("M", k, (6, 6)), pdd))
        for moved in carried:
            value = self.add(value, moved)
        for number in self.structure.sides_on.get(k, []):
            c, G = self.G(number)
            lam = self.input("lam", c, (self.structure.ties[c].rows, 1))
            value = self.sub(value, self.mul(G.T, lam))
        return value

    def G(self, number: int) -> tuple[int, Ref]:
        side = self.structure.sides[number]
        G = self.input("G", number, (self.structure.ties[side.tie].rows, 6))
        return side.tie, G if side.sign > 0 else -G

    def constraints(self, pdd: Mapping[int, Ref | None]) -> dict[Block, Ref | None]:
        """-gamma - G pdd + compliance lam of every loop."""
        value: dict[int, Ref | None] = {}
        for c, tie in enumerate(self.structure.ties):
            value[c] = -self.input("gamma", c, (tie.rows, 1))
            if tie.compliant:
                own = self.input("compliance", c, (tie.rows, tie.rows))
                value[c] = self.add(value[c], self.mul(own, self.input("lam", c, (tie.rows, 1))))
        for k, numbers in self.structure.sides_on.items():
            for c, G in map(self.G, numbers):
                value[c] = self.sub(value[c], self.mul(G, pdd[k]))
        return {Block("lam", tie.name): value[c] for c, tie in enumerate(self.structure.ties)}

    def effort(self, k: int, f: Ref | None) -> Ref | None:
        """tau_k - H f_k - A qdd_k."""
        dof = int(self.structure.dof[k])
        if not dof:
            return None
        return self.sub(self.sub(self.input("tau", k, (dof, 1)), self.mul(self.H(k), f)), self.geared(k))

    def geared(self, k: int) -> Ref | None:
        """A qdd_k of the joint's armature."""
        dof = int(self.structure.dof[k])
        return self.mul(self.input("A", k, (dof, dof)), self.qdd(k)) if self.structure.armature[k] else None

    def H(self, k: int) -> Ref | None:
        dof = int(self.structure.dof[k])
        return self.input("H", k, (dof, 6)) if dof else None

    def qdd(self, k: int) -> Ref:
        return self.input(self.rates, k, (int(self.structure.dof[k]), 1))

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
