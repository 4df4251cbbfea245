"""Fill and height of the orders, as formulas in numbers of the tree, over all small trees.

"All trees" are all rooted trees of up to 8 bodies and all forests of up to 6.  Fill is counted in
blocks of one triangle, joints of one freedom each.

Letters: n bodies, r roots, D sum of depths (pairs of a body and its ancestor), h levels, P pairs
of bodies of one tree (n (n - 1) / 2 where there is one root), Q sum of squares of the numbers of
children.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from sympy import Expr, symbols

from .claim import Claim, statement
from .graphs import Counts, Sits, factor
from .trees import Parents, all_shapes, branches, chain

FEATHERSTONE = "branch-induced sparsity: Featherstone 2005"
SPLIT = ("fJ", "fC")
n, r, D, h, P, Q, k = symbols("n r D h P Q k")


def fills(text: str, order: str, right: Expr, shapes: tuple[Parents, ...], **more: Any) -> Counts:
    """The fill of an order."""

    def engine(parents: Parents) -> int:
        return factor(order, parents).fill_blocks

    return Counts(f"{order}: {text}", engine, shapes, right, **more)


def rises(text: str, order: str, right: Expr, shapes: tuple[Parents, ...]) -> Counts:
    """The height of an order: pivots that must wait for each other."""

    def engine(parents: Parents) -> int:
        return factor(order, parents).height

    return Counts(f"{order}: {text}", engine, shapes, right)


# -- statements ---------------------------------------------------------------------------------

ABM = ("abm", "modified_abm", "projected_abm", "joseph_abm", "gain_abm", "square_root_abm", "bad_abm")
CHAINS = tuple(chain(count) for count in range(2, 13))


@statement(
    "fill of ABM",
    "Ascher, Pai & Cloutier 1996, sec. 2",
    "n - r blocks, bracketed or not; minimum degree too; trees of up to 8 bodies",
)
def fill_of_abm() -> Iterable[Claim]:
    for order in (*ABM, "minimum_degree"):
        yield fills("n - r", order, n - r, all_shapes())


@statement("fill of CRBM", FEATHERSTONE, "2 D blocks, trees of up to 8 bodies")
def fill_of_crbm() -> Iterable[Claim]:
    for order in ("crbm", "crbm_block_row"):
        yield fills("2 D", order, 2 * D, all_shapes())


@statement(
    "where fill sits",
    f"Ascher, Pai & Cloutier 1996, sec. 2; {FEATHERSTONE}",
    "ABM: qdd with pdd of the parent; CRBM: with pdd and qdd of each ancestor; to 8 bodies",
)
def where() -> Iterable[Claim]:
    """A pair apart couples qdd with f of each ancestor as well, and with qdd of every relative."""
    shapes = all_shapes()
    up = ("qdd", "pdd", "ancestor")
    for order in ("abm", "bad_abm"):
        yield Sits(f"{order}: fill", order, shapes, (("qdd", "pdd", "parent"),))
    yield Sits("crbm: fill", "crbm", shapes, (up, ("qdd", "qdd", "ancestor")))
    for order, more in (
        ("crbm, pdd and f apart", [("qdd", "f", "ancestor")]),
        ("crbm, joints base to tip", []),
    ):
        yield Sits(f"{order}: fill", order, shapes, (up, ("qdd", "qdd", "relative"), *more))
    yield Sits("lagrange: fill", "lagrange", shapes, (("fJ", "fC", "itself"),))
    around = [(a, b, what) for a in SPLIT for b in SPLIT for what in ("parent", "sibling")]
    places = (("fJ", "fC", "itself"), *around)
    yield Sits("virtual_work: fill", "virtual_work", shapes, places)


@statement(
    "fill of CRBM with f apart",
    "elimination on structure",
    "2 D + P, which is 2 D + n (n - 1) / 2 on one root; trees of up to 8 bodies",
)
def fill_apart() -> Iterable[Claim]:
    """D with f of ancestors, and P - D between joints on different branches of one tree.

    The latter cancel in numbers, and are roundoff; structure alone cannot know.
    """
    order = "crbm, pdd and f apart"
    yield fills("2 D + P", order, 2 * D + P, all_shapes())
    one_root = tuple(parents for parents in all_shapes() if parents.count(-1) == 1)
    yield fills("2 D + n (n - 1) / 2", order, 2 * D + n * (n - 1) / 2, one_root)


@statement(
    "fill of CRBM joints outward",
    FEATHERSTONE,
    "D + P, more than 2 D wherever the tree branches; trees of up to 8 bodies",
)
def fill_outward() -> Iterable[Claim]:
    """The first joint to go is the base's, which couples all that it carries."""
    order = "crbm, joints base to tip"
    yield fills("D + P", order, D + P, all_shapes())
    branched = tuple(parents for parents in all_shapes() if branches(parents))
    yield fills("more than 2 D", order, 2 * D, branched, relation=operator.gt)
    straight = tuple(parents for parents in all_shapes() if not branches(parents))
    yield fills("2 D without branches", order, 2 * D, straight)


@statement(
    "fill of virtual work",
    "Yamane & Nakamura 2001, sec. 4",
    "3 n - 2 r + 2 Q: 1 a joint, 4 for every two joints of a body; to 8 bodies",
)
def fill_of_virtual_work() -> Iterable[Claim]:
    """Q, squares of the numbers of children, is what splitting links makes linear."""
    yield fills("3 n - 2 r + 2 Q", "virtual_work", 3 * n - 2 * r + 2 * Q, all_shapes())


@statement("fill of Lagrange multipliers", "Baraff 1996, sec. 6", "n, trees of up to 8 bodies")
def fill_of_lagrange() -> Iterable[Claim]:
    yield fills("n", "lagrange", n, all_shapes())


@statement(
    "fill base to tip", "reverse of Brandl, Johanni & Otter 1986", "2 n - 3 on chains of 2 to 12 bodies"
)
def fill_of_base_to_tip() -> Iterable[Claim]:
    yield fills("2 n - 3", "base_to_tip", 2 * n - 3, CHAINS)


@statement(
    "heights",
    "Liu 1990 (elimination trees)",
    "3 h for ABM and CRBM (3 n on a chain), 2 h + 1 for Lagrange; trees of up to 8 bodies",
)
def heights() -> Iterable[Claim]:
    for order in (*ABM, "crbm", "crbm_block_row"):
        yield rises("3 h", order, 3 * h, all_shapes())
    yield rises("3 n on a chain", "abm", 3 * n, CHAINS)
    yield rises("2 h + 1", "lagrange", 2 * h + 1, all_shapes())
    yield rises("n + 1 on a chain", "virtual_work", n + 1, CHAINS)


@statement(
    "nested dissection of a chain",
    "Featherstone 1999; George 1973",
    "n = 2^k - 1 bodies: fill 6 n - 2 k - 3, height k + 1; k = 2 to 8",
)
def dissection() -> Iterable[Claim]:
    shapes = tuple(chain(2**power - 1) for power in range(2, 9))
    for order in ("divide_and_conquer", "constraint_force"):
        yield fills("6 n - 2 k - 3", order, 6 * n - 2 * k - 3, shapes)
        yield rises("k + 1", order, k + 1, shapes)
