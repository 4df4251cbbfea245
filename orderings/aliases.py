"""Other names, from the literature, of orders that are registered here.

>>> pt.orderings.get("vereshchagin") is pt.orderings.get("abm")
True

tests/orderings/test_aliases.py checks each, pivot by pivot, against its recursion, written on its
own after Cloutier 1995 (section 3.3) and Featherstone 2008: the originals were not at hand.
ELSEWHERE has methods that are no order of pivots, and the room of the project that holds them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Alias:
    """Another name of a registered order.

    >>> pt.orderings.ALIASES["vereshchagin"].order
    'abm'
    """

    order: str
    source: str
    same: str
    differs: str


ALIASES = {
    "vereshchagin": Alias(
        "abm",
        "Vereshchagin 1974",
        "Gauss's principle by dynamic programming, tip to base: the least constraint of a subtree "
        "is a quadratic form of its base's acceleration, and its matrix is I^A; what is least over "
        "qdd_k is found by dividing by D_k. A constraint of the end effector is a row that is "
        "eliminated last, as loops and contacts are: its pivot is the matrix that he carries down.",
        "nothing in the pivots; frames, and how the update is written, are his own",
    ),
    "armstrong": Alias(
        "abm",
        "Armstrong 1979",
        "on joints of three freedoms that turn, the 3 x 3 matrix that he inverts is the pivot D_k, "
        "and his force by the joint's acceleration is the one block of Mbar_k that is not zero.",
        "3-vectors: the angular rows of Mbar_k, which are zero, are never formed; his recursion "
        "has no other kind of joint",
    ),
    "baraff": Alias(
        "lagrange",
        "Baraff 1996",
        "a body's 6 x 6 pivot and then its joint's constraint force, leaf to root; auxiliary "
        "constraints, which close loops, are eliminated last by the matrix that all of them leave.",
        "he has no joint rates: qdd_k and the part of the joint's force along it, which is tau_k, "
        "are a bracket of two more blocks here",
    ),
    "brandl_johanni_otter": Alias(
        "abm",
        "Brandl, Johanni & Otter 1986",
        "Featherstone's recursion for joints of any freedoms, D_k is N_k x N_k, as here.",
        "how frames are changed, a placement and a joint's turn one after the other, which "
        "kkt.factored does here; their count follows from it",
    ),
    "lambda_last": Alias(
        "crbm",
        "Featherstone 2008, section 8.5",
        "multipliers of closed loops and contacts that an order does not name are eliminated last: "
        "after all joints their matrix is J M^-1 J^T, and what compliance adds to it.",
        "nothing; abm and every other order leave the same matrix there",
    ),
    "walker_orin_3": Alias(
        "crbm_com",
        "Walker & Orin 1982, method 3",
        "columns of the joint-space inertia from composites, each a mass, a centre of mass and an "
        "inertia about it.",
        "they solve by Cholesky's factor, efforts less a bias from inverse dynamics: "
        "kkt.compile(tree, order, solver='cholesky')",
    ),
}
"""Methods of the literature that are a registered order under another name.

>>> sorted(pt.orderings.ALIASES)[:3]
['armstrong', 'baraff', 'brandl_johanni_otter']
"""

ELSEWHERE = {
    "walker_orin_1": "analysis.inertia.solve(system)",
    "walker_orin_4": "analysis.gradients.solve(system)",
}
