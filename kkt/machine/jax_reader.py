"""A block program in ``jax.numpy``: one operation for each batch of equal blocks.

JAX arrays behind numpy's protocols, so that the formulas of (4) run on them unchanged.

Poses, bias and transforms are written once, for arrays of doubles, fractions or traced scalars
(:mod:`kkt.model.spatial`, :mod:`kkt.matrix.entries`).  ``Numbers`` maps numpy's functions to those of
``jax.numpy``, and allows assignments, which a JAX array does not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..base.errors import OrderError
from ..program.program import Batch, Program, Ref


class Numbers(NDArrayOperatorsMixin):
    """A JAX array for numpy's functions and for assignments; constants get its precision."""

    dtype = np.dtype(object)  # as for fractions, so that compiled code for doubles is not used

    def __init__(self, x: Any) -> None:
        self.x = x

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


def _called(name: str, args: tuple, options: dict[str, Any]) -> Numbers:
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
            f"order {program.name!r}: has the operation {other[0]!r}, of rotations or of inertias "
            "about centres of mass, which to_jax does not read; use abm, crbm or another order of "
            "blocks"
        )


class JaxReader:
    """Runs a program: values are rows of stacks (m, rows, columns).

    ``leaf(op, info, places)`` gives the stack of a batch of inputs; ``before`` is a reader whose
    values this one starts from.
    """

    def __init__(self, leaf: Callable[[str, tuple, tuple], Any], before: JaxReader | None = None):
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
