"""Orders of every kind solve (4): the solution put back into every row, by the normal form."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import ZeroMatrix

from pivotree.analysis.proofs import Bench, Equal, statement, sum_of

from .equations import CHAIN, PAPER, from_parent

WHOLE = (
    "crbm",
    "crbm_block_row",
    "abm",
    "modified_abm",
    "modified_abm_stretched",
    "projected_abm",
    "joseph_abm",
    "gain_abm",
    "bad_abm",
    "natural",
    "minimum_degree",
)
SPLIT = ("virtual_work", "lagrange", "constraint_force", "divide_and_conquer")
SHAPES = (CHAIN, (3, 3, 4, 0))


def rows_of_4(order: str, shape: tuple[int, ...], free: bool = False) -> Iterable[Equal]:
    """(4) being regular, a solution of it is the solution.

    The rows of f_k are taken along B_k and C_k, which together are a basis; ``free`` takes those
    of pdd_k times M_k^-1, for pivots that hold it.
    """
    t = Bench(shape)
    e = t.eliminated(order)
    for k in t.bodies:
        t.bases(k)
        down = sum_of([t.Phi(k, c) * e.x("f", c) for c in t.children(k)], (6, 1))
        force = e.x("f", k) - down
        if free:
            left, right = e.x("pdd", k) + t.M(k).I * force, t.M(k).I * t.b(k)
        else:
            left, right = t.M(k) * e.x("pdd", k) + force, t.b(k)
        yield Equal(f"{order}: row pdd_{k}", t, left, right)
        yield Equal(f"{order}: row qdd_{k}", t, t.H(k) * e.x("f", k), t.tau(k))
        moved = e.x("pdd", k) + t.H(k).T * e.x("qdd", k) + t.a(k) + from_parent(t, e, k)
        for basis in (t.B(k), t.C(k)):
            zero = ZeroMatrix(basis.shape[1], 1)
            yield Equal(f"{order}: row f_{k} along {basis}", t, basis.T * moved, zero)


@statement("orders solve (4)", f"{PAPER}, eq (4)", "M pdd + f = b + Phi f_c, H f = tau, ... for all")
def whole_forces() -> Iterable[Equal]:
    """Not here: square_root_abm, whose rotations of rows have no reading in blocks, and random
    orders, whose pivots the normal form does not always tell apart.
    """
    for order in WHOLE:
        for shape in SHAPES:
            yield from rows_of_4(order, shape)
    yield from rows_of_4("base_to_tip", CHAIN, free=True)


@statement("orders of free bodies solve (4)", f"{PAPER}, eq (4)", "the same, with f = B fJ + C fC")
def split_forces() -> Iterable[Equal]:
    """Pieces of split links are welded to each other, which the normal form does not see."""
    for order in SPLIT:
        for shape in SHAPES:
            yield from rows_of_4(order, shape)
