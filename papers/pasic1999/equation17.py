"""Equation (17): the matching matrix in several orders; its fill, pivots and condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pivotree import kkt

from ..measures import apart
from ..paper import Progress
from ..row import Value, value
from ..settings import above, between
from .arm import PAPER, Arm, Floats
from .matching import Blocks, Local, LocalFailure, Matching
from .multiple_shooting import Shooting, without_slopes
from .references import conjugate_points, integrate
from .tridiagonal import NAMES, Structure, eliminate, order_of, structure_of

SIZES = (8, 16, 32, 64, 128, 256, 1024)  # subdomains at which fill and height are counted
RESOLVED = 0.06  # [s] subdomains up to which J knows where conjugate points are
GRID = 0.2, 1.6  # [s] lengths of the domain, for the condition number


@dataclass(frozen=True)
class Eliminated:
    """J by one order."""

    name: str
    order: list[int]
    structure: Structure
    fill: int  # blocks made, of one triangle
    error: float  # of J^-1 r beside scipy's sparse LU, relative
    single: float  # the same in float32
    turned: list[int]  # interfaces whose pivot has a negative determinant


@dataclass(frozen=True)
class Found:
    e: float
    edges: Floats
    condition: float
    shooting: float  # condition number of the multiple-shooting matrix
    size: tuple[int, int]  # rows of J, and of that
    schur: float  # J beside what is left of that without its slopes, relative
    orders: list[Eliminated]
    sizes: dict[str, list[tuple[int, Structure]]]
    conjugate: Floats
    lengths: Floats
    conditions: Floats


def measure(
    progress: Progress,
    *,
    end: float = 1.0,
    subdomains: int = 20,
    s: int = 3,
    seed: int = 17,
    arm: Arm = PAPER,
    order: str = "abm",
    eliminations: tuple[str, ...] = (*NAMES, "random:0"),
    lengths: int = 141,
) -> Found:
    """J at the initial value problem's solution on [0, end], and a random right side."""
    import scipy.sparse.linalg as linalg

    between("subdomains", subdomains, 3)
    above("s", end=end)
    ours = arm.accelerations(order)
    closed = arm.closed_form
    zero = np.zeros(2)
    progress("scipy, equation (20)")
    exact = integrate(closed, max(end, GRID[1]), zero, zero)
    edges = np.linspace(0.0, end, subdomains + 1)
    J, local = _jacobian(ours, exact, edges, s)
    r = np.random.default_rng(seed).normal(size=(subdomains - 1, 2))
    x = linalg.spsolve(J.sparse, r.ravel()).reshape(r.shape)
    orders = []
    for name in eliminations:
        progress(name)
        taken = order_of(name, subdomains - 1)
        done, single = eliminate(J, r, taken), eliminate(J, r, taken, np.float32)
        turned = sorted(i for i, pivot in done.pivots.items() if np.linalg.det(pivot) < 0.0)
        orders.append(
            Eliminated(
                name, taken, structure_of(taken), done.fill, apart(done.x, x), apart(single.x, x), turned
            )
        )
    progress("multiple shooting")
    slopes = np.concatenate([local.left, local.right[-1:]])
    y = np.hstack([exact.sol(edges)[:2].T, slopes])
    long = Shooting(ours, edges, y[0, :2], y[-1, :2], s=s).jacobian(y).toarray()
    dense = J.sparse.toarray()
    # rows of multiple shooting are left minus right derivatives, phi is right minus left
    schur = apart(-without_slopes(long, 2), dense)
    sizes = {name: [(n, structure_of(order_of(name, n - 1))) for n in SIZES] for name in NAMES}
    progress("condition against the length of the domain")
    grid = np.linspace(*GRID, lengths)
    conditions = np.array([_condition(ours, exact, np.linspace(0.0, e, subdomains + 1), s) for e in grid])
    points = conjugate_points(closed, max(end, GRID[1]), zero, zero)
    condition, shooting = (float(np.linalg.cond(A)) for A in (dense, long))
    size = len(dense), len(long)
    return Found(end, edges, condition, shooting, size, schur, orders, sizes, points, grid, conditions)


def _jacobian(ours: Any, exact: Any, edges: Floats, s: int) -> tuple[Blocks, Local]:
    values = exact.sol(edges)[:2].T
    problem = Matching(ours, edges, s)
    try:
        local = problem.solve(values)
        return problem.jacobian(values, local), local
    except LocalFailure:
        raise kkt.PivotreeError(
            f"equation17: the iteration diverges on subdomains of {edges[1]:g} s; give more of them"
        ) from None


def _condition(ours: Any, exact: Any, edges: Floats, s: int) -> float:
    """Not a number where the subdomains are too long for the iteration."""
    try:
        return float(np.linalg.cond(_jacobian(ours, exact, edges, s)[0].sparse.toarray()))
    except kkt.PivotreeError:
        return np.nan


def values(found: Found) -> Iterator[Value]:
    n = len(found.edges) - 1
    for one in found.orders:
        words, counted = {"n": n, "order": NAMES.get(one.name, one.name)}, one.structure
        yield value("fill", [counted.fill, counted.height], counted.fill == one.fill, **words)
        ours = f"{one.error:.1e}, float32 {one.single:.1e}"
        yield value("solved", ours, one.error <= 1e-14 * found.condition, **words)
    for name, sizes in found.sizes.items():
        ours = ", ".join(f"{n}: {one.fill}, {one.height}" for n, one in sizes)
        if name == "virtual_work":
            bound = all(one.fill == 0 and one.height == n - 1 for n, one in sizes)
            yield value("natural", ours, bound, order=NAMES[name])
        else:
            bound = all(one.fill < n and one.height <= np.ceil(np.log2(n)) for n, one in sizes)
            yield value("other", ours, bound, order=NAMES[name])
    yield value("size", list(found.size), found.size == (2 * (n - 1), 4 * (n + 1)))
    yield value("half", found.schur, found.schur <= 1e-6)
    yield value("condition", [f"{found.condition:.3g}", f"{found.shooting:.3g}"])
    natural = next((one for one in found.orders if one.name == "virtual_work"), None)
    if natural is not None:
        yield _pivots(found, natural)


def _pivots(found: Found, natural: Eliminated) -> Value:
    """The natural order's pivot at x_i is the problem on [0, x_{i+1}], all before it eliminated."""
    at = [f"{found.edges[i + 1]:.4g}" for i in natural.turned]
    inside = [c for c in found.conjugate if found.edges[1] < c < found.edges[-1]]
    before = [f"{found.edges[np.searchsorted(found.edges, c) - 1]:.4g}" for c in inside]
    none = "" if found.edges[1] <= RESOLVED else "subdomains are too long"
    points = ", ".join(f"{c:.4f}" for c in inside)
    return value("pivots", at, at == before, none=none, points=points)


def figures(found: Found, style: str) -> dict[str, Any]:
    from .pictures import conditioning, filled

    shown = []
    for one in found.orders:
        if one.name in NAMES:
            extra = fill_of(one.order)
            shown.append((NAMES[one.name], one.order, extra, one.structure.fill, one.structure.height))
    result = {"conditioning": conditioning(found.lengths, found.conditions, found.conjugate, style)}
    return {"equation17": filled(shown, style), **result} if shown else result


def fill_of(order: list[int]) -> set[tuple[int, int]]:
    """Places (row, column), both triangles, that an order fills, counted as it takes them."""
    near = {i: {j for j in (i - 1, i + 1) if 0 <= j < len(order)} for i in range(len(order))}
    place = {interface: i for i, interface in enumerate(order)}
    made = set()
    for p in order:
        for i in near[p]:
            made |= {(place[i], place[j]) for j in near[p] - near[i] - {i}}
            near[i] = (near[i] | near[p]) - {p, i}
    return made
