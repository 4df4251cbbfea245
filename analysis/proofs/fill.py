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

from .claim import Claim, statement
from .graphs import Counts, Sits, all_shapes, branches, chain

FEATHERSTONE = "branch-induced sparsity: Featherstone 2005"
SPLIT = ("fJ", "fC")

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
        yield Counts(order, "n - r")


@statement("fill of CRBM", FEATHERSTONE, "2 D blocks, trees of up to 8 bodies")
def fill_of_crbm() -> Iterable[Claim]:
    for order in ("crbm", "crbm_block_row"):
        yield Counts(order, "2 D")


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
    yield Counts(order, "2 D + P")
    one_root = tuple(parents for parents in all_shapes() if parents.count(-1) == 1)
    yield Counts(order, "2 D + n (n - 1) / 2", one_root)


@statement(
    "fill of CRBM joints outward",
    FEATHERSTONE,
    "D + P, more than 2 D wherever the tree branches; trees of up to 8 bodies",
)
def fill_outward() -> Iterable[Claim]:
    """The first joint to go is the base's, which couples all that it carries."""
    order = "crbm, joints base to tip"
    yield Counts(order, "D + P")
    branched = tuple(parents for parents in all_shapes() if branches(parents))
    yield Counts(order, "2 D", branched, before="more than ", relation=operator.gt)
    straight = tuple(parents for parents in all_shapes() if not branches(parents))
    yield Counts(order, "2 D", straight, after=" without branches")


@statement(
    "fill of virtual work",
    "Yamane & Nakamura 2001, sec. 4",
    "3 n - 2 r + 2 Q: 1 a joint, 4 for every two joints of a body; to 8 bodies",
)
def fill_of_virtual_work() -> Iterable[Claim]:
    """Q, squares of the numbers of children, is what splitting links makes linear."""
    yield Counts("virtual_work", "3 n - 2 r + 2 Q")


@statement("fill of Lagrange multipliers", "Baraff 1996, sec. 6", "n, trees of up to 8 bodies")
def fill_of_lagrange() -> Iterable[Claim]:
    yield Counts("lagrange", "n")


@statement(
    "fill base to tip", "reverse of Brandl, Johanni & Otter 1986", "2 n - 3 on chains of 2 to 12 bodies"
)
def fill_of_base_to_tip() -> Iterable[Claim]:
    yield Counts("base_to_tip", "2 n - 3", CHAINS)


@statement(
    "heights",
    "Liu 1990 (elimination trees)",
    "3 h for ABM and CRBM (3 n on a chain), 2 h + 1 for Lagrange; trees of up to 8 bodies",
)
def heights() -> Iterable[Claim]:
    for order in (*ABM, "crbm", "crbm_block_row"):
        yield Counts(order, "3 h", counted="height")
    yield Counts("abm", "3 n", CHAINS, "height", after=" on a chain")
    yield Counts("lagrange", "2 h + 1", counted="height")
    yield Counts("virtual_work", "n + 1", CHAINS, "height", after=" on a chain")


@statement(
    "nested dissection of a chain",
    "Featherstone 1999; George 1973",
    "n = 2^k - 1 bodies: fill 6 n - 2 k - 3, height k + 1; k = 2 to 8",
)
def dissection() -> Iterable[Claim]:
    shapes = tuple(chain(2**power - 1) for power in range(2, 9))
    for order in ("divide_and_conquer", "constraint_force"):
        yield Counts(order, "6 n - 2 k - 3", shapes)
        yield Counts(order, "k + 1", shapes, "height")
