"""The joint-space inertia by columns of inverse dynamics, and qdd by it (Walker & Orin 1982).

>>> from pivotree.analysis import inertia
>>> system = pt.build(pt.chain(3))
>>> inertia.solve(system, method=2, format="float32").round(2)
array([-1.53, 77.97, 15.55], dtype=float32)

Column j is the efforts that unit acceleration of freedom j takes, without bias: the substitution
order ``inverse_dynamics`` on equation (4) with H_j* as its right side.  Method 1 does it on the
whole tree.  Method 2 knows that only the bodies that hang on joint j move, and that the matrix is
symmetric: inverse dynamics of each joint's subtree.  Both are substitutions for many right sides
and no pivot sequences; method 3 is the order ``crbm_com``, method 4 is :mod:`analysis.gradients`.

M qdd = tau - c is solved by Cholesky's factor, each operation rounded by itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import FormatError, ModelError, System
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.arithmetic.formats import Hardware
from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.program.program import Program
from pivotree.kkt.program.residual_program import Substitution, trace_substitution
from pivotree.kkt.tape.player import run
from pivotree.kkt.tape.tape import lower

from .gradients import at_rest, equation

__all__ = ["Inertia", "columns", "solve"]

METHODS = (1, 2)


@dataclass(frozen=True, eq=False)
class Inertia:
    """The matrix, and what it took.

    >>> from pivotree.analysis import inertia
    >>> chain = pt.build(pt.chain(10))
    >>> whole, parts = (inertia.columns(chain, method) for method in (1, 2))
    >>> parts.operations < whole.operations, bool(abs(whole.M - parts.M).max() < 1e-9)
    (True, True)
    """

    M: NDArray[Any]  # (N, N)
    operations: int


def solve(system: System, method: int = 2, format: str = "float64") -> NDArray[Any]:
    """(N,) qdd in float64 or float32; nan where roundoff takes M its definiteness.

    Raises ModelError for another method, FormatError for other formats, LoopError for loops.

    >>> from pivotree.analysis import inertia
    >>> inertia.solve(pt.build(pt.chain(3)), method=1).round(2)
    array([-1.53, 77.97, 15.55])
    """
    M = columns(system, method, format).M
    _, efforts, _ = equation(system, format)
    with np.errstate(all="ignore"):
        L = root(M)
        return np.asarray(backward(L.T, forward(L, efforts)))


def columns(system: System, method: int = 2, format: str = "float64") -> Inertia:
    """The joint-space inertia by Walker & Orin's method 1 or 2, bodies in the tree's order.

    >>> from pivotree.analysis import inertia
    >>> inertia.columns(pt.build(pt.two_link()), method=2).M.shape
    (2, 2)
    """
    if method not in METHODS:
        raise ModelError(f"inertia: method is {method!r}; use 1 or 2 (3 is the order crbm_com, 4 gradients)")
    system.structure.require_tree("the joint-space inertia by columns")
    chosen = get_format(format)
    if not isinstance(chosen, Hardware):
        raise FormatError(f"format {chosen.name!r}: columns are found in float64 or float32")
    rest, offset = at_rest(system), system.tree.offset
    N, operations = int(offset[-1]), 0
    M: NDArray[Any] = np.zeros((N, N), dtype=chosen.dtype)
    if method == 1:
        times, _, each = equation(system, format)
        for j, unit in enumerate(np.eye(N)):
            M[:, j] = times(unit)
        return Inertia(M, N * each)
    for k, name in enumerate(system.structure.names):
        bodies = (name, *_below(system.structure, name))
        here = _moving(rest, name)
        tape = lower(_program(here.structure, bodies), here)
        rows = [(b, system.structure.index[b]) for b in bodies]
        for j in range(int(offset[k]), int(offset[k + 1])):
            unit = np.zeros(N)
            unit[j] = 1.0
            found, _, _ = run(tape, replace(here.entries, tau=unit), chosen)
            operations += tape.flops
            for b, i in rows:
                if offset[i] < offset[i + 1]:
                    own = slice(offset[i], offset[i + 1])
                    M[own, j] = found[Block("qdd", b)]
                    if b != name:
                        M[j, own] = M[own, j]
    return Inertia(M, operations)


def _below(structure: Structure, body: Hashable) -> list[Hashable]:
    found: list[Hashable] = []
    for child in structure.children(body):
        found += [child, *_below(structure, child)]
    return found


def _program(structure: Structure, bodies: tuple[Hashable, ...]) -> Program:
    """Inverse dynamics of some bodies: rows and unknowns of others are left out."""
    inside = set(bodies)
    order: Substitution = orderings.get("inverse_dynamics")(structure)
    own = [pair for pair in order if pair[0][1] in inside]
    return trace_substitution(own, structure, "inverse dynamics")


def _moving(rest: System, root: Hashable) -> System:
    """The same system whose subtree hangs on the world: what carries it does not move."""
    parent = rest.structure.parent.copy()
    parent[rest.structure.index[root]] = -1
    return replace(rest, structure=replace(rest.structure, parent=parent), plans={})


# -- triangles, each operation rounded by itself ---------------------------------------------------


def root(A: NDArray[Any], semidefinite: bool = False) -> NDArray[Any]:
    """L, lower triangular, with A = L L*; a column is zero where A may be singular and is."""
    N = len(A)
    L = A * 0
    for j in range(N):
        d = less(A[j, j], L[j, :j], L[j, :j])
        if semidefinite and not d > 0:
            continue
        L[j, j] = square_root(d)
        for i in range(j + 1, N):
            L[i, j] = less(A[i, j], L[i, :j], L[j, :j]) / L[j, j]
    return L


def forward(L: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """x with L x = b."""
    x = b.copy()
    for i in range(len(b)):
        x[i] = less(b[i], L[i, :i], x[:i]) / L[i, i]
    return x


def backward(U: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """x with U x = b."""
    return forward(U[::-1, ::-1], b[::-1])[::-1]


def less(start: Any, x: NDArray[Any], y: NDArray[Any]) -> Any:
    for p in x * y:
        start = start - p
    return start


def square_root(x: Any) -> Any:
    if isinstance(x, np.floating):
        return np.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else x**0.5
