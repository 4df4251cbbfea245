"""Equation (4) in one state as JAX arrays, solved by the batches of an order's program.

JAX arrays stand behind numpy's protocols, so that the formulas of (4) run on them unchanged: poses,
bias and transforms are written once, for arrays of doubles, fractions or traced scalars
(:mod:`kkt.model.spatial`, :mod:`kkt.matrix.entries`).  ``Numbers`` maps numpy's functions to those of
``jax.numpy``, and allows assignments, which a JAX array does not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from ..arithmetic import get_format
from ..base.errors import ModelError, OrderError
from ..matrix.blocks import Block
from ..matrix.closures import closures, constraint_rows
from ..matrix.configuration import Configuration
from ..matrix.entries import bias, joint_rates, velocities
from ..matrix.system import System
from ..model.joints import GENERAL, TYPES
from ..model.rotations import from_quaternion
from ..model.spatial import force_transform, matmul, matvec, spatial_inertia
from ..program.columns import ContinuedProgram
from ..program.program import Instruction, Program, Ref
from ..program.residual_program import residual_program
from ..tape.inputs import pivot_rows
from .batches import Batch, batches
from .checking import require_pivots
from .forward_dynamics import tape_of


class Numbers(NDArrayOperatorsMixin):
    """A JAX array for numpy's functions and for assignments; constants get its precision."""

    dtype = np.dtype(object)  # as for fractions, so that compiled code for doubles is not used

    def __init__(self, x: Any) -> None:
        self.x: Any = x

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape)

    @property
    def ndim(self) -> int:
        return int(self.x.ndim)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, place: Any) -> Numbers:
        return Numbers(self.x[place])

    def __setitem__(self, place: Any, value: Any) -> None:
        self.x = self.x.at[place].set(_bare(value, self.x.dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        (out,) = options.pop("out", (None,))  # given by x += y, where it is x
        if method != "__call__" or options or not (out is None or out is inputs[0]):
            return NotImplemented
        found = _called(ufunc.__name__, inputs, {})
        if out is None:
            return found
        self.x = found.x
        return self

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _called(function.__name__, args, options)


def _called(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Numbers:
    leaves = jax.tree.leaves((args, options), is_leaf=lambda x: isinstance(x, Numbers))
    dtype = jnp.result_type(*(x.x for x in leaves if isinstance(x, Numbers)))
    bare = jax.tree.map(lambda x: _bare(x, dtype), (args, options), is_leaf=lambda x: isinstance(x, Numbers))
    return Numbers(getattr(jnp, name)(*bare[0], **bare[1]))


def _bare(value: Any, dtype: Any) -> Any:
    """The JAX array of ``value``, or a float64 array in the precision ``dtype``; else ``value``."""
    if isinstance(value, Numbers):
        return value.x
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return jnp.asarray(value, dtype)
    return value


UNROLLED = 8  # rows of a factor up to which its columns are written out and not a loop
WIDE = 8  # columns for which XLA uses vectors on a CPU; fewer are multiplied one by one
EXACT = jax.lax.Precision.HIGHEST  # otherwise a GPU multiplies float32 with ten bits


def require_blocks(program: Program) -> None:
    """Raise OrderError for a program with operations other than those of this file."""
    known = {"input", "eye", "along", "across", *ARRANGED, *OPERATIONS}
    other = sorted({i.op for i in program.instructions} - known)
    if other:
        raise OrderError(
            f"order {program.name!r}",
            f"has the operation {other[0]!r}, of rotations or of inertias about centres of mass, which "
            "to_jax does not read",
            "use abm, crbm or another order of blocks",
        )


class JaxReader:
    """Runs a program: values are rows of stacks (m, rows, columns).

    ``leaf(op, info, places)`` gives the stack of a batch of inputs; ``before`` is a reader whose
    values this one starts from.
    """

    def __init__(
        self, leaf: Callable[[str, tuple[Any, ...], tuple[Any, ...]], Any], before: JaxReader | None = None
    ):
        self.leaf = leaf
        self.stacks: list[Any] = list(before.stacks) if before else []
        self.where: dict[int, tuple[int, int]] = dict(before.where) if before else {}

    def read(self, batches: Sequence[Batch]) -> None:
        for batch in batches:
            if batch.op in ("input", "eye"):
                value = self.leaf(batch.op, batch.info, batch.places)
            else:
                operands = [None if o is None else self.taken(o) for o in batch.operands]
                value = self.value(batch, operands)
            self.where.update((out, (len(self.stacks), row)) for row, out in enumerate(batch.outs))
            self.stacks.append(value)

    def taken(self, refs: Sequence[Ref]) -> Any:
        """(m, rows, columns) of m references to values, with their transposes and signs."""
        rows_of: dict[int, list[tuple[int, int]]] = {}
        for position, ref in enumerate(refs):
            stack, row = self.where[ref.value]
            rows_of.setdefault(stack, []).append((position, row))
        pieces = [_rows(self.stacks[s], [row for _, row in pairs]) for s, pairs in rows_of.items()]
        positions = [position for pairs in rows_of.values() for position, _ in pairs]
        x = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)
        x = _rows(x, np.argsort(positions).tolist())
        if refs[0].transposed:
            x = jnp.swapaxes(x, -1, -2)
        signs = {ref.sign for ref in refs}
        if signs == {1}:
            return x
        if signs == {-1}:
            return -x
        return x * jnp.asarray([ref.sign for ref in refs], x.dtype)[:, None, None]

    def value(self, batch: Batch, operands: list[Any]) -> Any:
        if batch.op in ("stack", "square"):
            return ARRANGED[batch.op](batch, operands)
        made = OPERATIONS[batch.op](*operands, *(batch.info if batch.op in TAKES_INFO else ()))
        return _mirror(made) if batch.symmetric else made  # without it float32 loses digits on long chains


def _rows(x: Any, rows: list[int]) -> Any:
    """Rows of a stack: all of it, a slice where they are consecutive, or a gather."""
    if rows == list(range(x.shape[0])):
        return x
    if rows == list(range(rows[0], rows[0] + len(rows))):
        return x[rows[0] : rows[0] + len(rows)]
    return x[np.asarray(rows)]


def _mul(a: Any, b: Any) -> Any:
    """a b; columns of zeros fill up to eight, so that a CPU multiplies in vectors."""
    columns = b.shape[-1]
    if not 1 < columns < WIDE or 1 in a.shape[-2:]:
        return jnp.matmul(a, b, precision=EXACT)
    zeros = jnp.zeros((*b.shape[:-1], WIDE - columns), b.dtype)
    return jnp.matmul(a, jnp.concatenate([b, zeros], -1), precision=EXACT)[..., :columns]


def _column(k: Any, A: Any) -> Any:
    """Pivot k of L D L^T: the column below becomes L, and what follows it is updated."""
    below = jnp.arange(A.shape[-1]) > k
    c = jnp.where(below, A[..., k], 0)
    L = c / A[..., k, k, None]
    A = A - L[..., :, None] * c[..., None, :]
    return A.at[..., k].set(jnp.where(below, L, A[..., k]))


def _factor(A: Any) -> Any:
    """L below the diagonal and D on it, of A = L D L^T without pivoting."""
    size = A.shape[-1]
    if size > UNROLLED:
        return jax.lax.fori_loop(0, size - 1, _column, A)
    for k in range(size - 1):
        A = _column(k, A)
    return A


def _forward(F: Any, C: Any) -> Any:
    """L^-1 C."""
    if F.shape[-1] > UNROLLED:
        return jax.scipy.linalg.solve_triangular(F, C, lower=True, unit_diagonal=True)
    rows = [C[..., 0, :]]
    for j in range(1, F.shape[-1]):
        row = C[..., j, :]
        for i in range(j):
            row = row - F[..., j, i, None] * rows[i]
        rows.append(row)
    return jnp.stack(rows, axis=-2)


def _solve(F: Any, C: Any) -> Any:
    """A^-1 C."""
    Y = _forward(F, C) / jnp.diagonal(F, axis1=-2, axis2=-1)[..., None]
    if F.shape[-1] > UNROLLED:
        return jax.scipy.linalg.solve_triangular(F, Y, trans="T", lower=True, unit_diagonal=True)
    rows: list[Any] = [None] * F.shape[-1]
    for j in range(F.shape[-1] - 1, -1, -1):
        row = Y[..., j, :]
        for i in range(j + 1, F.shape[-1]):
            row = row - F[..., i, j, None] * rows[i]
        rows[j] = row
    return jnp.stack(rows, axis=-2)


def _inner(F: Any, Y1: Any, Y2: Any) -> Any:
    """Y1^T D^-1 Y2; few rows as the tape does, (y1 y2^T)/d each, which keeps more digits of ABM."""
    d = jnp.diagonal(F, axis1=-2, axis2=-1)
    if F.shape[-1] > UNROLLED:
        return _mul(jnp.swapaxes(Y1, -1, -2), Y2 / d[..., None])
    terms = [Y1[..., k, :, None] * Y2[..., k, None, :] / d[..., k, None, None] for k in range(F.shape[-1])]
    return reduce(operator.add, terms)


def _mirror(a: Any) -> Any:
    return jnp.triu(a) + jnp.swapaxes(jnp.triu(a, 1), -1, -2)


def _stack(batch: Batch, operands: list[Any]) -> Any:
    like = next(x for x in operands if x is not None)
    m, columns = like.shape[0], like.shape[-1]
    parts = [
        jnp.zeros((m, size, columns), like.dtype) if x is None else x
        for x, size in zip(operands, batch.info[0], strict=True)
    ]
    return jnp.concatenate(parts, axis=-2)


def _square(batch: Batch, operands: list[Any]) -> Any:
    like = next(x for x in operands if x is not None)
    (sizes,) = batch.info
    start = np.concatenate([[0], np.cumsum(sizes)])
    whole = jnp.zeros((like.shape[0], int(start[-1]), int(start[-1])), like.dtype)
    upper = [(r, c) for r in range(len(sizes)) for c in range(r, len(sizes))]
    for (r, c), x in zip(upper, operands, strict=True):
        if x is not None:
            whole = whole.at[:, start[r] : start[r + 1], start[c] : start[c + 1]].set(x)
    return _mirror(whole)


ARRANGED = {"stack": _stack, "square": _square}
OPERATIONS: dict[str, Callable[..., Any]] = {
    "mul": _mul,
    "add": lambda a, b: a + b,
    "join": lambda a, b: a + b,
    "same": lambda a: a,
    "shift": lambda Phi, M: _mul(_mul(Phi, M), jnp.swapaxes(Phi, -1, -2)),
    "factor": _factor,
    "forward": _forward,
    "solve": _solve,
    "inner": _inner,
    "mirror": _mirror,
    "rows": lambda a, first, last: a[..., first:last, :],
    "divide": lambda a, by: a / by,
}
TAKES_INFO = ("rows", "divide")


class Plan(NamedTuple):
    """Batches of a program, and the values of its unknowns, None for an unknown that is 0."""

    batches: list[Batch]
    found: tuple[Ref | None, ...]  # as ``Dynamics.unknowns``


class Blocks(NamedTuple):
    """The blocks of (4) that change with the state, and their precision."""

    Phi: Any  # (n, 6, 6)
    S: Any  # (N, 6)
    a: Any  # (n, 6)
    b: Any  # (n, 6)
    tau: Any  # (N,)
    G: Any = None  # (rows of all sides, 6) of loops and contacts
    gamma: Any = None  # (rows,)
    qdd: Any = None  # (N,) in a residual
    lam: Any = None  # (rows,) in a residual
    more: Any = None  # (N,) a second right-hand side, in the rows of joints
    held: Any = None  # (rows,) and in the rows of loops


@dataclass(frozen=True)
class Dynamics:
    """A tree and an order: the part of forward dynamics that does not depend on the state."""

    system: System
    places: Configuration
    program: Program
    bodies: tuple[int, ...]  # with freedoms, in the tree's order

    @classmethod
    def of(cls, system: System, order: Any) -> Dynamics:
        """The dynamics of a system by an order.

        Raises ModelError for general joints, OrderError and SingularError as :func:`kkt.compile`
        does.
        """
        tree = system.tree
        for name, kind in zip(tree.names, tree.joint, strict=True):
            if kind == GENERAL:
                raise ModelError(
                    f"body {name!r}",
                    "to_jax has no general joints, whose coordinates have no derivative in closed form",
                    "give the joint by its type, such as universal",
                )
        tape = tape_of(system, order)
        require_blocks(program := tape.program)
        require_pivots(system, tape, get_format("float64"))
        bodies = tuple(np.flatnonzero(tree.dof).tolist())
        return cls(system, Configuration(tree, system.graph), program, bodies)

    # -- programs -----------------------------------------------------------------------------

    @cached_property
    def unknowns(self) -> dict[Block, int]:
        """The blocks qdd of every joint, then lam of every loop, with their sizes."""
        structure = self.system.structure
        joints = {Block("qdd", structure.names[k]): int(structure.dof[k]) for k in self.bodies}
        return joints | {Block("lam", tie.name): tie.rows for tie in structure.ties}

    @cached_property
    def plans(self) -> tuple[Plan, Plan]:
        """Plans for (4) by the order, and for a second right-hand side by the same factor."""
        columns, places = ContinuedProgram(self.program), [*self.bodies, *range(len(self.system.loops))]
        right = {
            block: columns.write.input("more" if block.kind == "qdd" else "held", k, (size, 1))
            for (block, size), k in zip(self.unknowns.items(), places, strict=True)
        }
        found = columns.solve(right, right)
        program = self.read(columns.program())
        live = _live(program)
        before = [i for i in live if i.out < len(self.program.shapes)]
        after = [i for i in live if i.out >= len(self.program.shapes)]
        known = [i.out for i in before]
        return (
            Plan(batches(before, program.shapes), tuple(program.solution[b] for b in right)),
            Plan(batches(after, program.shapes, known), tuple(found.get(b) for b in right)),
        )

    @cached_property
    def residual(self) -> Plan:
        """The plan for the residual: tau - ID(qdd, lam), and that of rows of loops."""
        program = residual_program(self.system.structure, "dynamics")
        rows = tuple(program.solution.get(block) for block in self.unknowns)
        return Plan(batches(_live(program), program.shapes), rows)

    def read(self, program: Program) -> Program:
        """The program with the constant bases B and C of split forces as inputs."""
        body = {i.out: i.info[1] for i in program.instructions if i.op == "input"}
        return replace(
            program,
            instructions=tuple(
                i._replace(op="input", args=(), info=(i.op, body[i.present[0].value]))
                if i.op in ("along", "across")
                else i
                for i in program.instructions
            ),
        )

    # -- one state ----------------------------------------------------------------------------

    def checked(self, *state: Any) -> tuple[Any, Any, Any]:
        """q (nx,), qd and tau (N,) in one precision; raises ModelError for anything else."""
        N, arrays = self.system.tree.N, []
        for name, given, size in zip(("q", "qd", "tau"), state, (self.places.size, N, N), strict=True):
            try:
                x = jnp.asarray(given)
            except (TypeError, ValueError):
                x = None
            if x is None or jnp.issubdtype(x.dtype, jnp.complexfloating):
                raise ModelError("to_jax", f"{name} holds no real numbers", f"give ({size},) of them")
            arrays.append(x)
            if x.shape != (size,):
                raise ModelError(
                    "to_jax",
                    f"{name} has shape {x.shape}",
                    f"this tree needs ({size},), one state at a time; jax.vmap makes a function of many",
                )
        dtype = jnp.result_type(*arrays, jnp.float32)
        q, qd, tau = (x.astype(dtype) for x in arrays)
        return q, qd, tau

    def solved(self, q: Any, qd: Any, tau: Any) -> tuple[Any, JaxReader]:
        """qdd (N,) and lam (rows,) in one array, and the reader with all values of the program."""
        plan, _ = self.plans
        reader = self.reader(self.blocks(q, qd, tau))
        return self.gathered(reader, plan, q.dtype), reader

    def again(self, before: JaxReader, right: Any) -> Any:
        """(4) solved for efforts (N,) and rows of loops (rows,), by the factor in ``before``."""
        _, plan = self.plans
        tau, rows = self.split(right)
        reader = self.reader(Blocks(None, None, None, None, tau, more=tau, held=rows), before)
        return self.gathered(reader, plan, tau.dtype)

    def split(self, unknowns: Any) -> tuple[Any, Any]:
        """qdd (N,) and lam (rows,), from one array of both."""
        N = self.system.tree.N
        return unknowns[:N], unknowns[N:]

    def left_over(self, unknowns: Any, q: Any, qd: Any, tau: Any) -> Any:
        """tau - ID(qdd, lam) (N,), Luh, Walker & Paul 1980, and the residual of loops (rows,)."""
        qdd, lam = self.split(unknowns)
        reader = self.reader(self.blocks(q, qd, tau)._replace(qdd=qdd, lam=lam))
        return self.gathered(reader, self.residual, q.dtype)

    def reader(self, blocks: Blocks, before: JaxReader | None = None) -> JaxReader:
        return JaxReader(partial(self.leaf, blocks), before)

    def gathered(self, reader: JaxReader, plan: Plan, dtype: Any) -> Any:
        """(N + rows,) the unknowns of a plan, which is run here, body by body, loop by loop."""
        reader.read(plan.batches)
        parts = [
            jnp.zeros(size, dtype) if ref is None else reader.taken([ref])[0, :, 0]
            for ref, size in zip(plan.found, self.unknowns.values(), strict=True)
        ]
        return jnp.concatenate([jnp.zeros(0, dtype), *parts])

    # -- equation (4) -------------------------------------------------------------------------

    def leaf(
        self, blocks: Blocks, op: str, info: tuple[Any, ...], places: tuple[tuple[Any, ...], ...]
    ) -> Any:
        """The stack of inputs of one letter, of the bodies or loops that ``places`` name."""
        dtype = blocks.tau.dtype
        if op == "eye":
            return jnp.eye(info[0], dtype=dtype)[None]
        (letter,), bodies = info, np.array([place[1] for place in places])
        if letter == "M":
            return jnp.asarray(self.inertias[bodies], dtype)
        if letter in ("along", "across"):
            return jnp.asarray(np.stack([self.bases[letter, int(k)] for k in bodies]), dtype)
        if letter == "Phi":
            return blocks.Phi[bodies]
        if letter in ("a", "b"):
            return getattr(blocks, letter)[bodies, :, None]
        if letter in ("G", "gamma", "lam", "held", "compliance"):
            return self.rows(blocks, letter, bodies)
        tree = self.system.tree
        own = tree.offset[bodies, None] + np.arange(int(tree.dof[bodies[0]]))
        if letter == "H":
            return blocks.S[own]
        if letter == "A":
            A = self.system.entries.A[own]
            return jnp.asarray(A[..., None] * np.eye(A.shape[-1]), dtype)
        return getattr(blocks, letter)[own, None]

    def rows(self, blocks: Blocks, letter: str, places: NDArray[np.int64]) -> Any:
        """The stack of inputs of loops numbered ``places``; for G these number sides of loops."""
        ties = self.system.structure.ties
        sizes = [tie.rows for tie in ties for _ in (tie.bodies if letter == "G" else (0,))]
        first = np.cumsum([0, *sizes])[places, None]
        own = first + np.arange(sizes[places[0]])
        if letter == "compliance":
            soft = self.system.entries.compliance[own]
            return jnp.asarray(soft[..., None] * np.eye(soft.shape[-1]), blocks.tau.dtype)
        found = getattr(blocks, letter)[own]
        return found if letter == "G" else found[..., None]

    @cached_property
    def inertias(self) -> NDArray[np.float64]:
        tree = self.system.tree
        return spatial_inertia(tree.mass, tree.com, tree.inertia)

    @cached_property
    def bases(self) -> dict[tuple[str, int], NDArray[np.float64]]:
        """B with H B = 1 and C with H C = 0 of every joint, as the tape forms them."""
        found = {}
        for k in self.bodies:
            S = np.asarray(self.system.state.S[k])
            rows = list(pivot_rows(S))
            other = [i for i in range(6) if i not in rows]
            B, C = np.zeros((6, len(rows))), np.zeros((6, len(other)))
            inverse = np.linalg.inv(S[rows].T)
            B[rows], C[other], C[rows] = inverse, np.eye(len(other)), -inverse @ S[other].T
            found["along", k], found["across", k] = B, C
        return found

    def blocks(self, q: Any, qd: Any, tau: Any) -> Blocks:
        """The blocks of (4) at one state, by the formulas of :mod:`kkt.matrix`."""
        system, tree = self.system, self.system.tree
        owner = tree.owner
        column = np.arange(len(owner)) - tree.offset[owner]
        rate: Any = Numbers(qd)
        R, p, S, slip = self.kinematics(Numbers(q), rate)
        Phi, rates = force_transform(R, p), joint_rates(S, owner, column, rate, tree.n)
        a, b = bias(tree.parent, self.inertias, Phi, rates, slip, system.state.wrench, tree.gravity)
        efforts: Any = Numbers(tau)
        position = np.zeros_like(rate)
        places, to = self.places.plain
        position[to] = q[places]
        if tree.terms is not None:
            efforts = efforts - tree.terms.at(position).resistance(rate, system.state.step, _same)
        traced: list[Any] = [Phi, S, a, b, efforts]
        if system.loops:
            held: Any = closures(tree, R, p, position, system.loops)
            v = velocities(tree.parent, Phi, rates)
            traced += constraint_rows(held, v, tree.gravity, _same)[:2]
        return Blocks(*(jnp.asarray(getattr(value, "x", value), tau.dtype) for value in traced))

    def kinematics(self, q: Any, qd: Any) -> tuple[Any, Any, Any, Any]:
        """R (n, 3, 3), p (n, 3), S (N, 6) and S° qd (n, 6), all joints of a kind at once."""
        tree, places, like = self.system.tree, self.places, q.x.dtype
        R, p = (Numbers(jnp.asarray(x, like)) for x in (tree.R, tree.p))
        S: Any = Numbers(jnp.asarray(self.system.state.S.columns, like))
        slip = Numbers(jnp.zeros((tree.n, 6), like))
        for kind, bodies in tree.by_joint.items():
            joint, axis = TYPES[kind], tree.axis[bodies]
            own = tree.offset[bodies, None] + np.arange(joint.dof)
            first = places.offset[bodies, None]
            if joint.orientation:
                turn = from_quaternion(q[first + np.arange(joint.dof - 3, joint.dof + 1)])
                shift: Any = q[first + np.arange(3)] if joint.dof > 3 else np.zeros((len(bodies), 3))
            else:
                x = q[first + np.arange(joint.dof)]
                turn, shift = joint.pose(axis, x)
                if joint.moving:
                    S[own] = np.swapaxes(joint.subspace(axis, x), 1, 2)
                if joint.bias is not None:
                    slip[bodies] = joint.bias(axis, x, qd[own])
            p[bodies] = tree.p[bodies] + matvec(tree.R[bodies], shift)
            R[bodies] = matmul(tree.R[bodies], turn)
        return R, p, S, slip


def _live(program: Program) -> list[Instruction]:
    keep = program.live(("qdd", "lam"), columns=True)
    return [i for i, kept in zip(program.instructions, keep, strict=True) if kept]


def _same(x: Any) -> Any:
    return x
